import re,glob
def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
def all_(path, pairs):
    s=open(path).read()
    for a,b in pairs: s=s.replace(a,b)
    open(path,'w').write(s)
names=[('mlp.silu_multiply','mlp.swiglu'),('transformer.silu_multiply','transformer.swiglu'),('SILU_MULTIPLY','SWIGLU'),('"silu_multiply"','"swiglu"'),
       ('attention.rotary','attention.rope'),('transformer.rotary','transformer.rope'),('PRIMITIVE(ROTARY, "rotary"','PRIMITIVE(ROPE, "rope"'),('LAYER("attention.rope", ROTARY, ROTARY,','LAYER("attention.rope", ROTARY, ROPE,')]
for p in ['src/transformer/layers.def','src/passes/distribute_transformer_training_gate.c','test/unit/test_decoder.c','test/lit/passes/llama.test']:
    all_(p,names)
p='src/transformer/layers.def'
s=open(p).read()
s=s.replace('''QUANTITY("C", "b*(h/t)*((S*S + S) floordiv 2)", CAUSAL, "b*(h/t)*S*S",
         "attention scores of a rank: a query with each key, or with itself and the keys before it")
QUANTITY("P", "C",       DROPOUT,  "0", "probabilities kept behind dropout; without it they are those that the softmax keeps")
''','''QUANTITY("C", "b*(h/t)*((S*S + S) floordiv 2)", CAUSAL, "b*(h/t)*S*S",
         "attention scores that a rank computes: of a query with each key, or with itself and the keys before it")
QUANTITY("D", "b*(h/t)*S*S", ALWAYS, "0", "elements of a rank's scores where they are materialized: the rectangle, causal or not")
QUANTITY("P", "D",       DROPOUT,  "0", "probabilities kept behind dropout; without it they are those that the softmax keeps")
''')
s=s.replace('''"M*(K + J)", "C", "M*(K + J)", "C", "0",         ATTENTION''','''"M*(K + J)", "D", "M*(K + J)", "D", "0",         ATTENTION''')
s=s.replace('''      "C", "C", "C", "C", "0",  ''','''      "D", "D", "D", "D", "0",  ''')
s=s.replace('''"C + M*J", "M*K", "P + M*J"''','''"D + M*J", "M*K", "P + M*J"''')
s=s.replace('"5*G", "12*G - U", "0",','"6*G", "12*G - U", "0",')
i=s.index('      "[Z] (6): z/(1 + exp(-z))'); j=s.index('\n',i)
s=s[:i]+'''      "[Z] (6): the sigmoid is 4, times z and times the other branch; 11 for both gradients, 12 where SiLU is made again")'''+s[j:]
s=s.replace('LAYER("attention.rope", ROTARY, ROPE,              ','LAYER("attention.rope", ROTARY, ROPE,                ')
s=re.sub(r'LAYER\("mlp.swiglu", SWIGLU, SWIGLU, +','LAYER("mlp.swiglu", SWIGLU, SWIGLU,                    ',s)
open(p,'w').write(s)
p='src/passes/distribute_transformer_training_gate.c'
s=open(p).read()
s=s.replace('p->G = p->M * p->F;','p->D = p->w.microbatch * (p->m.heads / t) * ((u128)p->m.sequence * p->m.sequence);\n    p->G = p->M * p->F;')
s=s.replace('u128 M, H, K, J, F, A, R, C, G;     /* rows; widths (K, J, F of one rank); boundary; its share; scores; feed-forward */','u128 M, H, K, J, F, A, R, G;        /* rows; widths (K, J, F of one rank); boundary; its share; feed-forward */\n    u128 C, D;                          /* scores that are computed, and that are held: all of the rectangle */')
# bytes use D
for a,b in [('return p->dropout * (p->C + 2 * p->R);','return p->dropout * (p->D + 2 * p->R);'),
 ('(2 + p->dropout) * p->C +\n                     (p->up','(2 + p->dropout) * p->D +\n                     (p->up'),
 ('(2 + p->dropout) * p->C + (p->up + 1) * p->G +\n                      turned','(2 + p->dropout) * p->D + (p->up + 1) * p->G +\n                      turned'),
 ('again_read = e * (MK + MJ + (1 + p->dropout) * p->C);','again_read = e * (MK + MJ + (1 + p->dropout) * p->D);'),
 ('again_write = e * (2 + p->dropout) * p->C + p->dropout * p->C;','again_write = e * (2 + p->dropout) * p->D + p->dropout * p->D;'),
 ('3 * MK + 4 * MJ + (3 + p->dropout) * p->C +','3 * MK + 4 * MJ + (3 + p->dropout) * p->D +'),
 ('MK + (1 + p->dropout) * p->C + (p->up + 1)','MK + (1 + p->dropout) * p->D + (p->up + 1)'),
 ('bytes -= e * (1 + p->dropout) * p->C + p->dropout * p->C;','bytes -= e * (1 + p->dropout) * p->D + p->dropout * p->D;'),
 ('widths + (1 + p->dropout) * p->C + (gated','widths + (1 + p->dropout) * p->D + (gated'),
 ('widths + 2 * p->C + (gated','widths + 2 * p->D + (gated'),
 ('(gradient ? 11 + p->s.fused_activation : 5)','(gradient ? 11 + p->s.fused_activation : 6)'),
 ('product 5/11 (12','product 6/11 (12')]:
    assert a in s, a
    s=s.replace(a,b)
