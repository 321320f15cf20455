#include "transformer/block.h"

/* Bytes of a gradient before it is sharded, operations of an optimizer step a weight: Calculon's Adam. */
enum { UNSHARDED_GRADIENT_BYTES = 4, OPTIMIZER_OPERATIONS = 11 };

struct derivation {
    struct exprs *x;
    struct arena *arena;
    const struct block_sizes *sizes;
    const struct block_switches *on;
    struct block *out;
    struct block_fault *fault;
    bool failed;
};

struct block_sizes block_sizes_of(struct exprs *x, const struct transformer_model *m, const struct training_workload *w,
                                  const struct training_strategy *s)
{
    return (struct block_sizes){
        .b = qty_number(x, w->microbatch), .S = qty_number(x, m->sequence), .H = qty_number(x, m->hidden),
        .F = qty_number(x, m->feedforward), .h = qty_number(x, m->heads), .s = qty_number(x, m->head_size),
        .k = qty_number(x, kv_heads_of_rank(m, s->tensor)), .r = qty_number(x, kv_replicas(m, s->tensor)),
        .t = qty_number(x, s->tensor), .e = w->element_bytes,
        .o = w->element_bytes < 4 ? 12 : 8,     /* two moments, and a four-byte copy of narrower weights */
        .d = qty_number(x, s->optimizer_sharding ? s->data : 1),
    };
}

struct block_switches block_switches_of(const struct transformer_model *m, const struct training_strategy *s,
                                        enum attention_pairs pairs)
{
    bool parallel = s->tensor > 1;
    return (struct block_switches){
        .parallel = parallel,
        .split = parallel && s->communication == COMMUNICATION_REDUCE_SCATTER_ALL_GATHER,
        .fused_activation = s->fused_activation,
        .input_regather = s->input_regather,
        .recompute = s->recompute,
        .causal = pairs == ATTENTION_CAUSAL,
        .norm = m->norm, .mlp = m->mlp, .rotary = m->rotary, .bias = m->bias, .dropout = m->dropout,
        .replicated = kv_replicas(m, s->tensor) > 1,
    };
}

bool block_switch_holds(const struct block_switches *on, enum layer_when when)
{
    bool full = on->recompute == RECOMPUTE_FULL, attention = full || on->recompute == RECOMPUTE_ATTENTION;
    bool regather = on->input_regather;
    const bool answers[WHENS] = {
        [WHEN_ALWAYS] = true,
        [WHEN_PARALLEL] = on->parallel,
        [WHEN_SPLIT] = on->split,
        [WHEN_FUSED] = on->fused_activation,
        [WHEN_FULL] = full,
        [WHEN_ATTENTION] = attention,
        [WHEN_ATTENTION_INPUT] = attention || regather,
        [WHEN_MLP_INPUT] = full || regather,
        [WHEN_ATTENTION_INPUT_REBUILT] = full || ((attention || regather) && on->split),
        [WHEN_MLP_INPUT_REBUILT] = full || (regather && on->split),
        [WHEN_ATTENTION_DROPOUT] = attention && on->dropout,
        [WHEN_CAUSAL] = on->causal,
        [WHEN_LAYER_NORM] = on->norm == NORM_LAYER,
        [WHEN_RMS_NORM] = on->norm == NORM_RMS,
        [WHEN_GELU] = on->mlp == MLP_GELU,
        [WHEN_SWIGLU] = on->mlp == MLP_SWIGLU,
        [WHEN_ROTARY] = on->rotary,
        [WHEN_BIAS] = on->bias,
        [WHEN_DROPOUT] = on->dropout,
        [WHEN_REPLICATED] = on->replicated,
    };
    return answers[when];
}

/* Keeps the first fault; later ones only follow from it. */
static void check(struct derivation *d, enum expr_status status, const char *layer, const char *term)
{
    if (!status || d->failed)
        return;
    d->failed = true;
    *d->fault = (struct block_fault){ layer, term, status };
}

