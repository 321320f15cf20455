import re
def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/transformer/layers.def'
sub(p,'''          "e*in", "e*out",                    "e*(act + grad)", "0",           "0", "0")
PRIMITIVE(SOFTMAX''','''          "e*in", "e*out",                    "e*(in + grad)", "0",            "0", "0")
PRIMITIVE(SOFTMAX''')
p='src/passes/distribute_transformer_training_gate.c'
s=open(p).read()
s=s.replace(''' * 24BSH^2 + 4BS^2H for feed-forward 4H and attention width H; here with F and K = heads * size apart from them. Vector
 * operations per element: norm 9/14/7, softmax 5/8, GeLU 8/13, dropout 1/1, residual 1/2, a fork of u uses u.
 */''',''' * 24BSH^2 + 4BS^2H for feed-forward 4H and attention width H; here with F, K = heads * size and J, the width of keys and
 * values, apart from them. Vector operations per element: layer norm 9/14/7, RMSNorm 4/6/3, softmax 5/8, GeLU 8/13, SiLU and
 * product 5/11 (12 where SiLU is made again), rotation 6/6, bias 1/0/1, dropout 1/1, residual 1/2, a fork of u uses u.
 */''')
s=s.replace('''    u128 M, H, K, F, A, R, C, G;        /* rows; widths (K, F of one rank); boundary; its share; scores; feed-forward */
''','''    u128 M, H, K, J, F, A, R, C, G;     /* rows; widths (K, J, F of one rank); boundary; its share; scores; feed-forward */
    u128 dropout, rotary, bias, up;     /* 1 where the block has it; products of the MLP ahead of its activation: 1 or 2 */
    u128 replicas, Y;                   /* ranks that hold the same keys and values, and how many weights of them */
''')
s=s.replace('''    atom axis;                          /* of the mesh */
''','''    atom axes[2];                       /* of the mesh */
    u32 n_axes;
''')
s=s.replace('''    p->F = p->m.feedforward / t;
''','''    p->replicas = t > p->m.kv_heads ? t / p->m.kv_heads : 1;
    p->J = (u128)(t > p->m.kv_heads ? 1 : p->m.kv_heads / t) * p->m.head_size;
    p->F = p->m.feedforward / t;
    p->dropout = p->m.dropout;
    p->rotary = p->m.rotary;
    p->bias = p->m.bias;
    p->up = p->m.mlp == MLP_SWIGLU ? 2 : 1;
    p->Y = p->replicas > 1 ? 2 * p->J * (p->H + p->bias) : 0;
''')
s=s.replace('''    p->C = (u128)p->w.microbatch * (p->m.heads / t) * p->m.sequence * p->m.sequence;
''','''    u128 pairs = is_causal(r) ? (u128)p->m.sequence * (p->m.sequence + 1) / 2 : (u128)p->m.sequence * p->m.sequence;
    p->C = p->w.microbatch * (p->m.heads / t) * pairs;
''')
s=s.replace('''static void fill(struct proof *p)
{''','''static bool is_causal(const struct pass_run *r)
{
    const struct step_option *o = step_option(r->step, "attention");
    return o && !strcmp(o->value, "causal");
}

static void fill(struct proof *p)
{''')
# layers
i=s.index('/* A decoder block in order, and what each layer'); j=s.index('static bool prove_mesh(')
s=s[:i]+'''enum needs { ANY, LAYER_NORM, RMS_NORM, GELU, SWIGLU, ROTARY, BIAS, DROPOUT };

/* A decoder block, and what each layer computes; NULL: it communicates (Korthikanti et al. 2022, figures 4, 5). */
static const struct {
    const char *layer, *operation;
    enum needs needs;
} block_layers[] = {
    { "attention.fork", "transformer.fork", ANY },
    { "attention.layer_norm", "transformer.layer_norm", LAYER_NORM },
    { "attention.rms_norm", "transformer.rms_norm", RMS_NORM },
    { "attention.input_collective", NULL, ANY },
    { "attention.qkv_fork", "transformer.fork", ANY },
    { "attention.kv_replicas", NULL, ANY },
    { "attention.query", "transformer.linear", ANY },
    { "attention.key", "transformer.linear", ANY },
    { "attention.value", "transformer.linear", ANY },
    { "attention.qkv_bias", "transformer.bias_add", BIAS },
    { "attention.rotary", "transformer.rotary", ROTARY },
    { "attention.query_key", "transformer.batch_matmul", ANY },
    { "attention.softmax", "transformer.softmax", ANY },
    { "attention.probability_dropout", "transformer.dropout", DROPOUT },
    { "attention.probability_value", "transformer.batch_matmul", ANY },
    { "attention.output_projection", "transformer.linear", ANY },
    { "attention.output_collective", NULL, ANY },
    { "attention.output_bias", "transformer.bias_add", BIAS },
    { "attention.output_dropout", "transformer.dropout", DROPOUT },
    { "attention.residual", "transformer.residual_add", ANY },
    { "mlp.fork", "transformer.fork", ANY },
    { "mlp.layer_norm", "transformer.layer_norm", LAYER_NORM },
    { "mlp.rms_norm", "transformer.rms_norm", RMS_NORM },
    { "mlp.input_collective", NULL, ANY },
    { "mlp.gate_fork", "transformer.fork", SWIGLU },
    { "mlp.gate", "transformer.linear", SWIGLU },
    { "mlp.expand", "transformer.linear", ANY },
    { "mlp.expand_bias", "transformer.bias_add", BIAS },
    { "mlp.silu_multiply", "transformer.silu_multiply", SWIGLU },
    { "mlp.gelu", "transformer.gelu", GELU },
    { "mlp.contract", "transformer.linear", ANY },
    { "mlp.output_collective", NULL, ANY },
    { "mlp.output_bias", "transformer.bias_add", BIAS },
    { "mlp.output_dropout", "transformer.dropout", DROPOUT },
    { "mlp.residual", "transformer.residual_add", ANY },
};

static bool block_has(const struct proof *p, enum needs needs)
{
    const bool answers[] = { true, p->m.norm == NORM_LAYER, p->m.norm == NORM_RMS, p->m.mlp == MLP_GELU,
                             p->m.mlp == MLP_SWIGLU, p->m.rotary, p->m.bias, p->m.dropout };
    return answers[needs];
}

'''+s[j:]
i=s.index('static bool prove_mesh('); j=s.index('static bool prove_scale(')
s=s[:i]+'''/* All ranks along one axis, or those that hold the same keys and values along a second, minor one. */
static bool prove_mesh(struct proof *p, const struct dist_mesh *mesh)
{
    const struct item *out = p->r->output;
    const u32 *at = list_at(out, mesh->axes);
    p->n_axes = p->replicas > 1 ? 2 : 1;
    if (list_n(out, mesh->axes) != 3 * p->n_axes || pair_get(at + 1) != p->s.tensor / p->replicas ||
        (p->n_axes == 2 && pair_get(at + 4) != p->replicas))
        return gate_refuse(p->r, out, &mesh->s, "it is not the strategy's tensor group");
    for (u32 i = 0; i < p->n_axes; i++)
        p->axes[i] = at[3 * i];
    return true;
}

static bool prove_attention(const struct proof *p, const struct dist_attention *a)
{
    return a->pairs == (is_causal(p->r) ? DIST_CAUSAL : DIST_DENSE) ||
           gate_refuse(p->r, p->r->output, &a->s, "other pairs of a query and a key were asked for");
}

'''+s[j:]
s=s.replace('''s.dims[1].n == 1 && s.dims[1].axes[0] == p->axis && !s.dims''','''s.dims[1].n == p->n_axes &&
                   !memcmp(s.dims[1].axes, p->axes, p->n_axes * sizeof *p->axes) && !s.dims''')
