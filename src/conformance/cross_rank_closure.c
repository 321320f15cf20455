/*
 * cross-rank-closure: a rank uses a value only where it made it, held it from the start, or a communication brought it.
 *   dist      ranks that read a value are among its holders: its owners, the ranks of its maker, a transfer's destination
 *   portable  the same of buffers, which those hold that have written them
 *   concrete  the same of bindings; a transfer ends where its route or its task says
 */
#include "conformance/closure.h"

struct counts {
    u32 uses, brought, silent;
};

static bool refuse_use(struct program *p, const struct dist_task *t, const struct value_facts *v, u32 rank, const char *verb)
{
    struct check *c = p->check;
    const char *name = value_text(p->it, v->value->s.name);
    verify_error(&c->v, &t->s, NULL, name, "check.cross_rank_closure.absent", "rank %u %s %s, and nothing brings it there", rank, verb, name);
    if (v->maker)
        verify_note(&c->v, &v->maker->s, NULL, name, v->maker->body == DIST_TRANSFER ? "%s sends it to rank %u alone" : "%s makes it, on other ranks",
                    stmt_text(p->it, &v->maker->s), p->grid.sets.sets[v->holders].ranges[0].first);
    else
        verify_note(&c->v, &v->value->s, "owners", NULL, "these ranks hold it");
    verify_note_legal(&c->v, "what brings it: a `collective broadcast`, a `transfer`, or a `reshard` to other owners");
    return false;
}

static bool check_use(struct program *p, const struct dist_task *t, const struct value_facts *v, u32 ranks, const char *verb, struct counts *n)
{
    u32 rank;
    if (!v)
        return true;
    n->uses++;
    n->brought += v->maker && v->maker->body != DIST_LOCAL;
    return v->holders == ALL_RANKS || v->holders == ranks || !rank_sets_differ(&p->grid.sets, ranks, v->holders, &rank) ||
           refuse_use(p, t, v, rank, verb);
}

/* A reshard, of which the way is open, finds every part on the ranks that take part. */
static bool check_reshard(struct program *p, const struct dist_task *t, const struct value_facts *v)
{
    struct piece piece;
    u32 rank, ranks = rank_set_of(&p->grid.sets, t->ranks);
    if (ranks == ALL_RANKS || ranks == v->holders || !rank_sets_differ(&p->grid.sets, v->holders, ranks, &rank))
        return true;
    value_piece(p, v, &piece);
    const char *missing, *name = value_text(p->it, v->value->s.name);
    if (grid_covers(&p->grid, ranks, piece.split | piece.partial, &missing) && rank_sets_meet(&p->grid.sets, ranks, v->holders))
        return true;
    return verify_error(&p->check->v, &t->s, "ranks", NULL, "check.cross_rank_closure.absent",
                        "rank %u holds a part of %s, and takes no part in %s", rank, name, stmt_text(p->it, &t->s));
}

/* The least rank from FIRST on whose coordinates along OVER are those of position ROOT in its group; false: there is none. */
static bool next_root(const struct grid *g, u64 over, u64 root, u64 first, u64 *out)
{
    u64 want[GRID_AXES], have[GRID_AXES];
    u32 same = 0;
    for (u32 i = g->n; i-- > 0; root /= over >> i & 1 ? g->axes[i].size : 1) {
        want[i] = over >> i & 1 ? root % g->axes[i].size : 0;
        have[i] = first / g->axes[i].stride % g->axes[i].size;
    }
    while (same < g->n && (!(over >> same & 1) || have[same] == want[same]))
        same++;
    *out = first;
    if (same == g->n)
        return true;
    /* The longest beginning of FIRST's coordinates that can stay, one coordinate raised, the least behind it. */
    for (u32 i = same + 1; i-- > 0;) {
        bool fixed = over >> i & 1;
        if (fixed ? want[i] <= have[i] : have[i] + 1 == g->axes[i].size)
            continue;
        *out = first - first % (g->axes[i].stride * g->axes[i].size) + (fixed ? want[i] : have[i] + 1) * g->axes[i].stride;
        for (u32 k = i + 1; k < g->n; k++)
            *out += want[k] * g->axes[k].stride;
        return true;
    }
    return false;
}

