/*
 * plan-transformer-training: the chain with its exact work, what each task needs, and the buffers of one rank of the
 * heaviest pipeline stage.
 */
#include "passes/emit.h"
#include "passes/passes.h"
#include "passes/plan.h"
#include "transformer/stage.h"

#include "ir/verify.h"

/* ---- Buffers ---- */

/* Values of the program: its inputs, then its outputs. */
static bool emit_values(struct plan *d)
{
    const struct item *in = d->r->input;
    for (u32 i = 0; i < in->n_stmts; i++) {
        bool input = in->stmts[i]->entity == DIST_VALUE, output = in->stmts[i]->entity == DIST_OUTPUT;
        if (!input && !output)
            continue;
        const struct dist_value *v = input ? (const struct dist_value *)in->stmts[i]
                                           : (const struct dist_value *)item_value(in, ((const struct dist_output *)in->stmts[i])->value);
        qty size;
        if (!plan_local_bytes(d, v, &size))
            return pass_error(d->r, in, &v->s, NULL, NULL, "pass.quantity", "the bytes of %s on one rank are not exact", stmt_text(in, &v->s));
        plan_buffer(d, v->s.name, input ? PORTABLE_INPUT : PORTABLE_OUTPUT, PORTABLE_DEVICE_LOCAL, size, 0);
    }
    return true;
}

/* The memory of the heaviest stage (decisions: does it fit?). */
static bool emit_stage(struct plan *d)
{
    struct pass_run *r = d->r;
    const struct dist_memory *m = d->memory;
    struct block_memory block = { m->weights, m->working, m->stored, m->checkpoint, m->gradients, m->gradients_unsharded,
                                  m->activation_gradients, m->optimizer };
    struct transformer_model model = { 0 };
    struct training_workload workload = { 0 };
    struct stage_memory stage;
    struct block_fault fault;
    if (!plan_number(r->input, d->scale->blocks, &model.blocks) || !plan_number(r->input, d->scale->batch, &workload.batch) ||
        !plan_number(r->input, d->scale->microbatch, &workload.microbatch))
        return pass_error(r, r->input, &d->scale->s, NULL, NULL, "pass.input.scale", "the plan needs `scale (blocks B, batch N, microbatch M)` as numbers");
    if (!contract_check_stage(&model, &workload, &d->strategy, &r->ctx->arena, plan_report, d))
        return false;
    if (!stage_derive_memory(r->ctx->exprs, &model, &workload, &d->strategy, &block, &stage, &fault))
        return pass_error(r, r->input, &m->s, NULL, NULL, "pass.quantity", "%s of the stage %s", fault.term, expr_status_text(fault.status));
    u32 from = REF_SYMBOL(m->s.name);
    plan_buffer(d, emit_atom(r, "weights"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.weights, from);
    plan_buffer(d, emit_atom(r, "gradients"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.gradients, from);
    plan_buffer(d, emit_atom(r, "activation_gradients"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.activation_gradients, from);
    plan_buffer(d, emit_atom(r, "optimizer"), PORTABLE_STATE, PORTABLE_PERSISTENT, stage.optimizer, from);
    plan_buffer(d, emit_atom(r, "working"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.working, from);
    plan_buffer(d, emit_atom(r, "stored"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.stored, from);
    plan_buffer(d, emit_atom(r, "checkpoint"), PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, stage.checkpoint, from);
    return true;
}

/* ---- Tasks ---- */

/* Products run on the matrix engine; the optimizer and all else on the vector engine. */
static u32 implementation_of(struct plan *d, const struct dist_task *t)
{
    const char *operation = context_text(d->r->ctx, t->operation);
    bool product = !strcmp(operation, "transformer.linear") || !strcmp(operation, "transformer.batch_matmul");
    if (t->body == DIST_COLLECTIVE)
        return plan_implement(d, operation, "collective-library", "network-engine", NULL);
    if (product && t->phase != DIST_OPTIMIZER)
        return plan_implement(d, "matrix-multiply", "tensor-core", "matrix-engine", NULL);
    return plan_implement(d, "vector-elementwise", "vector-engine", NULL, NULL);
}

/* A program written by hand may say less, or more, than a plan can hold. */
static bool check_task(struct plan *d, const struct dist_task *t)
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

static bool emit_task(struct plan *d, const struct dist_task *t)
{
    if (!check_task(d, t))
        return false;
    struct portable_task *p = plan_task(d, t);
    p->operands = plan_copy(d, t->operands);
    p->results = plan_copy(d, t->results);
    p->implement = implementation_of(d, t);
    return true;
}

static bool run(struct pass_run *r)
{
    struct plan d = { .r = r };
    spec_strategy(r->session.items[BIND_STRATEGY], &d.strategy);
    if (!plan_accept(&d))
        return false;
    plan_head(&d);
    bool good = emit_values(&d) && emit_stage(&d);
    for (u32 i = 0; good && i < r->input->n_stmts; i++)
        if (r->input->stmts[i]->entity == DIST_TASK)
            good = emit_task(&d, (const struct dist_task *)r->input->stmts[i]);
    plan_objectives(&d);
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
