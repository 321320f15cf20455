import re,subprocess
def res(path, choose):
    s=open(path).read()
    def f(m):
        return choose(m.group(1), m.group(2))
    s=re.sub(r'<<<<<<< HEAD\n(.*?)=======\n(.*?)>>>>>>> [^\n]*\n', f, s, flags=re.S)
    open(path,'w').write(s)
def only_bias(a,b):
    # ours plus the bias rows of theirs
    out=[];take=False
    for l in b.splitlines(True):
        if 'bias' in l or (take and l.startswith('    "The sum of each')): out.append(l); take=True
        else: take=False
    return a+''.join(out)
res('docs/language.md', only_bias)
res('src/dialects/dist/dist.def', only_bias)
res('src/dialects/dist/verify_local.c', lambda a,b:a)
res('src/passes/rules.c', lambda a,b:a)
res('src/passes/distribute_transformer_training_gate.c', lambda a,b:a.replace('inner + collectives','gradients + collectives'))
res('src/passes/spec.h', lambda a,b: (a if 'request.h' in a else a+'\n'+b))
s=open('docs/language.md').read()
open('docs/language.md','w').write(s)
