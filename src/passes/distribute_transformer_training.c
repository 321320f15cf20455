/*
 * distribute-transformer-training: one decoder block on one tensor-parallel group, as a chain of tasks. Values stand
 * at the block's boundary only; collectives have no operands; every task runs after the one above it.
 */
#include "dialects/dist/dist.h"
#include "passes/decoder.h"
#include "passes/emit.h"
#include "passes/passes.h"
#include "passes/training_report.h"
#include "transformer/block.h"

#include "ir/implied.h"
#include "ir/sharding.h"
#include "ir/verify.h"

struct derivation {
    struct pass_run *r;
    const struct model_op *op;
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
    enum attention_pairs pairs;
    bool split;                 /* the boundary is split along the sequence */
    qty b, S;                   /* microbatch and sequence: numbers, or symbols under {symbolic=…} */
    atom axes[2];               /* of the mesh: tp, and kv_replica where ranks hold the same keys and values */
    u32 n_axes;
};

/* ---- What the pass takes ---- */

static bool check_boundary(const struct derivation *d, const struct decoder *w)
{
    const struct item *in = d->r->input;
    const struct model_value *v = (const struct model_value *)item_value(in, list_at(in, d->op->operands)[0]);
    if (!decoder_check_rank(w, v, 3, "a decoder's boundary has 3: microbatch, sequence, hidden"))
        return false;
    bool good = decoder_check_dimension(w, v, 0, d->workload.microbatch, "workload's microbatch");
    good = decoder_check_dimension(w, v, 1, d->model.sequence, "operation's sequence") && good;
    good = decoder_check_dimension(w, v, 2, d->model.hidden, "operation's hidden") && good;
    return decoder_check_element(w, v) && good;
}

/* {symbolic=microbatch}, {symbolic=[microbatch, sequence]}: the model's own symbol stays in the derived facts. */
static bool keeps_symbol(const struct derivation *d, const char *name)
{
    const struct step_option *o = step_option(d->r->step, "symbolic");
    size_t n;
    for (const char *at = o ? o->value : ""; *(at += strspn(at, "[, ]")); at += n)
        if ((n = strcspn(at, "[, ]")) == strlen(name) && !memcmp(at, name, n))
            return true;
    return false;
}

static bool check_symbolic(const struct step_option *o)
{
    size_t n, words = 0;
    for (const char *at = o->value; *(at += strspn(at, "[, ]")); at += n, words++) {
        n = strcspn(at, "[, ]");
        if ((n != strlen("microbatch") || memcmp(at, "microbatch", n)) && (n != strlen("sequence") || memcmp(at, "sequence", n)))
            return false;
    }
    return words > 0;
}

static bool choose_size(struct derivation *d, const struct type *boundary, u32 i, const char *name, u64 number, qty *out)
{
    const struct step_option *o = step_option(d->r->step, "symbolic");
    *out = qty_number(d->r->ctx->exprs, number);
    if (!keeps_symbol(d, name))
        return true;
    *out = boundary->dims[i];
    if (!qty_is_constant(d->r->ctx->exprs, *out))
        return true;
    diag_error(d->r->ctx->diags, o->value_at, "pass.option.symbolic", "the %s of %s is the number %s, not a symbol", name,
               symbol_text(d->r->input, d->r->input->name), qty_text(d->r->ctx, *out));
    diag_note(d->r->ctx->diags, (struct loc){ 0 }, "write a symbol in the model's types: `($%s)`", name);
    return false;
}

static bool choose_sizes(struct derivation *d)
{
    const struct step_option *o = step_option(d->r->step, "symbolic");
    const struct model_value *v = (const struct model_value *)item_value(d->r->input, list_at(d->r->input, d->op->operands)[0]);
    const struct type *t = type_get(d->r->ctx->types, v->type);
    if (o && !check_symbolic(o))
        return diag_error(d->r->ctx->diags, o->value_at, "pass.option.symbolic", "`symbolic` takes microbatch, sequence or [microbatch, sequence]");
    return choose_size(d, t, 0, "microbatch", d->workload.microbatch, &d->b) && choose_size(d, t, 1, "sequence", d->model.sequence, &d->S);
}

