/*
 * plan-transformer-inference: a step of inference with its exact work, what each task needs, and the buffers of one rank
 * of a pipeline stage: weights and cache of the block at work and of the stage's other blocks, a workspace, the boundary
 * in and out. Weights are operands of the tasks that have some; what happens to cache and workspace are effects.
 */
#include "passes/emit.h"
#include "passes/passes.h"
#include "passes/plan.h"

#include "ir/verify.h"

struct derivation {
    struct plan plan;
    struct pass_run *r;
    u64 blocks;                 /* of a stage */
    atom weights, workspace;
    const struct dist_task *first, *last;
};

/* ---- What the pass takes ---- */

static const struct dist_value *value_of(const struct derivation *d, atom name)
{
    return (const struct dist_value *)item_value(d->r->input, name);
}

static bool check_scale(struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct dist_scale *scale = d->plan.scale;
    struct transformer_model model = { 0 };
    u64 n;
    if (!plan_number(r->input, scale->blocks, &model.blocks) || !plan_number(r->input, scale->batch, &n) ||
        !plan_number(r->input, scale->query, &n) || !plan_number(r->input, scale->context, &n))
        return pass_error(r, r->input, &scale->s, NULL, NULL, "pass.input.scale",
                          "the plan needs `scale (blocks B, batch N, query Q, context C)` as numbers");
    d->blocks = model.blocks / (d->plan.strategy.pipeline ? d->plan.strategy.pipeline : 1);
    return contract_check_inference_stage(&model, &d->plan.strategy, &r->ctx->arena, plan_report, &d->plan);
}

/* A program written by hand may say less, or more, than a plan can hold. */
static bool check_task(const struct derivation *d, const struct dist_task *t)
{
    const struct item *in = d->r->input;
    const char *name = stmt_text(in, &t->s);
    bool sends = t->body == DIST_COLLECTIVE;
    if (t->body != DIST_LOCAL && !sends)
        return pass_error(d->r, in, &t->s, NULL, NULL, "pass.input.task", "%s plans local and collective tasks; %s is a %s",
                          d->r->pass->name, name, dist_body_enum.words[t->body].text);
    if (sends && !t->work[DIST_MESSAGE])
        return pass_error(d->r, in, &t->s, NULL, NULL, "pass.input.task", "%s sends, and its work says no `message`", name);
    if (t->phase != DIST_PREFILL && t->phase != DIST_DECODE)
        return pass_error(d->r, in, &t->s, NULL, NULL, "pass.input.task", "%s is of phase %s; a step of inference is prefill or decode", name,
                          dist_phase_enum.words[t->phase].text);
    for (u32 i = 0; i < list_n(in, t->results); i++) {
        atom value = list_at(in, t->results)[i];
        if (!item_value(d->r->output, value))
            return pass_error(d->r, in, &t->s, NULL, context_text(d->r->ctx, value), "pass.input.task",
                              "%s plans chains whose values are inputs, outputs and the cache of the block; %s of %s is none of them",
                              d->r->pass->name, stmt_text(in, item_value(in, value)), name);
    }
    return true;
}

/* ---- Buffers ---- */

static bool local_bytes(struct derivation *d, const struct dist_value *v, qty *out)
{
    return plan_local_bytes(&d->plan, v, out) || pass_error(d->r, d->r->input, &v->s, NULL, NULL, "pass.quantity",
                                                            "the bytes of %s on one rank are not exact", stmt_text(d->r->input, &v->s));
}

/* What a rank keeps of a fact of the stage's other blocks. */
static bool emit_others(struct derivation *d, const char *name, u8 role, qty bytes)
{
    const struct stmt *from = &d->plan.memory->s;
    qty all = 0;
    enum expr_status status = qty_mul(d->r->ctx->exprs, bytes, qty_number(d->r->ctx->exprs, d->blocks - 1), &all);
    if (status)
        return pass_error(d->r, d->r->input, from, NULL, NULL, "pass.quantity", "the blocks of a stage times their bytes %s", expr_status_text(status));
    plan_buffer(&d->plan, emit_atom(d->r, name), role, PORTABLE_PERSISTENT, all, REF_SYMBOL(from->name));
    return true;
}

