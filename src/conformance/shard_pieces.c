#include "conformance/shard_reconstruction.h"

/* ---- Cut and joined ---- */

/*
 * A rank's part of a whole that is cut at K > 1 places is not its part of each of the K pieces: rank 0 of two has the first
 * half of the whole, which is all of the first piece and nothing of the second.
 */
static void refuse_cut(struct program *p, const struct dist_task *t, const struct task_meaning *x, const struct value_facts *part,
                       const struct value_facts *whole, const char *verb)
{
    struct check *c = p->check;
    struct piece piece;
    const char *a = value_text(p->it, part->value->s.name), *b = value_text(p->it, whole->value->s.name);
    value_piece(p, part, &piece);
    verify_error(&c->v, &t->s, NULL, a, "check.shard_reconstruction.pieces",
                 "%s %s %s along dimension %u, which %s splits: a rank's part of one is not its part of the other", stmt_text(p->it, &t->s),
                 verb, b, x->axis, piece_dim_text(&p->grid, &piece, x->axis));
    verify_note_legal(&c->v, "gather that dimension first, or give the pieces a dimension of their own and split another");
}

static void check_cut(struct program *p, const struct dist_task *t, const struct task_meaning *x)
{
    u32 n = task_operands(p, t), m = task_results(p, t);
    for (u32 i = 0; n * m > 1 && i < (n > m ? n : m); i++) {
        const struct value_facts *in = program_operand(p, t, n > 1 ? i : 0), *out = program_result(p, t, n > 1 ? 0 : i);
        struct piece a, b;
        value_piece(p, in, &a);
        value_piece(p, out, &b);
        if (!piece_n(&a, x->axis) || !piece_leads(&a, x->axis, &b, x->axis))
            continue;
        if (n > 1)
            refuse_cut(p, t, x, in, out, "joins values into");
        else
            refuse_cut(p, t, x, out, in, "cuts pieces out of");
        return;
    }
}

/* The rows of a part go to places of the state that only the run knows: ranks with a part of both can't find them. */
static void check_write(struct program *p, const struct dist_task *t, const struct task_meaning *x)
{
    const struct value_facts *state = program_operand(p, t, 0), *part = program_operand(p, t, 1);
    struct piece a, b;
    value_piece(p, state, &a);
    value_piece(p, part, &b);
    if (piece_n(&a, x->axis) && piece_n(&b, x->axis) && a.type->dims[x->axis] != b.type->dims[x->axis])
        refuse_cut(p, t, x, part, state, "writes a part into");
}

/* ---- Reshaped ---- */

enum { FREE_DIGIT = GRID_AXES, MOST_DIGITS = GRID_AXES + MAX_RANK };

/*
 * The index of an element as digits of a mixed base, major to minor: an axis of the mesh, or a size that each rank has all
 * of. Two shardings give each rank the same elements when their digits are the same.
 */
struct digits {
    u8 axis[MOST_DIGITS];
    qty size[MOST_DIGITS];
    u32 n;
};

static bool add_free(struct exprs *e, struct digits *d, qty size)
{
    if (size == 1)
        return true;
    if (d->n && d->axis[d->n - 1] == FREE_DIGIT)
        return qty_mul(e, d->size[d->n - 1], size, &d->size[d->n - 1]) == EXPR_OK;
    d->axis[d->n] = FREE_DIGIT;
    d->size[d->n++] = size;
    return true;
}

static bool read_digits(struct program *p, const struct piece *piece, struct digits *d)
{
    struct exprs *e = p->it->ctx->exprs;
    d->n = 0;
    for (u32 dim = 0; dim < piece->rank; dim++) {
        qty size = piece->type->dims[dim], parts = grid_axes_size(&p->grid, piece_mask(piece, dim));
        if (!qty_is_small(size) && qty_substitute(e, size, p->facts, p->n_facts, &size) != EXPR_OK)
            return false;
        for (u32 k = 0; k < piece_n(piece, dim); k++) {
            d->axis[d->n] = piece_at(piece, dim)[k];
            d->size[d->n++] = 0;
        }
        if (qty_div_exact(e, size, qty_number(e, parts), &size) != EXPR_OK || !add_free(e, d, size))
            return false;
    }
    return true;
}

static bool same_digits(const struct digits *a, const struct digits *b)
{
    return a->n == b->n && !memcmp(a->axis, b->axis, a->n) && !memcmp(a->size, b->size, a->n * sizeof *a->size);
}