# collective
i=s.index('/* Gathers ahead of split products'); j=s.index('static bool prove_local(')
s=s[:i]+'''/* Gathers ahead of split products, scatters behind them; their gradients the other way round. */
static const char *collective_of(const struct proof *p, bool is_input, u8 phase)
{
    bool forward = phase != DIST_ACTIVATION_GRADIENT;
    if (p->s.tensor == 1 || phase == DIST_OPTIMIZER)
        return NULL;
    if (!p->split)
        return forward == is_input ? NULL : "all_reduce";
    return forward == is_input ? "all_gather" : "reduce_scatter";
}

/* Gradients of keys' and values' weights that ranks hold alike are summed over those ranks, ahead of the optimizer. */
static bool prove_collective(const struct proof *p, const struct dist_task *t, const char *layer)
{
    const struct item *out = p->r->output;
    bool replicas = !strcmp(layer, "attention.kv_replicas");
    const char *kind = replicas ? (p->replicas > 1 && t->phase == DIST_OPTIMIZER ? "all_reduce" : NULL)
                                : collective_of(p, strstr(layer, "input_collective") != NULL, t->phase);
    bool reduces = kind && strcmp(kind, "all_gather") != 0;
    const atom *over = p->axes + replicas;
    u32 n = p->n_axes - replicas;
    u128 message = 0;
    if (!kind || t->body != DIST_COLLECTIVE || !intern_is(&out->ctx->names, t->operation, kind))
        return gate_refuse(p->r, out, &t->s, "its layer has no such collective in this phase");
    if (list_n(out, t->over) != n || memcmp(list_at(out, t->over), over, n * sizeof *over) != 0 ||
        t->reduction != (reduces ? REDUCTION_SUM : REDUCTION_NONE))
        return gate_refuse(p->r, out, &t->s, "it does not sum over its group of ranks, or not gather in it");
    return (number(p, t->work[DIST_MESSAGE], &message) && message == (replicas ? p->Y : p->A) * p->w.element_bytes) ||
           gate_refuse(p->r, out, &t->s, "its message is not the whole boundary, or not all that its ranks hold alike");
}

'''+s[j:]
s=s.replace('''    while (i < COUNT(block_layers) && !intern_is(&out->ctx->names, t->layer, block_layers[i].layer))
        i++;''','''    while (i < COUNT(block_layers) && !(block_has(p, block_layers[i].needs) && intern_is(&out->ctx->names, t->layer, block_layers[i].layer)))
        i++;''')
