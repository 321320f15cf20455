def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/transformer/convention.c'
sub(p,'''/* The papers' models: four hidden widths of feed-forward, heads as wide as hidden together. */''','''/* The papers' models: two products in the MLP, over four hidden widths; heads as wide as hidden together, each with keys
 * and values of its own. */''')
sub(p,'''    return m->feedforward == 4''','''    return m->mlp == MLP_GELU && m->kv_heads == m->heads && m->feedforward == 4''')
sub(p,'"is defined for feedforward = 4 x hidden and heads x head_size = hidden"','"is defined for mlp gelu, feedforward = 4 x hidden, heads x head_size = hidden and kv_heads = heads"')
sub('src/transformer/convention.h','the paper\'s model has feedforward 4*hidden and heads*head_size = hidden */','the paper\'s model has feedforward 4*hidden, heads*head_size = hidden, keys and\n                                       values for each head, and no gate in the MLP */')
p='src/passes/training_report.c'
sub(p,'''    out_string(o, "  not in these numbers: embedding, final norm, logits, loss, biases; attention is the dense rectangle\\n"
                  "  strategy''','''    out_printf(o, "  not in these numbers: embedding, final norm, logits, loss%s; attention is the %s\\n"
                  "  strategy''')
sub(p,'''nothing here: none\\n");''','''nothing here: none\\n",
               r->model.bias ? "" : ", biases", r->pairs == ATTENTION_CAUSAL ? "causal triangle" : "dense rectangle");''')
p='test/lit/passes/contract/strategy.tensor.kv_heads_not_divisible.bpir'
