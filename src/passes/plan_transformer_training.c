/*
 * plan-transformer-training: the chain with its exact work, what each task needs, and the buffers of one rank of the
 * heaviest pipeline stage.
 */
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "passes/emit.h"
#include "passes/passes.h"
#include "passes/spec.h"
#include "transformer/contract.h"
#include "transformer/stage.h"

#include "ir/sharding.h"
#include "ir/verify.h"

enum { BUFFER_ALIGN = 16 };

struct derivation {
    struct pass_run *r;
    const struct dist_mesh *mesh;
    const struct dist_scale *scale;
    const struct dist_memory *memory;
    struct training_strategy strategy;
};

/* ---- What the pass takes ---- */

/* The strategy must be the one that the program was distributed with. */
static bool check_strategy(struct derivation *d)
{
    const struct header *h = &d->r->input->header;
    struct item *strategy = d->r->session.items[BIND_STRATEGY];
    for (u32 i = 0; i < h->n_using; i++)
        if (h->using[i].item == strategy->name && digest_equal(h->using[i].digest, item_digest(strategy)))
            return true;
    if (!h->pass)
        return true;
    pass_error(d->r, strategy, NULL, NULL, NULL, "pass.strategy.other", "%s was not distributed with this strategy %s",
               symbol_text(d->r->input, d->r->input->name), symbol_text(strategy, strategy->name));
    pass_note(d->r, "give the strategy that stands in its header, or distribute it again");
    return false;
}

static bool accept_input(struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct item *in = r->input;
    u64 ranks = 0;
    d->mesh = (const struct dist_mesh *)find_once(in, DIST_MESH);
    d->scale = (const struct dist_scale *)find_once(in, DIST_SCALE);
    d->memory = (const struct dist_memory *)find_once(in, DIST_MEMORY);
    if (!d->mesh || !d->scale || !d->memory || !find_once(in, DIST_ORDER) || !d->memory->s.name)
        return pass_error(r, in, NULL, NULL, NULL, "pass.input.program",
                          "%s takes a program with `mesh`, `order serial`, `scale` and a named `memory`; %s lacks one of them",
                          r->pass->name, symbol_text(in, in->name));
    spec_strategy(r->session.items[BIND_STRATEGY], &d->strategy);
    bool good = check_strategy(d);
    if (!mesh_size(in, d->mesh->axes, &ranks) || ranks != d->strategy.tensor)
        return pass_error(r, in, &d->mesh->s, NULL, NULL, "pass.strategy.mesh", "the mesh has %llu ranks, but the strategy's tensor is %llu",
                          (unsigned long long)ranks, (unsigned long long)d->strategy.tensor);
    return good;
}

/* ---- Buffers ---- */

static void emit_buffer(struct derivation *d, atom name, u8 role, u8 storage, qty size, u32 source)
{
    struct item *out = d->r->output;
    if (!size)
        return;
    struct portable_buffer *b = (struct portable_buffer *)item_add(out, PORTABLE_BUFFER);
    b->s.name = name;
    b->role = role;
    b->storage = storage;
    b->size = size;
    b->align = BUFFER_ALIGN;
    if (source)
        emit_from(out, &b->s, source);
    item_declare(out, &b->s);
}

/* Bytes of a value on one rank: its type divided by the sizes of the axes that split it. */
static bool local_bytes(struct derivation *d, const struct dist_value *v, qty *out)
{
    const struct item *in = d->r->input;
    struct exprs *x = in->ctx->exprs;
    struct sharding s;
    qty bytes;
    if (type_bytes(x, type_get(in->ctx->types, v->type), &bytes) != EXPR_OK)
        return false;
    sharding_read(in, v->sharding, &s);
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++) {
            u64 size = 1;
            const u32 *axes = list_at(in, d->mesh->axes);
            for (u32 a = 0; a + 2 < list_n(in, d->mesh->axes); a += 3)
                if (axes[a] == s.dims[i].axes[k])
                    size = pair_get(axes + a + 1);
            if (qty_div_exact(x, bytes, qty_number(x, size), &bytes) != EXPR_OK)
                return false;
        }
    *out = bytes;
    return true;
}

