/* The transaction: every check of pass.h around a pass, and nothing published before all have passed. */
#include "passes/pass.h"

#include "dialects/registry.h"
#include "passes/binding.h"
#include "passes/cover.h"
#include "passes/passes.h"

#include "ir/verify.h"

const struct pass *const all_passes[] = {
    &distribute_transformer_training, &specialize, &plan_transformer_training, &bind_reference_slot, &bind_reference_queue, NULL,
};

const struct pass *pass_find(const char *name, size_t length)
{
    for (const struct pass *const *p = all_passes; *p; p++)
        if (strlen((*p)->name) == length && !memcmp((*p)->name, name, length))
            return *p;
    return NULL;
}

/* The item kind of a layer, as messages name it. */
static const char *layer_kind(enum layer layer)
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        if ((*d)->kinds[0].layer == layer && layer != LAYER_SESSION)
            return (*d)->kinds[0].name;
    return "session";
}

bool pipeline_check(const struct pipeline *p, struct context *ctx)
{
    bool good = true;
    for (u32 i = 1; i < p->n; i++) {
        const struct pass *a = p->steps[i - 1].pass, *b = p->steps[i].pass;
        if (a->to == b->from)
            continue;
        good = diag_error(ctx->diags, p->steps[i].at, "pass.pipeline.order", "%s takes a %s, but %s makes a %s", b->name, layer_kind(b->from),
                          a->name, layer_kind(a->to));
    }
    return good;
}

/* ---- One pass on one item ---- */

/* Everything a pipeline run works on; `items` replaces the module's list when all is done. */
struct transaction {
    struct module *m;               /* published on success only */
    struct module work;             /* the list as it would be; shares the items */
    struct module fresh;            /* items made in this run, freed on failure */
    const struct module *session;
    const struct run_options *options;
    struct item **consumed;
    u32 n_consumed, cap_consumed;
    struct module chosen;           /* --item: the item, then what was derived from it; shares the items */
};

static atom derived_name(struct context *ctx, const struct item *from, const char *suffix)
{
    return intern_string(&ctx->names, arena_format(&ctx->arena, "%s.%s", context_text(ctx, from->name), suffix));
}

static void fill_header(struct pass_run *r)
{
    struct header *h = &r->output->header;
    u32 n = 0;
    h->major = r->output->kind->major;
    h->minor = r->output->kind->minor;
    h->parent = (struct pin){ r->input->name, item_digest((struct item *)r->input), NO_PLACE };
    h->pass = intern_string(&r->ctx->names, r->pass->name);
    h->revision = r->pass->revision;
    h->using = ARENA_ARRAY(&r->output->arena, struct pin, BINDINGS);
    for (int b = 0; b < BINDINGS; b++)
        if (r->pass->bindings & NEEDS(b))
            h->using[n++] = (struct pin){ r->session.items[b]->name, item_digest(r->session.items[b]), NO_PLACE };
    h->n_using = n;
}

static struct item *new_output(struct pass_run *r)
{
    const char *kind = layer_kind(r->pass->to);
    r->output = item_new(r->ctx, context_item_kind(r->ctx, kind, strlen(kind)), derived_name(r->ctx, r->input, r->suffix));
    fill_header(r);
    return r->output;
}

static bool internal_error(const struct pass_run *r, const char *what)
{
    diag_error(r->ctx->diags, (struct loc){ 0 }, "pass.internal", "%s %s", r->pass->name, what);
    diag_note(r->ctx->diags, (struct loc){ 0 }, "this is a fault of bp-opt, not of the input; nothing was published");
    return false;
}

/* Runs the pass a second time from the same input; the digests must agree. */
static bool check_replay(const struct pass_run *r)
{
    struct pass_run again = *r;
    struct item *twin = new_output(&again);
    bool good = again.pass->run(&again) && digest_equal(item_digest(twin), item_digest(r->output));
    item_free(twin);
    return good || internal_error(r, "is not deterministic: a second run has another digest");
}

