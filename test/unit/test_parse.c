/* Syntax errors: each mistake is reported once, at its place, in words that say what was expected; nothing that follows is. */
#include "attempt.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define MODEL "model.program @m schema 1.0 {\n  input %x : tensor<4x8xf16>\n"
#define DIST "dist.program @d schema 1.0 {\n"
#define PLAN "portable.plan @p schema 1.0 {\n"
#define BOUND "concrete.plan @c schema 1.0 {\n"

/* One mistake in one line of a program: the statement before and behind it are fine. */
static void in_line(const char *head, const char *line, const char *code, const char *at, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n}\n", head, line);
    assert_errors(text, 1, code, at, message);
}

START_TEST(messages_say_what_was_expected)
{
    in_line(DIST, "  mesh @r [tp = 2", "syntax.expected", "\n}", "expected ',' or ']', found `}`");
    in_line(DIST, "  mesh @r [tp = 2 dp = 4]", "syntax.expected", "dp", "expected ',' or ']', found `dp`");
    in_line(DIST, "  mesh @r (tp = 2)", "syntax.expected", "(tp", "expected '[', found `(`");
    in_line(DIST, "  mesh r [tp = 2]", "syntax.expected", "r [", "expected a @symbol, found `r`");
    in_line(DIST, "  symbol $b integer", "syntax.expected", "integer", "expected ':', found `integer`");
    in_line(DIST, "  task @t local f(%x %y)", "syntax.expected", "%y", "expected ',' or ')', found `%y`");
    in_line(DIST, "  task @t local f[%x]", "syntax.expected", "[%x", "expected a clause, a statement, '->', '(' or '}', found `[`");
    in_line(DIST, "  task @t local phase forward layer l work (read 5)", "syntax.expected", "phase", "expected an operation or '(', found the clause `phase`");
    in_line(DIST, "  task @t collective over\n", "syntax.expected", "over", "expected an operation or '(', found the clause `over`");
    in_line(DIST, "  task @t local f(%x) -> : tensor<2xf16>", "syntax.expected", ": tensor", "expected a %value or '(', found `:`");
    in_line(DIST, "  task @t local f(%x) generated @a", "syntax.expected", "@a", "expected 'from', found `@a`");
    in_line(DIST, "  task @t local f(%x) work (read = 5)", "syntax.expected", "= 5", "expected an expression, a %value, a @symbol, ',' or ')', found `=`");
    in_line(DIST, "  task @t local f(%x) work (read 5 +)", "syntax.expected", ")\n", "expected an expression, found `)`");
    in_line(DIST, "  task @t local f(%x) work (read 5 read 6)", "syntax.expected", "6)", "expected ',' or ')', found `6`");
    in_line(DIST, "  task @t local f(%x) note {a = 1 b = 2}", "syntax.expected", "b = 2", "expected ',' or '}', found `b`");
    in_line(DIST, "  task @t local f(%x) note {a = }", "syntax.expected", "}\n", "expected a value, found `}`");
    in_line(DIST, "  output %x %y", "syntax.expected", "%y", "expected a statement or '}', found `%y`");
    in_line(DIST, "  task @t local f(%x) after @a, @b", "syntax.expected", ", @b", "expected a clause, a statement or '}', found `,`");
    in_line(MODEL, "  op @a model.gelu(%x) -> %y : tensor<4x8xf16", "syntax.expected", "\n}", "expected ',' or '>', found `}`");
    in_line(MODEL, "  input %y tensor<4x8xf16>", "syntax.expected", "tensor<4x8xf16>\n}", "expected ':', found `tensor<`");
    in_line(MODEL, "  input %y : tensor", "syntax.expected", "tensor\n", "expected a type, as `tensor<4x8xf16>`, found `tensor`");
    in_line(PLAN, "  buffer @x input device_local size 1", "syntax.expected", "@x", "expected a %value, found `@x`");
    in_line("session.strategy @s {\n", "  tensor 8", "syntax.expected", "8", "expected '=', found `8`");
    in_line("session.strategy @s {\n", "  tensor = 8, data = 2", "syntax.expected", ", data", "expected a field, as `name = value` or '}', found `,`");
}
END_TEST