/* Values of the program: its inputs, then its outputs. */
static bool emit_values(struct derivation *d)
{
    const struct item *in = d->r->input;
    for (u32 i = 0; i < in->n_stmts; i++) {
        bool input = in->stmts[i]->entity == DIST_VALUE, output = in->stmts[i]->entity == DIST_OUTPUT;
        if (!input && !output)
            continue;
        const struct dist_value *v = input ? (const struct dist_value *)in->stmts[i]
                                           : (const struct dist_value *)item_value(in, ((const struct dist_output *)in->stmts[i])->value);
        qty size;
        if (!local_bytes(d, v, &size))
            return pass_error(d->r, in, &v->s, NULL, NULL, "pass.quantity", "the bytes of %s on one rank are not exact", stmt_text(in, &v->s));
        emit_buffer(d, v->s.name, input ? PORTABLE_INPUT : PORTABLE_OUTPUT, PORTABLE_DEVICE_LOCAL, size, 0);
    }
    return true;
}

static bool number_of(const struct item *it, qty q, u64 *out)
{
    u128 n = 0;
    bool good = qty_value(it->ctx->exprs, q, &n) && n <= UINT64_MAX;
    *out = (u64)n;
    return good && n;
}

/* At the strategy's field, or at the number of `scale`. */
static void report_finding(void *state, const struct contract_finding *f)
{
    struct derivation *d = state;
    const struct item *strategy = d->r->session.items[BIND_STRATEGY];
    if (f->item == CONTRACT_STRATEGY)
        pass_error(d->r, strategy, strategy->stmts[0], f->field, NULL, f->rule->code, "%s", f->message);
    else
        pass_error(d->r, d->r->input, &d->scale->s, NULL, f->field, f->rule->code, "%s", f->message);
    if (f->note)
        pass_note(d->r, "%s", f->note);
}

