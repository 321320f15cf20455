/* Tokens: what numbers, strings, names and comments may be, where each fault is shown, and how each prints. */
#include "attempt.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE "session.strategy @s {\n  note = {a = %s}\n}\n"

/* VALUE in a note prints as PRINTED. */
static void prints(const char *value, const char *printed)
{
    char text[512], expected[512];
    snprintf(text, sizeof text, NOTE, value);
    snprintf(expected, sizeof expected, NOTE, printed);
    assert_prints(text, expected);
}

static void refuses(const char *value, const char *code, const char *at, const char *message)
{
    char text[512];
    snprintf(text, sizeof text, NOTE, value);
    assert_errors(text, 1, code, at, message);
}

START_TEST(whole_numbers_print_in_decimal)
{
    static const char *const same[] = { "0", "7", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
                                        "18446744073709551616", "340282366920938463463374607431768211455" };
    for (size_t i = 0; i < COUNT(same); i++)
        prints(same[i], same[i]);
    prints("50_331_648", "50331648");
    prints("007", "7");
    prints("1_0", "10");
}
END_TEST

START_TEST(numbers_past_128_bits_are_refused)
{
    refuses("340282366920938463463374607431768211456", "syntax.number.range", "3402", "128 bits");
    refuses("340282366920938463463374607431768211455 + 1", "quantity.arithmetic", "3402", "overflows 128 bits");
    refuses("18446744073709551616 * 18446744073709551616", "quantity.arithmetic", "1844", "overflows 128 bits");
    refuses("5 floordiv 0", "quantity.arithmetic", "5 floor", "zero");
}
END_TEST

START_TEST(what_nearly_is_a_number_is_refused)
{
    static const char *const bad[] = { "0x10", "1.", ".5", "1.0.0", "1e", "3.9e", "4.5e+", "1.e5", "1_0.5x", "12ab" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[512];
        struct attempt a;
        snprintf(text, sizeof text, NOTE, bad[i]);
        attempt_parse(&a, text, strlen(text));
        const char *fault = attempt_fault(&a);
        ck_assert_msg(!fault && a.diags.errors == 1, "%s: %s, %u errors", bad[i], fault ? fault : "no fault", a.diags.errors);
        ck_assert_uint_ge(a.diags.first->loc.begin, (u32)(strstr(text, bad[i]) - text));
        ck_assert_uint_le(a.diags.first->loc.begin, (u32)(strstr(text, bad[i]) - text + strlen(bad[i])));
        attempt_end(&a);
    }
    refuses("1__0", "syntax.number.form", "1__0", "`_`");
    refuses("1_", "syntax.number.form", "1_", "`_`");
}
END_TEST

