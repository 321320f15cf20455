/* What a diagnostic looks like: carets below what they mean on any line, and fixes below the caret. */
#include "support/diag.h"
#include "support/width.h"

#include <check.h>
#include <stdlib.h>

static struct diags diags;
static struct source source;

static void setup(void)
{
    diags_init(&diags);
}

static void teardown(void)
{
    diags_free(&diags);
}

/* Reports at the first HERE of TEXT. */
static void report(const char *text, const char *here)
{
    source_borrow(&source, "t", text, strlen(text));
    u32 begin = (u32)(strstr(text, here) - text);
    diag_error(&diags, (struct loc){ &source, begin, begin + (u32)strlen(here) }, "a.b", "m");
}

static struct loc at(const char *part)
{
    u32 begin = (u32)(strstr(source.text, part) - source.text);
    return (struct loc){ &source, begin, begin + (u32)strlen(part) };
}

/* What is shown behind the message's own line. */
static void assert_excerpt(const char *expected)
{
    struct out o;
    out_memory(&o);
    diags_render(&diags, &o, (struct diag_style){ .color = false });
    out_char(&o, '\0');
    ck_assert_str_eq(strchr(o.data, '\n') + 1, expected);
    out_free(&o);
    diags_clear(&diags);
}

/* Widths by Unicode's East_Asian_Width (W is two columns) and General_Category (Mn, Me, Cf are none). */
START_TEST(a_character_takes_the_columns_that_a_terminal_gives_it)
{
    static const struct { const char *text; u32 point; u8 width, kind; } rows[] = {
        { "a", 'a', 1, GLYPH_PLAIN },
        { "\xc3\xa9", 0xe9, 1, GLYPH_PLAIN },
        { "\xcc\x81", 0x301, 0, GLYPH_PLAIN },                  /* combining acute */
        { "\xe4\xb8\xad", 0x4e2d, 2, GLYPH_PLAIN },             /* Han */
        { "\xed\x95\x9c", 0xd55c, 2, GLYPH_PLAIN },             /* Hangul syllable */
        { "\xef\xbc\xa1", 0xff21, 2, GLYPH_PLAIN },             /* full-width A */
        { "\xef\xbd\xb1", 0xff71, 1, GLYPH_PLAIN },             /* half-width katakana */
        { "\xf0\x9f\x98\x80", 0x1f600, 2, GLYPH_PLAIN },        /* emoji */
        { "\xf0\x9d\x94\xb8", 0x1d538, 1, GLYPH_PLAIN },        /* mathematical letter */
        { "\xe2\x9a\xa0", 0x26a0, 1, GLYPH_PLAIN },             /* warning sign, narrow */
        { "\xe2\x80\x8d", 0x200d, 0, GLYPH_PLAIN },             /* zero-width joiner */
        { "\xd8\xa7", 0x627, 1, GLYPH_PLAIN },                  /* Arabic */
        { "\xe0\xa4\xbe", 0x93e, 1, GLYPH_PLAIN },              /* spacing mark */
        { "\xe0\xa5\x8d", 0x94d, 0, GLYPH_PLAIN },              /* virama */
        { "\x07", 7, 8, GLYPH_CONTROL },
        { "\x7f", 0x7f, 8, GLYPH_CONTROL },
        { "\xc2\x9b", 0x9b, 8, GLYPH_CONTROL },                 /* CSI of eight-bit terminals */
        { "\xe2\x80\xae", 0x202e, 8, GLYPH_CONTROL },           /* right-to-left override */
        { "\xff", 0xff, 4, GLYPH_BYTE },
        { "\xc0\x80", 0xc0, 4, GLYPH_BYTE },                    /* overlong */
        { "\xed\xa0\x80", 0xed, 4, GLYPH_BYTE },                /* a surrogate */
        { "\xf4\x90\x80\x80", 0xf4, 4, GLYPH_BYTE },            /* past U+10FFFF */
        { "\xe4\xb8", 0xe4, 4, GLYPH_BYTE },                    /* cut short */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct glyph g = glyph_at(rows[i].text);
        ck_assert_msg(g.point == rows[i].point && g.width == rows[i].width && g.kind == rows[i].kind,
                      "row %zu: U+%04X, %u columns, kind %u", i, g.point, g.width, g.kind);
        ck_assert_uint_eq(g.size, g.kind == GLYPH_BYTE ? 1 : strlen(rows[i].text));
    }
}
END_TEST

START_TEST(a_caret_stands_below_its_text_behind_tabs_marks_and_wide_characters)
{
    report("\ta\tHERE", "HERE");
    assert_excerpt("          a       HERE\n                  ^~~~\n");
    report("e\xcc\x81HERE", "HERE");
    assert_excerpt("  e\xcc\x81HERE\n   ^~~~\n");
    report("\xf0\x9f\x98\x80\xe4\xb8\xad HERE", "HERE");
    assert_excerpt("  \xf0\x9f\x98\x80\xe4\xb8\xad HERE\n       ^~~~\n");
    report("x \xe4\xb8\xad\xe6\x96\x87 y", "\xe4\xb8\xad\xe6\x96\x87");
    assert_excerpt("  x \xe4\xb8\xad\xe6\x96\x87 y\n    ^~~~\n");
}
END_TEST

