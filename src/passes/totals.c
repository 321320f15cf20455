#include "passes/totals.h"

#include "ir/print.h"

static const char *const engines[STEP_ENGINES] = { "compute", "collective", "transfer", "host" };

enum step_engine engine_of(const char *body)
{
    static const struct {
        const char *body;
        enum step_engine engine;
    } bodies[] = {
        { "local", STEPS_COMPUTE },        { "compute", STEPS_COMPUTE },   { "launch", STEPS_COMPUTE },
        { "collective", STEPS_COLLECTIVE }, { "transfer", STEPS_TRANSFER }, { "host", STEPS_HOST },
        { "host_call", STEPS_HOST },
    };
    for (u32 i = 0; i < COUNT(bodies); i++)
        if (!strcmp(bodies[i].body, body))
            return bodies[i].engine;
    return STEP_ENGINES;
}

/* ---- Work ---- */

static const void *compute_work(const struct item *it, struct arena *arena)
{
    struct sums *s = ARENA_NEW(arena, struct sums);
    return sums_of_tasks(s, it, arena) ? s : NULL;
}

/* What every layer with work has; a plan's memory comes on top. */
static bool is_work(const struct field *f)
{
    static const char *const facts[] = { "operations", "read", "write", "message" };
    for (u32 i = 0; i < COUNT(facts); i++)
        if (!strcmp(facts[i], f->name))
            return true;
    return false;
}

static void print_work(struct out *o, const struct context *ctx, const void *value)
{
    const struct sums *s = value;
    for (u32 i = 0; i < s->n; i++) {
        const struct sum *sum = &s->list[i];
        enum step_engine e = engine_of(sum->second);
        out_printf(o, "%s on %s: %u tasks", sum->first, e == STEP_ENGINES ? sum->second : engines[e], sum->count);
        for (u32 k = 0; k < s->n_facts; k++)
            if (is_work(s->facts[k]))
                out_printf(o, ", %s %s", s->facts[k]->name, qty_text(ctx, sum->facts[k]));
        out_char(o, '\n');
    }
}

const struct analysis work_totals = {
    .name = "work.totals", .compute = compute_work, .print = print_work,
    .doc = "Tasks, operations, bytes and messages of each phase on each engine.",
};

/* ---- Steps ---- */

static const void *count_steps(const struct item *it, struct arena *arena)
{
    struct engine_counts *c = ARENA_NEW(arena, struct engine_counts);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *s = it->stmts[i];
        const struct entity *e = stmt_entity(it, s);
        const struct field *body = e->flags & ENTITY_TASK ? field_find(e->fields, "body", 4) : NULL;
        enum step_engine engine = body ? engine_of(((const struct enumeration *)body->aux)->words[field_get(s, body)].text) : STEP_ENGINES;
        if (engine != STEP_ENGINES)
            c->steps[engine]++;
    }
    return c;
}

static void print_steps(struct out *o, const struct context *ctx, const void *value)
{
    const struct engine_counts *c = value;
    (void)ctx;
    for (u32 i = 0; i < STEP_ENGINES; i++)
        out_printf(o, "%s: %llu steps\n", engines[i], (unsigned long long)c->steps[i]);
}

const struct analysis engine_counts = {
    .name = "engine.counts", .compute = count_steps, .print = print_steps,
    .doc = "How many tasks or commands each engine runs.",
};

/* ---- Buffers ---- */

static const struct entity *buffer_entity(const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    return !strcmp(e->keyword, "buffer") || !strcmp(e->keyword, "bind") ? e : NULL;
}

static const void *add_buffers(const struct item *it, struct arena *arena)
{
    struct buffer_totals *t = ARENA_NEW(arena, struct buffer_totals);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct entity *e = buffer_entity(it, it->stmts[i]);
        const struct field *size = e ? field_find(e->fields, "size", 4) : NULL;
        if (!size)
            continue;
        t->buffers++;
        if (qty_add(it->ctx->exprs, t->bytes, field_get(it->stmts[i], size), &t->bytes) != EXPR_OK) {
            diag_error(it->ctx->diags, (struct loc){ 0 }, "pass.sum", "the sum of the buffers' sizes in @%s leaves 128 bits",
                       context_text(it->ctx, it->name));
            return NULL;
        }
    }
    return t;
}

static void print_buffers(struct out *o, const struct context *ctx, const void *value)
{
    const struct buffer_totals *t = value;
    out_printf(o, "%llu buffers, %s bytes\n", (unsigned long long)t->buffers, qty_text(ctx, t->bytes));
}

const struct analysis buffer_totals = {
    .name = "buffer.totals", .compute = add_buffers, .print = print_buffers,
    .doc = "How many buffers a plan has, and their bytes on one rank.",
};
