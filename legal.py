import subprocess,random,re,sys
random.seed(int(sys.argv[1]))
base=open('/tmp/w/spec/examples/llama-3-70b.bpir').read()
ok=0;n=0;warn=0
for i in range(220):
    kv=random.choice([1,2,4,8]); g=random.choice([1,2,4,16]); heads=kv*g; 
    ts=[t for t in (1,2,4,8,16,32) if heads%t==0 and (kv%t==0 or t%kv==0)]
    t=random.choice(ts)
    H=32*random.choice([1,3,8]); F=32*random.choice([1,5,7]); S=32*random.choice([1,3]); d=random.choice([1,3,5,8])
    cl='hidden %d feedforward %d heads %d kv_heads %d head_size %d sequence %d blocks 6 norm %s mlp %s rotary %s bias %s dropout %s'%(H,F,heads,kv,d,S,random.choice(['rms_norm','layer_norm']),random.choice(['gelu','swiglu']),random.choice(['true','false']),random.choice(['true','false']),random.choice(['true','false']))
    rc=random.choice(['none','attention','full']); comm=random.choice(['all_reduce','reduce_scatter_all_gather'])
    rg = comm!='all_reduce' and rc!='full' and random.random()<.5
    dd=random.choice([1,2,3,5])
    mb=random.choice([1,2,3])
    st='  tensor = %d\n  communication = %s\n  pipeline = %d\n  data = %d\n  optimizer_sharding = %s\n  recompute = %s\n  fused_activation = %s\n  input_regather = %s'%(t,comm,random.choice([1,2,3]),dd,'true' if dd>1 and random.random()<.7 else 'false',rc,random.choice(['true','false']),'true' if rg else 'false')
    dt=random.choice(['bf16','f32','f8E4M3FN'])
    opt=random.choice(['','{attention=causal}','{symbolic=[microbatch,sequence]}','{attention=causal symbolic=sequence}'])
    x=re.sub(r'    hidden .*','    '+cl,base).replace('x8192xbf16','x%dx%s'%(H,dt)).replace('dtype = bf16','dtype = '+dt).replace('microbatch = 1','microbatch = %d'%mb).replace('batch = 2048','batch = %d'%(mb*dd*4))
    x=re.sub(r'session.strategy @tp16pp4dp8 \{.*?\n\}','session.strategy @tp16pp4dp8 {\n'+st+'\n}',x,flags=re.S)
    pipe='distribute-transformer-training%s'%opt
    if 'symbolic' in opt: pipe+=',specialize{%s}'%('microbatch=%d sequence=%d'%(mb,S) if 'microbatch' in opt else 'sequence=%d'%S)
    pipe+=',plan-transformer-training'
    p=subprocess.run(['build/bp-opt','--pass-pipeline='+pipe,*(['--keep-sources'] if 'symbolic' not in opt else []),'--check=all','--emit=none','-'],input=x.encode(),capture_output=True,timeout=60)
    n+=1
    if p.returncode==0 and b'error' not in p.stderr: ok+=1
    else: print(cl,st,dt,opt,'\n'.join(l for l in p.stderr.decode().splitlines() if 'error' in l)[:600])
print(n,ok)