static bool accept_input(struct derivation *d)
{
    struct pass_run *r = d->r;
    const struct session_workload *w = spec_workload_of(r->session.items[BIND_WORKLOAD]);
    d->op = decoder_find(r, &distribute_transformer_inference);
    if (!d->op)
        return false;
    if (w->mode != SESSION_TRAINING)
        return pass_error(r, r->session.items[BIND_WORKLOAD], &w->s, "mode", NULL, "pass.workload.mode",
                          "%s derives training, but the workload's mode is %s", r->pass->name, session_mode_enum.words[w->mode].text);
    spec_model(r->input, d->op, &d->model);
    spec_workload(r->session.items[BIND_WORKLOAD], &d->workload);
    spec_strategy(r->session.items[BIND_STRATEGY], &d->strategy);
    struct decoder decoder = { r, d->op };
    bool good = contract_check_training(&d->model, &d->workload, &d->strategy, &r->ctx->arena, decoder_report, &decoder);
    good = check_boundary(d, &decoder) && good;
    d->split = d->strategy.tensor > 1 && d->strategy.communication == COMMUNICATION_REDUCE_SCATTER_ALL_GATHER;
    good = spec_attention_option(r, &d->pairs) && good;
    return good && choose_sizes(d);
}

/* ---- What it writes ---- */

struct symbol_list {
    atom symbols[8];
    u32 n;
};

static void add_symbol(void *state, atom symbol)
{
    struct symbol_list *list = state;
    for (u32 i = 0; i < list->n; i++)
        if (list->symbols[i] == symbol)
            return;
    if (list->n < COUNT(list->symbols))
        list->symbols[list->n++] = symbol;
}

