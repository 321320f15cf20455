/* Orders, rank sets and accesses against what is found by trying everything. */
#include "ir/access.h"

#include <check.h>

struct random {
    u64 state;
};

static u32 next(struct random *r, u32 below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (u32)(r->state >> 33) % below;
}

enum { NODES = 24 };

/* before[a][b]: there is a path from a to b. */
static void close_paths(bool before[NODES][NODES])
{
    for (u32 k = 0; k < NODES; k++)
        for (u32 i = 0; i < NODES; i++)
            for (u32 j = 0; j < NODES; j++)
                before[i][j] = before[i][j] || (before[i][k] && before[k][j]);
}

static bool has_cycle(bool before[NODES][NODES])
{
    for (u32 i = 0; i < NODES; i++)
        if (before[i][i])
            return true;
    return false;
}

struct seen_cycles {
    bool (*edges)[NODES];
    u32 n;
};

static void visit_cycle(void *state, const u32 *nodes, u32 n)
{
    struct seen_cycles *s = state;
    s->n++;
    for (u32 i = 0; i < n; i++)
        ck_assert_msg(s->edges[nodes[(i + 1) % n]][nodes[i]], "%u does not come before %u", nodes[(i + 1) % n], nodes[i]);
}

START_TEST(an_order_is_the_closure_of_its_edges)
{
    struct random r = { 0x5eed + (u64)_i };
    struct arena arena;
    struct order o;
    bool edges[NODES][NODES] = { { 0 } }, before[NODES][NODES];
    u32 n_edges = next(&r, 2 * NODES), cycles = 0;
    bool forward = next(&r, 3) > 0;
    arena_init(&arena);
    order_begin(&o, &arena, NODES);
    for (u32 i = 0; i < n_edges; i++) {
        u32 a = next(&r, NODES), b = next(&r, NODES);
        if (a == b || (forward && a > b))
            continue;
        edges[a][b] = true;
        order_add(&o, a, b);
    }
    memcpy(before, edges, sizeof before);
    close_paths(before);
    struct seen_cycles seen = { edges, 0 };
    if (order_close(&o)) {
        ck_assert(!has_cycle(before));
        for (u32 a = 0; a < NODES; a++)
            for (u32 b = 0; b < NODES; b++)
                ck_assert_int_eq(order_before(&o, a, b), before[a][b]);
        for (u32 i = 0; i < NODES; i++)
            ck_assert_uint_eq(order_place(&o, order_at(&o, i)), i);
    } else {
        ck_assert(has_cycle(before));
        order_cycles(&o, visit_cycle, &seen);
        cycles = seen.n;
        ck_assert_uint_ge(cycles, 1);
    }
    arena_free(&arena);
}
END_TEST

START_TEST(a_chain_is_total_in_whatever_direction_it_is_given)
{
    struct arena arena;
    struct order o;
    arena_init(&arena);
    order_begin(&o, &arena, 100);
    for (u32 i = 1; i < 100; i++)
        order_add(&o, i, i - 1);
    ck_assert(order_close(&o));
    ck_assert(o.leveled);
    ck_assert(order_before(&o, 99, 0));
    ck_assert(!order_before(&o, 0, 99));
    ck_assert(!order_before(&o, 7, 7));
    arena_free(&arena);
}
END_TEST

/* 6000 chains of 6000 nodes are past ORDER_REACH. */
START_TEST(an_order_too_wide_for_a_table_is_searched)
{
    enum { WIDE = 6000 };
    struct arena arena;
    struct order o;
    arena_init(&arena);
    order_begin(&o, &arena, WIDE);
    order_add(&o, 0, 3000);
    order_add(&o, 3000, 5000);
    order_add(&o, 1, 5000);
    ck_assert(order_close(&o));
    ck_assert(order_before(&o, 0, 5000));
    ck_assert(order_before(&o, 1, 5000));
    ck_assert(!order_before(&o, 2, 5000));
    ck_assert(!order_before(&o, 1, 3000));
    ck_assert_uint_gt((u64)o.n * o.n_chains, ORDER_REACH);
    arena_free(&arena);
}
END_TEST

