#include "conformance/shard_reconstruction.h"

/*
 * What a task leaves partial. A local task reduces nothing: what is partial over an axis stays so, or is lost; and what is
 * whole on each rank can't be a share of a sum.
 */
struct sums {
    struct program *p;
    const struct dist_task *t;
    const struct task_meaning *x;
    u64 want[REDUCTIONS];
    bool certain;               /* nothing but WANT is right; else WANT is the least */
};

static const char *name_of(const struct sums *s, const struct value_facts *v)
{
    return value_text(s->p->it, v->value->s.name);
}

static bool refuse(const struct sums *s, const struct value_facts *v, const char *format, const char *what)
{
    const char *name = name_of(s, v);
    verify_error(&s->p->check->v, &s->t->s, NULL, name, "check.shard_reconstruction.partial", format, name, what);
    verify_note_legal(&s->p->check->v, "reduce it first: `collective all_reduce` or `reduce_scatter`");
    return false;
}

static u64 partial_sums(const struct piece *a) { return a->partial_of[REDUCTION_SUM]; }

static const char *axes_of(const struct sums *s, u64 mask) { return grid_axes_text(&s->p->grid, mask); }

/* The axes over which a product sums, or a mean is taken, each rank its share. */
static u64 summed_axes(const struct sums *s)
{
    u64 mask = 0;
    u8 summed = s->x->meaning == MEANING_PRODUCT ? DIM_SUMMED : DIM_AVERAGED;
    for (u32 i = 0; s->x->known && i < task_operands(s->p, s->t); i++) {
        struct piece a;
        value_piece(s->p, program_operand(s->p, s->t, i), &a);
        for (u32 dim = 0; dim < a.rank; dim++)
            if (meaning_dim(s->x, i, dim, a.rank) == summed)
                mask |= piece_mask(&a, dim);
    }
    return mask;
}

/* Does the value, as operand I, go through the operation? Adds what it leaves partial. */
static bool take(struct sums *s, u32 i, const struct value_facts *v, const struct piece *a)
{
    bool other = a->partial & ~partial_sums(a), bias = s->x->meaning == MEANING_PRODUCT && i == 2;
    switch ((enum meaning)s->x->meaning) {
    case MEANING_CURVE:
        return !a->partial || refuse(s, v, "%s is partial over %s, and the operation is not linear", axes_of(s, a->partial));
    case MEANING_PRODUCT:
    case MEANING_SUM:
    case MEANING_SCALE:
        if (other)
            return refuse(s, v, "%s is partial over %s by another reduction than sum, and the operation changes its elements",
                          axes_of(s, a->partial & ~partial_sums(a)));
        if (s->x->meaning != MEANING_PRODUCT)
            break;
        if (!bias && partial_sums(a) & s->want[REDUCTION_SUM])
            return refuse(s, v, "%s and another operand are both partial sums over %s, and products of sums are no sums of products",
                          axes_of(s, partial_sums(a) & s->want[REDUCTION_SUM]));
        if (bias && partial_sums(a) != s->want[REDUCTION_SUM])
            return refuse(s, v, "%s is added to a product that is %s, and counts once on each rank",
                          arena_format(&s->p->check->v.scratch, "partial over %s", axes_of(s, s->want[REDUCTION_SUM])));
        s->want[REDUCTION_SUM] |= partial_sums(a);
        return true;
    case MEANING_MOVE:
        break;
    case MEANING_OPEN:
        for (u32 r = 0; r < REDUCTIONS; r++)
            s->want[r] |= a->partial_of[r];
        return true;
    }
    if (i && memcmp(a->partial_of, s->want, sizeof s->want) != 0)
        return refuse(s, v, "%s is %s, and what it is put together with is not: what is whole would count once on each rank",
                      piece_text(&s->p->grid, a));
    memcpy(s->want, a->partial_of, sizeof s->want);
    return true;
}

/* Text of partial states alone. */
static const char *want_text(const struct sums *s)
{
    struct piece only = { 0 };
    memcpy(only.partial_of, s->want, sizeof s->want);
    for (u32 r = REDUCTION_SUM; r < REDUCTIONS; r++)
        if (s->want[r])
            return piece_text(&s->p->grid, &only);
    return "whole";
}

static void check_result(const struct sums *s, const struct value_facts *v)
{
    struct piece b;
    u64 lost = 0, extra = 0;
    value_piece(s->p, v, &b);
    for (u32 r = REDUCTION_SUM; r < REDUCTIONS; r++) {
        lost |= s->want[r] & ~b.partial_of[r];
        extra |= s->certain ? b.partial_of[r] & ~s->want[r] : 0;
    }
    if (!lost && !extra)
        return;
    const char *name = name_of(s, v), *task = stmt_text(s->p->it, &s->t->s);
    verify_error(&s->p->check->v, &s->t->s, NULL, name, "check.shard_reconstruction.partial",
                 lost ? "%s leaves %s %s, and it is said to be %s: a local task reduces nothing"
                      : "%s leaves %s %s, and it is said to be %s: a reduction would count it once on each rank",
                 task, name, want_text(s), piece_text(&s->p->grid, &b));
    if (lost)
        verify_note_legal(&s->p->check->v, "reduce it over %s: `collective all_reduce` or `reduce_scatter`", axes_of(s, lost));
    else
        verify_note_legal(&s->p->check->v, "leave `partial` over %s out", axes_of(s, extra));
}

u32 shard_partial_check(struct program *p, const struct dist_task *t, const struct task_meaning *x)
{
    struct sums s = { .p = p, .t = t, .x = x };
    bool product = x->meaning == MEANING_PRODUCT;
    u32 taken = 0;
    s.certain = x->meaning != MEANING_OPEN && (!product || x->known);
    for (u32 i = 0; i < task_operands(p, t); i++) {
        const struct value_facts *v = program_operand(p, t, i);
        struct piece a;
        if (product && i == 2)
            s.want[REDUCTION_SUM] |= summed_axes(&s);
        value_piece(p, v, &a);
        taken += a.partial != 0;
        if (!take(&s, i, v, &a))
            return taken;
    }
    if (product || x->meaning == MEANING_CURVE)
        s.want[REDUCTION_SUM] |= summed_axes(&s);
    for (u32 i = 0; i < task_results(p, t); i++)
        check_result(&s, program_result(p, t, i));
    return taken;
}