static qty evaluate(struct derivation *d, const char *layer, const char *text, const struct formula_scope *scope)
{
    qty q = 0;
    if (!d->failed)
        check(d, formula_evaluate(d->x, text, scope, &q), layer, text);
    return q;
}

static void add(struct derivation *d, const char *layer, const char *term, qty *sum, qty part)
{
    if (!d->failed)
        check(d, qty_add(d->x, *sum, part, sum), layer, term);
}

static void subtract(struct derivation *d, const char *layer, const char *term, qty *sum, qty part)
{
    if (!d->failed)
        check(d, qty_sub(d->x, *sum, part, sum), layer, term);
}

static qty times(struct derivation *d, const char *layer, const char *term, qty a, qty b)
{
    qty product = 0;
    if (!d->failed)
        check(d, qty_mul(d->x, a, b, &product), layer, term);
    return product;
}

static void name_quantities(struct derivation *d, struct formula_name *names)
{
    const struct block_sizes *z = d->sizes;
    const struct formula_name sizes[BLOCK_SIZES] = {
        { "b", z->b }, { "S", z->S }, { "H", z->H }, { "F", z->F }, { "h", z->h }, { "s", z->s },
        { "k", z->k }, { "t", z->t }, { "r", z->r }, { "e", z->e }, { "o", z->o }, { "d", z->d },
    };
    memcpy(names, sizes, sizeof sizes);
    for (u32 i = 0; i < QUANTITIES; i++) {
        const struct quantity_row *row = &quantity_table[i];
        const struct formula_scope known = { names, BLOCK_SIZES + i, NULL };
        const char *formula = block_switch_holds(d->on, row->when) ? row->formula : row->otherwise;
        names[BLOCK_SIZES + i] = (struct formula_name){ row->name, evaluate(d, "block", formula, &known) };
    }
}

bool block_names(struct exprs *x, const struct block_sizes *sizes, const struct block_switches *on,
                 struct formula_name names[BLOCK_NAMES], struct block_fault *fault)
{
    struct derivation d = { x, NULL, sizes, on, NULL, fault, false };
    name_quantities(&d, names);
    return !d.failed;
}

static const struct primitive_row *primitive_of(const struct derivation *d, const struct layer_row *row)
{
    bool collective = row->primitive == PRIMITIVE_INPUT_COLLECTIVE || row->primitive == PRIMITIVE_OUTPUT_COLLECTIVE;
    enum { TO_SPLIT = PRIMITIVE_INPUT_COLLECTIVE_SPLIT - PRIMITIVE_INPUT_COLLECTIVE };
    return &primitive_table[row->primitive + (collective && d->on->split ? TO_SPLIT : 0)];
}

static struct block_work traffic(struct derivation *d, const char *layer, qty operations, struct traffic_row row,
                                 const struct formula_scope *scope)
{
    return (struct block_work){
        .operations = operations,
        .read = evaluate(d, layer, row.read, scope),
        .write = evaluate(d, layer, row.write, scope),
    };
}

/* Each collective carries the whole tensor once; in a group of one there are none. Gradients of weights that several
 * ranks hold alike are summed once an iteration, which is the work of that layer's optimizer. */
static void derive_collectives(struct derivation *d, const struct layer_row *row, const struct primitive_row *p,
                               struct block_layer *l)
{
    if (!d->on->parallel || p->engine != ENGINE_COLLECTIVE)
        return;
    qty message = times(d, row->name, "e*X", d->sizes->e, l->in);
    l->forward_kind = p->forward_kind;
    l->gradient_kind = p->gradient_kind;
    l->repeat_kind = l->repeated ? p->forward_kind : COLLECTIVE_NONE;
    l->forward.message = p->forward_kind ? message : 0;
    l->activation_gradient.message = p->gradient_kind ? message : 0;
    l->optimizer_kind = p->optimizer_kind;
    if (!p->optimizer_kind)
        return;
    l->optimizer = l->weight_gradient;
    l->optimizer.message = message;
    l->weight_gradient = (struct block_work){ 0 };
}

