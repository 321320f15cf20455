/*
 * No two bindings have the same bytes of a region at the same time.
 *
 * Commands are walked in one legal sequence. Each byte range remembers the binding that had it last: when a binding
 * begins to live, that one must have ended, and its last uses must come before the new one's first by more than the
 * accident of this sequence. What it took over from in turn came before it, so only the last one counts. Ranges are
 * painted on a segment tree over the offsets that occur: n log n for n bindings on each set of ranks that differs.
 */
#include "dialects/concrete/verify.h"
#include "support/quantity.h"

#include <stdlib.h>

enum { TOLD = 64 };

#define NOBODY UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

#define FOREVER UINT64_MAX

struct range {
    u128 begin, end;
};

/* A u128 in memory that is aligned to 8 bytes. */
struct point {
    u64 high, low;
};

static struct point to_point(u128 value)
{
    return (struct point){ (u64)(value >> 64), (u64)value };
}

static u128 from_point(struct point x)
{
    return (u128)x.high << 64 | x.low;
}

/* A binding on one rank. */
struct lease {
    u32 bind;
    u32 low, high;          /* its range, as indices of the points */
    u64 begin, end;         /* places in the sequence + 1; 0 is the start, FOREVER the end */
    u32 first, last;        /* its accesses on this rank, indices of uses; NO_NODE: none */
};

/* An access on the rank in work. */
struct use {
    u32 command, node, place;       /* the node of the order, and its place in the sequence */
    u8 kind;
};

struct sweep {
    struct plan *p;
    u32 memory, rank;
    struct lease *leases;
    u32 n;
    struct use *uses;       /* of the bindings one after the other, each one's in the sequence */
    u32 n_uses;
    struct point *points;
    u32 n_points;
    u32 *ends;              /* of each binding of the region: two indices of the points */
    u32 *owner;             /* segment tree: number of a lease, NOBODY or SEVERAL */
    u32 *asked;             /* by lease: number + 1 of the last that was compared with it */
    u32 (*told)[2];         /* the newest pairs that were reported */
    u32 n_told;
};

/* ---- When a binding lives on a rank ---- */

