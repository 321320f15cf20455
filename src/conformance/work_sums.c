/* A decoder's block as a whole: every term is there, products are the closed forms, and what a phase adds up to. */
#include "conformance/work_terms.h"

/* ---- Completeness ---- */

static const char *phase_word(enum phase phase, enum use use)
{
    static const char *const words[] = { "forward", "activation_gradient", "weight_gradient", "inference", "optimizer" };
    return use == AGAIN ? "recompute" : use == STEP_OF ? "optimizer" : words[phase];
}

static bool refuse_count(struct terms *t, const struct term *term, enum use use, u32 count)
{
    bool again = use == AGAIN;
    u32 due = t->tally[term - work_terms][use].wanted ? t->blocks : 0;
    verify_error(&t->b->c->v, NULL, NULL, NULL, again ? "check.work_conservation.recompute" : "check.work_conservation.missing",
                 "layer %s has %u %s in phase %s, and %u %s due", term->layer, count, term->sends ? "collectives" : "tasks", phase_word(term->phase, use), due,
                 due == 1 ? "is" : "are");
    if (again)
        verify_note_legal(&t->b->c->v, "the strategy says what is done again: recompute, input_regather");
    return false;
}

/* Whether the program has anything of a phase at all: what it leaves out as a whole is said, not refused. */
static bool has_phase(const struct terms *t, enum phase phase, enum use use)
{
    u32 n = 0;
    for (u32 i = 0; i < TERMS; i++)
        n += work_terms[i].phase == phase ? t->tally[i][use].count : 0;
    return n != 0;
}

bool terms_check_counts(struct terms *t)
{
    bool good = true, there[PHASES][USES];
    for (int p = 0; p < PHASES; p++)
        for (int u = 0; u < USES; u++)
            there[p][u] = has_phase(t, (enum phase)p, (enum use)u);
    there[OPTIMIZER][FIRST] = there[WEIGHT_GRADIENT][STEP_OF];
    for (u32 i = 0; i < TERMS; i++)
        for (int u = 0; u < USES; u++) {
            const struct tally *tally = &t->tally[i][u];
            bool skipped = u == AGAIN ? !there[FORWARD][FIRST] || !there[ACTIVATION_GRADIENT][FIRST] : !there[work_terms[i].phase][u];
            if (!tally->open && !skipped && tally->count != (tally->wanted ? t->blocks : 0))
                good = refuse_count(t, &work_terms[i], (enum use)u, tally->count);
        }
    return good;
}

/* ---- Sums ---- */

/* 24bsh^2 + 4bs^2h with attention width, width of keys and values, and feed-forward width apart from h. */
bool terms_check_products(struct terms *t)
{
    static const char *const forms[2][INFERENCE + 1] = {
        { "4p+4k+4m+4q", "4p+4k+4m+8q", "4p+4k+4m", "4p+4k+4m" },
        { "4p+4k+6m+4q", "4p+4k+6m+8q", "4p+4k+6m", "4p+4k+6m" },       /* with a gate, a third product of the MLP */
    };
    bool good = true;
    for (int p = 0; p <= INFERENCE; p++) {
        const struct context *ctx = t->b->it->ctx;
        const char *form = forms[t->b->swiglu][p];
        struct amount want;
        if (!has_phase(t, (enum phase)p, FIRST))
            continue;
        if (!block_sum(t->b, form, &want) || !work_times(t->b->c, NULL, want.all, t->blocks, &want.all))
            return false;
        const char *is = qty_text(ctx, t->products[p]);
        if (work_same(t->b->it, t->b->ranks, t->products[p], want.all)) {
            check_proved(t->b->c, "products in phase %s over %llu ranks: %s operations = `%s`", phase_word((enum phase)p, FIRST),
                         (unsigned long long)t->b->ranks, is, form);
            continue;
        }
        good = verify_error(&t->b->c->v, t->product_at[p] ? &t->product_at[p]->s : NULL, NULL, NULL, "check.work_conservation.products",
                            "products in phase %s have %s operations over all ranks, and `%s` is %s", phase_word((enum phase)p, FIRST), is, form,
                            qty_text(ctx, want.all));
        terms_note_letters(t, form);
    }
    return good;
}