/* The digits are those of Python's repr. */
START_TEST(decimal_numbers_print_shortest)
{
    static const char *const rows[][2] = {
        { "1.5", "1.5" }, { "0.1", "0.1" }, { "0.30000000000000004", "0.30000000000000004" }, { "0.1000000000000000055511151231257827", "0.1" },
        { "1.0", "1.0" }, { "100.0", "100.0" }, { "0.0", "0.0" }, { "2.5e0", "2.5" }, { "1E2", "100.0" }, { "1e+2", "100.0" }, { "01.5", "1.5" },
        { "9007199254740993.0", "9.007199254740992e15" }, { "0.899999976", "0.899999976" }, { "3.12e14", "3.12e14" },
        { "1e15", "1e15" }, { "999999.5", "999999.5" }, { "1000000.0", "1e6" }, { "1.5e+020", "1.5e20" }, { "0.0001", "0.0001" }, { "0.00001", "1e-5" },
        { "12345678901234567.0", "1.2345678901234568e16" }, { "4.9e-324", "5e-324" }, { "1.25e-10", "1.25e-10" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        prints(rows[i][0], rows[i][1]);
}
END_TEST

START_TEST(a_sign_is_kept)
{
    prints("-0.0", "-0.0");
    prints("-1.5", "-1.5");
    prints("- 2e300", "-2e300");
    prints("-7", "0 - 7");
    prints("1 - 3", "0 - 2");
    assert_errors("system.profile @p {\n  matrix_flops = -1.5\n}\n", 1, "quantity.negative", "-1.5", "can't be negative");
}
END_TEST

/* The exponent's form is free, the value is not: it reads back as the same bits. */
START_TEST(extreme_decimal_numbers_keep_their_bits)
{
    static const char *const texts[] = { "4.9e-324", "1e-323", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
                                         "1e-8", "1e-45", "1e22", "1e23", "123456789012345680000.0", "5e-324", "8.41e21", "9.5367431640625e-07" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[512];
        struct attempt a;
        snprintf(text, sizeof text, NOTE, texts[i]);
        attempt_parse(&a, text, strlen(text));
        const char *fault = attempt_fault(&a);
        ck_assert_msg(a.parsed && !fault, "%s: %s", texts[i], fault ? fault : "refused");
        char *printed = attempt_print(&a, false);
        double value = strtod(strstr(printed, "a = ") + 4, NULL);
        ck_assert_msg(value == strtod(texts[i], NULL), "%s prints as %s", texts[i], printed);
        free(printed);
        attempt_end(&a);
    }
}
END_TEST

START_TEST(decimal_numbers_that_overflow_are_refused)
{
    refuses("1e309", "syntax.number.range", "1e309", "64-bit floating point");
    refuses("1.7976931348623159e308", "syntax.number.range", "1.79", "64-bit floating point");
    refuses("1e400000", "syntax.number.range", "1e400000", "64-bit floating point");
    prints("1e-400", "0.0");
}
END_TEST

START_TEST(strings_print_with_the_fewest_escapes)
{
    prints("\"\"", "\"\"");
    prints("\"a \\\" \\\\ b\"", "\"a \\\" \\\\ b\"");
    prints("\"\\n\\t\\r\"", "\"\\n\\t\\r\"");
    prints("\"\\x41\\x0a\\x7F\\x00\"", "\"A\\n\\x7f\\x00\"");
    prints("\"\t\"", "\"\\t\"");
    prints("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    prints("\"\\xc3\\xa9\"", "\"\xc3\xa9\"");
    prints("\"// no comment /* */\"", "\"// no comment /* */\"");
}
END_TEST

START_TEST(faulty_strings_are_refused)
{
    static const char *const escapes[] = { "\"\\q\"", "\"\\0\"", "\"\\xZZ\"", "\"\\x4\"", "\"\\u0041\"", "\"\\xff\"", "\"\\xed\\xa0\\x80\"" };
    for (size_t i = 0; i < COUNT(escapes); i++)
        refuses(escapes[i], "syntax.string.form", escapes[i], "");
    refuses("\"abc", "syntax.string.form", "\"abc", "not closed");
    refuses("\"abc\\\"", "syntax.string.form", "\"abc", "not closed");
    assert_errors("session.strategy @s { note = {a = \"abc\\", 1, "syntax.string.form", "\"abc", "not closed");
    assert_errors("session.strategy @s { note = {a = \"", 1, "syntax.string.form", "\"", "not closed");
}
END_TEST

/* Overlong forms, surrogates, past U+10FFFF, cut short, a stray continuation. */
START_TEST(text_is_valid_utf8_or_refused)
{
    static const char *const bad[] = { "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80", "\xff", "\xc3" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[64];
        snprintf(text, sizeof text, "\"a%sb\"", bad[i]);
        refuses(text, "syntax.string.form", text, "UTF-8");
        snprintf(text, sizeof text, "// a%sb\n", bad[i]);
        assert_errors(text, 1, "syntax.utf8", "// a", "UTF-8");
        snprintf(text, sizeof text, "// a%s", bad[i]);
        assert_errors(text, 1, "syntax.utf8", "// a", "UTF-8");
    }
}
END_TEST

START_TEST(bytes_without_meaning_are_refused)
{
    static const char *const bad[] = { "\x01", "\x7f", "\xc3\xa9", "\xff", "#", "&", "!", ";", "'a'", "\\", "~", "`", "^", "|", "?", "/" };
    for (size_t i = 0; i < COUNT(bad); i++)
        refuses(bad[i], "syntax.byte", bad[i], "");
    refuses("1 /* one */", "syntax.comment.form", "/*", "//");
}
END_TEST

START_TEST(a_nul_byte_is_no_end)
{
    static const char text[] = "session.strategy @s {\n  tensor = 2\n}\n\0\nsession.strategy @t {\n}\n";
    struct attempt a;
    attempt_parse(&a, text, sizeof text - 1);
    ck_assert_uint_eq(a.diags.errors, 1);
    ck_assert_str_eq(a.diags.first->code, "syntax.byte");
    ck_assert_uint_eq(a.diags.first->loc.begin, strlen(text));
    ck_assert_uint_eq(a.module.n, 2);
    attempt_end(&a);
}
END_TEST

START_TEST(a_byte_order_mark_stands_at_the_start_only)
{
    assert_prints("\xef\xbb\xbfsession.strategy @s {\n}\n", "session.strategy @s {\n}\n");
    assert_prints("\xef\xbb\xbf", "");
    assert_errors("\n\xef\xbb\xbfsession.strategy @s {\n}\n", 1, "syntax.byte", "\xef\xbb\xbf", "byte order mark");
}
END_TEST

START_TEST(line_ends_may_be_those_of_dos)
{
    assert_prints("// a\r\n\r\nsession.strategy @s {\r\n  tensor = 2 // b \r\n}\r\n", "// a\n\nsession.strategy @s {\n  tensor = 2  // b\n}\n");
}
END_TEST

START_TEST(names_are_letters_digits_underscores_and_dots)
{
    static const char *const same[] = { "@a", "@_", "@42", "@a.b.c", "@1.5", "@_0._1", "%x", "%0a", "%99999999999999999999", "%a.b", "@\"a-b\"",
                                        "@\"a..b\"", "@\".a\"", "@\"a.\"", "%\"a b\"", "%\"\\n\"", "@\"\xc3\xa9\"", "@\"\\\"\"", "%\"%x\"" };
    for (size_t i = 0; i < COUNT(same); i++)
        prints(same[i], same[i]);
    prints("@\"plain\"", "@plain");
    prints("%\"a.b\"", "%a.b");
}
END_TEST

START_TEST(faulty_names_are_refused)
{
    refuses("@", "syntax.name.form", "@}", "name must follow");
    refuses("% x", "syntax.name.form", "% x", "name must follow");
    refuses("@\"\"", "syntax.name.empty", "@\"\"", "empty");
    refuses("%\"\"", "syntax.name.empty", "%\"\"", "empty");
    refuses("@\"a", "syntax.string.form", "@\"a", "not closed");
    refuses("@\"\\q\"", "syntax.string.form", "@\"\\q", "escape");
    refuses("a.", "syntax.name.form", "a.}", "dot");
}
END_TEST

START_TEST(digests_have_32_lower_case_digits)
{
    static const char *const bad[] = { "xxh128:", "xxh128:0123", "xxh128:0123456789ABCDEF0123456789abcdef", "xxh128:0123456789abcdef0123456789abcdef0",
                                       "xxh128:0123456789abcdef0123456789abcdeg" };
    char text[256];
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "model.program @m schema 1.0 from @p %s {\n}\n", bad[i]);
        assert_errors(text, 1, "syntax.digest.form", "xxh128:", "32 digits");
    }
}
END_TEST

