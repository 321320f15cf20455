/*
 * distribute-transformer-inference: each step of a request (prefill, decode) as the chain of tasks of one decoder block
 * on one tensor-parallel group. Values stand at the block's boundary, and the KV cache beside it, which one task writes
 * in place, whether or not the model names the next version, and another reads; collectives have no operands; every task
 * runs after the one above it.
 */
#include "dialects/dist/dist.h"
#include "passes/decoder.h"
#include "passes/emit.h"
#include "passes/inference_report.h"
#include "passes/passes.h"

#include "ir/implied.h"
#include "ir/sharding.h"
#include "ir/verify.h"

struct derivation {
    struct pass_run *r;
    struct decoder decoder;
    const struct model_op *op;
    struct transformer_model model;
    struct training_strategy strategy;
    struct inference_request request;
    struct inference_step step;
    atom input, output, cache;
    u32 axes[2], n_axes;                        /* of the mesh: heads of keys and values are dealt out over the first */
    bool cache_split;
};

/* ---- Parts ---- */

enum { MAX_PARTS = 4096 };

/* Each is a program of its own; what a request may ask for is bounded by the model, and this. */
static const char *part(const struct pass_run *r)
{
    struct inference_request request;
    struct inference_step step;
    if (spec_workload_of(r->session.items[BIND_WORKLOAD])->mode == SESSION_TRAINING)
        return r->part ? NULL : r->pass->suffix;
    spec_request(r->session.items[BIND_WORKLOAD], r->step, &request);
    if (!request_step(&request, r->part, &step))
        return NULL;
    if (!step.decode && request_prefills(&request) == 1)
        return r->pass->suffix;
    return arena_format(&r->ctx->arena, "%s_%llu", step.decode ? "decode" : "prefill", (unsigned long long)step.context);
}

/* ---- What the pass takes ---- */

static const struct model_value *value_of(const struct derivation *d, atom name)
{
    return (const struct model_value *)item_value(d->r->input, name);
}

static void name_values(struct derivation *d)
{
    const struct item *in = d->r->input;
    const u32 *operands = list_at(in, d->op->operands), *results = list_at(in, d->op->results);
    d->input = operands[0];
    d->cache = operands[1];
    d->output = results[0];
}

/* What a decoder reads and extends outlives the program; an input would not. */
static bool check_cache_role(const struct derivation *d, const struct model_value *kv)
{
    const struct item *in = d->r->input;
    if (kv->role == MODEL_KV_CACHE)
        return true;
    pass_error(d->r, in, &kv->s, NULL, context_text(in->ctx, kv->s.name), "pass.boundary.role", "%s is %s, and the cache of a decoder a kv_cache",
               stmt_text(in, &kv->s), model_role_enum.words[kv->role].text);
    pass_note(d->r, "write `kv_cache %s`", stmt_text(in, &kv->s));
    return false;
}

static bool check_boundary(const struct derivation *d)
{
    const struct decoder *w = &d->decoder;
    const struct model_value *v = value_of(d, d->input), *kv = value_of(d, d->cache);
    if (!decoder_check_rank(w, v, 3, "a decoder's boundary has 3: batch, new tokens, hidden") ||
        !decoder_check_rank(w, kv, 5, "a cache has 5: blocks, keys and values, batch, sequence, width"))
        return false;
    bool good = check_cache_role(d, kv);
    good = decoder_check_dimension(w, v, 0, d->step.batch, "workload's batch") && good;
    good = decoder_check_dimension(w, v, 1, d->step.query, "number of new tokens of this step") && good;
    good = decoder_check_dimension(w, v, 2, d->model.hidden, "operation's hidden") && good;
    good = decoder_check_dimension(w, kv, 0, d->model.blocks, "operation's blocks") && good;
    good = decoder_check_dimension(w, kv, 2, d->step.batch, "workload's batch") && good;
    good = decoder_check_dimension(w, kv, 3, d->model.sequence, "operation's sequence") && good;
    good = decoder_check_dimension(w, kv, 4, (u128)d->model.kv_heads * d->model.head_size, "width of all its kv_heads") && good;
    good = decoder_check_element(w, v) && good;
    return decoder_check_element(w, kv) && good;
}

static bool check_parts(const struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct item *workload = r->session.items[BIND_WORKLOAD];
    u128 steps = request_steps(&d->request);
    if (steps <= MAX_PARTS)
        return true;
    pass_error(r, workload, workload->stmts[0], NULL, NULL, "pass.request.steps", "%s is served in %llu steps, and each is a program; %d are derived at most",
               symbol_text(workload, workload->name), (unsigned long long)steps, MAX_PARTS);
    pass_note(r, "larger chunks and fewer generated tokens make fewer; a context of interest is `mode = decode`");
    return false;
}

static bool check_pairs(const struct derivation *d)
{
    enum attention_pairs pairs;
    return spec_attention_option(d->r, &pairs);
}