START_TEST(near_spellings_are_suggested)
{
    static const struct { const char *text, *note; } rows[] = {
        { MODEL "  opp @a model.gelu(%x)\n}\n", "did you mean `op`?" }, { MODEL "  ouput %x\n}\n", "did you mean `output`?" },
        { DIST "  tsk @a control()\n}\n", "did you mean `task`?" }, { PLAN "  bufer %x input device_local size 1\n}\n", "did you mean `buffer`?" },
        { BOUND "  comand @a barrier()\n}\n", "did you mean `command`?" }, { "model.progam @m schema 1.0 {\n}\n", "did you mean `model.program`?" },
        { "dist.program @d schema 1.0 form @m {\n}\n", "did you mean `from`?" }, { "session.workloads @w {\n}\n", "did you mean `session.workload`?" },
        { PLAN "  task @t compute f() pase forward\n}\n", "did you mean `phase`?" }, { PLAN "  task @t compute f() phase forwad\n}\n", "did you mean `forward`?" },
        { "session.strategy @s {\n  pipelin = 2\n}\n", "did you mean `pipeline`?" }, { PLAN "  task @t compute f() work (operation 2)\n}\n", "did you mean `operations`?" },
        { MODEL "  input %y : tensor<4xbf61>\n}\n", "did you mean `bf16`?" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct attempt a;
        attempt_parse(&a, rows[i].text, strlen(rows[i].text));
        ck_assert_msg(a.diags.errors == 1 && a.diags.first->notes, "%s", rows[i].text);
        ck_assert_str_eq(a.diags.first->notes->message, rows[i].note);
        attempt_end(&a);
    }
}
END_TEST

/* No word of another layer is suggested or expected. */
START_TEST(other_layers_words_are_not_suggested)
{
    static const char *const texts[] = { MODEL "  tsk @a\n}\n", MODEL "  meshh @a\n}\n", DIST "  bufer %x\n}\n", PLAN "  devices @d\n}\n" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct attempt a;
        attempt_parse(&a, texts[i], strlen(texts[i]));
        ck_assert_uint_eq(a.diags.errors, 1);
        ck_assert_msg(!a.diags.first->notes || !strstr(a.diags.first->notes->message, "did you mean"), "%s", a.diags.first->notes->message);
        ck_assert_msg(!strstr(a.diags.first->message, "'"), "%s", a.diags.first->message);
        attempt_end(&a);
    }
}
END_TEST

START_TEST(what_follows_from_a_mistake_is_not_reported)
{
    in_line(PLAN, "  task @t compute f() work operations 5", "syntax.value.kind", "operations", "`work` takes facts in parentheses");
    in_line(BOUND, "  command @c barrier() at cycle 0", "syntax.value.kind", "cycle", "`at` takes facts in parentheses");
    in_line(PLAN, "  task @t compute f() bogus 5 6", "syntax.clause.unknown", "bogus", "`task` has no clause `bogus`");
    in_line(PLAN, "  task @t compute f() bogus {a = [1]}", "syntax.clause.unknown", "bogus", "`task` has no clause `bogus`");
    in_line(PLAN, "  symbol $s : zq integer\n  task @t compute f()", "syntax.value.word", "zq", "`zq` is not one of integer");
    in_line("session.workload @w {\n", "  mode = 5 training\n  batch = 4\n  dtype = f16", "syntax.value.word", "5", "not one of training");
    in_line("model.progam @m schema 1.0 {\n", "  op op op\n  input %x : tensor<4xf16>\n  output %x", "syntax.expected", "model.progam", "an item");
    in_line(MODEL, "  op @a model.gelu(%x -> %y : tensor<4x8xf16>\n  output %y", "syntax.expected", "->", "',' or ')'");
    in_line(DIST, "  task @t local f(%x) -> %y : tensor<4x8xf17> phase forward", "type.element", "f17", "`f17` is not an element type");
}
END_TEST

START_TEST(a_value_that_is_missing_is_not_the_next_statement)
{
    in_line(PLAN, "  buffer %x input device_local size\n  buffer %y input device_local size 5", "syntax.value.missing", "size", "`size` has no value");
    in_line(PLAN, "  task @t compute f() phase\n  task @u compute f()", "syntax.value.missing", "phase", "`phase` has no value");
    in_line(PLAN, "  task @t compute f() layer\n  task @u compute f()", "syntax.unfinished", "\n  task @u", "`task` begins the next statement");
    in_line(BOUND, "  memory @l space local capacity 4 align\n  bind %x in @l offset 0 size 1", "syntax.value.missing", "align", "no value");
    in_line(DIST, "  order\n  order serial", "syntax.unfinished", "\n  order serial", "`order` begins the next statement");
    in_line(DIST, "  task @t\n  task @u control()", "syntax.unfinished", "\n  task @u", "`task` begins the next statement");
    in_line("session.strategy @s {\n", "  tensor =\n  data = 2", "syntax.value.missing", "tensor", "`tensor` has no value");
    in_line("session.target @t {\n", "  abi =\n  engines = [a]\n  memory_spaces = [b]", "syntax.unfinished", "\n  engines", "`engines` begins the next field");
}
END_TEST

/* A word that is a keyword on a line of its own is still a value, where a word is one. */
START_TEST(keywords_are_values_on_any_line)
{
    assert_parses(PLAN "  task @t compute f() layer\n  task\n  group\n  buffer\n  phase forward\n}\n");
    assert_parses(BOUND "  library @l abi\n  command variant\n  device\n  device @d rank 0 name \"x\"\n}\n");
    assert_parses("session.target @t {\n  abi\n  =\n  engines\n  engines = [abi] memory_spaces\n  = [a]\n}\n");
}
END_TEST

START_TEST(the_body_of_an_item_with_a_faulty_head_is_read)
{
    static const char *const heads[] = {
        "portable.plan @p {", "portable.plan @p schema 2.0 {", "portable.plan @p schema 1 {", "portable.plan @p schema 1.0 form @d {",
        "portable.plan @p schema 1.0 from @d xxh128:0 {", "portable.plan @p schema 1.0 from @d by f {", "portable.plan @p schema 1.0",
        "portable.plan @p schema 1.0 from @d by f revision 1 using (@a @b) {", "portable.plan @p schema 1.0 = {", "portable.plan @p schema 1.0 from {",
    };
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct attempt a;
        char text[512];
        snprintf(text, sizeof text, "%s\n  buffer %%x inptu device_local size 1\n  task @t compute f() pase forward\n}\nsession.strategy @s {\n  tensr = 1\n}\n", heads[i]);
        attempt_parse(&a, text, strlen(text));
        ck_assert_msg(a.diags.errors == 4, "%s: %u errors", heads[i], a.diags.errors);
        attempt_end(&a);
    }
}
END_TEST

