/*
 * Long items are printed and verified by shape (ir/print_shape.c, ir/verify_item.c): each statement must have the text and
 * the faults that it has by itself. Each case stands many times in one program, `@a` another name each time and `#` another
 * number.
 */
#define _GNU_SOURCE
#include "attempt.h"

#include "ir/print.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const dist_cases[] = {
    "task @a.forward local transformer.linear work (operations #, read #0, write 0)",
    "task @a.forward local transformer.linear work (operations 0, read #, message #)",
    "task @a local transformer.linear work (operations #)",
    "task @a.decode local transformer.linear phase forward layer a work (write #)",
    "task @a.decode local transformer.linear phase none layer other",
    "task @a.forward.x local transformer.linear from @decoder",
    "task @a.forward.forward local transformer.linear from @other",
    "task @a.optimizer local transformer.linear cloned from @decoder note {k = #}",
    "task @a collective all_gather over {tp} work (message 1844674407370955161#)",
    "task @a collective all_gather work (message 3402823669209384634633746074317682114#)",
    "task @a collective all_gather work (message 9223372036854775807, read 9223372036854775808)",
    "task @a collective all_gather work (message 2*$s + #, read #)",
    "task @a collective broadcast over {tp} root # work (message 7)",
    "task @a transfer(%x) source 0 destination # channel c work (message #)",
    "task @a transfer(%x) -> %a : tensor<4x8xf16> source 0 destination # work (message #)",
    "task @a control() after @first note {say = \"work (operations 5) work\"}",
    "task @a local model.gelu(%x) note {say = \"(operations 7)\"} work (operations #)",
    "task @\"quoted a\" local model.gelu work (operations #)",
    "task @\"a.forward\" local model.gelu work (operations #)",
    "parameter %a : tensor<4x8xf16> sharding [{tp}, {}]",
};

static const char *const portable_cases[] = {
    "task @a compute model.gelu work (operations #, temporary #) implement matrix-multiply [x, y]",
    "task @a compute model.gelu work (operations #) from @a",
    "task @a compute model.gelu work (operations #) from @other require (storage #)",
    "buffer %a value transient size # align 16",
    "task @a.decode host log(%b) effects (read %b) group g",
};

static const char *const concrete_cases[] = {
    "command @a launch model.gelu(%b) at (cycle #, slot 0)",
    "command @a launch model.gelu(%b) at (cycle #, slot 0) from @other",
    "command @a launch model.gelu",
    "command @a launch model.gelu(%b) at (cycle 0, slot #) note {say = \"(cycle 0, slot 0)\"}",
    "bind %a in @local offset # size 64",
};

static void out_case(struct out *o, const char *text, u32 k)
{
    for (const char *at = text; *at; at++)
        if (*at == '#')
            out_u64(o, k % 10);
        else if ((at[0] == '@' || at[0] == '%' || at[0] == '"' || at[0] == ' ') && at[1] == 'a' && (at[2] < 'a' || at[2] > 'z'))
            out_printf(o, "%ca%u", *at, k), at++;
        else
            out_char(o, *at);
}

/* TIMES statements of each case, one after the other or in turn. */
static char *program_of(const char *head, const char *const *cases, size_t n, u32 times, bool in_turn)
{
    struct out o;
    out_memory(&o);
    out_string(&o, head);
    for (u32 i = 0; i < n * times; i++) {
        out_string(&o, "  ");
        out_case(&o, cases[in_turn ? i % n : i / times], i);
        out_char(&o, '\n');
    }
    out_string(&o, "}\n");
    char *text = strndup(o.data, o.n);
    out_free(&o);
    return text;
}

static char *print_singly(const struct item *it)
{
    struct out o;
    out_memory(&o);
    print_header(&o, it);
    out_char(&o, '\n');
    for (u32 i = 0; i < it->n_stmts; i++) {
        out_string(&o, "  ");
        print_stmt(&o, it, it->stmts[i]);
        out_char(&o, '\n');
    }
    out_string(&o, "}\n");
    char *text = strndup(o.data, o.n);
    out_free(&o);
    return text;
}

static void try_program(const char *head, const char *const *cases, size_t n, u32 times, bool in_turn)
{
    char *text = program_of(head, cases, n, times, in_turn);
    struct attempt a;
    attempt_parse(&a, text, strlen(text));
    const char *fault = attempt_fault(&a);
    ck_assert_msg(a.parsed && !fault, "%s\n%.400s", fault ? fault : a.diags.first ? a.diags.first->message : "refused", text);
    char *canonical = attempt_print(&a, false), *plain = attempt_print(&a, true), *singly = print_singly(a.module.items[0]);
    ck_assert_msg(!strcmp(canonical, singly), "%.400s", text);
    ck_assert_msg(!strcmp(plain, singly), "%.400s", text);
    free(canonical);
    free(plain);
    free(singly);
    attempt_end(&a);
    free(text);
}

