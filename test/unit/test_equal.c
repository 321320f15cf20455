/* Field equality: a program equals itself in another spelling, and no program that differs in one clause. */
#define _POSIX_C_SOURCE 200809L
#include "attempt.h"
#include "phrase.h"

#include "dialects/registry.h"
#include "parser/parse.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Both texts in one context. */
static bool equal(const char *left, const char *right, const char **what)
{
    static char named[64];
    struct diags diags;
    struct context ctx;
    struct source sources[2];
    struct module modules[2];
    const char *texts[] = { left, right }, *found = NULL;
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    for (int i = 0; i < 2; i++) {
        source_borrow(&sources[i], "test", texts[i], strlen(texts[i]));
        ck_assert_msg(parse_module(&modules[i], &ctx, &sources[i]), "%s\n%s", diags.first ? diags.first->message : "", texts[i]);
    }
    bool same = item_equal(modules[0].items[0], modules[1].items[0], &found);
    snprintf(named, sizeof named, "%s", found ? found : "");
    for (int i = 0; i < 2; i++)
        module_free(&modules[i]);
    context_free(&ctx);
    diags_free(&diags);
    if (what)
        *what = named;
    return same;
}

static char *text_of(const struct phrase *p)
{
    struct out o;
    out_memory(&o);
    out_phrase_item(&o, p);
    char *text = strdup(o.data);
    out_free(&o);
    return text;
}

/* Each optional clause, taken away, makes a difference. */
static void each_clause(const struct item_kind *kind, const struct entity *e)
{
    struct phrase p = { .kind = kind, .entity = e, .optional = ~0u };
    char *whole = text_of(&p);
    ck_assert(equal(whole, whole, NULL));
    for (u32 i = 0; i < phrase_optional(e); i++) {
        p.optional = ~(1u << i);
        char *less = text_of(&p);
        ck_assert_msg(!equal(whole, less, NULL), "%s\nequals\n%s", whole, less);
        ck_assert(!equal(less, whole, NULL));
        free(less);
    }
    free(whole);
}

START_TEST(every_clause_makes_a_difference)
{
    each_entity(each_clause);
}
END_TEST

static void each_word(const struct item_kind *kind, const struct entity *e)
{
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++) {
        const struct enumeration *words = f->kind == FIELD_ENUM ? f->aux : NULL;
        u32 n = !words ? 0 : f == e->fields && e->flags & ENTITY_ROLE_KEYWORD ? words->n - 1 : words->n;
        for (u32 w = 1; w < n; w++) {
            struct phrase p = { .kind = kind, .entity = e, .varied = f, .word = w, .optional = ~0u }, q = p;
            q.word = w - 1;
            char *one = text_of(&p), *other = text_of(&q);
            ck_assert_msg(!equal(one, other, NULL), "%s\nequals\n%s", one, other);
            free(one);
            free(other);
        }
    }
}

START_TEST(every_word_makes_a_difference)
{
    each_entity(each_word);
}
END_TEST

#define PLAN(body) "portable.plan @p schema 1.0 {\n" body "}\n"

START_TEST(spelling_makes_no_difference)
{
    ck_assert(equal(PLAN("  buffer %x value transient size 4*$s + 4\n  task @t compute f() note {a = 1, b = 2}\n"),
                    PLAN("// c\n\nbuffer %\"x\" value transient size ($s + 1) * 4 align 1 task @t compute f() note {b = 0_2, a = (1)}"), NULL));
}
END_TEST

START_TEST(what_differs_is_named)
{
    static const struct { const char *left, *right, *what; } rows[] = {
        { PLAN("task @t compute f()"), PLAN("task @t compute g()"), "@t" },
        { PLAN("task @t compute f()"), PLAN("task @t compute f() task @u compute f()"), "@u" },
        { PLAN("task @t compute f() task @u compute f()"), PLAN("task @t compute f()"), "@u" },
        { PLAN("task @t compute f(%x)"), PLAN("task @t compute f(%y)"), "@t" },
        { PLAN("task @t compute f(%x, %y)"), PLAN("task @t compute f(%x)"), "@t" },
        { PLAN("task @t compute f()"), "portable.plan @q schema 1.0 {\ntask @t compute f()\n}\n", "the header" },
        { PLAN("task @t compute f()"), "portable.plan @p schema 1.0 from @d {\ntask @t compute f()\n}\n", "the header" },
        { PLAN("objective minimize latency"), PLAN("objective minimize energy"), "objective" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *what;
        ck_assert_msg(!equal(rows[i].left, rows[i].right, &what), "%s", rows[i].left);
        ck_assert_str_eq(what, rows[i].what);
    }
}
END_TEST

/* A result's own type and sharding belong to the task that declares it. */
START_TEST(results_are_compared_with_their_types)
{
#define DIST(result) "dist.program @d schema 1.0 {\n  task @t local f() -> " result "\n}\n"
    const char *what;
    ck_assert(!equal(DIST("%y : tensor<4xf16>"), DIST("%y : tensor<5xf16>"), &what));
    ck_assert_str_eq(what, "@t");
    ck_assert(!equal(DIST("%y : tensor<4xf16> sharding [{tp}]"), DIST("%y : tensor<4xf16>"), NULL));
    ck_assert(!equal(DIST("%y : tensor<4xf16>"), DIST("%y"), NULL));
    ck_assert(equal(DIST("(%y : tensor<4xf16>)"), DIST("%y : tensor<4xf16> sharding [{}]"), NULL));
}
END_TEST

Suite *equal_suite(void);

Suite *equal_suite(void)
{
    Suite *s = suite_create("equal");
    TCase *c = tcase_create("equal");
    tcase_add_test(c, every_clause_makes_a_difference);
    tcase_add_test(c, every_word_makes_a_difference);
    tcase_add_test(c, spelling_makes_no_difference);
    tcase_add_test(c, what_differs_is_named);
    tcase_add_test(c, results_are_compared_with_their_types);
    suite_add_tcase(s, c);
    return s;
}
