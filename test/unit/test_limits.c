/* Sizes and depths that no honest file has: refused at the place where they pass a limit, in time and without a crash. */
#include "attempt.h"

#include "support/out.h"

#include <check.h>
#include <stdlib.h>

#define PLAN "portable.plan @p schema 1.0 {\n"
#define TASK PLAN "  task @t compute f()\n"

static void put_times(struct out *o, const char *text, size_t n)
{
    while (n--)
        out_string(o, text);
}

/* Takes the text, and asserts that the first error is CODE at byte PLACE; CODE NULL: accepted. */
static void must_end(struct out *o, const char *code, size_t place)
{
    struct attempt a;
    attempt_parse(&a, o->data, o->n);
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s", fault);
    ck_assert_msg(a.verified == !code, "%s%.300s", code ? "accepted: " : "refused: ", code ? o->data : a.diags.first->message);
    if (code) {
        ck_assert_str_eq(a.diags.first->code, code);
        ck_assert_msg(a.diags.first->loc.begin == place, "at byte %u, not %zu", a.diags.first->loc.begin, place);
    }
    attempt_end(&a);
    out_free(o);
}

/*
 * BEFORE, then N times OPEN, MIDDLE, N times CLOSE, AFTER. DEPTH brackets are open behind BEFORE, and the bracket of
 * OPEN is its byte AT: the one that would be the 257th is refused.
 */
static void try_depth(const char *before, size_t depth, const char *open, size_t at, const char *middle, const char *close,
                      const char *after, size_t n, bool closed)
{
    struct out o;
    out_memory(&o);
    out_string(&o, before);
    put_times(&o, open, n);
    out_string(&o, middle);
    put_times(&o, close, closed ? n : 0);
    out_string(&o, after);
    bool deep = depth + n > 256;
    if (closed || deep)
        must_end(&o, deep ? "syntax.nesting" : NULL, strlen(before) + (256 - depth) * strlen(open) + at);
    else
        out_free(&o);
}

static void ladder(const char *before, size_t depth, const char *open, size_t at, const char *middle, const char *close,
                   const char *after)
{
    static const size_t rungs[] = { 1, 100, 256, 257, 1000, 10000, 100000, 1000000 };
    for (size_t i = 0; i < COUNT(rungs); i++)
        for (int closed = 0; closed < 2; closed++)
            try_depth(before, depth, open, at, middle, close, after, rungs[i] == 256 || rungs[i] == 257 ? rungs[i] - depth : rungs[i],
                      closed);
}

START_TEST(lists_nest_256_deep)
{
    ladder(TASK "    note {a = ", 2, "[", 0, "1", "]", "}\n}\n");
}
END_TEST

START_TEST(dictionaries_nest_256_deep)
{
    ladder(TASK "    note {a = ", 2, "{a = ", 0, "1", "}", "}\n}\n");
}
END_TEST

START_TEST(parentheses_nest_256_deep)
{
    ladder(TASK "    work (operations ", 2, "(", 0, "1", ")", ")\n}\n");
}
END_TEST

START_TEST(maxima_nest_256_deep)
{
    ladder(TASK "    work (operations ", 2, "max(", 3, "1", ", 2)", ")\n}\n");
}
END_TEST

START_TEST(dimensions_nest_256_deep)
{
    ladder("dist.program @d schema 1.0 {\n  task @t control()\n  input %x : tensor<", 1, "(", 0, "1", ")", "xf16>\n}\n");
}
END_TEST

START_TEST(items_do_not_nest)
{
    for (size_t n = 1; n <= 100000; n *= 10) {
        struct out o;
        out_memory(&o);
        out_string(&o, PLAN);
        put_times(&o, PLAN, n);
        must_end(&o, "syntax.expected", strlen(PLAN) - 1);
    }
}
END_TEST

START_TEST(signs_do_not_exhaust_the_stack)
{
    for (size_t n = 2; n <= 2000000; n *= 100) {
        struct out o;
        out_memory(&o);
        out_string(&o, TASK "    work (operations ");
        put_times(&o, "-", n);
        out_string(&o, "5)\n}\n");
        struct attempt a;
        attempt_parse(&a, o.data, o.n);
        const char *fault = attempt_fault(&a);
        ck_assert_msg(!fault, "%s", fault);
        ck_assert_msg(a.verified || !strcmp(a.diags.first->code, "syntax.nesting"), "%s", a.diags.first->message);
        ck_assert(a.verified || n > 20000);
        attempt_end(&a);
        out_free(&o);
    }
}
END_TEST