s=s.replace('"no layer of a block is called so"','"no layer of this block is called so"')
s=re.sub(r'        case DIST_ATTENTION: good = .*?\n','        case DIST_ATTENTION: good = prove_attention(p, (const struct dist_attention *)s); break;\n',s)
# totals
i=s.index('/* Weights of a rank: two norms'); j=s.index('/* ---- Memory ---- */')
s=s[:i]+'''/* What two norms hold, and operations an element of one: forward, activation gradient, weight gradient. */
static u128 norm_weights(const struct proof *p)
{
    return p->m.norm == NORM_LAYER ? 4 * p->H : 2 * p->H;
}

static u128 norm_operations(const struct proof *p, int phase)
{
    static const u8 layer[] = { 9, 14, 7 }, rms[] = { 4, 6, 3 };
    return p->m.norm == NORM_LAYER ? layer[phase] : rms[phase];
}

/* Of query, key and value; of the output; of one or two expansions; of the contraction. */
static u128 bias_weights(const struct proof *p)
{
    return p->bias * (p->K + 2 * p->J + 2 * p->H + p->up * p->F);
}

static u128 bias_elements(const struct proof *p)
{
    return p->bias * (p->M * (p->K + 2 * p->J + p->up * p->F) + 2 * p->R);
}

/* Weights of a rank: two norms, query, key, value, output, two or three of the MLP, biases. */
static u128 weights(const struct proof *p)
{
    return 2 * p->H * (p->K + p->J) + (p->up + 1) * p->H * p->F + norm_weights(p) + bias_weights(p);
}

/* The rank's share of sharded state, rounded up tensor by tensor; query, key and value's biases are one. */
static u128 share(const struct proof *p)
{
    u128 d = p->s.optimizer_sharding ? p->s.data : 1, rest = d - 1;
    u128 biases = (p->K + 2 * p->J + rest) / d + (p->up * p->F + rest) / d + 2 * ((p->H + rest) / d);
    return 2 * ((norm_weights(p) / 2 + rest) / d) + 2 * ((p->H * p->K + rest) / d) + 2 * ((p->H * p->J + rest) / d) +
           (p->up + 1) * ((p->H * p->F + rest) / d) + p->bias * biases;
}

static u128 state_bytes(const struct proof *p)
{
    return (p->w.element_bytes < 4 ? 12 : 8) * share(p);
}

/* Masks of dropout are of one byte an element: one of the scores, two of the boundary. */
static u128 masks(const struct proof *p)
{
    return p->dropout * (p->C + 2 * p->R);
}

/* Queries and keys, as they are turned. */
static u128 turned(const struct proof *p)
{
    return p->rotary * p->M * (p->K + p->J);
}

/* Operands and results of each layer, e bytes an element; a collective reads and writes what it exchanges. */
static bool prove_forward(const struct proof *p, u128 forward)
{
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J, collectives = (p->split ? 4 : 2) * p->X * e;
    u128 read = e * ((6 + 2 * p->dropout) * p->R + (3 + p->up) * p->A + 2 * MK + 2 * MJ + (2 + p->dropout) * p->C +
                     (p->up + 1) * p->G + turned(p) + weights(p));
    u128 write = e * ((4 + 2 * p->dropout) * p->R + 2 * p->A + 2 * MK + 2 * MJ + (2 + p->dropout) * p->C + (p->up + 1) * p->G +
                      turned(p)) + masks(p);
    u128 repeated = (p->split ? (p->s.recompute != RECOMPUTE_NONE || p->s.input_regather) + (is_full(p) || p->s.input_regather) : 0) +
                    (is_full(p) ? 2 : 0);
    u128 again = is_full(p) ? forward - p->reduce : 0, again_read = is_full(p) ? read : 0, again_write = is_full(p) ? write : 0;
    if (p->s.recompute == RECOMPUTE_ATTENTION) {
        again = 2 * p->C * p->m.head_size + (5 + p->dropout) * p->C;
        again_read = e * (MK + MJ + (1 + p->dropout) * p->C);
        again_write = e * (2 + p->dropout) * p->C + p->dropout * p->C;
    }
    return prove_phase(p, DIST_FORWARD, forward, read + collectives, write + collectives) &&
           prove_phase(p, DIST_RECOMPUTE, again, again_read, again_write) &&
           prove_phase(p, DIST_RECOMMUNICATION, is_full(p) ? p->reduce : 0, repeated * p->X * e, repeated * p->X * e);
}

/* Of the activation function, forward and its gradient: GeLU, or SiLU and product, in the gradient made again if fused. */
static u128 activation_operations(const struct proof *p, bool gradient)
{
    if (p->m.mlp == MLP_GELU)
        return (gradient ? 13 : 8) * p->G;
    return (gradient ? 11 + p->s.fused_activation : 5) * p->G;
}

/* As docs/deviations.md keeps them: what a gradient reads is not always all that it needs. RMSNorm and SiLU read it all. */
static bool prove_gradient(const struct proof *p, u128 products, u128 scores)
{
    bool gated = p->m.mlp == MLP_SWIGLU;
    u128 gradient = products + 4 * scores + (8 + p->dropout) * p->C + (8 + 2 * p->dropout + 2 * norm_operations(p, 1)) * p->R +
                    (gated ? 5 : 3) * p->A + 6 * turned(p) + activation_operations(p, true) + p->reduce;
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J, collectives = (p->split ? 4 : 2) * p->X * e;
    u128 kept = gated ? 2 * p->G + (p->s.fused_activation ? 0 : p->G) : 0, norms = p->m.norm == NORM_RMS ? 2 * p->R : 0;
    u128 read = e * ((8 + 2 * p->dropout) * p->R + norms + (gated ? 7 : 5) * p->A + 3 * MK + 4 * MJ + (3 + p->dropout) * p->C +
                     (p->up + 1) * p->G + kept + turned(p) + weights(p) - bias_weights(p)) + masks(p);
    u128 write = e * ((8 + 2 * p->dropout) * p->R + (gated ? 7 : 5) * p->A + MK + (1 + p->dropout) * p->C + (p->up + 1) * p->G + turned(p));
    return prove_phase(p, DIST_ACTIVATION_GRADIENT, gradient, read + collectives, write + collectives);
}

static bool prove_totals(const struct proof *p)
{
    u128 products = 4 * p->M * p->H * (p->K + p->J) + 2 * (p->up + 1) * p->M * p->H * p->F, scores = 2 * p->C * p->m.head_size;
    u128 forward = products + 2 * scores + (5 + p->dropout) * p->C + (2 * norm_operations(p, 0) + 2 * p->dropout + 2) * p->R +
                   6 * turned(p) + activation_operations(p, false) + bias_elements(p) + p->reduce;
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J;
    u128 read = e * (4 * p->R + (5 + p->up) * p->A + 2 * MK + 2 * MJ + (p->up + 1) * p->G + bias_elements(p));
    u128 alike = (p->Y + p->replicas - 1) / p->replicas * (p->replicas - 1);
    return prove_forward(p, forward) && prove_gradient(p, products, scores) &&
           prove_phase(p, DIST_WEIGHT_GRADIENT, products + 2 * norm_operations(p, 2) * p->R + bias_elements(p), read, e * weights(p)) &&
           prove_phase(p, DIST_OPTIMIZER, 11 * share(p) + alike, state_bytes(p) + e * p->Y, e * p->Y);
}

'''+s[j:]
s=s.replace('''    if (attention)
        bytes -= e * 2 * p->C + p->C;
''','''    if (attention)
        bytes -= e * (1 + p->dropout) * p->C + p->dropout * p->C;
''')
s=s.replace('''    u128 inner = 4 * p->M * p->K + 2 * p->C + p->G + unfused, collectives = p->split ? 4 * p->R : 2 * p->X;
''','''    bool gated = p->m.mlp == MLP_SWIGLU;
    u128 widths = 2 * p->M * (p->K + p->J), collectives = p->split ? 4 * p->R : 2 * p->X;
    u128 inner = widths + (1 + p->dropout) * p->C + (gated ? 3 : 1) * p->G + unfused;
    u128 gradients = widths + 2 * p->C + (gated ? 3 * p->G : p->G + unfused);
''')
s=s.replace('e * (4 * p->R + 2 * p->A + inner + collectives) + masks(p)','e * (4 * p->R + 2 * p->A + gradients + collectives) + masks(p)')
open(p,'w').write(s)
