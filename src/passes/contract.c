#include "passes/contract.h"

#include "dialects/registry.h"

static const struct loc nowhere;

const char *layer_kind(enum layer layer)
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        if ((*d)->kinds[0].layer == layer && layer != LAYER_SESSION)
            return (*d)->kinds[0].name;
    return "session";
}

bool analysis_listed(const struct analysis *const *list, const struct analysis *key)
{
    for (; list && *list; list++)
        if (*list == key)
            return true;
    return false;
}

/* ---- One contract ---- */

static bool fault(const struct pass *p, struct context *ctx, const char *what)
{
    diag_error(ctx->diags, nowhere, "pass.contract", "%s %s", p->name, what);
    diag_note(ctx->diags, nowhere, "this is a fault of the pass, not of the input; nothing was published");
    return false;
}

static bool overlap(const struct analysis *const *a, const struct analysis *const *b)
{
    for (; a && *a; a++)
        if (analysis_listed(b, *a))
            return true;
    return false;
}

static bool is_older(struct version a, struct version b)
{
    return a.major < b.major || (a.major == b.major && a.minor < b.minor);
}

bool contract_check(const struct pass *p, struct context *ctx)
{
    if (!p->name || !p->run || (!p->suffix && !p->part) || !p->revision)
        return fault(p, ctx, "has no name, revision, suffix or function");
    if (!p->gate)
        return fault(p, ctx, "has no commit gate: nothing would prove what it makes");
    if (!p->relations || !p->relations[0].target)
        return fault(p, ctx, "declares no relation between what it takes and what it makes");
    if (overlap(p->preserves, p->produces))
        return fault(p, ctx, "both preserves and produces an analysis");
    if (is_older(p->accepts[1], p->accepts[0]))
        return fault(p, ctx, "accepts no schema: its newest is older than its oldest");
    return true;
}

bool contract_accepts(const struct pass *p, const struct item *input)
{
    const struct item_kind *k = input->kind;
    struct version own = { k->major, k->minor }, has = { (u16)input->header.major, (u16)input->header.minor };
    struct version oldest = p->accepts[1].major ? p->accepts[0] : own, newest = p->accepts[1].major ? p->accepts[1] : own;
    if (!is_older(has, oldest) && !is_older(newest, has))
        return true;
    diag_error(input->ctx->diags, nowhere, "pass.contract", "%s takes %s of schema %u.%u to %u.%u, and @%s has %u.%u", p->name, k->name,
               oldest.major, oldest.minor, newest.major, newest.minor, context_text(input->ctx, input->name), has.major, has.minor);
    return false;
}

/* ---- As text ---- */

static void print_list(struct out *o, const char *word, const struct analysis *const *list)
{
    for (; list && *list; list++)
        out_printf(o, "%s %s\n", word, (*list)->name);
}

void contract_print(struct out *o, const struct pass *p)
{
    out_printf(o, "pass %s revision %u\ntakes %s %u.%u to %u.%u\nmakes %s\n", p->name, p->revision, layer_kind(p->from), p->accepts[0].major,
               p->accepts[0].minor, p->accepts[1].major, p->accepts[1].minor, layer_kind(p->to));
    out_printf(o, "operation %s\nbindings %u\nrandom %u\n", p->operation ? p->operation : "any", p->bindings, p->random);
    for (const struct relation *r = p->relations; r && r->target; r++)
        out_printf(o, "relation %s %u from %s keeps %s\n", r->target, r->kind, r->source, r->keeps);
    print_list(o, "requires", p->requires);
    print_list(o, "preserves", p->preserves);
    print_list(o, "produces", p->produces);
}

struct digest contract_digest(const struct pass *p)
{
    struct out o;
    out_digest(&o);
    contract_print(&o, p);
    return digest_finish(&o);
}

/* ---- Passes behind one another ---- */

static bool layers_fit(const struct pass *a, const struct pass *b, struct loc at, struct context *ctx)
{
    return a->to == b->from || diag_error(ctx->diags, at, "pass.pipeline.order", "%s takes a %s, but %s makes a %s", b->name,
                                          layer_kind(b->from), a->name, layer_kind(a->to));
}

/* Before pass I of the pipeline, KEY can be computed, or some pass makes it and those in between preserve it. */
static bool is_available(const struct pipeline *p, u32 i, const struct analysis *key)
{
    if (key->compute)
        return true;
    while (i-- > 0) {
        if (analysis_listed(p->steps[i].pass->produces, key))
            return true;
        if (!analysis_listed(p->steps[i].pass->preserves, key))
            return false;
    }
    return false;
}

static bool analyses_fit(const struct pipeline *p, u32 i, struct context *ctx)
{
    bool good = true;
    const struct pass *pass = p->steps[i].pass;
    for (const struct analysis *const *a = pass->requires; i && a && *a; a++)
        if (!is_available(p, i, *a)) {
            good = diag_error(ctx->diags, p->steps[i].at, "pass.analysis.missing", "%s requires the analysis %s, which no pass before it makes and keeps",
                              pass->name, (*a)->name);
            diag_note(ctx->diags, nowhere, "put a pass in front that produces it, and none between that does not preserve it");
        }
    return good;
}

bool pipeline_check(const struct pipeline *p, struct context *ctx)
{
    bool good = true;
    for (u32 i = 0; i < p->n; i++) {
        const struct step *s = &p->steps[i];
        good = contract_check(s->pass, ctx) && good;
        good = (!i || layers_fit(s[-1].pass, s->pass, s->at, ctx)) && good;
        good = analyses_fit(p, i, ctx) && good;
    }
    return good;
}