/* What the tasks of a phase have of a fact over all ranks: computed, and sent. */
static bool sum_phase(struct terms *t, enum phase phase, enum use use, u32 fact, struct amount sums[2])
{
    struct check *c = t->b->c;
    for (u32 i = 0; i < TERMS; i++) {
        const struct tally *tally = &t->tally[i][use];
        struct amount *sum = &sums[work_terms[i].sends], each;
        if (work_terms[i].phase != phase || !tally->count)
            continue;
        if (!work_times(c, NULL, tally->facts[fact].all, tally->count, &each.all) || !work_times(c, NULL, tally->facts[fact].once, tally->count, &each.once) ||
            !work_add(c, NULL, sum->all, each.all, &sum->all) || !work_add(c, NULL, sum->once, each.once, &sum->once))
            return false;
    }
    return true;
}

/* "operations 9 = 5 of the model + 3 replicated + 1 of collectives" */
static const char *fact_text(struct terms *t, enum phase phase, enum use use, u32 fact)
{
    const struct context *ctx = t->b->it->ctx;
    struct amount sums[2] = { { 0, 0 } };
    qty all, more;
    if (!sum_phase(t, phase, use, fact, sums) || !work_add(t->b->c, NULL, sums[0].all, sums[1].all, &all) ||
        qty_sub(ctx->exprs, sums[0].all, sums[0].once, &more) != EXPR_OK)
        return NULL;
    const char *text = arena_format(&t->b->c->v.scratch, "%s %s", work_fact_words[fact], qty_text(ctx, all));
    text = arena_format(&t->b->c->v.scratch, "%s = %s of the %s", text, qty_text(ctx, sums[0].once), use == AGAIN ? "forward pass" : "model");
    text = arena_format(&t->b->c->v.scratch, "%s + %s replicated", text, qty_text(ctx, more));
    return arena_format(&t->b->c->v.scratch, "%s + %s of collectives", text, qty_text(ctx, sums[1].all));
}

/* The layers that are done again, by name. */
static const char *repeated_text(struct terms *t)
{
    const char *text = "";
    for (u32 i = 0; i < TERMS; i++)
        if (t->tally[i][AGAIN].count)
            text = arena_format(&t->b->c->v.scratch, "%s%s%s", text, *text ? ", " : ": ", work_terms[i].layer);
    return text;
}

static bool tell_phase(struct terms *t, enum phase phase, enum use use)
{
    const char *texts[FACTS];
    u32 n = 0;
    for (u32 i = 0; i < TERMS; i++)
        n += work_terms[i].phase == phase ? t->tally[i][use].count : 0;
    for (u32 k = 0; n && k < FACTS; k++)
        if (!(texts[k] = fact_text(t, phase, use, k)))
            return false;
    if (n)
        check_proved(t->b->c, "phase %s over %llu ranks, %u tasks: %s; %s; %s%s", phase_word(phase, use),
                     (unsigned long long)(t->b->ranks * (use == STEP_OF ? t->b->data : 1)), n, texts[0], texts[1], texts[2],
                     use == AGAIN ? repeated_text(t) : "");
    return true;
}

bool terms_tell(struct terms *t)
{
    for (int p = 0; p < PHASES; p++)
        for (int u = 0; u < USES; u++)
            if (!(u == STEP_OF && t->unshared) && !tell_phase(t, (enum phase)p, (enum use)u))
                return false;
    if (t->unshared)
        check_skipped(t->b->c, "%u steps of the optimizer: the strategy, which says how state is shared, is not in the file", t->unshared);
    if (!t->b->strategy && t->b->training)
        check_skipped(t->b->c, "which terms are done again: the strategy is not in the file");
    return true;
}