/* The largest rank's share of one layer's gradients and optimizer state; the optimizer's traffic is all counted as read. */
static void derive_optimizer(struct derivation *d, const struct layer_row *row, struct block_layer *l)
{
    qty share = 0;
    if (!d->failed)
        check(d, qty_ceildiv(d->x, l->weights, d->sizes->d, &share), row->name, "weights ceildiv d");
    l->gradient_bytes = times(d, row->name, "e*share", d->sizes->e, share);
    l->gradient_bytes_unsharded = times(d, row->name, "4*weights", UNSHARDED_GRADIENT_BYTES, l->weights);
    l->optimizer_bytes = times(d, row->name, "o*share", d->sizes->o, share);
    if (l->optimizer_kind)
        return;
    l->optimizer.operations = times(d, row->name, "11*share", OPTIMIZER_OPERATIONS, share);
    l->optimizer.read = l->optimizer_bytes;
}

static void derive_storage(struct derivation *d, const struct layer_row *row, struct block_layer *l)
{
    l->act_shared = row->space == SPACE_SHARED;
    l->act_stored = !block_switch_holds(d->on, row->act_dropped);
    l->out_stored = !block_switch_holds(d->on, row->out_dropped);
    l->working = l->act_shared ? 0 : l->act_bytes;
    l->stored = l->act_stored ? l->act_bytes : 0;
    if (!l->out_stored)
        subtract(d, row->name, "stored", &l->stored, l->out_bytes);
}

static void derive_layer(struct derivation *d, u32 i, const struct formula_scope *quantities)
{
    const struct layer_row *row = &layer_table[i];
    const struct primitive_row *p = primitive_of(d, row);
    struct block_layer *l = &d->out->layers[d->out->n_layers++];
    l->row = i;
    qty forward = evaluate(d, row->name, row->forward, quantities);
    qty additions = evaluate(d, row->name, row->activation_gradient, quantities);
    qty products = evaluate(d, row->name, row->weight_gradient, quantities);
    l->in = evaluate(d, row->name, row->in, quantities);
    l->out = evaluate(d, row->name, row->out, quantities);
    l->act = evaluate(d, row->name, row->act, quantities);
    l->grad = evaluate(d, row->name, row->grad, quantities);
    l->weights = evaluate(d, row->name, row->weights, quantities);
    const struct formula_name elements[] = {
        { "in", l->in }, { "out", l->out }, { "act", l->act }, { "grad", l->grad }, { "weights", l->weights },
        { "additions", additions },
    };
    const struct formula_scope scope = { elements, COUNT(elements), quantities };
    l->forward = traffic(d, row->name, forward, p->forward, &scope);
    l->activation_gradient = traffic(d, row->name, additions, p->activation_gradient, &scope);
    l->weight_gradient = traffic(d, row->name, products, p->weight_gradient, &scope);
    l->weight_bytes = evaluate(d, row->name, "e*weights", &scope);
    l->out_bytes = evaluate(d, row->name, "e*out", &scope);
    l->act_bytes = evaluate(d, row->name, p->act_bytes, &scope);
    l->activation_gradient_bytes = evaluate(d, row->name, p->grad_bytes, &scope);
    l->recomputed = block_switch_holds(d->on, row->recomputed);
    l->repeated = block_switch_holds(d->on, row->repeated);
    derive_collectives(d, row, p, l);
    derive_optimizer(d, row, l);
    derive_storage(d, row, l);
}

