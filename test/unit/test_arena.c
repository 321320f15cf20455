/* Arenas: what they give is zero, aligned, apart, and all of it goes at once. */
#include "support/arena.h"

#include <check.h>
#include <stdlib.h>

static const char wide_text[5000] = "abc";

START_TEST(memory_is_zero_and_aligned)
{
    struct arena a;
    arena_init(&a);
    for (size_t n = 1; n < 5000; n += 7) {
        unsigned char *p = arena_alloc(&a, n);
        ck_assert_uint_eq((uintptr_t)p % 8, 0);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    arena_free(&a);
}
END_TEST

/* Each block is filled with its number; had two met, one would be spoilt. */
START_TEST(blocks_do_not_meet)
{
    struct arena a;
    unsigned char *blocks[400];
    arena_init(&a);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        blocks[i] = arena_alloc(&a, i * 37);
        memset(blocks[i], (int)(i & 0xff), i * 37);
    }
    for (size_t i = 0; i < COUNT(blocks); i++)
        for (size_t k = 0; k < i * 37; k++)
            ck_assert_uint_eq(blocks[i][k], i & 0xff);
    arena_free(&a);
}
END_TEST

START_TEST(a_block_may_be_larger_than_a_chunk)
{
    struct arena a;
    arena_init(&a);
    for (size_t n = 1 << 10; n <= 64 << 20; n *= 4) {
        unsigned char *p = arena_alloc(&a, n);
        ck_assert_uint_eq(p[0] | p[n - 1], 0);
        p[0] = p[n - 1] = 1;
    }
    arena_free(&a);
}
END_TEST

/* Past 2 MiB a chunk comes into use step by step; sizes that differ meet the ends of steps and chunks everywhere. */
START_TEST(large_chunks_come_step_by_step)
{
    enum { BLOCKS = 60000 };
    struct arena a;
    u32 **blocks = calloc(BLOCKS, sizeof *blocks);
    arena_init(&a);
    for (u32 i = 0; i < BLOCKS; i++) {
        u32 n = i % 1000 == 999 ? 100000 : 1 + i * 7 % 300;
        blocks[i] = ARENA_ARRAY(&a, u32, n);
        ck_assert_uint_eq(blocks[i][0] | blocks[i][n - 1], 0);
        blocks[i][0] = blocks[i][n - 1] = i;
    }
    for (u32 i = 0; i < BLOCKS; i++)
        ck_assert_uint_eq(blocks[i][0], i);
    arena_free(&a);
    free(blocks);
}
END_TEST

START_TEST(an_arena_can_be_used_again)
{
    struct arena a;
    arena_init(&a);
    for (int round = 0; round < 3; round++) {
        char *p = arena_copy(&a, "abc", 3);
        ck_assert_str_eq(p, "abc");
        arena_free(&a);
    }
}
END_TEST

START_TEST(packed_bytes_lie_close_and_leave_the_rest_aligned)
{
    struct arena a;
    arena_init(&a);
    ck_assert_ptr_nonnull(arena_pack(&a, NULL, 0));
    const char *first = arena_pack(&a, "abc", 3), *second = arena_pack(&a, "de", 2);
    ck_assert_ptr_eq(second, first + 3);
    for (size_t i = 0, n; i < 300000; i++) {
        n = i % 5000;
        const char *p = arena_pack(&a, wide_text, n), *q = arena_alloc(&a, n);
        ck_assert_uint_eq((uintptr_t)q % 8, 0);
        ck_assert(n == 0 || q >= p + n || q + n <= p);
        i += i % 97;
    }
    ck_assert(!memcmp(first, "abcde", 5));
    arena_free(&a);
}
END_TEST

START_TEST(copies_and_formats_end_with_a_nul)
{
    struct arena a;
    arena_init(&a);
    ck_assert_str_eq(arena_copy(&a, "abcdef", 3), "abc");
    ck_assert_str_eq(arena_copy(&a, NULL, 0), "");
    ck_assert_str_eq(arena_format(&a, "%d %s", 12, "x"), "12 x");
    char *wide = arena_format(&a, "%*d", 100000, 1);
    ck_assert_uint_eq(strlen(wide), 100000);
    arena_free(&a);
}
END_TEST

/* 16 elements at first, twice as many each time; past 2 MiB the memory comes from elsewhere. */
START_TEST(vectors_keep_what_they_hold)
{
    u64 *v = NULL;
    u32 n = 0, cap = 0;
    for (u64 i = 0; i < 1000000; i++)
        *VEC_PUSH(v, n, cap) = i * i;
    ck_assert_uint_eq(n, 1000000);
    ck_assert_uint_eq(cap, 1 << 20);
    for (u64 i = 0; i < n; i++)
        ck_assert_uint_eq(v[i], i * i);
    block_free(v, cap * sizeof *v);
}
END_TEST

START_TEST(grown_blocks_are_zero_behind_what_they_held)
{
    unsigned char *p = block_grow(NULL, 0, 100);
    memset(p, 7, 100);
    p = block_grow(p, 100, 5 << 20);
    for (size_t i = 0; i < 5 << 20; i++)
        ck_assert_uint_eq(p[i], i < 100 ? 7 : 0);
    block_free(p, 5 << 20);
}
END_TEST

Suite *arena_suite(void);

Suite *arena_suite(void)
{
    Suite *s = suite_create("arena");
    TCase *c = tcase_create("arena");
    tcase_add_test(c, memory_is_zero_and_aligned);
    tcase_add_test(c, blocks_do_not_meet);
    tcase_add_test(c, a_block_may_be_larger_than_a_chunk);
    tcase_add_test(c, large_chunks_come_step_by_step);
    tcase_add_test(c, an_arena_can_be_used_again);
    tcase_add_test(c, packed_bytes_lie_close_and_leave_the_rest_aligned);
    tcase_add_test(c, copies_and_formats_end_with_a_nul);
    tcase_add_test(c, vectors_keep_what_they_hold);
    tcase_add_test(c, grown_blocks_are_zero_behind_what_they_held);
    suite_add_tcase(s, c);
    return s;
}
