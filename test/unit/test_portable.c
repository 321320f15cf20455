/* What a portable task requires when it says nothing, and that saying so changes nothing. */
#include "attempt.h"

#include "dialects/portable/portable.h"

#include <check.h>
#include <stdlib.h>

#define PLAN(work, require) \
    "portable.plan @p schema 1.0 {\n" \
    "  task @a collective all_reduce\n" \
    "    work (" work ")" require "\n" \
    "  objective minimize latency\n" \
    "}\n"

START_TEST(what_follows_from_the_work_is_not_printed)
{
    assert_prints(PLAN("operations 5, read 7, write 11, message 13", " require (compute 5, memory_bandwidth 18, network 13)"),
                  PLAN("operations 5, read 7, write 11, message 13", ""));
}
END_TEST

START_TEST(what_differs_from_the_work_is_printed)
{
    /* Another amount, another scope, another resource; in the order of the resources. */
    assert_prints(PLAN("operations 5, read 7, write 11, message 13", " require (network 12, storage 1, memory_bandwidth 18 shared, compute 5)"),
                  PLAN("operations 5, read 7, write 11, message 13", " require (memory_bandwidth 18 shared, network 12, storage 1)"));
}
END_TEST

START_TEST(requirements_stand_before_the_work_or_behind_it)
{
    assert_prints("portable.plan @p schema 1.0 {\n  task @a collective all_reduce require (network 4) work (message 4)\n  objective minimize latency\n}\n",
                  PLAN("message 4", ""));
}
END_TEST

START_TEST(symbolic_work_projects_symbolic_needs)
{
    assert_prints("portable.plan @p schema 1.0 {\n  symbol $b : integer\n  task @a collective all_reduce\n"
                  "    work (read 2*$b, write $b, message $b) require (memory_bandwidth 3*$b, network 2*$b)\n  objective minimize latency\n}\n",
                  "portable.plan @p schema 1.0 {\n  symbol $b : integer\n  task @a collective all_reduce\n"
                  "    work (read 2*$b, write $b, message $b) require (network 2*$b)\n  objective minimize latency\n}\n");
}
END_TEST

/* A sum that leaves 128 bits is no projection: what is written stays. */
START_TEST(a_sum_past_128_bits_projects_nothing)
{
    static const char text[] = PLAN("read 340282366920938463463374607431768211455, write 1, message 4", " require (memory_bandwidth 1)");
    struct attempt a;
    qty out;
    attempt_begin(&a, text, sizeof text - 1);
    ck_assert(a.verified);
    const struct item *it = a.module.items[0];
    const struct portable_task *t = (const struct portable_task *)it->stmts[0];
    ck_assert(!portable_projection(it, t, RESOURCE_MEMORY_BANDWIDTH, &out));
    ck_assert(portable_projection(it, t, RESOURCE_NETWORK, &out));
    ck_assert_uint_eq(out, 4);
    ck_assert_uint_eq(list_n(it, t->more->require), 4);
    attempt_end(&a);
}
END_TEST

Suite *portable_suite(void)
{
    Suite *s = suite_create("portable");
    TCase *t = tcase_create("require");
    tcase_add_test(t, what_follows_from_the_work_is_not_printed);
    tcase_add_test(t, what_differs_from_the_work_is_printed);
    tcase_add_test(t, requirements_stand_before_the_work_or_behind_it);
    tcase_add_test(t, symbolic_work_projects_symbolic_needs);
    tcase_add_test(t, a_sum_past_128_bits_projects_nothing);
    suite_add_tcase(s, t);
    return s;
}