START_TEST(a_sum_may_be_long)
{
    struct out o;
    out_memory(&o);
    out_string(&o, TASK "    work (operations 1");
    put_times(&o, " + 1", 200000);
    out_string(&o, ")\n}\n");
    must_end(&o, NULL, 0);
}
END_TEST

/* (a0 + b0) * (a1 + b1) * … has 2^n terms. */
START_TEST(a_product_of_sums_is_bounded)
{
    struct out o;
    out_memory(&o);
    out_string(&o, PLAN);
    for (int i = 0; i < 40; i++)
        out_printf(&o, "  symbol $a%d : integer\n  symbol $b%d : integer\n", i, i);
    out_string(&o, "  task @t compute f()\n    work (operations ");
    size_t place = o.n;
    for (int i = 0; i < 40; i++)
        out_printf(&o, "%s($a%d + $b%d)", i ? " * " : "", i, i);
    out_string(&o, ")\n}\n");
    must_end(&o, "quantity.arithmetic", place);
}
END_TEST

START_TEST(a_name_may_be_a_million_bytes_long)
{
    for (size_t n = 1000; n <= 1000000; n *= 1000) {
        struct out o;
        out_memory(&o);
        out_string(&o, PLAN "  task @t");
        put_times(&o, "a", n);
        out_string(&o, " compute f()\n}\n");
        must_end(&o, NULL, 0);
        out_memory(&o);
        out_string(&o, PLAN "  task @\"t ");
        put_times(&o, "a", n);
        out_string(&o, "\" compute f()\n}\n");
        must_end(&o, NULL, 0);
    }
}
END_TEST

START_TEST(a_name_past_16_mebibytes_is_refused)
{
    struct out o;
    out_memory(&o);
    out_string(&o, PLAN "  task ");
    size_t place = o.n;
    out_string(&o, "@");
    put_times(&o, "aaaaaaaa", 2 << 20);
    out_string(&o, " compute f()\n}\n");
    must_end(&o, "syntax.token.long", place);
}
END_TEST

START_TEST(a_long_word_that_is_wrong_is_shown_in_part)
{
    struct out o;
    out_memory(&o);
    out_string(&o, PLAN "  task @t compute f() ");
    size_t place = o.n;
    put_times(&o, "abcdefghi_", 100000);
    out_string(&o, " 5\n}\n");
    struct attempt a;
    attempt_parse(&a, o.data, o.n);
    ck_assert_str_eq(a.diags.first->code, "syntax.clause.unknown");
    ck_assert_uint_eq(a.diags.first->loc.begin, place);
    ck_assert_uint_lt(strlen(a.diags.first->message), 300);
    attempt_end(&a);
    out_free(&o);
}
END_TEST

/* With every number of bytes before them, so that each cut would fall into a character somewhere. */
START_TEST(long_names_of_long_characters_are_cut_between_two)
{
    for (int before = 0; before < 4; before++) {
        struct out o;
        out_memory(&o);
        out_string(&o, PLAN "  buffer %\"");
        put_times(&o, "x", (size_t)before);
        put_times(&o, "\xf0\x9f\x98\x80", 1000);
        out_string(&o, "\" value transient size 1\n  task @t compute g.f(%\"");
        put_times(&o, "x", (size_t)before);
        put_times(&o, "\xe2\x82\xac", 1000);
        out_string(&o, "\")\n  task @u compute f() phase \"");
        put_times(&o, "x", (size_t)before);
        put_times(&o, "\xc3\xa9", 1000);
        out_string(&o, "\"\n  task @v compute f() ranks [0 -\n\t3]\n}\n");
        struct attempt a;
        attempt_begin(&a, o.data, o.n);
        const char *fault = attempt_fault(&a);
        ck_assert_msg(!fault, "%s", fault);
        ck_assert_uint_eq(a.diags.errors, 2);
        attempt_end(&a);
        out_printf(&o, "// end");
        char *clauses = strstr(o.data, "  task @u");
        attempt_begin(&a, o.data, (size_t)(clauses - o.data));
        fault = attempt_fault(&a);
        ck_assert_msg(!fault && a.diags.errors, "%s", fault);
        attempt_end(&a);
        out_free(&o);
    }
}
END_TEST

/* Each of N lines has one mistake: all are counted. */
static void many_errors(const char *before, const char *line, size_t n, size_t errors)
{
    struct out o;
    out_memory(&o);
    out_string(&o, before);
    put_times(&o, line, n);
    out_string(&o, "}\n");
    struct attempt a;
    attempt_parse(&a, o.data, o.n);
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s", fault);
    ck_assert_uint_eq(a.diags.errors, errors);
    attempt_end(&a);
    out_free(&o);
}

