/*
 * Plain statements are read without the grammar (parser/plain.c), and must mean and be refused as if they were not. Each
 * text is parsed twice: as it stands, and with two blanks behind each `task`, which is not plain.
 */
#define _GNU_SOURCE
#include "attempt.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const cases[] = {
    "  task @a local f()",
    "  task @a.b.7 local model.gelu()\n    phase forward layer attention.query work (operations 12, read 3) from @decoder",
    "  task @a collective all_reduce() over {tp} reduction sum",
    "  task @a collective all_gather() over {dp, tp} ranks all",
    "  task @a local f(%x, %y)\n    layer l-2",
    "  task @a control() phase forward layer l",
    "  task @a control()\n    phase forward\n    layer l",
    "  task @a collective broadcast() over {tp} root 0",
    "  task @a transfer(%x) source 0 destination 1 channel c",
    "  task @a control()\n    work (operations 999999999999999999)",
    /* legal, but not plain */
    "  task @a control()\n    work (operations 1000000000000000000, read 340282366920938463463374607431768211455)",
    "  task @a control()\n    work (operations 1_000)",
    "  task @a control()  // why\n    phase forward",
    "  task @a control()\n    // why\n    phase forward",
    "  task @a control()\n\n    phase forward",
    "  task @a control()\n  phase forward",
    "  task @a control()\r\n    phase forward",
    "  task @a control()\n    after (@first)\n    phase forward",
    "  task @a control()\n    phase forward after @first",
    "  task @a control()\n    generated from @x",
    "  task @a control()\n    from (@x, @y) note {k = 1}",
    "  task @a local f() -> %y : tensor<4x8xf16>",
    "  task @\"quoted name\" control()",
    "  task @a control ( )",
    "  task @a control() layer task",
    "  task @a control() layer from",
    "  order serial",
    /* refused */
    "  task @first control()",
    "  task @a sideways f()",
    "  task @a control()\n    phase frward",
    "  task @a control()\n    phase 5",
    "  task @a control()\n    phase (operations 5)",
    "  task @a control()\n    phase {tp}",
    "  task @a control()\n    phase @x",
    "  task @a control()\n    phase forward phase forward",
    "  task @a control()\n    phase",
    "  task @a control()\n    phase forward layer",
    "  task @a control()\n    frase forward",
    "  task @a control()\n    over 3",
    "  task @a control()\n    over {tp, }",
    "  task @a control()\n    over {tp,dp}",
    "  task @a control()\n    over {}",
    "  task @a control()\n    work (operations 5, operations 6)",
    "  task @a control()\n    work (opperations 5)",
    "  task @a control()\n    work (operations)",
    "  task @a control()\n    work (operations 5,)",
    "  task @a control()\n    work (operations 5 5)",
    "  task @a control()\n    work (operations 5x)",
    "  task @a control()\n    work (operations 5.5)",
    "  task @a control()\n    work {operations, read}",
    "  task @a control()\n    work 5",
    "  task @a control()\n    work ()",
    "  task @a control()\n    root -1",
    "  task @a control()\n    from x",
    "  task @a control()\n    from 5",
    "  task @a control()\n    from {x}",
    "  task @a control()\n    from (x 5)",
    "  task @a control()\n    layer l.",
    "  task @a control()\n    layer 5l",
    "  task @a control()\n    layer a..b",
    "  task @a control() control()",
    "  task @a control(%x",
    "  task @a control(%x, )",
    "  task @a control(x 1)",
    "  task @a control",
    "  task @a",
    "  task @a-b control()",
    "  task @a. control()",
    "  task a control()",
    "  task",
    "  tsk @a control()",
    "  tsk @a control()\n    phase forward",
    "  task @a control()\n  tsk @b control()",
    "  task @a control()\n  phase",
    "  task @a control()\n    phase forward }",
    "  task @a control()\n    phase forward ]",
    "  task @a control() \"x\"",
    "  task @a control()\n    phase forward\n}\ndist.program @q schema 1.0 {\n  task @b control()",
};

static char *text_of(const char *statement, const char *behind_task)
{
    struct out o;
    out_memory(&o);
    out_printf(&o, "dist.program @p schema 1.0 {\n  mesh @m [tp = 2]\n  task @first control()\n%s\n  task @last control()\n}\n", statement);
    out_char(&o, '\0');
    struct out wide;
    out_memory(&wide);
    for (const char *at = o.data; *at; at++) {
        out_char(&wide, *at);
        if (at >= o.data + 4 && !memcmp(at - 4, "task ", 5) && at[-5] == ' ')
            out_string(&wide, behind_task);
    }
    char *text = strndup(wide.data, wide.n);
    out_free(&wide);
    out_free(&o);
    return text;
}

static char *found_in(const char *text)
{
    struct attempt a;
    struct out o;
    attempt_parse(&a, text, strlen(text));
    char *printed = attempt_print(&a, true);
    out_memory(&o);
    out_printf(&o, "%s\n%s", a.parsed ? "accepted" : "refused", printed);
    for (const struct diag *d = a.diags.first; d; d = d->next) {
        out_printf(&o, "%u: [%s] %s\n", source_position(&a.source, d->loc.begin).line, d->code, d->message);
        for (const struct diag *n = d->notes; n; n = n->next)
            out_printf(&o, "    %s\n", n->message);
    }
    char *found = strndup(o.data, o.n);
    out_free(&o);
    free(printed);
    attempt_end(&a);
    return found;
}

START_TEST(a_plain_statement_is_read_as_the_grammar_reads_it)
{
    char *plain = text_of(cases[_i], ""), *wide = text_of(cases[_i], " ");
    ck_assert_str_ne(plain, wide);
    char *found = found_in(plain), *expected = found_in(wide);
    ck_assert_msg(!strcmp(found, expected), "of\n%s\nthe plain reader makes\n%s\nand the grammar\n%s", plain, found, expected);
    free(found);
    free(expected);
    free(plain);
    free(wide);
}
END_TEST

START_TEST(a_plain_program_prints_as_it_was_read)
{
    char *text = text_of(cases[1], "");
    assert_prints(text, text);
    free(text);
}
END_TEST

Suite *plain_suite(void);

Suite *plain_suite(void)
{
    Suite *s = suite_create("plain");
    TCase *c = tcase_create("plain");
    tcase_add_loop_test(c, a_plain_statement_is_read_as_the_grammar_reads_it, 0, COUNT(cases));
    tcase_add_test(c, a_plain_program_prints_as_it_was_read);
    suite_add_tcase(s, c);
    return s;
}