static void sum_memory(struct derivation *d, const struct formula_scope *quantities)
{
    struct block_memory *m = &d->out->memory;
    bool full = d->on->recompute == RECOMPUTE_FULL;
    for (u32 i = 0; i < d->out->n_layers; i++) {
        const struct block_layer *l = &d->out->layers[i];
        add(d, "block", "weights", &m->weights, l->weight_bytes);
        add(d, "block", "working", &m->working, l->working);
        if (!full)
            add(d, "block", "stored", &m->stored, l->stored);
        add(d, "block", "gradients", &m->gradients, l->gradient_bytes);
        add(d, "block", "gradients_unsharded", &m->gradients_unsharded, l->gradient_bytes_unsharded);
        add(d, "block", "activation_gradients", &m->activation_gradients, l->activation_gradient_bytes);
        add(d, "block", "optimizer", &m->optimizer, l->optimizer_bytes);
    }
    d->out->boundary = evaluate(d, "block", "e*Q", quantities);
    m->checkpoint = full ? d->out->boundary : 0;
}

static bool is_nothing(const struct block_work *w)
{
    return !w->operations && !w->read && !w->write && !w->message;
}

static void invoke(struct derivation *d, const struct block_layer *l, enum training_phase phase, enum block_collective kind,
                   const struct block_work *work)
{
    if (is_nothing(work))
        return;
    struct block *b = d->out;
    const struct layer_row *row = &layer_table[l->row];
    const struct primitive_row *p = &primitive_table[row->primitive];
    const char *name = training_phase_name(phase);
    b->invocations[b->n++] = (struct block_invocation){
        .layer = l->row, .phase = phase, .collective = kind, .work = *work, .primitive = p->name,
        .engine = phase == PHASE_OPTIMIZER && !kind ? ENGINE_VECTOR : p->engine,
        .name = kind ? arena_format(d->arena, "%s.%s.%s", row->name, name, block_collective_name(kind))
                     : arena_format(d->arena, "%s.%s", row->name, name),
    };
    struct block_work *sum = &b->phases[phase];
    add(d, "block", "operations", &sum->operations, work->operations);
    add(d, "block", "read", &sum->read, work->read);
    add(d, "block", "write", &sum->write, work->write);
    add(d, "block", "message", &sum->message, work->message);
    b->phase_counts[phase]++;
}

/* Forward in order; what is computed or sent again; gradients in reverse; the optimizer in order. */
static void order_invocations(struct derivation *d)
{
    const struct block_layer *first = d->out->layers, *end = first + d->out->n_layers;
    for (const struct block_layer *l = first; l < end; l++)
        invoke(d, l, PHASE_FORWARD, l->forward_kind, &l->forward);
    for (const struct block_layer *l = first; l < end; l++) {
        if (l->recomputed)
            invoke(d, l, PHASE_RECOMPUTE, COLLECTIVE_NONE, &l->forward);
        if (l->repeat_kind)
            invoke(d, l, PHASE_RECOMMUNICATION, l->repeat_kind, &l->forward);
    }
    for (const struct block_layer *l = end; l-- > first;) {
        invoke(d, l, PHASE_ACTIVATION_GRADIENT, l->gradient_kind, &l->activation_gradient);
        invoke(d, l, PHASE_WEIGHT_GRADIENT, COLLECTIVE_NONE, &l->weight_gradient);
    }
    for (const struct block_layer *l = first; l < end; l++)
        invoke(d, l, PHASE_OPTIMIZER, l->optimizer_kind, &l->optimizer);
}

bool block_derive(struct exprs *x, struct arena *arena, const struct block_sizes *sizes,
                  const struct block_switches *switches, struct block *out, struct block_fault *fault)
{
    struct derivation d = { x, arena, sizes, switches, out, fault, false };
    struct formula_name names[BLOCK_NAMES];
    const struct formula_scope scope = { names, BLOCK_NAMES, NULL };
    memset(out, 0, sizeof *out);
    name_quantities(&d, names);
    for (u32 i = 0; i < BLOCK_LAYERS; i++)
        if (block_switch_holds(switches, layer_table[i].present))
            derive_layer(&d, i, &scope);
    sum_memory(&d, &scope);
    order_invocations(&d);
    return !d.failed;
}

const char *training_phase_name(enum training_phase phase)
{
    static const char *const names[PHASES] = {
        "forward", "recompute", "recommunication", "activation_gradient", "weight_gradient", "optimizer",
    };
    return names[phase];
}