START_TEST(a_session_item_with_a_faulty_head_is_read)
{
    assert_errors("session.strategy @s  tensor = 1  dta = 2 }\n", 2, "syntax.expected", "tensor", "expected '{', found `tensor`");
    assert_errors("session.strategy @s schema 1.0 {\n  dta = 2\n}\n", 2, "syntax.expected", "schema", "expected '{', found `schema`");
    assert_errors("session.strategy @s\n  dta = 2\n}\n", 2, "syntax.expected", "\n", "expected '{', found `dta`");
}
END_TEST

START_TEST(items_that_are_not_closed_end_at_the_next)
{
    static const char text[] = PLAN "  buffer %x inptu device_local size 1\n" DIST "  task @t contrl()\n" "session.strategy @s {\n  tensr = 1\nsession.strategy @t { tensr = 1 }\n";
    struct attempt a;
    attempt_parse(&a, text, sizeof text - 1);
    ck_assert_uint_eq(a.diags.errors, 4 + 3);
    ck_assert_uint_eq(a.module.n, 4);
    attempt_end(&a);
    assert_errors(PLAN "  task @t compute f()\n", 1, "syntax.expected", "", "found the end of the file");
    assert_errors(PLAN "  task @t compute f(", 1, "syntax.expected", "", "found the end of the file");
}
END_TEST

START_TEST(a_brace_too_many_is_one_mistake)
{
    assert_errors("session.strategy @s {\n}\n}\nsession.strategy @t {\n  tensr = 1\n}\n", 2, "syntax.expected", "}\nsession", "expected an item");
}
END_TEST