static bool name_clash(const struct transaction *t, const struct pass_run *r)
{
    const struct item *twin = module_find(&t->work, r->output->name);
    if (!twin)
        return true;
    diag_error(r->ctx->diags, r->ctx->locate ? r->ctx->locate(twin, NULL, NULL, NULL) : (struct loc){ 0 }, "pass.name.clash",
               "%s would derive %s, which is in the file already", r->pass->name, symbol_text(twin, twin->name));
    diag_note(r->ctx->diags, (struct loc){ 0 }, "rename it, or choose the input with --item");
    return false;
}

/* Names that the pass chose may meet names of the input: a task @d0, an input %weights. */
static bool names_apart(const struct pass_run *r)
{
    const struct item *out = r->output;
    bool good = true;
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct stmt *s = out->stmts[i];
        const struct entity *e = stmt_entity(out, s);
        const struct stmt *holder = e->flags & ENTITY_VALUE ? item_value(out, s->name)
                                    : e->fields[0].kind == FIELD_DOLLAR_NAME ? item_dollar(out, s->name) : item_symbol(out, s->name);
        if (!s->name || !holder || holder == s)
            continue;
        good = diag_error(r->ctx->diags, (struct loc){ 0 }, "pass.name.clash", "%s would give two things in %s the name %s", r->pass->name,
                          symbol_text(out, out->name), stmt_text(out, s));
        diag_context(r->ctx->diags, "%s", symbol_text(r->input, r->input->name));
        diag_note(r->ctx->diags, (struct loc){ 0 }, "rename the one that stands in %s", symbol_text(r->input, r->input->name));
    }
    return good;
}

/* All checks of the transaction; the output is the caller's either way. */
static bool run_checked(struct transaction *t, struct pass_run *r)
{
    struct digest before = item_digest((struct item *)r->input);
    u32 errors = r->ctx->diags->errors;
    if (!r->pass->run(r))
        return r->ctx->diags->errors > errors ? false : internal_error(r, "failed without a reason");
    if (!names_apart(r))
        return false;
    ((struct item *)r->input)->digest = (struct digest){ 0, 0 };
    if (!digest_equal(before, item_digest((struct item *)r->input)))
        return internal_error(r, "changed its input");
    if (t->options->verify_replay && !check_replay(r))
        return false;
    if (t->options->verify_each && !verify_item(r->output, &t->work))
        return internal_error(r, "made a program that its verifier refuses");
    return cover_check(r) && (!r->pass->gate || r->pass->gate(r));
}

static bool observe_before(const struct transaction *t, const struct step *step, const struct item *input)
{
    for (u32 i = 0; i < t->options->n_observers; i++) {
        const struct observer *o = &t->options->observers[i];
        if (o->before && !o->before(o->state, step, input, &t->work))
            return false;
    }
    return true;
}

static bool observe_after(const struct transaction *t, const struct step *step, const struct pass_run *r)
{
    for (u32 i = 0; i < t->options->n_observers; i++) {
        const struct observer *o = &t->options->observers[i];
        if (o->after && !o->after(o->state, step, r->input, r->output, &t->work))
            return false;
    }
    return true;
}

static void observe_failure(const struct transaction *t, const struct step *step, const struct pass_run *r)
{
    for (u32 i = 0; i < t->options->n_observers; i++)
        if (t->options->observers[i].failed)
            t->options->observers[i].failed(t->options->observers[i].state, step, r->input, r->output);
}

/* An item of a session file would stand beside another of its name. */
static bool session_clash(const struct transaction *t, const struct pass_run *r, const struct item *it, const struct item *twin)
{
    struct context *ctx = t->m->ctx;
    diag_error(ctx->diags, ctx->locate ? ctx->locate(it, NULL, NULL, NULL) : (struct loc){ 0 }, "pass.name.clash",
               "%s would use %s of a session file, and the file has a %s of that name", r->pass->name, symbol_text(it, it->name), twin->kind->name);
    diag_note(ctx->diags, ctx->locate ? ctx->locate(twin, NULL, NULL, NULL) : (struct loc){ 0 }, "it is here; rename one of them");
    return false;
}

