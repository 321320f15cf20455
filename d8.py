def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='docs/algebra.md'
sub(p,'''All numbers are exact: whole numbers of up to 128 bits, every sum and product checked. `/` is a division without rest, or
the derivation is refused; `ceildiv` rounds up, and occurs only in a rank's share of sharded state. With symbols in the
place of numbers the same formulas give closed forms (`symbolic=[microbatch, sequence]`).
''','''Rows with a word under *when* are those of blocks that have what it names: GPT-3 has layer norms, GeLU and dropout; Llama
has RMSNorm, a gated MLP and rotary embedding instead, and neither biases nor dropout. All of them are clauses of
`transformer.decoder_training` (`docs/language.md`). Without numbers of the example a row shows its formula alone.

All numbers are exact: whole numbers of up to 128 bits, every sum and product checked. `/` is a division without rest, or
the derivation is refused; `ceildiv` rounds up, and occurs only in a rank's share of sharded state and of a sum over ranks
that hold the same keys and values; what `floordiv` halves, S*S + S, is even. With symbols in the place of numbers the same
formulas give closed forms (`symbolic=[microbatch, sequence]`).

Attention is counted as the program's statement `attention` says: `dense`, every pair of a query and a key, or, with
`{attention=causal}`, only those of a query with itself and the keys before it: S(S + 1)/2 pairs of a sequence. Pairs that
are not counted are neither computed nor moved nor kept.
''')
sub(p,'''layers, bytes that a phase moves.
''','''layers, bytes that a phase moves. [A] Ainslie et al. 2023, arXiv 2305.13245: heads that share keys and values. [R] Zhang and
Sennrich 2019, arXiv 1910.07467, equation (4): RMSNorm. [Z] Shazeer 2020, arXiv 2002.05202, equation (6): SwiGLU. [U] Su et
al. 2021, arXiv 2104.09864, equation (34): rotary embedding. In [R] and [Z] an operation is one sum, product, division or
exponential of the equation, or of its derivative, for each element; square roots of a row are not counted.
''')
sub(p,'''The attention width h x s need not be H.
''','''The attention width h x s need not be H. Where a model has fewer heads of keys and values than t, r = t / kv_heads ranks
hold each of them, whole: they serve different heads with it. Each has a part of the gradient of those weights, so that an
all_reduce over the r ranks (`kv_replica`, the minor axis of the mesh) adds the parts up, once an iteration, ahead of the
optimizer.
''')
sub(p,'''The optimizer of a layer with weights does 11 operations''','''A bias is added where its product's result, or the sum over the ranks, is at hand: it alone is read. The optimizer of a layer
with weights does 11 operations''')
p='docs/deviations.md'
sub(p,'''and residual; a fork of u readers adds u times where u - 1 would do. No bias, scale, mask or causal saving is counted,
and no embedding, logits or loss:''','''and residual; a fork of u readers adds u times where u - 1 would do. No scale or mask is counted, a bias and the causal
saving where they are asked for, and no embedding, logits or loss:''')
sub(p,'''## We keep
''','''## What Calculon does not have

Calculon's block has layer norms, GeLU, dropout, keys and values for each head, and no bias. The layers that other models
have instead are counted so that nothing is missing: the activation gradients of RMSNorm, of SiLU with its product and of
the rotation read and write all of their operands and results. Three choices are ours:

* A rotation counts 6 operations an element of queries and keys, as inference does, although equation (34) of Su et al. 2021
  needs 3: GPT-like models of width H have 12 x b S H/t of them, and not 6.
* Scores that `attention causal` leaves out are not kept either: an implementation that keeps the whole rectangle needs
  e\\*b\\*(h/t)\\*S\\*(S - 1)/2 bytes more for each copy of the scores.
* The gradients of replicated keys and values travel once an iteration, in e bytes.

Gains of RMSNorm and biases behind a sum over the ranks are as the layer norms' weights in the table below: with the sequence
split each rank has a part of their gradients, and the all_reduce of e\\*H a row is not counted.

## We keep
''')
sub(p,'''| gradients of the layer norms' weights |''','''| gradients of the layer norms' weights |''')
