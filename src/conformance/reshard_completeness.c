/*
 * reshard-completeness: where a value is needed in other parts than it was made in, a communication lies between: a local
 * task finds in its operands' pieces all that the pieces of its results need.
 */
#include "conformance/program.h"

struct edge {
    struct program *p;
    const struct dist_task *t;
    const struct task_meaning *x;
    const struct value_facts *in, *out;
    struct piece a, b;
};

static const char *in_text(const struct edge *e) { return value_text(e->p->it, e->in->value->s.name); }
static const char *out_text(const struct edge *e) { return value_text(e->p->it, e->out->value->s.name); }
static const char *axes_text(const struct edge *e, u64 mask) { return grid_axes_text(&e->p->grid, mask); }

/* What would bring the parts: axes that the result has elsewhere have to move, others to go. */
static void note_missing(const struct edge *e, u64 axes)
{
    struct verifier *v = &e->p->check->v;
    u64 moved = axes & e->b.split, gone = axes & ~e->b.split;
    if (!axes)
        verify_note_legal(v, "what changes the order of axes is a `reshard`");
    if (moved)
        verify_note_legal(v, "what moves a split to another dimension is `collective all_to_all … over %s`", axes_text(e, moved));
    if (gone)
        verify_note_legal(v, "what brings all parts together is `collective all_gather … over %s`", axes_text(e, gone));
}

/* Dimension DIM of the operand is dimension TO of the result: a rank's part of the result lies in its part of the operand. */
static bool check_kept(const struct edge *e, u32 dim, u32 to)
{
    if (piece_leads(&e->a, dim, &e->b, to))
        return true;
    verify_error(&e->p->check->v, &e->t->s, NULL, in_text(e), "check.reshard_completeness.local",
                 "%s is split by %s along dimension %u, and %s, which %s makes from it, by %s along dimension %u: nothing brings the rest",
                 in_text(e), piece_dim_text(&e->p->grid, &e->a, dim), dim, out_text(e), stmt_text(e->p->it, &e->t->s),
                 piece_dim_text(&e->p->grid, &e->b, to), to);
    note_missing(e, piece_mask(&e->a, dim) & ~piece_mask(&e->b, to));
    return false;
}

/* Whatever the task computes, ranks with other data can't come to the same. */
static bool check_named(const struct edge *e, u64 split)
{
    u64 silent = split & ~(e->b.split | e->b.partial);
    if (!silent)
        return true;
    verify_error(&e->p->check->v, &e->t->s, NULL, in_text(e), "check.reshard_completeness.local",
                 "%s is split over %s, and %s, which %s makes from it, is neither split nor partial over %s", in_text(e), axes_text(e, silent),
                 out_text(e), stmt_text(e->p->it, &e->t->s), axes_text(e, silent));
    note_missing(e, silent);
    verify_note_legal(&e->p->check->v, "what is summed over all parts is `partial sum %s`", axes_text(e, silent));
    return false;
}

static bool check_whole(const struct edge *e)
{
    u32 last = e->a.rank - 1u;
    if (!piece_n(&e->a, last))
        return true;
    verify_error(&e->p->check->v, &e->t->s, NULL, in_text(e), "check.reshard_completeness.whole",
                 "%s needs all of dimension %u of %s, which %s splits", stmt_text(e->p->it, &e->t->s), last, in_text(e),
                 piece_dim_text(&e->p->grid, &e->a, last));
    verify_note_legal(&e->p->check->v, "what brings all parts together is `collective all_gather … over %s`",
                      axes_text(e, piece_mask(&e->a, last)));
    return false;
}

/* Pairs are of neighbours: a rank with an odd number of elements has half of one. */
static bool check_pairs(const struct edge *e)
{
    u32 last = e->a.rank - 1u;
    u64 parts = grid_axes_size(&e->p->grid, piece_mask(&e->a, last));
    u128 size;
    if (parts == 1 || !qty_value(e->p->it->ctx->exprs, e->a.type->dims[last], &size) || size / parts % 2 == 0)
        return true;
    verify_error(&e->p->check->v, &e->t->s, NULL, in_text(e), "check.reshard_completeness.whole",
                 "%s turns pairs of dimension %u of %s, of which a rank has %llu elements: one pair is on two ranks", stmt_text(e->p->it, &e->t->s),
                 last, in_text(e), (unsigned long long)(size / parts));
    verify_note_legal(&e->p->check->v, "what brings all parts together is `collective all_gather … over %s`",
                      axes_text(e, piece_mask(&e->a, last)));
    return false;
}

static bool check_operand(const struct edge *e, u32 i)
{
    if (!e->x->known)
        return check_named(e, e->a.split);
    if (i == 0 && e->x->pairs && e->a.rank && !check_pairs(e))
        return false;
    if (i == 0 && e->x->whole && !check_whole(e))
        return false;
    for (u32 dim = 0; dim < e->a.rank; dim++) {
        u8 label = meaning_dim(e->x, i, dim, e->a.rank);
        if (label == DIM_CUT)
            label = (u8)dim;
        if (label < MAX_RANK && !check_kept(e, dim, label))
            return false;
        if (label == DIM_RESHAPED && !check_named(e, e->a.split))
            return false;
    }
    return true;
}