/* Puts session items that were used, and are not in the list, in front of what uses them: item *AT moves down. */
static bool insert_used(struct transaction *t, struct pass_run *r, u32 *at)
{
    for (int b = 0; b < BINDINGS; b++) {
        struct item *it = r->session.items[b];
        const struct item *twin = it ? module_find(&t->work, it->name) : NULL;
        if (!(r->pass->bindings & NEEDS(b)) || !it || twin == it)
            continue;
        if (twin)
            return session_clash(t, r, it, twin);
        module_add(&t->work, it);
        memmove(&t->work.items[*at + 1], &t->work.items[*at], (t->work.n - 1 - *at) * sizeof *t->work.items);
        t->work.items[(*at)++] = it;
    }
    return true;
}

/* Replaces item *AT by the outputs, which are FRESH from FIRST on, or puts them behind it; *AT is then the last of them. */
static void publish(struct transaction *t, u32 first, u32 *at)
{
    u32 from = *at;
    if (!t->options->keep_sources) {
        *VEC_PUSH(t->consumed, t->n_consumed, t->cap_consumed) = t->work.items[from];
        t->work.items[from] = t->fresh.items[first++];
    }
    for (u32 i = first; i < t->fresh.n; i++) {
        module_add(&t->work, t->fresh.items[i]);
        memmove(&t->work.items[*at + 2], &t->work.items[*at + 1], (t->work.n - 2 - *at) * sizeof *t->work.items);
        t->work.items[++*at] = t->fresh.items[i];
    }
}

/* The suffix of the part's name; NULL: there are no more parts. */
static const char *part_suffix(struct pass_run *r)
{
    return r->pass->part ? r->pass->part(r) : r->part ? NULL : r->pass->suffix;
}

static bool run_on(struct transaction *t, const struct step *step, u32 *at)
{
    struct context *ctx = t->m->ctx;
    struct pass_run r = { .ctx = ctx, .pass = step->pass, .input = t->work.items[*at], .module = &t->work,
                          .step = step };
    if (!bind_session(&r, step, &t->work, t->session, &t->fresh) || !observe_before(t, step, r.input))
        return false;
    if (!insert_used(t, &r, at))
        return false;
    u32 first = t->fresh.n;
    for (; (r.suffix = part_suffix(&r)); r.part++) {
        module_add(&t->fresh, new_output(&r));
        if (!name_clash(t, &r) || !run_checked(t, &r) || !observe_after(t, step, &r)) {
            observe_failure(t, step, &r);
            return false;
        }
    }
    publish(t, first, at);
    return true;
}

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

/* A pass takes every item of its layer, in order; with --item, the chosen one and then what was derived from it. */
static bool run_step(struct transaction *t, const struct step *step)
{
    u32 taken = 0, before = t->fresh.n;
    for (u32 i = 0; i < t->work.n; i++) {
        struct item *it = t->work.items[i];
        bool made_now = holds(t->fresh.items + before, t->fresh.n - before, it);
        if (it->kind->layer != step->pass->from || made_now || !selected(t, it))
            continue;
        if (!run_on(t, step, &i))
            return false;
        taken++;
    }
    if (taken) {
        choose_derived(t, before);
        return true;
    }
    diag_error(t->m->ctx->diags, step->at, "pass.input.none", "%s found no %s to work on", step->pass->name, layer_kind(step->pass->from));
    return false;
}

/* ---- Pipelines ---- */

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

static void commit(struct transaction *t)
{
    struct item **old = t->m->items;
    u32 cap = t->m->cap;
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

bool pipeline_run(struct module *m, const struct module *session, const struct pipeline *p, const struct run_options *o)
{
    struct transaction t = { .m = m, .session = session, .options = o };
    bool good = true;
    begin(&t);
    for (u32 i = 0; good && i < p->n; i++)
        good = run_step(&t, &p->steps[i]);
    if (good)
        commit(&t);
    else
        forget(&t);
    if (t.fresh.items)
        block_free(t.fresh.items, t.fresh.cap * sizeof *t.fresh.items);
    if (t.chosen.items)
        block_free(t.chosen.items, t.chosen.cap * sizeof *t.chosen.items);
    if (t.consumed)
        block_free(t.consumed, t.cap_consumed * sizeof *t.consumed);
    return good;
}
