#include "passes/transaction.h"

#include "ir/verify.h"
#include "passes/binding.h"
#include "passes/contract.h"
#include "passes/cover.h"
#include "passes/guard.h"
#include "passes/publish.h"
#include "passes/replay.h"
#include "support/clock.h"

/* A run of a pass, and what the transaction keeps of it. */
struct attempt {
    struct transaction *t;
    struct pass_run r;
    struct analyses products;       /* of the output in work */
    struct analyses staged;         /* of those that are done */
    struct header header;           /* of the output, as it was handed to the pass */
    struct host_time spent;
};

/* ---- Time ---- */

static void begin(const struct attempt *a, enum span span)
{
    const struct stopwatch *w = a->t->options->stopwatch;
    if (w)
        w->begin(w->state, span, a->r.step, a->r.input);
}

static bool end(const struct attempt *a, enum span span, bool good)
{
    const struct stopwatch *w = a->t->options->stopwatch;
    if (w)
        w->end(w->state, span);
    return good;
}

/* ---- The output, empty ---- */

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

/* ---- The output, done ---- */

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

static bool same_pin(struct pin a, struct pin b)
{
    return a.item == b.item && digest_equal(a.digest, b.digest);
}

static bool has_pin(const struct header *h, struct pin pin)
{
    for (u32 i = 0; i < h->n_using; i++)
        if (same_pin(h->using[i], pin))
            return true;
    return false;
}

/* Who made the output, and from what, is not the pass's to say; but it may keep what its input was derived with. */
static bool header_kept(const struct attempt *a)
{
    const struct header *h = &a->r.output->header, *was = &a->header;
    bool same = same_pin(h->parent, was->parent) && h->pass == was->pass && h->revision == was->revision && h->major == was->major &&
                h->minor == was->minor;
    for (u32 i = 0; same && i < was->n_using; i++)
        same = has_pin(h, was->using[i]);
    for (u32 i = 0; same && i < h->n_using; i++)
        same = has_pin(was, h->using[i]) || has_pin(&a->r.input->header, h->using[i]);
    return same || internal_error(&a->r, "changed the header of its output");
}

/* ---- Checks ---- */

/* The pass itself, between two looks at what it may not change. */
static bool run_pass(struct attempt *a)
{
    struct pass_run *r = &a->r;
    struct guard g = guard_known(r);
    u32 errors = r->ctx->diags->errors;
    struct host_time start = host_now();
    begin(a, SPAN_RUN);
    bool good = end(a, SPAN_RUN, r->pass->run(r));
    a->spent = host_since(start);
    const struct item *changed = guard_broken(&g, r);
    if (changed)
        return internal_error(r, changed == r->input ? "changed its input %s" : "changed the session item %s", symbol_text(changed, changed->name));
    return good || (r->ctx->diags->errors == errors && internal_error(r, "failed without a reason"));
}

static bool verify_output(struct attempt *a)
{
    if (!a->t->options->verify_each)
        return true;
    begin(a, SPAN_VERIFY);
    return end(a, SPAN_VERIFY, verify_item(a->r.output, &a->t->work)) || internal_error(&a->r, "made a program that its verifier refuses");
}

static bool check_relations(struct attempt *a)
{
    begin(a, SPAN_RELATIONS);
    return end(a, SPAN_RELATIONS, cover_check(&a->r));
}

/* A gate sees the two items, the session and the options; and it proves, it does not mend. */
static bool check_gate(struct attempt *a)
{
    struct pass_run view = a->r;
    view.module = NULL;
    view.analyses = NULL;
    view.products = NULL;
    view.arena = NULL;
    begin(a, SPAN_GATE);
    if (!end(a, SPAN_GATE, a->r.pass->gate(&view)))
        return false;
    return (digest_equal(a->r.output->digest, item_digest_now(a->r.output)) &&
            digest_equal(a->r.output->header.parent.digest, item_digest_now(a->r.input))) ||
           internal_error(&a->r, "has a commit gate that changes what it judges");
}

static bool check_analyses(struct attempt *a)
{
    begin(a, SPAN_ANALYSES);
    return end(a, SPAN_ANALYSES, prove_products(&a->r) && prove_preserved(&a->r, a->t->known) && prove_agreement(&a->r, a->t->known));
}

static bool check_replay(struct attempt *a)
{
    if (!a->t->options->verify_replay)
        return true;
    if (a->r.pass->random)
        return internal_error(&a->r, "says in its contract that two runs may differ: it can't be replayed");
    struct pass_run again = a->r;
    begin(a, SPAN_REPLAY);
    struct item *twin = new_output(&again);
    bool good = end(a, SPAN_REPLAY, replay_check(&a->r, twin));
    item_free(twin);
    return good;
}

/* What the output says is final; whatever the pass had computed of it is not believed. */
static bool seal(struct attempt *a)
{
    a->r.output->digest = item_digest_now(a->r.output);
    return true;
}