static void try_all(const char *head, const char *const *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        try_program(head, cases + i, 1, 100, true);
    try_program(head, cases, n, 40, true);
    try_program(head, cases, n, 40, false);
}

static const char derived[] = " from @p xxh128:00000000000000000000000000000001 by some-pass revision 1";

START_TEST(a_statement_of_a_long_item_prints_as_by_itself)
{
    char head[512];
    try_all("dist.program @d schema 1.0 {\n  mesh @m [tp = 2]\n  symbol $s : integer\n", dist_cases, COUNT(dist_cases));
    try_all("dist.program @d schema 1.0 from @p {\n  mesh @m [tp = 2]\n  symbol $s : integer\n  origin @decoder\n", dist_cases, COUNT(dist_cases));
    for (int by = 0; by < 2; by++) {
        snprintf(head, sizeof head, "portable.plan @p schema 1.0%s {\n", by ? derived : "");
        try_all(head, portable_cases, COUNT(portable_cases));
        snprintf(head, sizeof head, "concrete.plan @c schema 1.0%s {\n", by ? derived : "");
        try_all(head, concrete_cases, COUNT(concrete_cases));
    }
}
END_TEST

/* How often verification says CODE of a text, which is freed. */
static u32 count_in(char *text, const char *code)
{
    struct attempt a;
    attempt_begin(&a, text, strlen(text));
    ck_assert_msg(a.parsed, "%.400s", text);
    u32 found = 0;
    for (const struct diag *d = a.diags.first; d; d = d->next)
        found += !strcmp(d->code, code);
    attempt_end(&a);
    free(text);
    return found;
}

/* In a program of 100 statements of each case, in turn. */
static u32 count_reports(const char *head, const char *const *cases, size_t n, const char *code)
{
    return count_in(program_of(head, cases, n, 100, true), code);
}

static const char plain[] = "dist.program @d schema 1.0 {\n  mesh @m [tp = 2]\n  symbol $s : integer\n  task @first control()\n";
static const char lowered[] = "dist.program @d schema 1.0 from @p {\n  mesh @m [tp = 2]\n  origin @decoder\n";

START_TEST(each_statement_that_is_wrong_is_told)
{
    static const char *const unknown[] = { "task @a local model.nonsense work (operations #)", "task @a local model.gelu work (operations #)" };
    static const char *const reader[] = { "task @a local model.gelu(%nothing) work (operations #)" };
    static const char *const symbolic[] = { "task @a local model.gelu work (operations #)", "task @a local model.gelu work (operations $s)",
                                            "task @a local model.gelu work (operations $t)" };
    static const char *const noted[] = { "task @a local model.gelu note {duration = #}", "task @a local model.gelu note {k = 1}" };
    static const char *const fused[] = { "task @a local model.gelu fused from @decoder", "task @a local model.gelu",
                                         "task @a local model.gelu from @decoder" };
    ck_assert_uint_eq(count_reports(plain, unknown, 2, "ir.operation.unknown"), 100);
    ck_assert_uint_eq(count_reports(plain, reader, 1, "ir.reference.unknown"), 100);
    ck_assert_uint_eq(count_reports(plain, symbolic, 3, "ir.symbol.undeclared"), 100);
    ck_assert_uint_eq(count_reports(plain, noted, 2, "ir.note.reserved"), 100);
    ck_assert_uint_eq(count_reports(lowered, fused, 3, "ir.lineage.fused"), 100);
}
END_TEST

START_TEST(a_task_that_waits_for_itself_is_told_among_others_that_wait_for_it)
{
    struct out o;
    out_memory(&o);
    out_string(&o, plain);
    for (u32 i = 0; i < 100; i++)
        out_printf(&o, "  task @t%u control() after @t50\n", i);
    out_string(&o, "}\n");
    out_char(&o, '\0');
    ck_assert_uint_eq(count_in(strdup(o.data), "ir.after.self"), 1);
    out_free(&o);
}
END_TEST

Suite *shape_suite(void);
Suite *shape_suite(void)
{
    Suite *s = suite_create("shape");
    TCase *t = tcase_create("shape");
    tcase_add_test(t, each_statement_that_is_wrong_is_told);
    tcase_add_test(t, a_task_that_waits_for_itself_is_told_among_others_that_wait_for_it);
    tcase_add_test(t, a_statement_of_a_long_item_prints_as_by_itself);
    suite_add_tcase(s, t);
    return s;
}
