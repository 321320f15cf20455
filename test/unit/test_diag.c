/* Diagnostics: counted, sorted by place, shown with the line and a caret. */
#include "support/diag.h"

#include <check.h>
#include <stdlib.h>

static struct diags diags;
static struct source source;

static const char text[] = "one two\n\tthree \xc3\xa9 four\nfive\r\n\xe4\xb8\xad six";

static void setup(void)
{
    diags_init(&diags);
    source_borrow(&source, "t.bpir", text, sizeof text - 1);
}

static void teardown(void)
{
    diags_free(&diags);
}

static struct loc at(const char *part, size_t length)
{
    u32 begin = (u32)(strstr(text, part) - text);
    return (struct loc){ &source, begin, begin + (u32)length };
}

static void assert_shown(const char *expected)
{
    struct out o;
    out_memory(&o);
    diags_render(&diags, &o, (struct diag_style){ .color = false });
    out_char(&o, '\0');
    ck_assert_str_eq(o.data, expected);
    out_free(&o);
}

START_TEST(an_error_shows_its_line_and_range)
{
    ck_assert(!diag_error(&diags, at("two", 3), "a.b", "not %s", "three"));
    ck_assert_uint_eq(diags.errors, 1);
    assert_shown("t.bpir:1:5: error: [a.b] not three\n  one two\n      ^~~\n");
}
END_TEST

START_TEST(carets_stand_below_what_they_mean)
{
    diag_error(&diags, at("four", 4), "a.b", "m");
    assert_shown("t.bpir:2:10: error: [a.b] m\n          three \xc3\xa9 four\n                  ^~~~\n");
    diags_clear(&diags);
    diag_error(&diags, at("six", 3), "a.b", "m");
    assert_shown("t.bpir:4:3: error: [a.b] m\n  \xe4\xb8\xad six\n     ^~~\n");
    diags_clear(&diags);
    diag_error(&diags, at("five", 4), "a.b", "m");
    assert_shown("t.bpir:3:1: error: [a.b] m\n  five\n  ^~~~\n");
}
END_TEST

START_TEST(a_range_over_lines_is_shown_to_the_first_lines_end)
{
    diag_error(&diags, at("two", 12), "a.b", "m");
    assert_shown("t.bpir:1:5: error: [a.b] m\n  one two\n      ^~~\n");
}
END_TEST

START_TEST(messages_are_sorted_by_place_and_keep_their_order_at_one)
{
    diag_error(&diags, at("five", 4), "a.c", "third");
    diag_warning(&diags, at("one", 3), "a.a", "first");
    diag_remark(&diags, at("one", 3), "a.b", "second");
    diag_error(&diags, (struct loc){ 0 }, "a.d", "no place");
    diags_sort(&diags);
    const char *order[] = { "first", "second", "third", "no place" };
    size_t i = 0;
    for (const struct diag *d = diags.first; d; d = d->next)
        ck_assert_str_eq(d->message, order[i++]);
    ck_assert_uint_eq(i, 4);
    ck_assert_uint_eq(diags.errors, 2);
    ck_assert_uint_eq(diags.warnings, 1);
}
END_TEST

START_TEST(notes_hang_on_the_newest_message)
{
    diag_error(&diags, at("five", 4), "a.b", "m");
    diag_note(&diags, at("one", 3), "seen here");
    diag_note(&diags, (struct loc){ 0 }, "write %d", 5);
    assert_shown("t.bpir:3:1: error: [a.b] m\n  five\n  ^~~~\nt.bpir:1:1: note: seen here\n  one two\n  ^~~\n  note: write 5\n");
}
END_TEST

START_TEST(what_has_no_place_says_where_in_words)
{
    diag_error(&diags, (struct loc){ 0 }, "a.b", "m");
    diag_context(&diags, "@plan, task @x");
    assert_shown("@plan, task @x: error: [a.b] m\n");
}
END_TEST

START_TEST(more_errors_than_wanted_are_counted)
{
    diags.max_errors = 2;
    for (int i = 0; i < 5; i++)
        diag_error(&diags, at("one", 3), "a.b", "%d", i);
    ck_assert_uint_eq(diags.errors, 5);
    assert_shown("t.bpir:1:1: error: [a.b] 0\n  one two\n  ^~~\nt.bpir:1:1: error: [a.b] 1\n  one two\n  ^~~\n"
                 "bp-opt: 3 more errors are not shown (--max-errors=2)\n");
}
END_TEST

/* Every place of a text with odd bytes renders: none reads past its end. The copy has no room behind its NUL. */
START_TEST(any_place_of_any_bytes_renders)
{
    static const char odd[] = "a\xe4\xb8\n\xff\xfe\t\xc3\n\x01\xe2\x82\xac\xf0\x9f\x98\xf0";
    for (u32 size = 0; size < sizeof odd; size++) {
        char *copy = malloc(size + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, odd, size);
        copy[size] = '\0';
        source_borrow(&source, "t", copy, size);
        for (u32 begin = 0; begin <= size; begin++)
            for (u32 end = begin; end <= size; end++)
                diag_error(&diags, (struct loc){ &source, begin, end }, "a.b", "m");
        struct out o;
        out_memory(&o);
        diags.max_errors = 1000;
        diags_render(&diags, &o, (struct diag_style){ .color = true });
        diags_render_json(&diags, &o);
        ck_assert_uint_gt(o.n, 0);
        out_free(&o);
        diags_clear(&diags);
        free(copy);
    }
}
END_TEST

START_TEST(long_lines_are_shown_around_the_place)
{
    char line[5000];
    memset(line, 'x', sizeof line);
    memcpy(line + 2500, "HERE", 4);
    line[sizeof line - 1] = '\0';
    source_borrow(&source, "t", line, sizeof line - 1);
    diag_error(&diags, (struct loc){ &source, 2500, 2504 }, "a.b", "m");
    struct out o;
    out_memory(&o);
    diags_render(&diags, &o, (struct diag_style){ .color = false });
    out_char(&o, '\0');
    const char *shown = strstr(o.data, "HERE"), *caret = strstr(o.data, "^~~~"), *first = strstr(o.data, "  ... "), *second = strchr(first, '\n') + 1;
    ck_assert(shown && caret && shown - first == caret - second);
    ck_assert_uint_lt(o.n, 700);
    out_free(&o);
}
END_TEST

Suite *diag_suite(void);

Suite *diag_suite(void)
{
    Suite *s = suite_create("diag");
    TCase *c = tcase_create("diag");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, an_error_shows_its_line_and_range);
    tcase_add_test(c, carets_stand_below_what_they_mean);
    tcase_add_test(c, a_range_over_lines_is_shown_to_the_first_lines_end);
    tcase_add_test(c, messages_are_sorted_by_place_and_keep_their_order_at_one);
    tcase_add_test(c, notes_hang_on_the_newest_message);
    tcase_add_test(c, what_has_no_place_says_where_in_words);
    tcase_add_test(c, more_errors_than_wanted_are_counted);
    tcase_add_test(c, any_place_of_any_bytes_renders);
    tcase_add_test(c, long_lines_are_shown_around_the_place);
    suite_add_tcase(s, c);
    return s;
}