static bool has_symbol(const struct digits *d)
{
    for (u32 i = 0; i < d->n; i++)
        if (!qty_is_small(d->size[i]))
            return true;
    return false;
}

static void check_reshape(struct program *p, const struct dist_task *t)
{
    const struct value_facts *in = program_operand(p, t, 0), *out = program_result(p, t, 0);
    struct piece a, b;
    struct digits x, y;
    value_piece(p, in, &a);
    value_piece(p, out, &b);
    if (!a.split && !b.split)
        return;
    bool read = read_digits(p, &a, &x) && read_digits(p, &b, &y);
    if (read && same_digits(&x, &y))
        return;
    if (!read || ((has_symbol(&x) || has_symbol(&y)) && x.n == y.n && !memcmp(x.axis, y.axis, x.n))) {
        check_skipped(p->check, "%s: whether its ranks keep their elements depends on symbols; a fact `multiple_of` can say it",
                      stmt_text(p->it, &t->s));
        return;
    }
    const char *from = value_text(p->it, in->value->s.name), *to = value_text(p->it, out->value->s.name);
    verify_error(&p->check->v, &t->s, NULL, to, "check.shard_reconstruction.pieces",
                 "%s is %s and %s is %s: a rank's elements of one are not its elements of the other", from, piece_text(&p->grid, &a), to,
                 piece_text(&p->grid, &b));
    verify_note_legal(&p->check->v, "a reshape keeps the elements of a rank where the split is of the outermost of the joined dimensions");
}

/* ---- Replicas ---- */

/* Random numbers of another seed on each rank, in a value of which the ranks hold copies. */
static void check_seed(struct program *p, const struct dist_task *t, atom name)
{
    const struct value_facts *seed = program_value(p, name);
    struct piece a, b;
    if (!seed)
        return;
    value_piece(p, seed, &a);
    for (u32 i = 0; (a.split | a.partial) && i < task_results(p, t); i++) {
        const struct value_facts *out = program_result(p, t, i);
        value_piece(p, out, &b);
        u64 apart = (a.split | a.partial) & ~(b.split | b.partial);
        if (!apart)
            continue;
        const char *text = value_text(p->it, name), *axes = grid_axes_text(&p->grid, apart);
        verify_error(&p->check->v, &t->s, NULL, text, "check.shard_reconstruction.replicas",
                     "replicas of %s over %s differ: each rank draws from its own part of %s", value_text(p->it, out->value->s.name), axes, text);
        verify_note_legal(&p->check->v, "let the seed be replicated over %s, or split the value over it", axes);
    }
}

/* What is written in place on some of the ranks that hold it. */
static void check_written(struct program *p, const struct dist_task *t, atom name)
{
    const struct value_facts *v = program_value(p, name);
    u32 rank, ranks = rank_set_of(&p->grid.sets, t->ranks);
    if (!v || v->maker == t || v->holders == ranks || !rank_sets_differ(&p->grid.sets, v->holders, ranks, &rank))
        return;
    const char *text = value_text(p->it, name);
    verify_error(&p->check->v, &t->s, "effects", text, "check.shard_reconstruction.replicas",
                 "%s changes %s, and not on rank %u, which holds it: what that has is out of date", stmt_text(p->it, &t->s), text, rank);
    verify_note(&p->check->v, v->maker ? &v->maker->s : &v->value->s, NULL, text, "it comes to hold %s here", text);
}

void shard_pieces_check(struct program *p, const struct dist_task *t, const struct task_meaning *x)
{
    const u32 *at = list_at(p->it, t->more->effects);
    for (u32 i = 0; i + 1 < list_n(p->it, t->more->effects); i += 2)
        if (at[i] == EFFECT_RANDOM && ref_is_value(at[i + 1]))
            check_seed(p, t, ref_atom(at[i + 1]));
        else if ((at[i] == EFFECT_WRITE || at[i] == EFFECT_UPDATE) && ref_is_value(at[i + 1]))
            check_written(p, t, ref_atom(at[i + 1]));
    if (!x->known)
        return;
    u8 label = meaning_dim(x, 0, x->axis, x->rank);
    if (label == DIM_RESHAPED)
        check_reshape(p, t);
    else if (label == DIM_CUT && task_operands(p, t) == 2 && task_results(p, t) == 1 && x->writes)
        check_write(p, t, x);
    else if (label == DIM_CUT)
        check_cut(p, t, x);
}
