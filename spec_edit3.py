def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/transformer/contract.def'
sub(p,'''RULE(WORKLOAD_ZERO,''','''RULE(MODEL_KV_HEADS, "model.kv_heads.not_divisible",
     "Each head of keys and values serves the same number of attention heads. Choose a divisor of heads.")
RULE(WORKLOAD_ZERO,''')
sub(p,'''RULE(TENSOR_SEQUENCE,''','''RULE(TENSOR_KV_HEADS, "strategy.tensor.kv_heads_not_divisible",
     "Heads of keys and values are not split. Either each tensor-parallel rank takes the same number of them, or the same "
     "number of ranks hold each, whole. Choose a degree that divides them or that they divide.")
RULE(TENSOR_SEQUENCE,''')
p='src/transformer/contract.c'
sub(p,'''static void check_tensor(struct check *c)
{''','''/* Degrees that share out whole heads and keep heads of keys and values whole: divisors of heads one way or the other. */
static const char *legal_degrees(struct check *c)
{
    u64 heads = c->m->heads, kv = c->m->kv_heads, shown = 0;
    struct out o;
    out_memory(&o);
    out_printf(&o, "legal are the degrees that divide heads %" PRIu64 ", and divide kv_heads %" PRIu64
               " or are a multiple of it:", heads, kv);
    for (u64 d = 1; d <= heads && d < DIVISOR_SEARCH && shown <= DIVISORS_SHOWN; d++)
        if (heads % d == 0 && (kv % d == 0 || d % kv == 0) && shown++ < DIVISORS_SHOWN)
            out_printf(&o, " %" PRIu64, d);
    if (shown > DIVISORS_SHOWN || heads >= DIVISOR_SEARCH)
        out_string(&o, " …");
    const char *text = arena_copy(c->arena, o.data, o.n);
    out_free(&o);
    return text;
}

static void check_kv_heads(struct check *c)
{
    u64 heads = c->m->heads, kv = c->m->kv_heads, t = c->s->tensor;
    if (heads % kv) {
        find(c, RULE_MODEL_KV_HEADS, CONTRACT_MODEL, "kv_heads", heads % kv,
             TEXT(c, "heads %" PRIu64 " is not divisible by kv_heads %" PRIu64 ": remainder %" PRIu64, heads, kv, heads % kv),
             divisors(c, "heads", heads));
        return;
    }
    u64 rest = kv >= t ? kv % t : t % kv;
    if (rest && heads % t == 0)
        find(c, RULE_TENSOR_KV_HEADS, CONTRACT_STRATEGY, "tensor", rest,
             TEXT(c, "kv_heads %" PRIu64 " and tensor %" PRIu64 ": neither divides the other, remainder %" PRIu64, kv, t, rest),
             legal_degrees(c));
}

static void check_tensor(struct check *c)
{
    check_kv_heads(c);''')
sub(p,'''    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "head_size",''','''    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "kv_heads", c->m->kv_heads);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "head_size",''')