/* The memory facts say what the values are on a rank: two statements of one thing must agree. */
static bool check_fact(struct derivation *d, const struct dist_value *v, const char *fact, qty says, qty bytes)
{
    return says == bytes || pass_error(d->r, d->r->input, &d->plan.memory->s, NULL, fact, "pass.input.memory", "`%s` is %s, and %s has %s bytes on one rank", fact,
                                       qty_text(d->r->ctx, says), stmt_text(d->r->input, &v->s), qty_text(d->r->ctx, bytes));
}

static bool emit_declared(struct derivation *d, const struct dist_value *v)
{
    const struct dist_memory *m = d->plan.memory;
    bool cache = v->role == DIST_KV_CACHE;
    qty bytes;
    if (v->role != DIST_INPUT && !cache)
        return pass_error(d->r, d->r->input, &v->s, NULL, NULL, "pass.input.task", "%s plans chains between an input and an output, and a cache; %s is none",
                          d->r->pass->name, stmt_text(d->r->input, &v->s));
    if (!local_bytes(d, v, &bytes) || !check_fact(d, v, cache ? "kv_cache" : "boundary", cache ? m->kv_cache : m->boundary, bytes))
        return false;
    plan_buffer(&d->plan, v->s.name, cache ? PORTABLE_STATE : PORTABLE_INPUT, cache ? PORTABLE_PERSISTENT : PORTABLE_DEVICE_LOCAL, bytes, 0);
    return true;
}

static bool emit_output(struct derivation *d, const struct dist_output *o)
{
    const struct dist_value *v = value_of(d, o->value);
    qty bytes;
    if (!local_bytes(d, v, &bytes) || !check_fact(d, v, "boundary", d->plan.memory->boundary, bytes))
        return false;
    plan_buffer(&d->plan, v->s.name, PORTABLE_OUTPUT, PORTABLE_DEVICE_LOCAL, bytes, 0);
    return true;
}

static bool emit_buffers(struct derivation *d)
{
    const struct item *in = d->r->input;
    const struct dist_memory *m = d->plan.memory;
    u32 from = REF_SYMBOL(m->s.name);
    bool good = true;
    for (u32 i = 0; good && i < in->n_stmts; i++)
        if (in->stmts[i]->entity == DIST_VALUE)
            good = emit_declared(d, (const struct dist_value *)in->stmts[i]);
    plan_buffer(&d->plan, d->weights, PORTABLE_CONSTANT, PORTABLE_PERSISTENT, m->weights, from);
    plan_buffer(&d->plan, d->workspace, PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, m->workspace, from);
    for (u32 i = 0; good && i < in->n_stmts; i++)
        if (in->stmts[i]->entity == DIST_OUTPUT)
            good = emit_output(d, (const struct dist_output *)in->stmts[i]);
    return good && emit_others(d, "other_weights", PORTABLE_CONSTANT, m->weights) && emit_others(d, "other_kv_caches", PORTABLE_STATE, m->kv_cache);
}

/* ---- Tasks ---- */

static bool is_operation(const struct derivation *d, const struct dist_task *t, const char *name)
{
    return intern_is(&d->r->ctx->names, t->operation, name);
}

/* Products, biases and norms; neither the cache nor the core of attention. */
static bool has_weights(const struct derivation *d, const struct dist_task *t)
{
    return is_operation(d, t, "transformer.linear") || is_operation(d, t, "transformer.bias_add") ||
           is_operation(d, t, "transformer.layer_norm") || is_operation(d, t, "transformer.rms_norm");
}

static u32 implementation_of(struct derivation *d, const struct dist_task *t)
{
    struct plan *p = &d->plan;
    if (t->body == DIST_COLLECTIVE)
        return plan_implement(p, context_text(d->r->ctx, t->operation), "collective-library", "network-engine", NULL);
    if (is_operation(d, t, "transformer.attention"))
        return plan_implement(p, "attention", "flash-attention", "paged-attention", "dense-attention");
    if (is_operation(d, t, "transformer.kv_cache_write"))
        return plan_implement(p, "kv-cache-write", "fused-kv-write", "vector-engine", NULL);
    if (is_operation(d, t, "transformer.linear"))
        return plan_implement(p, "matrix-multiply", "tensor-core", "matrix-engine", NULL);
    return plan_implement(p, "vector-elementwise", "vector-engine", NULL, NULL);
}