/* The memory of the heaviest stage (decisions: does it fit?). */
static bool emit_stage(struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct dist_memory *m = d->memory;
    struct block_memory block = { m->weights, m->working, m->stored, m->checkpoint, m->gradients, m->gradients_unsharded,
                                  m->activation_gradients, m->optimizer };
    struct transformer_model model = { 0 };
    struct training_workload workload = { 0 };
    struct stage_memory stage;
    struct block_fault fault;
    if (!number_of(r->input, d->scale->blocks, &model.blocks) || !number_of(r->input, d->scale->batch, &workload.batch) ||
        !number_of(r->input, d->scale->microbatch, &workload.microbatch))
        return pass_error(r, r->input, &d->scale->s, NULL, NULL, "pass.input.scale", "the plan needs `scale (blocks B, batch N, microbatch M)` as numbers");
    if (!contract_check_stage(&model, &workload, &d->strategy, &r->ctx->arena, report_finding, d))
        return false;
    if (!stage_derive_memory(r->ctx->exprs, &model, &workload, &d->strategy, &block, &stage, &fault))
        return pass_error(r, r->input, &m->s, NULL, NULL, "pass.quantity", "%s of the stage %s", fault.term, expr_status_text(fault.status));
    u32 from = REF_SYMBOL(m->s.name);
    emit_buffer(d, emit_atom(r, "weights"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.weights, from);
    emit_buffer(d, emit_atom(r, "gradients"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.gradients, from);
    emit_buffer(d, emit_atom(r, "activation_gradients"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.activation_gradients, from);
    emit_buffer(d, emit_atom(r, "optimizer"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.optimizer, from);
    emit_buffer(d, emit_atom(r, "working"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.working, from);
    emit_buffer(d, emit_atom(r, "stored"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.stored, from);
    emit_buffer(d, emit_atom(r, "checkpoint"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.checkpoint, from);
    return true;
}

/* ---- Tasks ---- */

static u32 implement(struct derivation *d, const char *capability, const char *first, const char *second)
{
    u32 words[5] = { emit_atom(d->r, capability), second ? 2 : 1, emit_atom(d->r, first), second ? emit_atom(d->r, second) : 0, 0 };
    return item_list(d->r->output, words, second ? 5 : 4);
}

/* Products run on the matrix engine; the optimizer and all else on the vector engine. */
static u32 implementation_of(struct derivation *d, const struct dist_task *t)
{
    const char *operation = context_text(d->r->ctx, t->operation);
    bool product = !strcmp(operation, "transformer.linear") || !strcmp(operation, "transformer.batch_matmul");
    if (t->body == DIST_COLLECTIVE)
        return implement(d, operation, "collective-library", "network-engine");
    if (product && t->phase != DIST_OPTIMIZER)
        return implement(d, "matrix-multiply", "tensor-core", "matrix-engine");
    return implement(d, "vector-elementwise", "vector-engine", NULL);
}

/* A list of the input, as a list of the output. */
static u32 copy_list(struct derivation *d, u32 handle)
{
    return handle ? item_list(d->r->output, list_at(d->r->input, handle), list_n(d->r->input, handle)) : 0;
}

/* A program written by hand may say less, or more, than a plan can hold. */
static bool check_task(struct derivation *d, const struct dist_task *t)
{
    const struct item *in = d->r->input;
    const char *name = stmt_text(in, &t->s);
    bool sends = t->body == DIST_COLLECTIVE;
    if (t->body != DIST_LOCAL && !sends)
        return pass_error(d->r, in, &t->s, NULL, NULL, "pass.input.task", "%s plans local and collective tasks; %s is a %s",
                          d->r->pass->name, name, dist_body_enum.words[t->body].text);
    if (sends && !t->work[DIST_MESSAGE])
        return pass_error(d->r, in, &t->s, NULL, NULL, "pass.input.task", "%s sends, and its work says no `message`", name);
    if (t->phase == (sends ? DIST_RECOMPUTE : DIST_RECOMMUNICATION))
        return pass_error(d->r, in, &t->s, "phase", NULL, "pass.input.task", "%s is a %s task, and its phase repeats %s", name,
                          dist_body_enum.words[t->body].text, sends ? "computation" : "communication");
    for (u32 i = 0; i < list_n(in, t->results); i++) {
        atom value = list_at(in, t->results)[i];
        if (!item_value(d->r->output, value))
            return pass_error(d->r, in, &t->s, NULL, context_text(d->r->ctx, value), "pass.input.task",
                              "%s plans chains whose values are inputs and outputs of the block; %s of %s is neither",
                              d->r->pass->name, stmt_text(in, item_value(in, value)), name);
    }
    return true;
}

static bool emit_task(struct derivation *d, const struct dist_task *t)
{
    struct item *out = d->r->output;
    if (!check_task(d, t))
        return false;
    struct portable_task *p = (struct portable_task *)item_add(out, PORTABLE_TASK);
    p->s.name = t->s.name;
    p->body = t->body == DIST_COLLECTIVE ? PORTABLE_COLLECTIVE : PORTABLE_COMPUTE;
    p->operation = t->operation;
    p->operands = copy_list(d, t->operands);
    p->results = copy_list(d, t->results);
    p->ranks = copy_list(d, t->ranks);
    p->after = copy_list(d, t->after);
    p->phase = t->phase;
    p->layer = t->layer;
    for (int i = 0; i < DIST_WORK; i++)
        p->work[i] = t->work[i];
    p->implement = implementation_of(d, t);
    emit_from(out, &p->s, REF_SYMBOL(t->s.name));
    item_declare(out, &p->s);
    return true;
}

static void emit_objective(struct derivation *d, u8 kind)
{
    struct portable_objective *o = (struct portable_objective *)item_add(d->r->output, PORTABLE_OBJECTIVE);
    o->direction = PORTABLE_MINIMIZE;
    o->kind = kind;
}

static bool run(struct pass_run *r)
{
    struct derivation d = { .r = r };
    if (!accept_input(&d))
        return false;
    struct portable_mesh *mesh = (struct portable_mesh *)item_add(r->output, PORTABLE_MESH);
    mesh->s.name = d.mesh->s.name;
    mesh->axes = copy_list(&d, d.mesh->axes);
    item_declare(r->output, &mesh->s);
    item_add(r->output, PORTABLE_ORDER);
    const struct dist_attention *attention = (const struct dist_attention *)find_once(r->input, DIST_ATTENTION);
    if (attention)
        ((struct portable_attention *)item_add(r->output, PORTABLE_ATTENTION))->pairs = attention->pairs;
    bool good = emit_values(&d) && emit_stage(&d);
    for (u32 i = 0; good && i < r->input->n_stmts; i++)
        if (r->input->stmts[i]->entity == DIST_TASK)
            good = emit_task(&d, (const struct dist_task *)r->input->stmts[i]);
    emit_objective(&d, PORTABLE_LATENCY);
    emit_objective(&d, PORTABLE_PEAK_MEMORY);
    return good;
}

static const struct relation relations[] = {
    { "task", "task", LINEAGE_LOWERED, "name, work, phase, layer, order, ranks and values" },
    { "memory", "buffer", LINEAGE_LOWERED, "the memory of the heaviest stage" },
    { "value", "buffer", LINEAGE_LOWERED, "bytes on one rank, role" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const preserves[] = { &work_totals, &engine_counts, &training_totals, NULL };

const struct pass plan_transformer_training = {
    .name = "plan-transformer-training", .revision = 1, .from = LAYER_DIST, .to = LAYER_PORTABLE,
    .bindings = NEEDS(BIND_STRATEGY), .suffix = "plan", .relations = relations, .preserves = preserves, .run = run, .gate = plan_transformer_training_gate,
    .doc = "Exact work and needs of a training chain, and the buffers of the heaviest pipeline stage.",
};
