def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
sub('test/unit/test_transformer.c','.heads = 8, .head_size = 8,','.heads = 8, .kv_heads = 8, .head_size = 8,')
sub('test/unit/test_transformer.c','''.heads = 1, .head_size = 1,
                                   .sequence''','''.heads = 1, .kv_heads = 1,
                                   .head_size = 1, .sequence''')
p='test/unit/test_contract.c'
sub(p,'''.heads = UINT64_MAX,
                                        .head_size = 1,''','''.heads = UINT64_MAX,
                                        .kv_heads = UINT64_MAX, .head_size = 1,''')
sub(p,'''    model.heads = 48;
    model.head_size = 256;
    ck_assert''','''    model.heads = model.kv_heads = 48;
    model.head_size = 256;
    ck_assert''')
sub(p,'''.heads = 96, .kv_heads = 96, .head_size = 128, .sequence = 2048,
        .blocks''','''.heads = 96, .kv_heads = 96, .head_size = 128,
        .sequence = 2048, .blocks''')
p='test/oracle/configuration.c'
sub(p,'''        .head_size =''','''        .kv_heads = configuration_number(c, "app_attn_heads"),
        .head_size =''')
p='docs/language.md'
sub(p,'''dist       = sym | mesh | order | scale''','''dist       = sym | mesh | order | pairs | scale''')
sub(p,'''portable   = sym | mesh | order | buffer''','''portable   = sym | mesh | order | pairs | buffer''')
sub(p,'''order      = "order" , word ;
''','''order      = "order" , word ;
pairs      = "attention" , word ;
''')
sub(p,'''### `scale`
''','''### `attention`

`attention dense` or `attention causal`: which pairs of a query and a key the facts count. *attention kind* is one of

| word | |
|---|---|
| `dense` | every pair of a query and a key: the whole rectangle |
| `causal` | a query with itself and the keys before it: the lower triangle |

Passes always write it. Hand-written text may leave it out, and then says nothing about it.

### `scale`
''')
sub(p,'''### `buffer`
''','''### `attention` in portable

`attention dense` or `attention causal`, as in dist.

| word | |
|---|---|
| `dense` | every pair of a query and a key: the whole rectangle |
| `causal` | a query with itself and the keys before it: the lower triangle |

### `buffer`
''')
s=open(p).read()
i=s.index('| `hidden` | integer | required'); j=s.index('''```bpir
model.program @train''')
k=s.index('''### ''', j) if False else s.index('## dist', j)
s=s[:i]+'''| `hidden` | integer | required | hidden size |
| `feedforward` | integer | required | feed-forward size |
| `heads` | integer | required | attention heads |
| `kv_heads` | integer | none | heads with keys and values of their own; absent: all |
| `head_size` | integer | required | size of one head; heads x head_size may differ from hidden |
| `sequence` | integer | required | longest sequence in tokens; in training, each sequence |
| `blocks` | integer | required | decoder blocks |
| `vocabulary` | integer | none | vocabulary size, padded; some conventions need it |
| `norm` | one of norm | layer_norm | normalization ahead of attention and of the MLP |
| `mlp` | one of mlp | gelu | what the MLP computes |
| `rotary` | bool | false | whether queries and keys are turned by their position |
| `bias` | bool | false | whether the products with weights add a bias |

*norm* is one of

| word | |
|---|---|
| `layer_norm` | mean and variance, with gain and shift |
| `rms_norm` | root mean square, with gain alone |

and *mlp* is one of

| word | |
|---|---|
| `gelu` | two products with a GeLU between |
| `swiglu` | three products: SiLU of a gate times the expansion, and the contraction |

'''+s[j:k].replace('heads 4 kv_heads 2 head_size 4 sequence 8 blocks 2\n','heads 4 kv_heads 2 head_size 4 sequence 8 blocks 2 norm rms_norm mlp swiglu rotary true\n')+s[k:]
open(p,'w').write(s)