/* ---- Sums over a dimension of two operands: a rank has the same part of both ---- */

struct summed {
    const struct value_facts *v;
    struct piece piece;
    u32 dim;
};

static bool refuse_apart(const struct edge *e, const struct summed *first, u32 dim)
{
    verify_error(&e->p->check->v, &e->t->s, NULL, in_text(e), "check.reshard_completeness.contraction",
                 "%s sums over dimension %u of %s, split by %s, and dimension %u of %s, split by %s: a rank has parts that don't belong together",
                 stmt_text(e->p->it, &e->t->s), first->dim, value_text(e->p->it, first->v->value->s.name),
                 piece_dim_text(&e->p->grid, &first->piece, first->dim), dim, in_text(e), piece_dim_text(&e->p->grid, &e->a, dim));
    verify_note_legal(&e->p->check->v, "split both alike, or bring the parts of one together first");
    return false;
}

/* An axis that splits what is summed splits the result too: the terms of other parts are on no rank. */
static bool refuse_diagonal(const struct edge *e, u64 both)
{
    verify_error(&e->p->check->v, &e->t->s, NULL, out_text(e), "check.reshard_completeness.contraction",
                 "%s sums over a dimension of %s that %s splits, and %s is split by %s too: no rank has the other terms of its part",
                 stmt_text(e->p->it, &e->t->s), in_text(e), axes_text(e, both), out_text(e), axes_text(e, both));
    verify_note_legal(&e->p->check->v, "what brings all parts together is `collective all_gather … over %s`", axes_text(e, both));
    return false;
}

static bool check_summed(struct edge *e, u32 i, struct summed *first)
{
    for (u32 dim = 0; dim < e->a.rank; dim++) {
        if (meaning_dim(e->x, i, dim, e->a.rank) != DIM_SUMMED || e->x->whole)
            continue;
        if (piece_mask(&e->a, dim) & e->b.split)
            return refuse_diagonal(e, piece_mask(&e->a, dim) & e->b.split);
        if (!first->v)
            *first = (struct summed){ e->in, e->a, dim };
        else if (!piece_leads(&first->piece, first->dim, &e->a, dim) && !piece_leads(&e->a, dim, &first->piece, first->dim))
            return refuse_apart(e, first, dim);
    }
    return true;
}

/* One message a task: what is wrong with the rest mostly follows. */
static bool check_result(struct program *p, const struct dist_task *t, const struct task_meaning *x, const struct value_facts *out)
{
    struct edge e = { .p = p, .t = t, .x = x, .out = out };
    struct summed first = { 0 };
    value_piece(p, out, &e.b);
    for (u32 i = 0; i < task_operands(p, t); i++) {
        e.in = program_operand(p, t, i);
        value_piece(p, e.in, &e.a);
        if (!check_operand(&e, i) || (x->known && !check_summed(&e, i, &first)))
            return false;
    }
    return true;
}

struct counts {
    u32 edges, moves, silent, unknown;
};

static bool check_task(struct program *p, const struct dist_task *t, struct counts *n)
{
    struct task_meaning x;
    bool good = true;
    u32 edges = task_operands(p, t) * task_results(p, t);
    n->silent += !edges && t->body != DIST_CONTROL;
    n->moves += edges && t->body != DIST_LOCAL;
    if (t->body != DIST_LOCAL || !edges)
        return true;
    meaning_of(&p->meanings, t, &x);
    n->unknown += !x.known;
    n->edges += edges;
    for (u32 i = 0; good && i < task_results(p, t); i++)
        good = check_result(p, t, &x, program_result(p, t, i));
    return good;
}

static bool run(struct check *c)
{
    struct program p;
    struct counts n = { 0 };
    bool good = true;
    program_read(&p, c, c->v.item);
    for (u32 i = 0; i < p.n_tasks; i++)
        good = check_task(&p, p.tasks[i], &n) && good;
    if (good && (n.edges || n.moves))
        check_proved(c, "%u uses by local tasks need no other parts than their rank has; %u communications make the changes of sharding",
                     n.edges, n.moves);
    if (n.silent)
        check_skipped(c, "tasks without operands or without results: %u; what they need is not written", n.silent);
    if (n.unknown)
        check_skipped(c, "local tasks whose dimensions do not follow from their operation: %u; their results name the axes of their operands, "
                      "no more was checked", n.unknown);
    return good;
}

const struct checker reshard_completeness = {
    .name = "reshard-completeness",
    .layers = IN(LAYER_DIST),
    .run = run,
    .doc = "Every change of sharding between the maker of a value and its readers is made by a communication of the right kind.",
};