open(p,'w').write(s)
p='test/unit/test_decoder.c'
all_(p,[('5 * 32 * 96','6 * 32 * 96'),('layer("attention.softmax")->in, (qty)32 * 33558528','layer("attention.softmax")->in, (qty)32 * 67108864')])
sub(p,'''    derive_pairs(m, parallel(1, AR, RECOMPUTE_NONE, false), ATTENTION_DENSE);
    ck_assert_uint_eq(layer("attention.softmax")->in, (qty)32 * 67108864);
''','''    qty stored = block.memory.stored, read = block.phases[PHASE_FORWARD].read;
    derive_pairs(m, parallel(1, AR, RECOMPUTE_NONE, false), ATTENTION_DENSE);
    ck_assert_uint_eq(forward("attention.softmax"), (qty)5 * 32 * 67108864);
    ck_assert_uint_eq(block.memory.stored, stored);         /* what is materialized is the rectangle, causal or not */
    ck_assert_uint_eq(block.phases[PHASE_FORWARD].read, read);
''')
p='test/lit/passes/llama.test'
all_(p,[('operations 293601280, read 234881024','operations 352321536, read 234881024'),('operations 671170560, read 268468224, write 268468224','operations 671170560, read 536870912, write 536870912'),
 ('''The lower triangle of 8192 tokens has 33558528 pairs; a rank has 4 of the 64 heads: 2 x 4 x 33558528 x 128, softmax 5 each.
''','''The lower triangle of 8192 tokens has 33558528 pairs; a rank has 4 of the 64 heads: 2 x 4 x 33558528 x 128, softmax 5 each.
What is moved is the rectangle, 4 x 8192 x 8192 scores of 2 bytes.
'''),('transformer.rotary()','transformer.rope()')])
p='docs/algebra.md'
sub(p,'''`{attention=causal}`, only those of a query with itself and the keys before it: S(S + 1)/2 pairs of a sequence. Pairs that
are not counted are neither computed nor moved nor kept.
''','''`{attention=causal}`, only those of a query with itself and the keys before it: S(S + 1)/2 pairs of a sequence. That is what
is computed; where scores are materialized they are moved and kept as the rectangle, causal or not.
''')
p='docs/deviations.md'
sub(p,'''the rotation read and write all of their operands and results. Three choices are ours:
''','''the rotation read and write all of their operands and results. Three choices are ours:
''')
s=open(p).read()
i=s.index('* Scores that `attention causal` leaves out'); j=s.index('* The gradients of replicated')
s=s[:i]+'''* `attention causal` halves what is computed, not what is moved and kept: scores that are materialized are the rectangle.
'''+s[j:]
open(p,'w').write(s)