/* Of a broadcast only the root of each group needs the value. */
static bool check_roots(struct program *p, const struct dist_task *t, const struct value_facts *v)
{
    u64 over = grid_over(&p->grid, t->over), rank;
    u32 ranks = rank_set_of(&p->grid.sets, t->ranks);
    if (v->holders == ALL_RANKS || v->holders == ranks)
        return true;
    for (u32 i = 0; i < p->grid.sets.sets[ranks].n; i++) {
        struct rank_range range = p->grid.sets.sets[ranks].ranges[i];
        for (u64 at = range.first; next_root(&p->grid, over, t->more->root, at, &rank) && rank <= range.last; at = rank + 1)
            if (!rank_set_has(&p->grid.sets, v->holders, (u32)rank))
                return refuse_use(p, t, v, (u32)rank, "is the root that sends");
    }
    return true;
}

static bool check_operand(struct program *p, const struct dist_task *t, const struct value_facts *v, struct counts *n)
{
    const char *name;
    u32 ranks = rank_set_of(&p->grid.sets, t->ranks);
    if (t->body == DIST_TRANSFER)
        return check_use(p, t, v, rank_set_one(&p->grid.sets, (u32)t->more->source), "sends", n);
    if (t->body == DIST_RESHARD)
        return check_reshard(p, t, v);
    name = t->operation ? context_text(p->it->ctx, t->operation) : "";
    if (t->body != DIST_COLLECTIVE || strcmp(name, "broadcast") != 0)
        return check_use(p, t, v, ranks, "uses", n);
    n->uses++;
    return check_roots(p, t, v);
}

static bool check_effects(struct program *p, const struct dist_task *t, struct counts *n)
{
    const u32 *at = list_at(p->it, t->more->effects);
    u32 ranks = rank_set_of(&p->grid.sets, t->ranks);
    bool good = true;
    for (u32 i = 0; t->body != DIST_TRANSFER && i + 1 < list_n(p->it, t->more->effects); i += 2)
        if (ref_is_value(at[i + 1]) && (at[i] == EFFECT_READ || at[i] == EFFECT_UPDATE || at[i] == EFFECT_RANDOM))
            good = check_use(p, t, program_value(p, ref_atom(at[i + 1])), ranks, "uses", n) && good;
    return good;
}

static bool run_dist(struct check *c)
{
    struct program p;
    struct counts n = { 0 };
    bool good = true;
    program_read(&p, c, c->v.item);
    for (u32 i = 0; i < p.n_tasks; i++) {
        const struct dist_task *t = p.tasks[i];
        n.silent += !t->operands && t->body != DIST_CONTROL;
        for (u32 k = 0; k < task_operands(&p, t); k++)
            good = check_operand(&p, t, program_operand(&p, t, k), &n) && good;
        if (t->more->effects)
            good = check_effects(&p, t, &n) && good;
    }
    if (good && n.uses)
        check_proved(c, "%u uses of values on %llu ranks: each is by ranks that hold the value, %u of them by a communication", n.uses,
                     (unsigned long long)p.grid.size, n.brought);
    if (n.silent)
        check_skipped(c, "tasks that write no operands: %u; what they use is not known", n.silent);
    return good;
}

static bool run(struct check *c)
{
    return c->v.item->kind->layer == LAYER_DIST ? run_dist(c) : closure_buffers_check(c);
}

const struct checker cross_rank_closure = {
    .name = "cross-rank-closure",
    .layers = IN(LAYER_DIST) | IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE),
    .run = run,
    .doc = "A rank uses only values that it made, holds from the start, or was brought by a communication.",
};