START_TEST(every_error_of_many_is_counted)
{
    many_errors(PLAN, "  task @ compute f()\n", 50000, 50000);
    many_errors(PLAN, "  task @t compute f() phase forwad\n", 20000, 20000 + 19999);    /* the name is doubled, too */
    many_errors(PLAN, "  oops @x\n", 50000, 50000);
    many_errors("", "session.strategy @s {}\n", 20000, 20000);      /* the name is doubled; then a brace too many */
}
END_TEST

START_TEST(a_statement_with_many_unknown_names_ends_in_time)
{
    struct out o;
    out_memory(&o);
    out_string(&o, PLAN "  task @t compute g.f(%a");
    for (int i = 0; i < 30000; i++)
        out_printf(&o, ", %%a%d", i);
    out_string(&o, ")\n}\n");
    struct attempt a;
    attempt_begin(&a, o.data, o.n);
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s", fault);
    ck_assert_uint_ge(a.diags.errors, 30001);
    attempt_end(&a);
    out_free(&o);
}
END_TEST

START_TEST(many_items_and_many_keys_end_in_time)
{
    struct out o;
    out_memory(&o);
    for (int i = 0; i < 20000; i++)
        out_printf(&o, "session.strategy @s%d {\n  note = {k%d = %d, a = 1}\n}\n", i, i, i);
    must_end(&o, NULL, 0);
    out_memory(&o);
    out_string(&o, "session.strategy @s {\n  note = {k = 0");
    for (int i = 0; i < 50000; i++)
        out_printf(&o, ", k%d = %d", i * 7919 % 50000, i);
    out_string(&o, "}\n}\n");
    must_end(&o, NULL, 0);
}
END_TEST

START_TEST(a_pass_may_use_64_items)
{
    for (int n = 64; n <= 65; n++) {
        struct out o;
        out_memory(&o);
        out_string(&o, "portable.plan @p schema 1.0\n  from @d xxh128:0123456789abcdef0123456789abcdef\n  by f revision 1 using (");
        for (int i = 0; i < n; i++)
            out_printf(&o, i ? ", @s%02d" : "@s%02d", i);
        size_t place = o.n - 4;
        out_string(&o, ") {\n  task @t compute f() from @t\n}\n");
        must_end(&o, n == 65 ? "syntax.value.extra" : NULL, place);
    }
}
END_TEST

START_TEST(a_tensor_has_at_most_16_dimensions)
{
    for (int n = 16; n <= 17; n++) {
        struct out o;
        out_memory(&o);
        out_string(&o, "dist.program @d schema 1.0 {\n  task @t control()\n  input %x : tensor<");
        put_times(&o, "1x", 16);
        size_t place = o.n;
        put_times(&o, "1x", (size_t)n - 16);
        out_string(&o, "f16>\n}\n");
        must_end(&o, n == 17 ? "type.rank" : NULL, place);
    }
}
END_TEST

Suite *limits_suite(void);

Suite *limits_suite(void)
{
    Suite *s = suite_create("limits");
    TCase *c = tcase_create("limits");
    tcase_add_test(c, lists_nest_256_deep);
    tcase_add_test(c, dictionaries_nest_256_deep);
    tcase_add_test(c, parentheses_nest_256_deep);
    tcase_add_test(c, maxima_nest_256_deep);
    tcase_add_test(c, dimensions_nest_256_deep);
    tcase_add_test(c, items_do_not_nest);
    tcase_add_test(c, signs_do_not_exhaust_the_stack);
    tcase_add_test(c, a_sum_may_be_long);
    tcase_add_test(c, a_product_of_sums_is_bounded);
    tcase_add_test(c, a_name_may_be_a_million_bytes_long);
    tcase_add_test(c, a_name_past_16_mebibytes_is_refused);
    tcase_add_test(c, a_long_word_that_is_wrong_is_shown_in_part);
    tcase_add_test(c, long_names_of_long_characters_are_cut_between_two);
    tcase_add_test(c, every_error_of_many_is_counted);
    tcase_add_test(c, a_statement_with_many_unknown_names_ends_in_time);
    tcase_add_test(c, many_items_and_many_keys_end_in_time);
    tcase_add_test(c, a_pass_may_use_64_items);
    tcase_add_test(c, a_tensor_has_at_most_16_dimensions);
    suite_add_tcase(s, c);
    return s;
}
