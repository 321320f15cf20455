#include "passes/guard.h"

#include "ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

struct guard guard_take(const struct pass_run *r, bool output)
{
    struct guard g = { .input = item_digest_now(r->input) };
    if (output && r->output)
        g.output = item_digest_now(r->output);
    for (int b = 0; b < BINDINGS; b++)
        if (r->session.items[b])
            g.session[b] = item_digest_now(r->session.items[b]);
    return g;
}

struct guard guard_known(const struct pass_run *r)
{
    struct guard g = { .input = item_digest((struct item *)r->input) };
    for (int b = 0; b < BINDINGS; b++)
        if (r->session.items[b])
            g.session[b] = item_digest(r->session.items[b]);
    return g;
}

static bool same(struct digest before, const struct item *it)
{
    return digest_is_none(before) || digest_equal(before, item_digest_now(it));
}

const struct item *guard_broken(const struct guard *g, const struct pass_run *r)
{
    if (!same(g->input, r->input))
        return r->input;
    for (int b = 0; b < BINDINGS; b++)
        if (r->session.items[b] && !same(g->session[b], r->session.items[b]))
            return r->session.items[b];
    return same(g->output, r->output) ? NULL : r->output;
}

bool internal_error(const struct pass_run *r, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(r->ctx->diags, (struct loc){ 0 }, "pass.internal", "%s %s", r->pass->name, message);
    diag_note(r->ctx->diags, (struct loc){ 0 }, "this is a fault of bp-opt, not of the input; nothing was published");
    return false;
}

/* ---- Observers ---- */

static bool settle(const struct pass_run *r, const struct observer *o, const struct guard *before, bool accepted, u32 errors)
{
    const struct item *changed = guard_broken(before, r);
    const char *name = o->name ? o->name : "an observer";
    if (changed)
        return internal_error(r, "was watched by %s, which changed %s", name, symbol_text(changed, changed->name));
    return accepted || r->ctx->diags->errors > errors || internal_error(r, "was refused by %s, which gave no reason", name);
}

bool observe_before(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c)
{
    for (u32 i = 0; i < o->n_observers; i++) {
        const struct observer *each = &o->observers[i];
        if (!each->before)
            continue;
        struct guard g = guard_take(r, false);
        u32 errors = r->ctx->diags->errors;
        bool accepted = each->before(each->state, c);
        if (!settle(r, each, &g, accepted, errors) || !accepted)
            return false;
    }
    return true;
}

bool observe_after(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c)
{
    for (u32 i = 0; i < o->n_observers; i++) {
        const struct observer *each = &o->observers[i];
        if (!each->after)
            continue;
        struct guard g = guard_take(r, true);
        u32 errors = r->ctx->diags->errors;
        bool accepted = each->after(each->state, c);
        if (!settle(r, each, &g, accepted, errors) || !accepted)
            return false;
    }
    return true;
}

void observe_failure(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c)
{
    for (u32 i = 0; i < o->n_observers; i++) {
        const struct observer *each = &o->observers[i];
        if (!each->failed)
            continue;
        struct guard g = guard_take(r, false);
        each->failed(each->state, c);
        settle(r, each, &g, true, r->ctx->diags->errors);
    }
}