static int by_place(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Appends the binding's uses on this rank. Returns whether any rank writes it. */
static bool find_uses(struct sweep *s, u32 bind)
{
    const struct plan *p = s->p;
    const struct accesses *a = &p->accesses;
    u32 begin = s->n_uses;
    bool any_writer = false, sorted = true;
    for (u32 i = a->first[bind]; i < a->first[bind + 1]; i++) {
        const struct access *x = &a->at[i];
        any_writer = any_writer || x->kind & ACCESS_WRITE;
        if (!rank_set_has(&p->ranks, x->set, s->rank))
            continue;
        u32 node = plan_node(p, x->node, s->rank);
        struct use *u = &s->uses[s->n_uses++];
        *u = (struct use){ x->node, node, order_place(&p->order, node), x->kind };
        sorted = sorted && (s->n_uses - 1 == begin || u[-1].place <= u->place);
    }
    if (!sorted)
        qsort(s->uses + begin, s->n_uses - begin, sizeof *s->uses, by_place);
    return any_writer;
}

/* False: it is not used on this rank. */
static bool fill_lease(struct sweep *s, u32 bind, struct lease *out)
{
    const struct accesses *a = &s->p->accesses;
    struct life life = plan_life(s->p, bind);
    bool full = false, writer = false;
    u32 begin = s->n_uses;
    u8 last = 0;
    *out = (struct lease){ .bind = bind, .begin = 0, .end = FOREVER, .first = NO_NODE, .last = NO_NODE };
    if (a->first[bind] == a->first[bind + 1])
        return true;        /* no command names it: its bytes are kept */
    bool any_writer = find_uses(s, bind);
    if (begin == s->n_uses)
        return life.from_start;
    for (u32 i = begin; i < s->n_uses; i++) {
        const struct use *u = &s->uses[i];
        last = i > begin && u[-1].command == u->command ? last | u->kind : u->kind;
        full = full || (!writer && u->kind & ACCESS_WRITE && last & ACCESS_READ);
        writer = writer || u->kind & ACCESS_WRITE;
    }
    out->first = begin;
    out->last = s->n_uses - 1;
    if (!life.from_start && (life.scratch || (any_writer && !full)))
        out->begin = (u64)s->uses[out->first].place + 1;
    if (!life.to_end && (life.used || !(last & ACCESS_WRITE)))
        out->end = (u64)s->uses[out->last].place + 1;
    return true;
}

/* ---- Conflicts ---- */

static bool was_told(struct sweep *s, u32 a, u32 b)
{
    for (u32 i = 0; i < s->n_told && i < TOLD; i++)
        if (s->told[i][0] == a && s->told[i][1] == b)
            return true;
    u32 *pair = s->told[s->n_told++ % TOLD];
    pair[0] = a;
    pair[1] = b;
    return false;
}

static const char *use_text(const struct sweep *s, u32 use)
{
    return command_text(s->p, s->uses[use].command);
}

static void note_use(struct sweep *s, const struct lease *x, bool first)
{
    struct plan *p = s->p;
    const char *name = stmt_text(p->it, &p->binds[x->bind]->s);
    u32 use = first ? x->first : x->last;
    if (use == NO_NODE)
        verify_note_legal(p->v, "no command names %s, so its bytes are kept all the time", name);
    else if (first ? x->begin == 0 : x->end == FOREVER)
        verify_note(p->v, &p->binds[x->bind]->s, NULL, NULL, first ? "%s holds something before the plan runs"
                    : plan_life(p, x->bind).to_end ? "%s is kept to the end of the plan"
                    : "the last use of %s writes it, so it is kept to the end of the plan; scratch says `lives used`", name);
    else
        verify_note(p->v, &p->commands[s->uses[use].command]->s, NULL, name, first ? "%s is first used here" : "%s is last used here", name);
}

static void report(struct sweep *s, const struct lease *a, const struct lease *b, const struct use *unordered)
{
    struct plan *p = s->p;
    const struct lease *above = a->bind < b->bind ? a : b, *below = above == a ? b : a;
    const struct concrete_bind *x = p->binds[above->bind], *y = p->binds[below->bind];
    char from[U128_DIGITS], to[U128_DIGITS];
    if (was_told(s, above->bind, below->bind))
        return;
    u128 low = from_point(s->points[a->low > b->low ? a->low : b->low]), high = from_point(s->points[a->high < b->high ? a->high : b->high]) - 1;
    verify_error(p->v, &y->s, "offset", NULL, "concrete.bind.overlap", "%s and %s both have bytes %s to %s of %s%s", stmt_text(p->it, &x->s),
                 stmt_text(p->it, &y->s), u128_text(low, from), u128_text(high, to), stmt_text(p->it, &p->memories[s->memory]->s),
                 unordered ? ", and nothing keeps their uses apart" : " at one time");
    verify_note(p->v, &x->s, "offset", NULL, "%s is placed here", stmt_text(p->it, &x->s));
    if (unordered) {
        verify_note_legal(p->v, "place them apart, or let %s come after %s", use_text(s, b->first), command_text(p, unordered->command));
        return;
    }
    note_use(s, a, false);
    note_use(s, b, true);
}

/* The last uses of A that B's first does not come after, or NULL. All uses before the last write come before it. */
static const struct use *find_unordered(struct sweep *s, const struct lease *a, const struct lease *b)
{
    u32 first = s->uses[b->first].node;
    for (u32 i = a->last; s->p->order.leveled == false && i + 1 > a->first; i--) {
        const struct use *u = &s->uses[i];
        if (!order_before(&s->p->order, u->node, first))
            return u;
        if (u->kind & ACCESS_WRITE)
            return NULL;
    }
    return NULL;
}

/* B begins where A was. Returns whose the range is from now on. */
static u32 hand_over(struct sweep *s, u32 a, u32 b)
{
    const struct lease *old = &s->leases[a], *new = &s->leases[b];
    bool alive = old->end >= new->begin;
    if (s->asked[a] != b + 1) {
        const struct use *unordered = alive ? NULL : find_unordered(s, old, new);
        s->asked[a] = b + 1;
        if (alive || unordered)
            report(s, old, new, unordered);
    }
    return alive && old->end > new->end ? a : b;
}

/* ---- The segment tree: node 1 is points [0, n), its children 2i and 2i + 1 the halves ---- */

static void paint(struct sweep *s, u32 node, u32 low, u32 high, const struct lease *x, u32 number)
{
    u32 *owner = &s->owner[node], middle = low + (high - low) / 2;
    if (x->high <= low || high <= x->low)
        return;
    if (x->low <= low && high <= x->high && *owner != SEVERAL) {
        *owner = *owner == NOBODY ? number : hand_over(s, *owner, number);
        return;
    }
    if (*owner != SEVERAL)
        s->owner[2 * node] = s->owner[2 * node + 1] = *owner;
    paint(s, 2 * node, low, middle, x, number);
    paint(s, 2 * node + 1, middle, high, x, number);
    *owner = s->owner[2 * node] == s->owner[2 * node + 1] ? s->owner[2 * node] : SEVERAL;
}

/* ---- One region on one rank ---- */

static int by_point(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->low < y->low ? -1 : x->low > y->low;
}

static int by_begin(const void *a, const void *b)
{
    const struct lease *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->bind < y->bind ? -1 : x->bind > y->bind;
}

static bool range_of(const struct plan *p, u32 bind, struct range *out)
{
    const struct concrete_bind *b = p->binds[bind];
    u128 size;
    return qty_value(p->v->ctx->exprs, b->offset, &out->begin) && qty_value(p->v->ctx->exprs, b->size, &size) && size &&
           u128_add(out->begin, size, &out->end);
}

/* The number of a point in the order of its first use. A plan that uses memory again has few. */
static u32 enter_point(struct sweep *s, u32 *slots, u32 mask, struct point x)
{
    u32 i = (u32)((x.low ^ x.high) * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (slots[i] && by_point(&s->points[slots[i] - 1], &x))
        i = (i + 1) & mask;
    if (!slots[i]) {
        s->points[s->n_points] = x;
        slots[i] = ++s->n_points;
    }
    return slots[i] - 1;
}

struct ranked {
    struct point point;     /* first: by_point compares it */
    u32 number;
};

/* Fills the points, sorted, and the ends of each binding as indices of them. */
static void find_points(struct sweep *s, const u32 *binds, u32 n)
{
    struct arena *a = &s->p->v->scratch;
    u32 mask = 15;
    while (mask / 4 < n)
        mask = 2 * mask + 1;
    u32 *slots = ARENA_ARRAY(a, u32, mask + (size_t)1);
    for (u32 i = 0; i < n; i++) {
        struct range range;
        range_of(s->p, binds[i], &range);
        s->ends[2 * i] = enter_point(s, slots, mask, to_point(range.begin));
        s->ends[2 * i + 1] = enter_point(s, slots, mask, to_point(range.end));
    }
    struct ranked *sorted = ARENA_ARRAY(a, struct ranked, s->n_points);
    for (u32 i = 0; i < s->n_points; i++)
        sorted[i] = (struct ranked){ s->points[i], i };
    qsort(sorted, s->n_points, sizeof *sorted, by_point);
    u32 *place = ARENA_ARRAY(a, u32, s->n_points);
    for (u32 i = 0; i < s->n_points; i++) {
        s->points[i] = sorted[i].point;
        place[sorted[i].number] = i;
    }
    for (u32 i = 0; i < 2 * n; i++)
        s->ends[i] = place[s->ends[i]];
}

static void sweep_rank(struct sweep *s, const u32 *binds, u32 n)
{
    bool sorted = true;
    s->n = s->n_uses = 0;
    for (u32 i = 0; i < n; i++) {
        struct lease *x = &s->leases[s->n];
        if (!fill_lease(s, binds[i], x))
            continue;
        x->low = s->ends[2 * i];
        x->high = s->ends[2 * i + 1];
        sorted = sorted && (s->n == 0 || by_begin(x - 1, x) < 0);
        s->n++;
    }
    if (!sorted)
        qsort(s->leases, s->n, sizeof *s->leases, by_begin);
    memset(s->owner, 0xff, 4 * (size_t)s->n_points * sizeof *s->owner);
    memset(s->asked, 0, s->n * sizeof *s->asked);
    for (u32 i = 0; i < s->n; i++)
        paint(s, 1, 0, s->n_points - 1, &s->leases[i], i);
}

/* In ascending order and apart, as a plan that reuses no byte mostly has them. */
static bool are_apart(const struct plan *p, const u32 *binds, u32 n)
{
    struct range last = { 0, 0 }, range;
    for (u32 i = 0; i < n; i++) {
        range_of(p, binds[i], &range);
        if (range.begin < last.end)
            return false;
        last = range;
    }
    return true;
}

static u32 own_classes(struct plan *p, u32 memory, const u32 **ranks)
{
    u32 *own = ARENA_ARRAY(&p->v->scratch, u32, p->n_classes + (size_t)1), n = 0, set = rank_set_of(&p->ranks, p->memories[memory]->on);
    for (u32 i = 0; i < p->n_classes; i++)
        if (rank_set_has(&p->ranks, set, p->reps[i]))
            own[n++] = p->reps[i];
    *ranks = own;
    return n;
}

/* Ranks that stand for all of the region's: in each part of them all bindings live alike. */
static u32 cut_ranks(struct plan *p, u32 memory, const u32 *binds, u32 n, const u32 **ranks)
{
    if (p->node)
        return own_classes(p, memory, ranks);
    u32 *sets = ARENA_ARRAY(&p->v->scratch, u32, p->ranks.n + (size_t)1), n_sets = 0;
    u8 *seen = ARENA_ARRAY(&p->v->scratch, u8, p->ranks.n + (size_t)1);
    u32 own = rank_set_of(&p->ranks, p->memories[memory]->on);
    sets[n_sets++] = own;
    seen[own] = 1;
    for (u32 i = 0; i < n; i++)
        for (u32 k = p->accesses.first[binds[i]]; k < p->accesses.first[binds[i] + 1]; k++) {
            u32 set = p->accesses.at[k].set;
            if (!seen[set])
                sets[n_sets++] = set;
            seen[set] = 1;
        }
    return rank_sets_cut(&p->ranks, sets, n_sets, &p->v->scratch, ranks);
}

static size_t count_accesses(const struct plan *p, const u32 *binds, u32 n)
{
    size_t sum = 0;
    for (u32 i = 0; i < n; i++)
        sum += p->accesses.first[binds[i] + 1] - p->accesses.first[binds[i]];
    return sum;
}

static void check_region(struct plan *p, u32 memory, const u32 *binds, u32 n)
{
    struct arena *a = &p->v->scratch;
    u32 told[TOLD][2];
    const u32 *ranks;
    if (are_apart(p, binds, n))
        return;
    struct sweep s = { .p = p, .memory = memory, .told = told };
    s.leases = ARENA_ARRAY(a, struct lease, n);
    s.uses = ARENA_ARRAY(a, struct use, count_accesses(p, binds, n) + 1);
    s.points = ARENA_ARRAY(a, struct point, 2 * (size_t)n);
    s.ends = ARENA_ARRAY(a, u32, 2 * (size_t)n);
    s.asked = ARENA_ARRAY(a, u32, n);
    find_points(&s, binds, n);
    s.owner = ARENA_ARRAY(a, u32, 4 * (size_t)s.n_points);
    u32 n_ranks = cut_ranks(p, memory, binds, n, &ranks);
    for (u32 i = 0; i < n_ranks; i++) {
        s.rank = ranks[i];
        sweep_rank(&s, binds, n);
    }
}

void concrete_verify_overlap(struct plan *p)
{
    struct arena *a = &p->v->scratch;
    u32 *start = ARENA_ARRAY(a, u32, p->n_memories + (size_t)2), *binds = ARENA_ARRAY(a, u32, p->n_binds + (size_t)1), memory;
    struct range range;
    for (u32 i = 0; i < p->n_binds; i++)
        if (bind_region(p, i, &memory) && range_of(p, i, &range))
            start[memory + 2]++;
    for (u32 i = 2; i < p->n_memories + 2; i++)
        start[i] += start[i - 1];
    for (u32 i = 0; i < p->n_binds; i++)
        if (bind_region(p, i, &memory) && range_of(p, i, &range))
            binds[start[memory + 1]++] = i;
    for (u32 m = 0; m < p->n_memories; m++)
        check_region(p, m, binds + start[m], start[m + 1] - start[m]);
}