/* What the chain's task reads, and its weights. */
static u32 operands_of(struct derivation *d, const struct dist_task *t)
{
    const struct item *in = d->r->input;
    u32 n = list_n(in, t->operands), *words = ARENA_ARRAY(&d->r->output->arena, u32, n + 1);
    memcpy(words, list_at(in, t->operands), n * sizeof *words);
    if (d->plan.memory->weights && has_weights(d, t))
        words[n++] = d->weights;
    return n ? item_list(d->r->output, words, n) : 0;
}

/* The first task fills the workspace, the last empties it into the output, and the cache is filled from it. */
static enum effect use_of_workspace(const struct derivation *d, const struct dist_task *t)
{
    return t == d->first ? EFFECT_WRITE : t == d->last || is_operation(d, t, "transformer.kv_cache_write") ? EFFECT_READ : EFFECT_UPDATE;
}

/* What the chain's task does to the cache, and what it does to the workspace. */
static u32 effects_of(struct derivation *d, const struct dist_task *t)
{
    const struct item *in = d->r->input;
    u32 n = 0, more = list_n(in, t->more->effects), *words = ARENA_ARRAY(&d->r->output->arena, u32, more + 2);
    if (d->plan.memory->workspace) {
        words[n++] = use_of_workspace(d, t);
        words[n++] = REF_VALUE(d->workspace);
    }
    memcpy(words + n, list_at(in, t->more->effects), more * sizeof *words);
    return n + more ? item_list(d->r->output, words, n + more) : 0;
}

static bool emit_task(struct derivation *d, const struct dist_task *t)
{
    if (!check_task(d, t))
        return false;
    struct portable_task *p = plan_task(&d->plan, t);
    u32 effects = effects_of(d, t);
    p->operands = operands_of(d, t);
    p->results = plan_copy(&d->plan, t->results);
    if (effects)
        portable_more(d->r->output, p)->effects = effects;
    p->implement = implementation_of(d, t);
    return true;
}

static void find_ends(struct derivation *d)
{
    const struct item *in = d->r->input;
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)in->stmts[i];
        if (t->s.entity != DIST_TASK)
            continue;
        d->first = d->first ? d->first : t;
        d->last = t;
    }
}

static bool run(struct pass_run *r)
{
    struct derivation d = { .plan = { .r = r }, .r = r, .weights = emit_atom(r, "weights"), .workspace = emit_atom(r, "workspace") };
    spec_inference_strategy(r->session.items[BIND_STRATEGY], &d.plan.strategy);
    if (!plan_accept(&d.plan) || !check_scale(&d))
        return false;
    find_ends(&d);
    plan_head(&d.plan);
    bool good = emit_buffers(&d);
    for (u32 i = 0; good && i < r->input->n_stmts; i++)
        if (r->input->stmts[i]->entity == DIST_TASK)
            good = emit_task(&d, (const struct dist_task *)r->input->stmts[i]);
    plan_objectives(&d.plan);
    return good;
}

static const struct relation relations[] = {
    { "task", "task", LINEAGE_LOWERED, "name, work, phase, layer, order, ranks, values and effects on the cache" },
    { "memory", "buffer", LINEAGE_LOWERED, "weights and workspace of a block; weights and caches of the stage's others" },
    { "value", "buffer", LINEAGE_LOWERED, "bytes on one rank, role" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const preserves[] = { &work_totals, &engine_counts, &inference_totals, NULL };

const struct pass plan_transformer_inference = {
    .name = "plan-transformer-inference", .revision = 1, .from = LAYER_DIST, .to = LAYER_PORTABLE,
    .bindings = NEEDS(BIND_STRATEGY), .suffix = "plan", .relations = relations, .preserves = preserves, .run = run, .gate = plan_transformer_inference_gate,
    .doc = "Exact work and needs of a step of inference, and the buffers of a pipeline stage: weights, cache, workspace, boundary.",
};
