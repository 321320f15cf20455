/* Fixes applied to a text: in order of place, all of a diagnostic or none, and no two that overlap. */
#include "support/fix.h"

#include <check.h>

static struct diags diags;
static struct source source;

static void setup(void)
{
    static const char text[] = "one two three";
    diags_init(&diags);
    source_borrow(&source, "t", text, sizeof text - 1);
}

static void teardown(void)
{
    diags_free(&diags);
}

static struct loc at(u32 begin, u32 end)
{
    return (struct loc){ &source, begin, end };
}

static void report(void)
{
    diag_error(&diags, at(0, 0), "a.b", "m");
}

static void assert_fixed(const char *expected, u32 applied, u32 left_out)
{
    struct out o;
    out_memory(&o);
    struct fix_count n = fixes_apply(&diags, &source, &o);
    out_char(&o, '\0');
    ck_assert_str_eq(o.data, expected);
    ck_assert_uint_eq(n.applied, applied);
    ck_assert_uint_eq(n.left_out, left_out);
    out_free(&o);
}

START_TEST(nothing_changes_without_a_fix)
{
    report();
    assert_fixed("one two three", 0, 0);
}
END_TEST

START_TEST(new_lines_end_as_those_of_the_text)
{
    source_borrow(&source, "t", "one\r\ntwo", 8);
    report();
    diag_fix(&diags, at(3, 3), "%s", "\n}");
    assert_fixed("one\r\n}\r\ntwo", 1, 0);
}
END_TEST

START_TEST(replacements_insertions_and_removals_are_made_in_order_of_place)
{
    report();
    diag_fix(&diags, at(8, 13), "%s", "3");
    report();
    diag_fix(&diags, at(0, 0), "%s", "zero ");
    report();
    diag_fix(&diags, at(3, 7), "%s", "");
    assert_fixed("zero one 3", 3, 0);
}
END_TEST

START_TEST(the_first_of_two_that_overlap_wins)
{
    report();
    diag_fix(&diags, at(4, 13), "%s", "rest");
    report();
    diag_fix(&diags, at(0, 5), "%s", "begin");
    assert_fixed("beginwo three", 1, 1);
}
END_TEST

START_TEST(two_insertions_at_one_place_overlap)
{
    report();
    diag_fix(&diags, at(3, 3), "%s", ",");
    report();
    diag_fix(&diags, at(3, 3), "%s", ";");
    assert_fixed("one, two three", 1, 1);
}
END_TEST

START_TEST(the_same_fix_twice_is_made_once)
{
    report();
    diag_fix(&diags, at(0, 3), "%s", "1");
    report();
    diag_fix(&diags, at(0, 3), "%s", "1");
    assert_fixed("1 two three", 2, 0);
}
END_TEST

START_TEST(all_fixes_of_a_message_are_made_or_none)
{
    report();
    diag_fix(&diags, at(0, 3), "%s", "1");
    report();
    diag_fix(&diags, at(2, 4), "%s", "x");
    diag_fix(&diags, at(8, 13), "%s", "3");
    assert_fixed("1 two three", 1, 1);
}
END_TEST

START_TEST(what_was_left_out_makes_room_for_others)
{
    report();
    diag_fix(&diags, at(0, 3), "%s", "1");
    report();
    diag_fix(&diags, at(2, 4), "%s", "x");
    diag_fix(&diags, at(8, 13), "%s", "3");
    report();
    diag_fix(&diags, at(8, 13), "%s", "drei");
    assert_fixed("1 two drei", 2, 1);
}
END_TEST

START_TEST(fixes_of_other_texts_are_left_alone)
{
    struct source other;
    source_borrow(&other, "u", "one two three", 13);
    report();
    diag_fix(&diags, (struct loc){ &other, 0, 3 }, "%s", "1");
    report();
    diag_fix(&diags, at(0, 3), "%s", "1");
    diag_fix(&diags, (struct loc){ &other, 0, 3 }, "%s", "1");
    report();
    diag_fix(&diags, at(10, 99), "%s", "1");
    assert_fixed("one two three", 0, 0);
}
END_TEST

Suite *fix_suite(void);

Suite *fix_suite(void)
{
    Suite *s = suite_create("fix");
    TCase *c = tcase_create("fix");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, nothing_changes_without_a_fix);
    tcase_add_test(c, replacements_insertions_and_removals_are_made_in_order_of_place);
    tcase_add_test(c, new_lines_end_as_those_of_the_text);
    tcase_add_test(c, the_first_of_two_that_overlap_wins);
    tcase_add_test(c, two_insertions_at_one_place_overlap);
    tcase_add_test(c, the_same_fix_twice_is_made_once);
    tcase_add_test(c, all_fixes_of_a_message_are_made_or_none);
    tcase_add_test(c, what_was_left_out_makes_room_for_others);
    tcase_add_test(c, fixes_of_other_texts_are_left_alone);
    suite_add_tcase(s, c);
    return s;
}
