def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/passes/distribute_transformer_training.c'
sub(p,'''    item_add(out, DIST_ORDER);
''','''    item_add(out, DIST_ORDER);
    item_add(out, DIST_ATTENTION);
''')
sub(p,'''    spec_workload(r->session.items[BIND_WORKLOAD], &d->workload);
''','''    if (d->model.norm || d->model.mlp || d->model.rotary || d->model.bias || d->model.kv_heads != d->model.heads)
        return pass_error(r, r->input, &d->op->s, NULL, NULL, "pass.input.operation", "%s derives blocks with layer_norm, gelu, all kv_heads, "
                          "no rotary and no bias so far", r->pass->name);
    spec_workload(r->session.items[BIND_WORKLOAD], &d->workload);
''')
p='src/passes/distribute_transformer_training_gate.c'
sub(p,'''        case DIST_SCALE: good''','''        case DIST_ATTENTION: good = ((const struct dist_attention *)s)->pairs == DIST_DENSE || gate_refuse(p->r, out, s, "it is not dense"); break;
        case DIST_SCALE: good''')
sub(p,'''seen[DIST_ORDER] != 1 || seen[DIST_SCALE] != 1 ||''','''seen[DIST_ORDER] != 1 || seen[DIST_ATTENTION] != 1 || seen[DIST_SCALE] != 1 ||''')
sub(p,'its mesh, order, scale, memory,','its mesh, order, attention, scale, memory,')
p='src/passes/plan_transformer_training.c'
sub(p,'''    item_add(r->output, PORTABLE_ORDER);
''','''    item_add(r->output, PORTABLE_ORDER);
    const struct dist_attention *attention = (const struct dist_attention *)find_once(r->input, DIST_ATTENTION);
    if (attention)
        ((struct portable_attention *)item_add(r->output, PORTABLE_ATTENTION))->pairs = attention->pairs;
''')
p='src/passes/plan_transformer_training_gate.c'
sub(p,'''/* Minimizes latency and peak memory, each for one. */''','''/* The pairs that the facts count are the chain's, or neither says which. */
static bool prove_attention(const struct pass_run *r)
{
    const struct dist_attention *from = NULL;
    const struct portable_attention *a = NULL;
    for (u32 i = 0; i < r->input->n_stmts; i++)
        from = r->input->stmts[i]->entity == DIST_ATTENTION ? (const struct dist_attention *)r->input->stmts[i] : from;
    for (u32 i = 0; i < r->output->n_stmts; i++)
        a = r->output->stmts[i]->entity == PORTABLE_ATTENTION ? (const struct portable_attention *)r->output->stmts[i] : a;
    return (from && a ? (from->pairs == DIST_CAUSAL) == (a->pairs == PORTABLE_CAUSAL) : !from && !a) ||
           gate_refuse(r, r->output, NULL, "it counts other pairs of a query and a key than its source");
}

/* Minimizes latency and peak memory, each for one. */''')
sub(p,'return prove_mesh(r) && prove_tasks(r)','return prove_mesh(r) && prove_attention(r) && prove_tasks(r)')
# fills of the spec in tests
p='test/unit/test_contract.c'
sub(p,'''.heads = 96, .head_size''','''.heads = 96, .kv_heads = 96, .head_size''')
p='test/unit/training.h'
sub(p,'''.heads = heads,
''','''.heads = heads, .kv_heads = heads,
''')
sub('test/checks/codes.sh','''    *.field.zero) grep''','''    *.field.zero | model.kv_heads.*) grep''')
