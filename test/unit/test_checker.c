/* What holds of every checker: its names and rules, the items that it reads, and how it finds what an item is from. */
#include "attempt.h"

#include "conformance/checker.h"

#include <check.h>
#include <stdio.h>

static bool has_rule(const char *code)
{
    for (u32 i = 0; i < n_check_rules; i++)
        if (!strcmp(check_rules[i].code, code))
            return true;
    return false;
}

START_TEST(checkers_stand_in_alphabetical_order)
{
    ck_assert_ptr_nonnull(all_checkers[0]);
    for (u32 i = 0; all_checkers[i]; i++) {
        ck_assert_ptr_nonnull(all_checkers[i]->doc);
        ck_assert(!i || strcmp(all_checkers[i - 1]->name, all_checkers[i]->name) < 0);
    }
}
END_TEST

/* Remarks are written under codes that are made of the name. */
START_TEST(every_checker_has_rules_for_its_remarks)
{
    for (u32 i = 0; all_checkers[i]; i++) {
        char name[64], code[128];
        snprintf(name, sizeof name, "%s", all_checkers[i]->name);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
        snprintf(code, sizeof code, "check.%s.proved", name);
        ck_assert_msg(has_rule(code), "%s is in no table", code);
        snprintf(code, sizeof code, "check.%s.skipped", name);
        ck_assert_msg(has_rule(code), "%s is in no table", code);
    }
}
END_TEST

START_TEST(a_checker_is_found_by_its_whole_name)
{
    ck_assert_ptr_nonnull(checker_find("lineage-coverage", 16));
    ck_assert_ptr_null(checker_find("lineage-coverage", 15));
    ck_assert_ptr_null(checker_find("lineage-coveragx", 16));
}
END_TEST

#define CHAIN \
    "model.program @m schema 1.0 {\n  input %x : tensor<4xf16>\n  op @a model.gelu(%x) -> %y : tensor<4xf16>\n  output %y\n}\n" \
    "dist.program @d schema 1.0 from @m {\n  mesh @r [tp = 1]\n  input %x : tensor<4xf16>\n" \
    "  task @a local model.gelu(%x) -> %y : tensor<4xf16> from @a\n  output %y\n}\n" \
    "portable.plan @p schema 1.0 from @d {\n  buffer %x input device_local size 8\n  buffer %y output device_local size 8\n" \
    "  task @a compute model.gelu(%x) -> %y from @a\n  objective minimize latency\n}\n" \
    "portable.plan @q schema 1.0 from @elsewhere {\n  buffer %x input device_local size 8\n  buffer %y output device_local size 8\n" \
    "  task @a compute model.gelu(%x) -> %y from @a\n  objective minimize latency\n}\n"

static struct attempt a;

static void begin(void)
{
    attempt_begin(&a, CHAIN, sizeof CHAIN - 1);
    ck_assert(a.verified);
}

static void end(void)
{
    attempt_end(&a);
}

START_TEST(a_source_is_found_up_the_chain)
{
    struct item *const *items = a.module.items;
    struct check c = { .v = { .item = items[2], .ctx = &a.ctx, .module = &a.module } };
    ck_assert_ptr_eq(check_source(&c, items[2], LAYER_PORTABLE), items[2]);
    ck_assert_ptr_eq(check_source(&c, items[2], LAYER_DIST), items[1]);
    ck_assert_ptr_eq(check_source(&c, items[2], LAYER_MODEL), items[0]);
    ck_assert_ptr_null(check_source(&c, items[2], LAYER_CONCRETE));
    ck_assert_ptr_null(check_source(&c, items[3], LAYER_DIST));         /* its parent is in no file */
    ck_assert_ptr_null(check_using(&c, items[2], "session.strategy"));
}
END_TEST

START_TEST(a_checker_leaves_other_layers_alone)
{
    for (u32 i = 0; all_checkers[i]; i++)
        for (u32 k = 0; k < a.module.n; k++) {
            struct check c;
            bool reads = all_checkers[i]->layers & IN(a.module.items[k]->kind->layer);
            ck_assert(check_run(&c, all_checkers[i], a.module.items[k], &a.module));
            ck_assert(reads || c.n_notes == 0);
            check_free(&c);
        }
}
END_TEST

/* A module is not needed: then there are no parents, and a checker says so or has nothing to say. */
START_TEST(a_checker_does_without_a_module)
{
    for (u32 i = 0; all_checkers[i]; i++)
        for (u32 k = 0; k < a.module.n; k++) {
            struct check c;
            ck_assert(check_run(&c, all_checkers[i], a.module.items[k], NULL));
            check_free(&c);
        }
}
END_TEST

Suite *checker_suite(void)
{
    Suite *s = suite_create("checker");
    TCase *t = tcase_create("table");
    tcase_add_test(t, checkers_stand_in_alphabetical_order);
    tcase_add_test(t, every_checker_has_rules_for_its_remarks);
    tcase_add_test(t, a_checker_is_found_by_its_whole_name);
    suite_add_tcase(s, t);
    t = tcase_create("run");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, a_source_is_found_up_the_chain);
    tcase_add_test(t, a_checker_leaves_other_layers_alone);
    tcase_add_test(t, a_checker_does_without_a_module);
    suite_add_tcase(s, t);
    return s;
}
