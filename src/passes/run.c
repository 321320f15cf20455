/* Pipelines on modules: each pass on each item of its layer, and all published at once or nothing. */
#include "passes/contract.h"
#include "passes/transaction.h"

static bool holds(struct item *const *items, u32 n, const struct item *it)
{
    for (u32 i = 0; i < n; i++)
        if (items[i] == it)
            return true;
    return false;
}

static bool selected(const struct transaction *t, const struct item *it)
{
    return !t->options->only || holds(t->chosen.items, t->chosen.n, it);
}

/* What was derived in this step, from FRESH's item BEFORE on, is chosen for the next. */
static void choose_derived(struct transaction *t, u32 before)
{
    t->chosen.n = 0;
    for (u32 i = before; i < t->fresh.n; i++)
        module_add(&t->chosen, t->fresh.items[i]);
}

/* Passes of this file's layers that make what was not found. */
static void note_makers(struct transaction *t, enum layer layer)
{
    for (const struct pass *const *p = all_passes; *p; p++)
        for (u32 i = 0; (*p)->to == layer && (*p)->from != layer && i < t->work.n; i++)
            if (t->work.items[i]->kind->layer == (*p)->from) {
                diag_note(t->m->ctx->diags, (struct loc){ 0 }, "%s makes one of a %s, which is here", (*p)->name, layer_kind((*p)->from));
                break;
            }
}

/* A pass takes every item of its layer, in order; with --item, the chosen one and then what was derived from it. */
static bool run_step(struct transaction *t, const struct step *step)
{
    u32 taken = 0, before = t->fresh.n;
    for (u32 i = 0; i < t->work.n; i++) {
        struct item *it = t->work.items[i];
        bool made_now = holds(t->fresh.items + before, t->fresh.n - before, it);
        if (it->kind->layer != step->pass->from || made_now || !selected(t, it))
            continue;
        if (!transaction_run(t, step, &i))
            return false;
        taken++;
    }
    if (taken) {
        choose_derived(t, before);
        return true;
    }
    diag_error(t->m->ctx->diags, step->at, "pass.input.none", "%s found no %s to work on", step->pass->name, layer_kind(step->pass->from));
    note_makers(t, step->pass->from);
    return false;
}

/* ---- All or nothing ---- */

static void begin(struct transaction *t)
{
    module_init(&t->work, t->m->ctx, t->m->src);
    module_init(&t->fresh, t->m->ctx, NULL);
    for (u32 i = 0; i < t->m->n; i++)
        module_add(&t->work, t->m->items[i]);
    module_init(&t->chosen, t->m->ctx, NULL);
    if (t->options->only && module_find(t->m, t->options->only))
        module_add(&t->chosen, module_find(t->m, t->options->only));
}

/* What is said of an item that a pass consumed is not true of what stands in its place. */
static void drop_comments(struct transaction *t)
{
    for (u32 i = 0; i < t->n_consumed; i++)
        if (t->consumed[i]->src && t->consumed[i]->src == t->m->src && !holds(t->work.items, t->work.n, t->consumed[i]))
            module_drop_comments(t->m, t->consumed[i]);
}

static void commit(struct transaction *t)
{
    struct item **old = t->m->items;
    u32 cap = t->m->cap;
    drop_comments(t);
    for (u32 i = 0; i < t->n_consumed; i++)
        if (!holds(t->work.items, t->work.n, t->consumed[i]))
            item_free(t->consumed[i]);
    for (u32 i = 0; i < t->fresh.n; i++)
        if (!holds(t->work.items, t->work.n, t->fresh.items[i]) && !holds(t->consumed, t->n_consumed, t->fresh.items[i]))
            item_free(t->fresh.items[i]);
    t->m->items = t->work.items;
    t->m->n = t->work.n;
    t->m->cap = t->work.cap;
    if (old)
        block_free(old, cap * sizeof *old);
}

static void forget(struct transaction *t)
{
    for (u32 i = 0; i < t->fresh.n; i++)
        item_free(t->fresh.items[i]);
    if (t->work.items)
        block_free(t->work.items, t->work.cap * sizeof *t->work.items);
}

static bool run_steps(struct transaction *t, const struct pipeline *p)
{
    for (u32 i = 0; i < p->n; i++)
        if (!run_step(t, &p->steps[i]))
            return false;
    return true;
}

bool pipeline_run(struct module *m, const struct module *session, const struct pipeline *p, const struct run_options *o)
{
    struct transaction t = { .m = m, .session = session, .options = o, .known = o->analyses };
    struct analyses own;
    if (!pipeline_check(p, m->ctx))
        return false;
    if (!t.known) {
        analyses_init(&own, m->ctx);
        t.known = &own;
    }
    u32 known = t.known->n;
    begin(&t);
    bool good = run_steps(&t, p);
    if (good) {
        commit(&t);
    } else {
        forget(&t);
        t.known->n = known;
    }
    if (t.fresh.items)
        block_free(t.fresh.items, t.fresh.cap * sizeof *t.fresh.items);
    if (t.chosen.items)
        block_free(t.chosen.items, t.chosen.cap * sizeof *t.chosen.items);
    if (t.consumed)
        block_free(t.consumed, t.cap_consumed * sizeof *t.consumed);
    if (t.known == &own)
        analyses_free(&own);
    return good;
}