static u64 common_multiple(u64 a, u64 b)
{
    u64 x = a, y = b;
    while (y) {
        u64 rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* What the contract proved of the numbers is said of the symbols: a split sequence is a multiple of tensor. */
static void emit_symbols(struct derivation *d)
{
    struct symbol_list list = { .n = 0 };
    qty_symbols(d->r->ctx->exprs, d->b, add_symbol, &list);
    qty_symbols(d->r->ctx->exprs, d->S, add_symbol, &list);
    for (u32 i = 0; i < list.n; i++) {
        const struct model_symbol *from = (const struct model_symbol *)item_dollar(d->r->input, list.symbols[i]);
        struct dist_symbol *s = (struct dist_symbol *)item_add(d->r->output, DIST_SYMBOL);
        s->s.name = list.symbols[i];
        s->multiple_of = from->multiple_of;
        if (d->split && d->S == qty_symbol(d->r->ctx->exprs, list.symbols[i]))
            s->multiple_of = common_multiple(s->multiple_of ? s->multiple_of : 1, d->strategy.tensor);
        item_declare(d->r->output, &s->s);
    }
}

/* Ranks that hold the same keys and values stand side by side, as the heads do that these serve. */
static void emit_mesh(struct derivation *d)
{
    struct item *out = d->r->output;
    u64 replicas = kv_replicas(&d->model, d->strategy.tensor);
    u32 axes[6] = { d->axes[0], 0, 0, d->axes[1], 0, 0 };
    struct dist_mesh *mesh = (struct dist_mesh *)item_add(out, DIST_MESH);
    mesh->s.name = emit_atom(d->r, "tp_group");
    pair_put(axes + 1, d->strategy.tensor / replicas);
    pair_put(axes + 4, replicas);
    mesh->axes = item_list(out, axes, 3 * d->n_axes);
    item_declare(out, &mesh->s);
}

static void emit_program_facts(struct derivation *d, const struct block *b)
{
    struct item *out = d->r->output;
    emit_mesh(d);
    item_add(out, DIST_ORDER);
    decoder_emit_origin(d->r, d->op);
    ((struct dist_attention *)item_add(out, DIST_ATTENTION))->pairs = d->pairs == ATTENTION_CAUSAL ? DIST_CAUSAL : DIST_DENSE;
    struct dist_scale *scale = (struct dist_scale *)item_add(out, DIST_SCALE);
    scale->blocks = qty_number(out->ctx->exprs, d->model.blocks);
    scale->batch = qty_number(out->ctx->exprs, d->workload.batch);
    scale->microbatch = d->b;
    struct dist_memory *memory = (struct dist_memory *)item_add(out, DIST_MEMORY);
    memory->s.name = emit_atom(d->r, "block_memory");
    memory->weights = b->memory.weights;
    memory->working = b->memory.working;
    memory->stored = b->memory.stored;
    memory->checkpoint = b->memory.checkpoint;
    memory->gradients = b->memory.gradients;
    memory->gradients_unsharded = b->memory.gradients_unsharded;
    memory->activation_gradients = b->memory.activation_gradients;
    memory->optimizer = b->memory.optimizer;
    item_declare(out, &memory->s);
    item_settle(out, &memory->s);
}

/* A value of the boundary: [microbatch, sequence, hidden], split along the sequence or replicated. */
static void fill_boundary(struct derivation *d, struct dist_value *v, atom name)
{
    struct item *out = d->r->output;
    struct context *ctx = out->ctx;
    qty dims[3] = { d->b, d->S, qty_number(ctx->exprs, d->model.hidden) };
    u8 dtype = spec_workload_of(d->r->session.items[BIND_WORKLOAD])->dtype;
    v->s.name = name;
    v->type = type_intern(ctx->types, &(struct type){ .element = (u8)spec_dtype_element(dtype), .rank = 3, .dims = dims });
    struct sharding sharding = { .rank = 3 };
    if (d->split)
        sharding.dims[1] = (struct axis_list){ d->axes, d->n_axes };
    v->sharding = sharding_write(out, &sharding, 3);
    item_declare(out, &v->s);
}

static enum dist_phase phase_of(enum training_phase phase)
{
    return (enum dist_phase)(DIST_FORWARD + (phase - PHASE_FORWARD));
}

static struct dist_task *emit_task(struct derivation *d, const struct block_invocation *call)
{
    struct item *out = d->r->output;
    struct dist_task *t = (struct dist_task *)item_add(out, DIST_TASK);
    bool collective = call->collective != COLLECTIVE_NONE;
    const char *operation = collective ? block_collective_name(call->collective)
                                       : arena_format(&out->arena, "transformer.%s", call->primitive);
    t->s.name = emit_atom(d->r, call->name);
    t->body = collective ? DIST_COLLECTIVE : DIST_LOCAL;
    t->operation = emit_atom(d->r, operation);
    if (collective) {
        bool replicas = layer_table[call->layer].present == WHEN_REPLICATED;
        t->over = replicas ? emit_one(out, d->axes[1]) : item_list(out, d->axes, d->n_axes);
        bool reduces = call->collective == COLLECTIVE_ALL_REDUCE || call->collective == COLLECTIVE_REDUCE_SCATTER;
        t->reduction = reduces ? REDUCTION_SUM : REDUCTION_NONE;
    }
    t->phase = (u8)phase_of(call->phase);
    t->layer = emit_atom(d->r, layer_table[call->layer].name);
    t->work[DIST_OPERATIONS] = call->work.operations;
    t->work[DIST_READ] = call->work.read;
    t->work[DIST_WRITE] = call->work.write;
    t->work[DIST_MESSAGE] = call->work.message;
    item_settle(out, &t->s);
    return t;
}

/* The chain: the first task reads the block's input, the last forward task makes its output. */
static bool emit_chain(struct derivation *d, const struct block *b)
{
    struct item *out = d->r->output;
    atom input = list_at(d->r->input, d->op->operands)[0], output = list_at(d->r->input, d->op->results)[0];
    struct dist_value *in = (struct dist_value *)item_add(out, DIST_VALUE);
    in->role = DIST_INPUT;
    fill_boundary(d, in, input);
    emit_from(out, &in->s, REF_VALUE(input));
    struct dist_task *last = NULL;
    for (u32 i = 0; i < b->n; i++) {
        struct dist_task *t = emit_task(d, &b->invocations[i]);
        if (item_declare(out, &t->s))
            return pass_error(d->r, d->r->input, NULL, NULL, NULL, "pass.name.clash", "two tasks would be called %s", stmt_text(out, &t->s));
        if (i == 0)
            t->operands = emit_one(out, input);
        if (b->invocations[i].phase == PHASE_FORWARD)
            last = t;
    }
    struct dist_value *value = (struct dist_value *)item_add_result(out, DIST_VALUE);
    value->role = DIST_ACTIVATION;
    fill_boundary(d, value, output);
    last->results = emit_one(out, output);
    ((struct dist_output *)item_add(out, DIST_OUTPUT))->value = output;
    return true;
}

/* With the session's numbers, then with the symbols that stay: what does not fit as a number is refused as a form, too. */
static struct block *derive(struct derivation *d)
{
    struct pass_run *r = d->r;
    struct block *b = ARENA_NEW(&r->output->arena, struct block);
    struct block_fault fault;
    struct block_sizes sizes = block_sizes_of(r->ctx->exprs, &d->model, &d->workload, &d->strategy);
    struct block_switches switches = block_switches_of(&d->model, &d->strategy, d->pairs);
    bool same = sizes.b == d->b && sizes.S == d->S;
    bool good = block_derive(r->ctx->exprs, &r->ctx->arena, &sizes, &switches, b, &fault);
    sizes.b = d->b;
    sizes.S = d->S;
    if (good && (same || block_derive(r->ctx->exprs, &r->ctx->arena, &sizes, &switches, b, &fault)))
        return b;
    pass_error(r, r->input, &d->op->s, NULL, NULL, "pass.quantity", "%s of layer %s %s", fault.term, fault.layer, expr_status_text(fault.status));
    return NULL;
}

static bool run(struct pass_run *r)
{
    struct derivation d = { .r = r, .axes = { emit_atom(r, "tp"), emit_atom(r, "kv_replica") } };
    if (!accept_input(&d))
        return false;
    d.n_axes = kv_replicas(&d.model, d.strategy.tensor) > 1 ? 2 : 1;
    struct block *b = derive(&d);
    if (!b)
        return false;
    emit_symbols(&d);
    emit_program_facts(&d, b);
    if (!emit_chain(&d, b))
        return false;
    training_report_publish(r);
    return true;
}

static const struct pass_option options[] = {
    { "symbolic", "microbatch, sequence or [microbatch, sequence]: facts stay expressions in the model's symbols" },
    { "attention", "dense (the default) counts every pair of a query and a key, causal the lower triangle" },
    { NULL, NULL },
};

static const char *const symbolic[] = { "microbatch", "sequence", "[microbatch, sequence]", NULL };
static const char *const attention[] = { "causal", NULL };
static const char *const *const choices[] = { symbolic, attention };

static const struct relation relations[] = {
    { "op", "task", LINEAGE_LOWERED, "the work of every phase: operations, bytes, messages" },
    { "op", "memory", LINEAGE_LOWERED, "the memory of a block" },
    { "value", "value", LINEAGE_LOWERED, "type and role, split over the ranks" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const produces[] = { &training_totals, NULL };

const struct pass distribute_transformer_training = {
    .name = "distribute-transformer-training", .revision = 1, .from = LAYER_MODEL, .to = LAYER_DIST,
    .bindings = NEEDS(BIND_WORKLOAD) | NEEDS(BIND_STRATEGY), .operation = "transformer.decoder_training", .suffix = "block",
    .options = options, .choices = choices, .relations = relations, .produces = produces,
    .run = run, .gate = distribute_transformer_training_gate,
    .doc = "One block of a decoder under training, as the chain of tasks of one tensor-parallel group.",
};
