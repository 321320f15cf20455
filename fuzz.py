import subprocess,itertools,random
random.seed(11)
base=open('/tmp/w/spec/examples/llama-3-70b.bpir').read()
import re
def run(cl, st, opt):
    t=base
    t=re.sub(r'    hidden .*', '    '+cl, t)
    t=t.replace('x8192xbf16','x%sxbf16'%re.search(r'hidden (\d+)',cl).group(1))
    t=re.sub(r'session.strategy @tp16pp4dp8 \{.*?\n\}', 'session.strategy @tp16pp4dp8 {\n'+st+'\n}', t, flags=re.S)
    p=subprocess.run(['build/asan/bp-opt','--pass-pipeline=distribute-transformer-training%s,plan-transformer-training'%opt,'--emit=none','-'],input=t.encode(),capture_output=True,timeout=60)
    return p
n=0;ok=0;bad=0
for i in range(260):
    H=random.choice([64,64,4096,8192,2**20,2**60,18446744073709551614,6144])
    heads=random.choice([1,2,8,12,24,32,64,2**40])
    kv=random.choice([1,2,3,4,8,heads,16,heads*2,2**63])
    d=random.choice([1,2,3,64,128,2**50])
    F=random.choice([1,96,256,14336,28672,2**61])
    S=random.choice([1,2,7,32,2048,8192,2**62])
    t=random.choice([1,2,3,4,8,16,32,64,2**40,2**63])
    cl='hidden %d feedforward %d heads %d kv_heads %d head_size %d sequence %d blocks %d norm %s mlp %s rotary %s bias %s dropout %s'%(H,F,heads,kv,d,S,random.choice([4,80,2**50]),random.choice(['rms_norm','layer_norm']),random.choice(['gelu','swiglu']),random.choice(['true','false']),random.choice(['true','false']),random.choice(['true','false']))
    st='  tensor = %d\n  communication = %s\n  data = %d\n  optimizer_sharding = true\n  recompute = %s\n  fused_activation = %s'%(t,random.choice(['all_reduce','reduce_scatter_all_gather']),random.choice([2,4,8]),random.choice(['none','attention','full']),random.choice(['true','false']))
    opt=random.choice(['','{attention=causal}','{attention=dense}','{symbolic=[microbatch,sequence]}','{attention=causal symbolic=sequence}'])
    p=run(cl,st,opt)
    n+=1
    e=p.stderr.decode()
    if p.returncode==0: ok+=1
    elif p.returncode!=1 or 'Sanitizer' in e or 'runtime error' in e or 'pass.gate' in e or 'pass.internal' in e:
        bad+=1; print(p.returncode,cl,st,opt,e[-600:])
    if p.returncode and p.stdout: print("partial",cl)
print(n,ok,bad)
