/* Parts of a mesh, against enumeration: which sets of ranks have every part, and what each rank did last. */
#include "conformance/grid.h"
#include "conformance/rank_map.h"

#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct diags diags;
static struct context ctx;
static struct item *program;
static struct arena arena;
static struct grid grid;

enum { RANKS = 12 };

static atom name(const char *text)
{
    return intern_string(&ctx.names, text);
}

/* [a = 2, one = 1, b = 3, c = 2] */
static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    arena_init(&arena);
    program = item_new(&ctx, context_item_kind(&ctx, "dist.program", 12), name("p"));
    u32 axes[] = { name("a"), 2, 0, name("one"), 1, 0, name("b"), 3, 0, name("c"), 2, 0 };
    grid_read(&grid, &arena, program, item_list(program, axes, COUNT(axes)));
}

static void teardown(void)
{
    item_free(program);
    arena_free(&arena);
    context_free(&ctx);
    diags_free(&diags);
}

static u32 coordinate(u32 rank, u32 axis)
{
    static const u32 stride[] = { 6, 2, 1 }, size[] = { 2, 3, 2 };
    return rank / stride[axis] % size[axis];
}

/* The rank without the coordinates that are not along MASK. */
static u32 part_of(u32 rank, u64 mask)
{
    static const u32 stride[] = { 6, 2, 1 };
    u32 part = 0;
    for (u32 i = 0; i < 3; i++)
        part += mask >> i & 1 ? coordinate(rank, i) * stride[i] : 0;
    return part;
}

static u32 parts_of(u32 ranks, u64 mask)
{
    u32 parts = 0, n = 0;
    for (u32 r = 0; r < RANKS; r++)
        parts |= ranks >> r & 1 ? 1u << part_of(r, mask) : 0;
    for (; parts; parts &= parts - 1)
        n++;
    return n;
}

static u32 set_of(u32 ranks)
{
    u32 ranges[2 * RANKS], n = 0;
    for (u32 r = 0; r < RANKS; r++)
        if (ranks >> r & 1) {
            ranges[n++] = r;
            ranges[n++] = r;
        }
    return rank_set_of(&grid.sets, item_list(program, ranges, n));
}

START_TEST(axes_of_one_rank_are_left_out)
{
    ck_assert_uint_eq(grid.n, 3);
    ck_assert_uint_eq(grid.size, RANKS);
    ck_assert_uint_eq(grid.axes[0].stride, 6);
    ck_assert_uint_eq(grid.axes[1].stride, 2);
    ck_assert_uint_eq(grid.axes[2].stride, 1);
    ck_assert_str_eq(grid_axes_text(&grid, 5), "{a, c}");
}
END_TEST

/* All 4095 sets, all 8 sets of axes: and what is said to be missing is missing. */
START_TEST(a_set_covers_what_enumeration_covers)
{
    for (u32 ranks = 1; ranks < 1u << RANKS; ranks++) {
        u32 set = set_of(ranks);
        for (u64 mask = 0; mask < 8; mask++) {
            const char *missing = NULL;
            bool covers = grid_covers(&grid, set, mask, &missing);
            ck_assert_msg(covers == (parts_of(ranks, mask) == grid_axes_size(&grid, mask)), "ranks %x, axes %x", ranks, (unsigned)mask);
            if (covers)
                continue;
            u32 at[3] = { 9, 9, 9 };
            for (const char *c = missing; *c; c++)
                if (c[1] == ' ' && c[2] == '=')
                    at[*c - 'a'] = (u32)atoi(c + 4);
            for (u32 r = 0; r < RANKS; r++) {
                bool there = ranks >> r & 1;
                for (u32 i = 0; i < 3; i++)
                    there = there && (at[i] == 9 || at[i] == coordinate(r, i));
                ck_assert_msg(!there, "ranks %x, axes %x: rank %u has %s", ranks, (unsigned)mask, r, missing);
            }
        }
    }
}
END_TEST

/* ---- What each rank did last ---- */

static u32 told[64], n_told;

static void tell(void *state, u32 before, u32 rank)
{
    u32 *last = state;
    ck_assert_uint_eq(last[rank], before);
    told[n_told++] = before;
}

static void check_told(const u32 *last, u32 ranks)
{
    for (u32 r = 0; r < RANKS; r++) {
        bool found = !(ranks >> r & 1) || !last[r];
        for (u32 i = 0; i < n_told; i++)
            found = found || told[i] == last[r];
        ck_assert_msg(found, "rank %u did %u last, and nobody says so", r, last[r]);
    }
}

START_TEST(what_ranks_did_last_is_told)
{
    struct rank_map map;
    u32 last[RANKS] = { 0 }, random = 1;
    rank_map_init(&map, &arena);
    for (u32 value = 1; value < 20000; value++) {
        random = random * 1664525 + 1013904223;
        u32 ranks = random >> 20 & random >> 8 & ((1u << RANKS) - 1);
        if (!ranks)
            continue;
        n_told = 0;
        u32 set = set_of(ranks);
        rank_map_put(&map, &grid.sets.sets[set], value, tell, last);
        check_told(last, ranks);
        for (u32 r = 0; r < RANKS; r++)
            last[r] = ranks >> r & 1 ? value : last[r];
    }
}
END_TEST

Suite *grid_suite(void);

Suite *grid_suite(void)
{
    Suite *s = suite_create("grid");
    TCase *t = tcase_create("grid");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, axes_of_one_rank_are_left_out);
    tcase_add_test(t, a_set_covers_what_enumeration_covers);
    tcase_add_test(t, what_ranks_did_last_is_told);
    suite_add_tcase(s, t);
    return s;
}
