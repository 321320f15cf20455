#include "execute/execute.h"

#include "execute/run.h"

#include <inttypes.h>

static bool is_program(const struct item *it)
{
    return it->kind->layer == LAYER_MODEL || it->kind->layer == LAYER_DIST;
}

static struct run *run_of(const struct execution *e, const struct item *it)
{
    for (u32 i = 0; it && i < e->n; i++)
        if (e->runs[i]->it == it)
            return e->runs[i];
    return NULL;
}

static struct run *new_run(struct execution *e, const struct module *m, const struct item *it,
                           const struct execute_options *options)
{
    struct run *r = ARENA_NEW(&e->arena, struct run);
    *r = (struct run){ .v = { .item = it, .ctx = it->ctx, .module = m }, .it = it, .options = options, .arena = &e->arena };
    arena_init(&r->v.scratch);
    return r;
}

/*
 * The source runs again, as a shadow that knows which of its values are compared: what rounding may change is bounded from
 * each of them to the next.
 */
static void run_program(struct run *r)
{
    bool good = run_read(r);
    if (good && r->source)
        good = run_read(r->source) && run_find_sources(r) && run_fill(r->source) && run_tasks(r->source);
    r->good = good && run_fill(r) && run_tasks(r) && run_compare_end(r);
}

/*
 * The parent runs first, if it is a program of the file. One that is refused has no numbers: what is from it can't be
 * judged, and isn't run. In a circle of items that are from one another, one runs by itself.
 */
static struct run *run_item(struct execution *e, const struct module *m, const struct item *it,
                            const struct execute_options *options)
{
    struct run *r = run_of(e, it), *base = NULL;
    if (r)
        return r->running ? NULL : r;
    r = e->runs[e->n++] = new_run(e, m, it, options);
    r->running = true;
    const struct item *parent = it->header.parent.item ? module_find(m, it->header.parent.item) : NULL;
    if (parent && is_program(parent))
        base = run_item(e, m, parent, options);
    if (base && base->good) {
        r->source = new_run(e, m, parent, options);
        r->source->base = base;
    }
    if (!base || base->good)
        run_program(r);
    r->running = false;
    return r;
}

static void refuse_layer(const struct item *it)
{
    struct verifier v = { .item = it, .ctx = it->ctx };
    arena_init(&v.scratch);
    verify_error(&v, NULL, NULL, NULL, "execute.layer",
                 "%s is a %s, whose %s say what moves, but not what is computed",
                 symbol_text(it, it->name), it->kind->name, it->kind->layer == LAYER_CONCRETE ? "commands" : "tasks");
    verify_note_legal(&v, "model and dist programs run; --item=@name chooses one");
    arena_free(&v.scratch);
}

/* In the order of the file, so that a parent which stands behind its child is shown there, too. */
static void sort(struct execution *e, const struct module *m, atom only)
{
    struct run **sorted = ARENA_ARRAY(&e->arena, struct run *, e->n + (size_t)1);
    u32 n = 0;
    for (u32 i = 0; i < m->n; i++) {
        struct run *r = run_of(e, m->items[i]);
        if (r && (!only || r->it->name == only))
            sorted[n++] = r;
    }
    for (u32 i = 0; i < e->n; i++) {
        arena_free(&e->runs[i]->v.scratch);
        if (e->runs[i]->source)
            arena_free(&e->runs[i]->source->v.scratch);
    }
    e->runs = sorted;
    e->n = n;
}

bool execute_module(struct execution *e, const struct module *m, atom only, const struct execute_options *options)
{
    u32 errors = m->ctx->diags->errors;
    bool any = false;
    *e = (struct execution){ .seed = options->seed, .symbols = options->symbols, .n_symbols = options->n_symbols };
    arena_init(&e->arena);
    e->runs = ARENA_ARRAY(&e->arena, struct run *, m->n + (size_t)1);
    for (u32 i = 0; i < m->n; i++) {
        const struct item *it = m->items[i];
        if ((only && it->name != only) || it->kind->layer == LAYER_SESSION)
            continue;
        any = true;
        if (is_program(it))
            run_item(e, m, it, options);
        else
            refuse_layer(it);
    }
    if (!any)
        diag_error(m->ctx->diags, (struct loc){ 0 }, "execute.nothing", "there is no model or dist program to run");
    sort(e, m, only);
    return m->ctx->diags->errors == errors;
}

void execution_free(struct execution *e)
{
    arena_free(&e->arena);
}