START_TEST(both_places_of_a_name_declared_twice_are_shown)
{
    static const char text[] = "session.strategy @s {\n}\nsession.strategy @s {\n}\n";
    struct attempt a;
    attempt_parse(&a, text, sizeof text - 1);
    ck_assert_str_eq(a.diags.first->code, "ir.item.duplicate");
    ck_assert_uint_eq(a.diags.first->loc.begin, strlen("session.strategy @s {\n}\nsession.strategy "));
    ck_assert_uint_eq(a.diags.first->notes->loc.begin, strlen("session.strategy "));
    attempt_end(&a);
    assert_errors(PLAN "  buffer %x input device_local size 1\n  buffer %x value transient size 1\n}\n", 1, "ir.name.duplicate", "%x value", "declared twice");
    assert_errors(DIST "  task @t local f() -> (%y : tensor<2xf16>, %y : tensor<2xf16>)\n}\n", 1, "ir.name.duplicate", "%y : tensor<2xf16>)", "twice");
    assert_parses(PLAN "  buffer %t input device_local size 1\n  task @t compute f()\n  symbol $t : integer\n}\n");
}
END_TEST

START_TEST(clauses_stand_once)
{
    in_line(PLAN, "  task @t compute f() phase forward phase forward", "syntax.clause.doubled", "phase forward\n", "`phase` is written twice");
    in_line(PLAN, "  task @t compute f() work (read 1, read 2)", "syntax.clause.doubled", "read 2", "`read` is written twice");
    in_line(PLAN, "  task @t compute f() note {a = 1, a = 2}", "syntax.clause.doubled", "a = 2", "`a` is written twice");
    in_line(PLAN, "  task @t compute f() from @a cloned from @b", "syntax.clause.doubled", "cloned", "is written twice");
    in_line(DIST, "  input %x : tensor<4xf16> sharding [{a}] sharding [{b}]", "syntax.clause.doubled", "sharding [{b", "`sharding` is written twice");
    in_line("session.strategy @s {\n", "  tensor = 1\n  tensor = 2", "syntax.clause.doubled", "tensor = 2", "`tensor` is written twice");
}
END_TEST

START_TEST(what_must_stand_is_asked_for)
{
    in_line(PLAN, "  buffer %x input device_local", "syntax.clause.missing", "buffer", "`size` is missing");
    in_line(BOUND, "  bind %x in @l size 1", "syntax.clause.missing", "bind", "`offset` is missing");
    in_line(MODEL, "  op @o model.transpose(%x) -> %y : tensor<8x4xf16>", "syntax.clause.missing", "op", "`permutation` is missing");
    in_line("session.workload @w {\n", "  mode = training\n  dtype = f16", "syntax.clause.missing", "session", "`batch` is missing");
}
END_TEST

START_TEST(headers_are_read_strictly)
{
    static const char *const bad[] = { "1.00", "01.0", "1.1", "0.1", "2.0", "1.0e0", "1e0", "99999999999999999999.0" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[128];
        snprintf(text, sizeof text, "portable.plan @p schema %s {\n}\n", bad[i]);
        assert_errors(text, 1, "ir.schema.version", bad[i], "is not known");
    }
    assert_errors("portable.plan @p {\n}\n", 1, "ir.schema.missing", " {", "schema 1.0");
    assert_errors("portable.plan @p schema 1.0 from @d by f revision 0 {\n}\n", 1, "ir.header.revision", "0 {", "from 1");
    assert_errors("portable.plan @p schema 1.0 from @d by f revision 4294967296 {\n}\n", 1, "ir.header.revision", "4294967296", "from 1");
    assert_parses("portable.plan @p schema 1.0 from @d by f revision 4294967295 {\n}\n");
}
END_TEST

Suite *parse_suite(void);

Suite *parse_suite(void)
{
    Suite *s = suite_create("parse");
    TCase *c = tcase_create("parse");
    tcase_add_test(c, messages_say_what_was_expected);
    tcase_add_test(c, near_spellings_are_suggested);
    tcase_add_test(c, other_layers_words_are_not_suggested);
    tcase_add_test(c, what_follows_from_a_mistake_is_not_reported);
    tcase_add_test(c, a_value_that_is_missing_is_not_the_next_statement);
    tcase_add_test(c, keywords_are_values_on_any_line);
    tcase_add_test(c, the_body_of_an_item_with_a_faulty_head_is_read);
    tcase_add_test(c, a_session_item_with_a_faulty_head_is_read);
    tcase_add_test(c, items_that_are_not_closed_end_at_the_next);
    tcase_add_test(c, a_brace_too_many_is_one_mistake);
    tcase_add_test(c, both_places_of_a_name_declared_twice_are_shown);
    tcase_add_test(c, clauses_stand_once);
    tcase_add_test(c, what_must_stand_is_asked_for);
    tcase_add_test(c, headers_are_read_strictly);
    suite_add_tcase(s, c);
    return s;
}