/* All checks of the output, which is the transaction's either way. */
static bool run_checked(struct attempt *a)
{
    return run_pass(a) && header_kept(a) && seal(a) && names_apart(&a->r) && verify_output(a) && check_relations(a) && check_gate(a) &&
           check_replay(a) && check_analyses(a);
}

/* ---- Observers ---- */

static struct checkpoint checkpoint_of(const struct attempt *a, const struct item *output)
{
    return (struct checkpoint){
        .step = a->r.step, .input = a->r.input, .output = output, .module = &a->t->work, .session = &a->r.session,
        .fingerprint = session_fingerprint(&a->r.session, a->r.pass->bindings), .proven = a->r.proven, .findings = a->products.list,
        .n_findings = a->products.n, .wall = a->spent.wall, .cpu = a->spent.cpu,
    };
}

static bool show_before(struct attempt *a)
{
    struct checkpoint c = checkpoint_of(a, NULL);
    if (!a->t->options->n_observers)
        return true;
    begin(a, SPAN_OBSERVERS);
    return end(a, SPAN_OBSERVERS, observe_before(&a->r, a->t->options, &c));
}

static bool show_after(struct attempt *a)
{
    struct checkpoint c = checkpoint_of(a, a->r.output);
    if (!a->t->options->n_observers)
        return true;
    begin(a, SPAN_OBSERVERS);
    return end(a, SPAN_OBSERVERS, observe_after(&a->r, a->t->options, &c));
}

static bool show_failure(struct attempt *a)
{
    struct checkpoint c = checkpoint_of(a, a->r.output);
    observe_failure(&a->r, a->t->options, &c);
    return false;
}

/* ---- The session ---- */

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
        module_insert(&t->work, (*at)++, it);
    }
    return true;
}

/* ---- One pass on one item ---- */

/* Replaces item *AT by the outputs, which are FRESH from FIRST on, or puts them behind it; *AT is then the last of them. */
static void publish(struct attempt *a, u32 first, u32 *at)
{
    struct transaction *t = a->t;
    for (u32 i = 0; i < a->staged.n; i++)
        analyses_add(t->known, &a->staged.list[i]);
    u32 from = *at;
    if (!t->options->keep_sources) {
        *VEC_PUSH(t->consumed, t->n_consumed, t->cap_consumed) = t->work.items[from];
        t->work.items[from] = t->fresh.items[first++];
        t->work.items[from]->index = from;
    }
    for (u32 i = first; i < t->fresh.n; i++)
        module_insert(&t->work, ++*at, t->fresh.items[i]);
}

/* The suffix of the part's name; NULL: there are no more parts. */
static const char *part_suffix(struct pass_run *r)
{
    return r->pass->part ? r->pass->part(r) : r->part ? NULL : r->pass->suffix;
}

/* One output, proved and shown; what was published with it waits for the others. */
static bool make_part(struct attempt *a)
{
    struct transaction *t = a->t;
    struct pass_run *r = &a->r;
    struct pin *using = ARENA_ARRAY(&r->ctx->arena, struct pin, BINDINGS);
    a->products.n = 0;
    module_add(&t->fresh, new_output(r));
    a->header = r->output->header;
    a->header.using = memcpy(using, r->output->header.using, sizeof *using * BINDINGS);
    if (!name_clash(t, r) || !run_checked(a) || !show_after(a))
        return show_failure(a);
    for (u32 i = 0; i < a->products.n; i++)
        *VEC_PUSH(a->staged.list, a->staged.n, a->staged.cap) = a->products.list[i];
    return true;
}

static bool make(struct attempt *a, u32 *at)
{
    struct transaction *t = a->t;
    struct pass_run *r = &a->r;
    if (!contract_accepts(r->pass, r->input) || !bind_session(r, r->step, &t->work, t->session, &t->fresh) ||
        !require_analyses(r, t->known))
        return show_failure(a);
    u32 first = t->fresh.n;
    if (!show_before(a) || !insert_used(t, r, at))
        return show_failure(a);
    for (; (r->suffix = part_suffix(r)); r->part++)
        if (!make_part(a))
            return false;
    publish(a, first, at);
    return true;
}

bool transaction_run(struct transaction *t, const struct step *step, u32 *at)
{
    struct context *ctx = t->m->ctx;
    struct attempt a = { .t = t, .products = { .ctx = ctx }, .staged = { .ctx = ctx } };
    a.r = (struct pass_run){ .ctx = ctx, .pass = step->pass, .input = t->work.items[*at], .module = &t->work, .step = step, .analyses = t->known,
                             .arena = &t->known->arena, .products = &a.products };
    a.r.proven = ARENA_ARRAY(&ctx->arena, u32, relation_count(step->pass) + 1);
    begin(&a, SPAN_PASS);
    bool good = end(&a, SPAN_PASS, make(&a, at));
    if (a.products.list)
        block_free(a.products.list, a.products.cap * sizeof *a.products.list);
    if (a.staged.list)
        block_free(a.staged.list, a.staged.cap * sizeof *a.staged.list);
    return good;
}