static bool accept_input(struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct session_workload *w = spec_workload_of(r->session.items[BIND_WORKLOAD]);
    d->op = decoder_find(r, &distribute_transformer_training);
    if (!d->op)
        return false;
    if (w->mode == SESSION_TRAINING)
        return pass_error(r, r->session.items[BIND_WORKLOAD], &w->s, "mode", NULL, "pass.workload.mode",
                          "%s derives prefill, decode or a request, but the workload's mode is %s", r->pass->name,
                          session_mode_enum.words[w->mode].text);
    d->decoder = (struct decoder){ r, d->op };
    name_values(d);
    spec_model(r->input, d->op, &d->model);
    spec_request(r->session.items[BIND_WORKLOAD], r->step, &d->request);
    spec_inference_strategy(r->session.items[BIND_STRATEGY], &d->strategy);
    bool good = check_pairs(d);
    good = contract_check_inference(&d->model, &d->request, &d->strategy, &r->ctx->arena, decoder_report, &d->decoder) && good;
    good = good && check_parts(d) && request_step(&d->request, r->part, &d->step);
    return good && check_boundary(d);
}

/* ---- What it writes ---- */

/* Ranks beyond the heads of keys and values hold copies: they are an axis of their own, over which nothing splits. */
static void emit_mesh(struct derivation *d)
{
    struct item *out = d->r->output;
    u64 t = d->strategy.tensor, shares = d->model.kv_heads < t ? d->model.kv_heads : t;
    bool copies = shares < t;
    u32 axes[6] = { d->axes[0] = emit_atom(d->r, "tp"), 0, 0, d->axes[1] = emit_atom(d->r, "kv_replica"), 0, 0 };
    struct dist_mesh *mesh = (struct dist_mesh *)item_add(out, DIST_MESH);
    d->n_axes = 1 + copies;
    d->cache_split = shares > 1;
    pair_put(axes + 1, shares);
    pair_put(axes + 4, t / shares);
    mesh->s.name = emit_atom(d->r, "tp_group");
    mesh->axes = item_list(out, axes, 3 * d->n_axes);
    item_declare(out, &mesh->s);
}

static void emit_program_facts(struct derivation *d, const struct inference_block *b)
{
    struct item *out = d->r->output;
    struct exprs *x = out->ctx->exprs;
    emit_mesh(d);
    item_add(out, DIST_ORDER);
    decoder_emit_origin(d->r, d->op);
    struct dist_attention *attention = (struct dist_attention *)item_add(out, DIST_ATTENTION);
    attention->pairs = d->step.pairs == ATTENTION_CAUSAL ? DIST_CAUSAL : DIST_DENSE;
    struct dist_scale *scale = (struct dist_scale *)item_add(out, DIST_SCALE);
    scale->blocks = qty_number(x, d->model.blocks);
    scale->batch = qty_number(x, d->step.batch);
    scale->query = qty_number(x, d->step.query);
    scale->context = qty_number(x, d->step.context);
    struct dist_memory *memory = (struct dist_memory *)item_add(out, DIST_MEMORY);
    memory->s.name = emit_atom(d->r, "block_memory");
    memory->weights = b->memory.weights;
    memory->kv_cache = b->memory.kv_cache;
    memory->workspace = b->memory.workspace;
    memory->boundary = b->memory.boundary;
    item_declare(out, &memory->s);
    item_settle(out, &memory->s);
}

static u32 intern_type(const struct derivation *d, const u128 *sizes, u32 rank)
{
    struct context *ctx = d->r->ctx;
    qty dims[4];
    for (u32 i = 0; i < rank; i++)
        dims[i] = qty_number(ctx->exprs, sizes[i]);
    u8 dtype = spec_workload_of(d->r->session.items[BIND_WORKLOAD])->dtype;
    return type_intern(ctx->types, &(struct type){ .element = (u8)spec_dtype_element(dtype), .rank = (u8)rank, .dims = dims });
}

/* [batch, new tokens, hidden], whole on every rank. */
static void fill_boundary(const struct derivation *d, struct dist_value *v, atom name)
{
    const u128 sizes[3] = { d->step.batch, d->step.query, d->model.hidden };
    v->s.name = name;
    v->type = intern_type(d, sizes, 3);
    item_declare(d->r->output, &v->s);
}

/* One block's part of the model's cache, as far as the context goes: [2, batch, context, kv_heads x head_size]. */
static void emit_cache(struct derivation *d)
{
    struct item *out = d->r->output;
    const u128 sizes[4] = { 2, d->step.batch, d->step.context, (u128)d->model.kv_heads * d->model.head_size };
    struct sharding sharding = { .rank = 4 };
    struct dist_value *v = (struct dist_value *)item_add(out, DIST_VALUE);
    v->s.name = d->cache;
    v->role = DIST_KV_CACHE;
    v->type = intern_type(d, sizes, 4);
    if (d->cache_split)
        sharding.dims[3] = (struct axis_list){ &d->axes[0], 1 };
    v->sharding = sharding_write(out, &sharding, 4);
    item_declare(out, &v->s);
    emit_from(out, &v->s, REF_VALUE(d->cache));
}

