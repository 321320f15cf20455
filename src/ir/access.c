#include "ir/access.h"

#include <stdlib.h>

void accesses_begin(struct accesses *a, struct arena *arena, u32 n_places)
{
    *a = (struct accesses){ .arena = arena, .n_places = n_places };
    a->first = ARENA_ARRAY(arena, u32, n_places + (size_t)2);
}

void accesses_count(struct accesses *a, u32 place)
{
    a->first[place + 2]++;
}

void accesses_allot(struct accesses *a)
{
    for (u32 i = 2; i < a->n_places + 2; i++)
        a->first[i] += a->first[i - 1];
    a->at = ARENA_ARRAY(a->arena, struct access, a->first[a->n_places + 1] + (size_t)1);
}

void accesses_put(struct accesses *a, u32 place, u32 node, u32 set, u8 kind)
{
    a->at[a->first[place + 1]++] = (struct access){ node, set, kind };
}

u8 access_of_effect(u32 effect)
{
    static const u8 kinds[] = { [EFFECT_READ] = ACCESS_READ, [EFFECT_WRITE] = ACCESS_WRITE, [EFFECT_UPDATE] = ACCESS_READ | ACCESS_WRITE,
                                [EFFECT_ALLOCATE] = 0, [EFFECT_RANDOM] = ACCESS_READ | ACCESS_WRITE, [EFFECT_IO] = 0, [EFFECT_CALL] = 0 };
    return kinds[effect];
}

bool access_share(const struct rank_sets *ranks, u32 a, u32 b, u32 *rank)
{
    const struct rank_set *x = &ranks->sets[a], *y = &ranks->sets[b];
    for (u32 i = 0, k = 0; i < x->n && k < y->n;) {
        u32 first = x->ranges[i].first > y->ranges[k].first ? x->ranges[i].first : y->ranges[k].first;
        if (first <= x->ranges[i].last && first <= y->ranges[k].last) {
            *rank = first;
            return true;
        }
        if (x->ranges[i].last < y->ranges[k].last)
            i++;
        else
            k++;
    }
    return false;
}

u32 access_parts(const struct accesses *a, const struct rank_sets *ranks, u32 place, struct arena *scratch, const u32 **parts)
{
    u32 begin = a->first[place], n = a->first[place + 1] - begin, kept = 0;
    u32 *sets = ARENA_ARRAY(scratch, u32, n + 1);
    for (u32 i = 0; i < n; i++)
        if (!kept || sets[kept - 1] != a->at[begin + i].set)
            sets[kept++] = a->at[begin + i].set;
    return rank_sets_cut(ranks, sets, kept, scratch, parts);
}

/* ---- One place on one rank ---- */

enum { TOLD = 64 };

/* An access on the rank in work. */
struct local {
    struct access x;
    u32 node, place;            /* in the order */
};

struct check {
    const struct accesses *a;
    const struct rank_sets *ranks;
    struct order *order;
    const struct access_report *report;
    u32 place, rank;
    struct local *seen;         /* the place's accesses on this rank, in a legal sequence */
    u32 n;
    u32 *readers;               /* since the last write: indices of `seen` */
    u8 *told;                   /* by access of the place: its unwritten read is reported */
    u32 pairs[TOLD][2];         /* the newest conflicts that were told of the place, where the order differs by rank */
    u32 n_pairs;
};

