#include "transformer/inference.h"

#include "transformer/formula.h"

const struct inference_quantity_row inference_quantity_table[INFERENCE_QUANTITIES] = {
#define QUANTITY(name, formula, when, otherwise, meaning) { name, formula, INFERENCE_##when, otherwise, meaning },
#include "transformer/inference.def"
#undef QUANTITY
};

const struct inference_task_row inference_task_table[INFERENCE_TASKS] = {
#define TASK(layer, operation, engine, when, operations, in, out, weights, source) \
    { layer, operation, ENGINE_##engine, INFERENCE_##when, operations, in, out, weights, source },
#include "transformer/inference.def"
#undef TASK
};

const struct inference_workspace_row inference_workspace_table[INFERENCE_WORKSPACES] = {
#define WORKSPACE(what, when, elements) { what, INFERENCE_##when, elements },
#include "transformer/inference.def"
#undef WORKSPACE
};

struct inference_sizes inference_sizes_of(struct exprs *x, const struct transformer_model *m, const struct inference_step *w,
                                          const struct training_strategy *s)
{
    return (struct inference_sizes){
        .b = qty_number(x, w->batch), .q = qty_number(x, w->query), .c = qty_number(x, w->context),
        .H = qty_number(x, m->hidden), .F = qty_number(x, m->feedforward), .h = qty_number(x, m->heads),
        .g = qty_number(x, kv_heads_of_rank(m, s->tensor)), .s = qty_number(x, m->head_size),
        .t = qty_number(x, s->tensor), .e = w->element_bytes,
    };
}

struct inference_switches inference_switches_of(const struct transformer_model *m, const struct inference_step *w,
                                                const struct training_strategy *s)
{
    return (struct inference_switches){ .on = {
        [INFERENCE_ALWAYS] = true,
        [INFERENCE_PARALLEL] = s->tensor > 1,
        [INFERENCE_LAYER_NORM] = m->norm == NORM_LAYER,
        [INFERENCE_RMS_NORM] = m->norm == NORM_RMS,
        [INFERENCE_GELU] = m->mlp == MLP_GELU,
        [INFERENCE_SWIGLU] = m->mlp == MLP_SWIGLU,
        [INFERENCE_ROTARY] = m->rotary,
        [INFERENCE_BIAS] = m->bias,
        [INFERENCE_CAUSAL] = w->pairs == ATTENTION_CAUSAL,
    } };
}

/* ---- Derivation ---- */

enum { SIZES = 10 };

struct derivation {
    struct exprs *x;
    struct arena *arena;
    const struct inference_switches *switches;
    struct inference_block *out;
    struct block_fault *fault;
    struct formula_name names[SIZES + INFERENCE_QUANTITIES];
    struct formula_scope scope;
    bool failed;
};

static bool check(struct derivation *d, enum expr_status status, const char *layer, const char *term)
{
    if (status && !d->failed) {
        *d->fault = (struct block_fault){ layer, term, status };
        d->failed = true;
    }
    return !status;
}

static qty evaluate(struct derivation *d, const char *layer, const char *text)
{
    qty q = 0;
    if (!d->failed)
        check(d, formula_evaluate(d->x, text, &d->scope, &q), layer, text);
    return q;
}

static void add(struct derivation *d, const char *layer, const char *term, qty *sum, qty more)
{
    if (!d->failed)
        check(d, qty_add(d->x, *sum, more, sum), layer, term);
}

static qty bytes(struct derivation *d, const char *layer, qty elements, const char *term)
{
    qty q = 0;
    if (!d->failed)
        check(d, qty_mul(d->x, d->names[SIZES - 1].value, elements, &q), layer, term);
    return q;
}

static void name_quantities(struct derivation *d, const struct inference_sizes *z)
{
    const struct formula_name sizes[SIZES] = {
        { "b", z->b }, { "q", z->q }, { "c", z->c }, { "H", z->H }, { "F", z->F },
        { "h", z->h }, { "g", z->g }, { "s", z->s }, { "t", z->t }, { "e", z->e },
    };
    memcpy(d->names, sizes, sizeof sizes);
    d->scope = (struct formula_scope){ .names = d->names, .n = SIZES };
    for (u32 i = 0; i < INFERENCE_QUANTITIES; i++) {
        const struct inference_quantity_row *row = &inference_quantity_table[i];
        d->out->values[i] = evaluate(d, "block", d->switches->on[row->when] ? row->formula : row->otherwise);
        d->names[d->scope.n++] = (struct formula_name){ row->name, d->out->values[i] };
    }
    d->out->pairs = evaluate(d, "block", "P");
}

static void derive_task(struct derivation *d, u32 i, const char *phase)
{
    const struct inference_task_row *row = &inference_task_table[i];
    bool collective = row->engine == ENGINE_COLLECTIVE;
    struct inference_call *call = &d->out->calls[d->out->n++];
    qty in = evaluate(d, row->layer, row->in), out = evaluate(d, row->layer, row->out);
    call->row = i;
    call->name = collective ? arena_format(d->arena, "%s.%s.%s", row->layer, phase, row->operation)
                            : arena_format(d->arena, "%s.%s", row->layer, phase);
    call->weights = evaluate(d, row->layer, row->weights);
    call->work.operations = evaluate(d, row->layer, row->operations);
    if (collective) {
        call->work.message = bytes(d, row->layer, in, "e*in");
    } else {
        add(d, row->layer, "in + weights", &in, call->weights);
        call->work.read = bytes(d, row->layer, in, "e*(in + weights)");
        call->work.write = bytes(d, row->layer, out, "e*out");
    }
    add(d, "block", "operations", &d->out->total.operations, call->work.operations);
    add(d, "block", "read", &d->out->total.read, call->work.read);
    add(d, "block", "write", &d->out->total.write, call->work.write);
    add(d, "block", "message", &d->out->total.message, call->work.message);
}

static void derive_memory(struct derivation *d)
{
    qty weights = 0, largest = 0, workspace = evaluate(d, "block", "T");
    for (u32 i = 0; i < d->out->n; i++)
        add(d, "block", "weights", &weights, d->out->calls[i].weights);
    for (u32 i = 0; i < INFERENCE_WORKSPACES; i++) {
        const struct inference_workspace_row *row = &inference_workspace_table[i];
        if (d->switches->on[row->when] && !d->failed)
            check(d, qty_max(d->x, largest, evaluate(d, "workspace", row->elements), &largest), "workspace", row->elements);
    }
    add(d, "block", "workspace", &workspace, largest);
    d->out->memory = (struct inference_memory){
        .weights = bytes(d, "block", weights, "e*weights"),
        .kv_cache = evaluate(d, "block", "2*b*c*V*e"),
        .workspace = bytes(d, "block", workspace, "e*workspace"),
        .boundary = evaluate(d, "block", "e*T"),
    };
}

bool inference_derive(struct exprs *x, struct arena *arena, const struct inference_sizes *sizes,
                      const struct inference_switches *switches, const char *phase, struct inference_block *out,
                      struct block_fault *fault)
{
    struct derivation d = { .x = x, .arena = arena, .switches = switches, .out = out, .fault = fault };
    memset(out, 0, sizeof *out);
    name_quantities(&d, sizes);
    for (u32 i = 0; i < INFERENCE_TASKS; i++)
        if (switches->on[inference_task_table[i].when])
            derive_task(&d, i, phase);
    derive_memory(&d);
    return !d.failed;
}
