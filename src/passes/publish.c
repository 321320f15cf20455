#include "passes/publish.h"

#include "ir/verify.h"
#include "passes/contract.h"
#include "passes/cover.h"
#include "passes/guard.h"

/* Computes and enters what is known of IT. NULL: reported. */
static const struct finding *find_out(const struct pass_run *r, struct analyses *known, const struct analysis *key, const struct item *it)
{
    struct finding f = { .key = key, .item = item_digest((struct item *)it), .session = session_fingerprint(&r->session, key->bindings) };
    f.value = key->compute(it, &known->arena);
    if (!f.value)
        return NULL;
    f.digest = finding_digest(r->ctx, key, f.value);
    analyses_add(known, &f);
    return analyses_find(known, key, f.item, &f.session);
}

/* What is known of the input; NULL: nothing, and it can't be computed, or that failed, which is reported. */
static const struct finding *known_of_input(const struct pass_run *r, struct analyses *known, const struct analysis *key)
{
    const struct finding *f = pass_finding(r, key);
    return f || !key->compute ? f : find_out(r, known, key, r->input);
}

bool require_analyses(const struct pass_run *r, struct analyses *known)
{
    for (const struct analysis *const *a = r->pass->requires; a && *a; a++) {
        u32 errors = r->ctx->diags->errors;
        const struct finding *f = known_of_input(r, known, *a);
        if (!f && r->ctx->diags->errors > errors)
            return false;
        if (!f)
            return diag_error(r->ctx->diags, (struct loc){ 0 }, "pass.analysis.missing", "%s requires the analysis %s of %s, and there is none",
                              r->pass->name, (*a)->name, symbol_text(r->input, r->input->name));
        if (!finding_is_whole(r->ctx, f))
            return internal_error(r, "can't trust the analysis %s of %s: its value is not what its digest says", (*a)->name,
                                  symbol_text(r->input, r->input->name));
    }
    return true;
}

/* ---- Preserved ---- */

/* The first line in which two values differ, cut out of both. */
static bool not_conserved(const struct pass_run *r, const struct finding *a, const struct finding *b)
{
    struct out x, y;
    size_t from = 0;
    out_memory(&x);
    out_memory(&y);
    a->key->print(&x, r->ctx, a->value);
    b->key->print(&y, r->ctx, b->value);
    out_char(&x, '\0');
    out_char(&y, '\0');
    for (size_t i = 0; x.data[i] && x.data[i] == y.data[i]; i++)
        from = x.data[i] == '\n' ? i + 1 : from;
    gate_refuse(r, r->output, NULL, "%s is not conserved: `%.*s` in its source, `%.*s` here", a->key->name,
                (int)strcspn(x.data + from, "\n"), x.data + from, (int)strcspn(y.data + from, "\n"), y.data + from);
    out_free(&x);
    out_free(&y);
    return false;
}

static bool preserve(struct pass_run *r, struct analyses *known, const struct analysis *key)
{
    u32 errors = r->ctx->diags->errors;
    const struct finding *found = known_of_input(r, known, key);
    if (!found)
        return r->ctx->diags->errors == errors;         /* not known of the input: nothing to carry over */
    struct finding source = *found, f = *found;
    f.item = item_digest(r->output);
    if (key->compute) {
        f.value = key->compute(r->output, r->arena);
        if (!f.value)
            return false;
        f.digest = finding_digest(r->ctx, key, f.value);
    }
    if (!digest_equal(f.digest, source.digest))
        return not_conserved(r, &source, &f);
    *VEC_PUSH(r->products->list, r->products->n, r->products->cap) = f;
    return true;
}

bool prove_preserved(struct pass_run *r, struct analyses *known)
{
    for (const struct analysis *const *a = r->pass->preserves; a && *a; a++)
        if (!preserve(r, known, *a))
            return false;
    return true;
}

/* ---- Produced ---- */

static u32 published(const struct pass_run *r, const struct analysis *key)
{
    u32 n = 0;
    for (u32 i = 0; i < r->products->n; i++)
        n += r->products->list[i].key == key;
    return n;
}

static bool is_true(struct pass_run *r, const struct finding *f)
{
    if (!finding_is_whole(r->ctx, f))
        return internal_error(r, "published the analysis %s with a digest that is not its value's", f->key->name);
    const void *value = f->key->compute ? f->key->compute(r->output, r->arena) : f->value;
    return (value && digest_equal(finding_digest(r->ctx, f->key, value), f->digest)) ||
           internal_error(r, "published an analysis %s that is not its output's", f->key->name);
}

bool prove_products(struct pass_run *r)
{
    struct digest output = item_digest(r->output);
    for (const struct analysis *const *a = r->pass->produces; a && *a; a++)
        if (published(r, *a) != 1)
            return internal_error(r, "published the analysis %s %u times, and its contract says once", (*a)->name, published(r, *a));
    for (u32 i = 0; i < r->products->n; i++) {
        struct finding *f = &r->products->list[i];
        if (!analysis_listed(r->pass->produces, f->key))
            return internal_error(r, "published the analysis %s, which its contract does not name", f->key->name);
        if (!digest_is_none(f->item) && !digest_equal(f->item, output))
            return internal_error(r, "published the analysis %s of another item than its output", f->key->name);
        if (!is_true(r, f))
            return false;
        f->item = output;
        f->session = session_fingerprint(&r->session, f->key->bindings);
    }
    return true;
}

bool prove_agreement(const struct pass_run *r, const struct analyses *known)
{
    for (u32 i = 0; i < r->products->n; i++) {
        const struct finding *f = &r->products->list[i], *twin = analyses_find(known, f->key, f->item, &f->session);
        if (twin && !digest_equal(twin->digest, f->digest))
            return internal_error(r, "published an analysis %s that contradicts what is known of %s", f->key->name,
                                  symbol_text(r->output, r->output->name));
    }
    return true;
}