static bool merge(struct check *c, const struct access *x)
{
    struct access *last = c->n ? &c->seen[c->n - 1].x : NULL;
    if (!last || last->node != x->node)
        return false;
    last->kind |= x->kind;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct local *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void collect(struct check *c)
{
    bool sorted = true;
    c->n = 0;
    for (u32 i = c->a->first[c->place]; i < c->a->first[c->place + 1]; i++) {
        const struct access *x = &c->a->at[i];
        if (!rank_set_has(c->ranks, x->set, c->rank) || merge(c, x))
            continue;
        u32 node = c->report->node_on ? c->report->node_on(c->report->state, x->node, c->rank) : x->node;
        c->seen[c->n] = (struct local){ *x, node, order_place(c->order, node) };
        sorted = sorted && (c->n == 0 || c->seen[c->n - 1].place <= c->seen[c->n].place);
        c->n++;
    }
    if (!sorted)
        qsort(c->seen, c->n, sizeof *c->seen, by_place);
}

/* True for the first time, so that what ranks have in common is told once: at the lowest rank that the two share, or, where
 * the order differs by rank, at any. */
static bool is_new(struct check *c, const struct access *x, const struct access *y)
{
    u32 rank = 0;
    if (!c->report->node_on)
        return access_share(c->ranks, x->set, y->set, &rank) && rank == c->rank;
    for (u32 i = 0; i < c->n_pairs && i < TOLD; i++)
        if (c->pairs[i][0] == x->node && c->pairs[i][1] == y->node)
            return false;
    u32 *pair = c->pairs[c->n_pairs++ % TOLD];
    pair[0] = x->node;
    pair[1] = y->node;
    return true;
}

static void keep_apart(struct check *c, const struct local *x, const struct local *y)
{
    if (x->node != y->node && !order_before(c->order, x->node, y->node) && is_new(c, &x->x, &y->x))
        c->report->conflict(c->report->state, c->place, &x->x, &y->x);
}

static void check_conflicts(struct check *c)
{
    const struct local *writer = NULL;
    u32 n = 0;
    for (u32 i = 0; i < c->n; i++) {
        const struct local *x = &c->seen[i];
        bool writes = x->x.kind & ACCESS_WRITE;
        if (writer && (!writes || n == 0))
            keep_apart(c, writer, x);
        if (!writes) {
            c->readers[n++] = i;
            continue;
        }
        for (u32 k = 0; k < n; k++)
            keep_apart(c, &c->seen[c->readers[k]], x);
        writer = x;
        n = 0;
    }
}

static const struct local *first_writer(const struct check *c)
{
    for (u32 i = 0; i < c->n; i++)
        if (c->seen[i].x.kind & ACCESS_WRITE)
            return &c->seen[i];
    return NULL;
}

static u32 any_writer(const struct check *c)
{
    for (u32 i = c->a->first[c->place]; i < c->a->first[c->place + 1]; i++)
        if (c->a->at[i].kind & ACCESS_WRITE)
            return c->a->at[i].node;
    return NO_NODE;
}

static void tell_unwritten(struct check *c, const struct access *read, u32 writer)
{
    for (u32 i = c->a->first[c->place]; i < c->a->first[c->place + 1]; i++)
        if (c->a->at[i].node == read->node) {
            u8 *told = &c->told[i - c->a->first[c->place]];
            if (!*told)
                c->report->unwritten(c->report->state, c->place, read, c->rank, writer);
            *told = 1;
            return;
        }
}

static void check_start(struct check *c)
{
    enum access_start start = c->report->start(c->report->state, c->place);
    const struct local *writer = first_writer(c);
    u32 elsewhere = any_writer(c);
    if (start == START_FULL || (start == START_GUESS && elsewhere == NO_NODE))
        return;
    if (start == START_GUESS && writer && writer->x.kind & ACCESS_READ)
        return;
    for (u32 i = 0; i < c->n; i++) {
        const struct local *x = &c->seen[i];
        if (x == writer && !(x->x.kind & ACCESS_READ))
            return;
        if (x == writer || !writer || order_before(c->order, x->node, writer->node))
            tell_unwritten(c, &x->x, writer && x != writer ? writer->x.node : writer ? NO_NODE : elsewhere);
        if (x == writer)
            return;
    }
}

/* One rank stands for all where all accesses are on the same ranks, as they mostly are. */
static u32 parts_of(struct check *c, u32 *one, const u32 **parts)
{
    const struct access *at = c->a->at + c->a->first[c->place], *end = c->a->at + c->a->first[c->place + 1];
    u32 set = at->set;
    if (c->report->node_on) {
        *parts = c->report->ranks;
        return c->report->n_ranks;
    }
    while (at < end && at->set == set)
        at++;
    if (at < end)
        return access_parts(c->a, c->ranks, c->place, c->a->arena, parts);
    if (!c->ranks->sets[set].n)
        return 0;
    *one = c->ranks->sets[set].ranges[0].first;
    *parts = one;
    return 1;
}

void accesses_check(const struct accesses *a, const struct rank_sets *ranks, struct order *o, const struct access_report *report)
{
    struct check c = { .a = a, .ranks = ranks, .order = o, .report = report };
    u32 most = 0;
    for (u32 p = 0; p < a->n_places; p++)
        if (a->first[p + 1] - a->first[p] > most)
            most = a->first[p + 1] - a->first[p];
    c.seen = ARENA_ARRAY(a->arena, struct local, most + (size_t)1);
    c.readers = ARENA_ARRAY(a->arena, u32, most + (size_t)1);
    c.told = ARENA_ARRAY(a->arena, u8, most + (size_t)1);
    for (c.place = 0; c.place < a->n_places; c.place++) {
        const u32 *parts = NULL;
        u32 one, accesses = a->first[c.place + 1] - a->first[c.place], n_parts = accesses ? parts_of(&c, &one, &parts) : 0;
        memset(c.told, 0, accesses);
        c.n_pairs = 0;
        for (u32 i = 0; i < n_parts; i++) {
            c.rank = parts[i];
            collect(&c);
            check_start(&c);
            check_conflicts(&c);
        }
    }
}