static void emit_values(struct derivation *d)
{
    struct item *out = d->r->output;
    struct dist_value *in = (struct dist_value *)item_add(out, DIST_VALUE);
    in->role = DIST_INPUT;
    fill_boundary(d, in, d->input);
    emit_from(out, &in->s, REF_VALUE(d->input));
    emit_cache(d);
}

static void use_cache(struct derivation *d, struct dist_task *t, const struct inference_task_row *row)
{
    struct item *out = d->r->output;
    bool writes = !strcmp(row->operation, "kv_cache_write"), reads = !strcmp(row->operation, "attention");
    const u32 effect[2] = { writes ? EFFECT_WRITE : EFFECT_READ, REF_VALUE(d->cache) };
    if (!writes && !reads)
        return;
    t->operands = emit_one(out, d->cache);
    dist_more(out, t)->effects = item_list(out, effect, 2);
}

static struct dist_task *emit_task(struct derivation *d, const struct inference_call *call)
{
    struct item *out = d->r->output;
    const struct inference_task_row *row = &inference_task_table[call->row];
    struct dist_task *t = (struct dist_task *)item_add(out, DIST_TASK);
    bool collective = row->engine == ENGINE_COLLECTIVE;
    t->s.name = emit_atom(d->r, call->name);
    t->body = collective ? DIST_COLLECTIVE : DIST_LOCAL;
    t->operation = emit_atom(d->r, collective ? row->operation : arena_format(&out->arena, "transformer.%s", row->operation));
    if (collective) {
        t->over = item_list(out, d->axes, d->n_axes);
        t->reduction = REDUCTION_SUM;
    }
    t->phase = d->step.decode ? DIST_DECODE : DIST_PREFILL;
    t->layer = emit_atom(d->r, row->layer);
    t->work[DIST_OPERATIONS] = call->work.operations;
    t->work[DIST_READ] = call->work.read;
    t->work[DIST_WRITE] = call->work.write;
    t->work[DIST_MESSAGE] = call->work.message;
    use_cache(d, t, row);
    item_settle(out, &t->s);
    return t;
}

/* The first task reads the block's input, the last makes its output. */
static bool emit_chain(struct derivation *d, const struct inference_block *b)
{
    struct item *out = d->r->output;
    struct dist_task *t = NULL;
    for (u32 i = 0; i < b->n; i++) {
        t = emit_task(d, &b->calls[i]);
        if (item_declare(out, &t->s))
            return pass_error(d->r, d->r->input, NULL, NULL, NULL, "pass.name.clash", "two tasks would be called %s", stmt_text(out, &t->s));
        if (i == 0)
            t->operands = emit_one(out, d->input);
    }
    struct dist_value *value = (struct dist_value *)item_add_result(out, DIST_VALUE);
    value->role = DIST_ACTIVATION;
    fill_boundary(d, value, d->output);
    t->results = emit_one(out, d->output);
    ((struct dist_output *)item_add(out, DIST_OUTPUT))->value = d->output;
    return true;
}

static bool run(struct pass_run *r)
{
    struct derivation d = { .r = r };
    if (!accept_input(&d))
        return false;
    struct inference_block *b = ARENA_NEW(&r->output->arena, struct inference_block);
    struct inference_sizes sizes = inference_sizes_of(r->ctx->exprs, &d.model, &d.step, &d.strategy);
    struct inference_switches switches = inference_switches_of(&d.model, &d.step, &d.strategy);
    struct block_fault fault;
    if (!inference_derive(r->ctx->exprs, &r->ctx->arena, &sizes, &switches, d.step.decode ? "decode" : "prefill", b, &fault))
        return pass_error(r, r->input, &d.op->s, NULL, NULL, "pass.quantity", "%s of layer %s %s", fault.term, fault.layer,
                          expr_status_text(fault.status));
    emit_program_facts(&d, b);
    emit_values(&d);
    if (!emit_chain(&d, b))
        return false;
    inference_report_publish(r);
    return true;
}

static const struct pass_option options[] = {
    { "attention", "dense (the default) or causal: whether pairs of a query and a later key are counted" },
    { NULL, NULL },
};

static const char *const attention[] = { "causal", NULL };
static const char *const *const choices[] = { attention };

static const struct relation relations[] = {
    { "op", "task", LINEAGE_LOWERED, "the work of the step: operations, bytes, messages" },
    { "op", "memory", LINEAGE_LOWERED, "the memory of a block" },
    { "value", "value", LINEAGE_LOWERED, "type and role; of the cache, one block as far as the context goes" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const produces[] = { &inference_totals, NULL };

const struct pass distribute_transformer_inference = {
    .name = "distribute-transformer-inference", .revision = 1, .from = LAYER_MODEL, .to = LAYER_DIST,
    .bindings = NEEDS(BIND_WORKLOAD) | NEEDS(BIND_STRATEGY), .operation = "transformer.decoder_inference", .suffix = "prefill",
    .options = options, .choices = choices, .part = part, .relations = relations, .produces = produces,
    .run = run, .gate = distribute_transformer_inference_gate,
    .doc = "One block of a decoder for each step of a request: prefill, whole or in chunks, and each context of decode.",
};