START_TEST(what_would_act_on_the_terminal_is_shown_by_its_number)
{
    report("a\033[31mHERE", "HERE");
    assert_excerpt("  a<U+001B>[31mHERE\n               ^~~~\n");
    report("\xe2\x80\xae" "b HERE", "HERE");
    assert_excerpt("  <U+202E>b HERE\n            ^~~~\n");
    report("\xff" "b HERE", "\xff");
    assert_excerpt("  <FF>b HERE\n  ^~~~\n");
}
END_TEST

START_TEST(a_line_of_100_kb_is_clipped_around_the_place_wherever_it_is)
{
    static char line[100001];
    static const u32 places[] = { 0, 1, 119, 120, 121, 239, 240, 241, 50000, 99990, 99996 };
    for (size_t i = 0; i < COUNT(places); i++)
        for (u32 wide = 0; wide < 2; wide++) {
            for (u32 k = 0; k + 3 <= sizeof line - 1; k += 3)
                memcpy(line + k, wide ? "\xe4\xb8\xad" : "xyz", 3);
            u32 at = places[i] / 3 * 3;
            memcpy(line + at, "HER", 3);
            source_borrow(&source, "t", line, sizeof line - 2);
            diag_error(&diags, (struct loc){ &source, at, at + 3 }, "a.b", "m");
            struct out o;
            out_memory(&o);
            diags_render(&diags, &o, (struct diag_style){ .color = false });
            out_char(&o, '\0');
            char *first = strchr(o.data, '\n') + 1, *second = strchr(first, '\n') + 1;
            u32 column = 0;
            for (const char *c = first; strncmp(c, "HER", 3); c += glyph_at(c).size)
                column += glyph_at(c).width;
            ck_assert_str_eq(second + column, "^~~\n");
            ck_assert_uint_eq(strspn(second, " "), column);
            ck_assert_uint_lt(o.n, 700);
            out_free(&o);
            diags_clear(&diags);
        }
}
END_TEST

START_TEST(a_fix_stands_below_the_caret)
{
    report("output HERE, next", "HERE");
    diag_fix(&diags, at("HERE"), "%s", "there");
    assert_excerpt("  output HERE, next\n         ^~~~\n         there\n");
    report("output HERE, next", "HERE");
    diag_fix(&diags, at(", next"), "%s", "");
    diag_fix_found(&diags, "HERE", "%s", "it");
    diag_fix_found(&diags, "ELSE", "%s", "no");
    assert_excerpt("  output HERE, next\n         ^~~~\n         it  ------\n");
}
END_TEST

START_TEST(a_fix_on_another_line_stands_below_the_note_there)
{
    report("one }\nHERE", "HERE");
    diag_note(&diags, at("}"), "n");
    diag_fix(&diags, at("}"), "%s", "");
    assert_excerpt("  HERE\n  ^~~~\nt:1:5: note: n\n  one }\n      ^\n      -\n");
}
END_TEST

START_TEST(a_fix_on_a_line_of_its_own_is_shown_there)
{
    report("one\nHERE", "HERE");
    diag_fix(&diags, (struct loc){ &source, 3, 3 }, "%s", "\n}");
    assert_excerpt("  HERE\n  ^~~~\nt:1:4: note: this would mend it\n  one\n     ^\n      }\n");
}
END_TEST

START_TEST(json_gives_fixes_as_bytes_of_the_file)
{
    struct out o;
    report("a HERE", "HERE");
    source.first_byte = 100;
    diag_fix(&diags, at("HERE"), "%s", "\"x\"");
    diag_fix(&diags, (struct loc){ &source, 0, 0 }, "%s", "b");
    out_memory(&o);
    diags_render_json(&diags, &o);
    out_char(&o, '\0');
    ck_assert_ptr_nonnull(strstr(o.data, ",\"fixes\":[{\"begin\":100,\"end\":100,\"text\":\"b\"},{\"begin\":102,\"end\":106,\"text\":\"\\\"x\\\"\"}]}"));
    out_free(&o);
}
END_TEST

Suite *render_suite(void);

Suite *render_suite(void)
{
    Suite *s = suite_create("render");
    TCase *c = tcase_create("render");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_character_takes_the_columns_that_a_terminal_gives_it);
    tcase_add_test(c, a_caret_stands_below_its_text_behind_tabs_marks_and_wide_characters);
    tcase_add_test(c, what_would_act_on_the_terminal_is_shown_by_its_number);
    tcase_add_test(c, a_line_of_100_kb_is_clipped_around_the_place_wherever_it_is);
    tcase_add_test(c, a_fix_stands_below_the_caret);
    tcase_add_test(c, a_fix_on_another_line_stands_below_the_note_there);
    tcase_add_test(c, a_fix_on_a_line_of_its_own_is_shown_there);
    tcase_add_test(c, json_gives_fixes_as_bytes_of_the_file);
    suite_add_tcase(s, c);
    return s;
}