Suite *lexer_suite(void);

Suite *lexer_suite(void)
{
    Suite *s = suite_create("lexer");
    TCase *c = tcase_create("lexer");
    tcase_add_test(c, whole_numbers_print_in_decimal);
    tcase_add_test(c, numbers_past_128_bits_are_refused);
    tcase_add_test(c, what_nearly_is_a_number_is_refused);
    tcase_add_test(c, decimal_numbers_print_shortest);
    tcase_add_test(c, a_sign_is_kept);
    tcase_add_test(c, extreme_decimal_numbers_keep_their_bits);
    tcase_add_test(c, decimal_numbers_that_overflow_are_refused);
    tcase_add_test(c, strings_print_with_the_fewest_escapes);
    tcase_add_test(c, faulty_strings_are_refused);
    tcase_add_test(c, text_is_valid_utf8_or_refused);
    tcase_add_test(c, bytes_without_meaning_are_refused);
    tcase_add_test(c, a_nul_byte_is_no_end);
    tcase_add_test(c, a_byte_order_mark_stands_at_the_start_only);
    tcase_add_test(c, line_ends_may_be_those_of_dos);
    tcase_add_test(c, names_are_letters_digits_underscores_and_dots);
    tcase_add_test(c, faulty_names_are_refused);
    tcase_add_test(c, digests_have_32_lower_case_digits);
    suite_add_tcase(s, c);
    return s;
}