START_TEST(nodes_of_one_level_are_not_ordered)
{
    const u32 level[] = { 2, 0, 2, 1 };
    struct arena arena;
    struct order o;
    arena_init(&arena);
    order_levels(&o, &arena, 4, level);
    ck_assert(!order_before(&o, 0, 2) && !order_before(&o, 2, 0));
    ck_assert(order_before(&o, 1, 3) && order_before(&o, 3, 0) && order_before(&o, 1, 2));
    ck_assert_uint_eq(order_at(&o, 0), 1);
    ck_assert_uint_eq(order_at(&o, 1), 3);
    ck_assert_uint_eq(order_at(&o, 2), 0);
    ck_assert_uint_eq(order_at(&o, 3), 2);
    arena_free(&arena);
}
END_TEST

/* ---- Rank sets ---- */

enum { RANKS = 20 };

struct sets {
    struct arena arena;
    struct item item;
    u32 pool[64];
    struct rank_sets ranks;
};

static void begin_sets(struct sets *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena);
    s->item.pool = s->pool;
    rank_sets_init(&s->ranks, &s->arena, &s->item, &(struct rank_range){ 0, RANKS - 1 }, 1);
}

/* A set of up to three ranges, in any order, as numbers and as bits. */
static u32 any_set(struct sets *s, struct random *r, u32 *bits)
{
    u32 n = 1 + next(r, 3);
    *bits = 0;
    s->pool[8] = 2 * n;
    for (u32 i = 0; i < n; i++) {
        u32 first = next(r, RANKS), last = first + next(r, RANKS - first);
        s->pool[9 + 2 * i] = first;
        s->pool[10 + 2 * i] = last;
        for (u32 k = first; k <= last; k++)
            *bits |= 1u << k;
    }
    s->ranks.last_handle = 0;
    return rank_set_of(&s->ranks, 8);
}

START_TEST(rank_sets_compare_as_sets_of_ranks)
{
    struct random r = { 99 + (u64)_i };
    struct sets s;
    u32 x, y, rank = 0, shared = 0;
    begin_sets(&s);
    u32 a = any_set(&s, &r, &x), b = any_set(&s, &r, &y);
    ck_assert_int_eq(a == b, x == y);
    ck_assert_int_eq(rank_sets_meet(&s.ranks, a, b), (x & y) != 0);
    ck_assert_int_eq(rank_sets_differ(&s.ranks, a, b, &rank), (x & ~y) != 0);
    if (x & ~y)
        ck_assert_int_eq(rank, __builtin_ctz(x & ~y));
    ck_assert_int_eq(access_share(&s.ranks, a, b, &shared), (x & y) != 0);
    if (x & y)
        ck_assert_int_eq(shared, __builtin_ctz(x & y));
    for (u32 i = 0; i < RANKS; i++)
        ck_assert_int_eq(rank_set_has(&s.ranks, a, i), x >> i & 1);
    arena_free(&s.arena);
}
END_TEST

START_TEST(a_cut_tells_every_difference_between_ranks)
{
    struct random r = { 7 + (u64)_i };
    struct sets s;
    u32 bits[3], sets[3];
    const u32 *parts;
    begin_sets(&s);
    for (int i = 0; i < 3; i++)
        sets[i] = any_set(&s, &r, &bits[i]);
    u32 n = rank_sets_cut(&s.ranks, sets, 3, &s.arena, &parts), part = 0;
    for (u32 i = 0; i < RANKS; i++) {
        bool in = (bits[0] | bits[1] | bits[2]) >> i & 1;
        while (part + 1 < n && parts[part + 1] <= i)
            part++;
        for (int k = 0; k < 3 && in; k++)
            ck_assert_int_eq(bits[k] >> i & 1, bits[k] >> parts[part] & 1);
    }
    arena_free(&s.arena);
}
END_TEST

Suite *order_suite(void)
{
    Suite *s = suite_create("order");
    TCase *t = tcase_create("order");
    tcase_add_loop_test(t, an_order_is_the_closure_of_its_edges, 0, 300);
    tcase_add_test(t, a_chain_is_total_in_whatever_direction_it_is_given);
    tcase_add_test(t, an_order_too_wide_for_a_table_is_searched);
    tcase_add_test(t, nodes_of_one_level_are_not_ordered);
    tcase_add_loop_test(t, rank_sets_compare_as_sets_of_ranks, 0, 300);
    tcase_add_loop_test(t, a_cut_tells_every_difference_between_ranks, 0, 300);
    suite_add_tcase(s, t);
    return s;
}
