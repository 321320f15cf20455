/* Differences: by name, by what is said, by order; and each clause of each statement is seen. */
#define _POSIX_C_SOURCE 200809L
#include "phrase.h"

#include "dialects/registry.h"
#include "ir/diff.h"
#include "parser/parse.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct count {
    u32 added, removed, renamed, moved, changed, fields;
    bool header;
};

static void count_field(void *state, const struct stmt *a, const struct stmt *b, const struct field *f, const struct field *fact)
{
    (void)a, (void)b, (void)f, (void)fact;
    ((struct count *)state)->fields++;
}

/* The first items of both texts, in one context. */
static struct count diff(const char *left, const char *right)
{
    struct diags diags;
    struct context ctx;
    struct source sources[2];
    struct module modules[2];
    struct arena arena;
    struct item_diff d;
    struct count n = { 0 };
    const char *texts[] = { left, right };
    arena_init(&arena);
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    for (int i = 0; i < 2; i++) {
        source_borrow(&sources[i], "test", texts[i], strlen(texts[i]));
        ck_assert_msg(parse_module(&modules[i], &ctx, &sources[i]), "%s\n%s", diags.first ? diags.first->message : "", texts[i]);
    }
    bool differ = item_diff(modules[0].items[0], modules[1].items[0], &arena, &d);
    ck_assert_int_eq(differ, d.n || d.header);
    n.header = d.header;
    for (u32 i = 0; i < d.n; i++) {
        const struct stmt_change *c = &d.changes[i];
        n.added += !c->a;
        n.removed += !c->b;
        n.renamed += c->renamed;
        n.moved += c->moved;
        n.changed += c->changed;
        if (c->changed)
            stmt_diff(&d, c->a, c->b, count_field, &n);
    }
    for (int i = 0; i < 2; i++)
        module_free(&modules[i]);
    context_free(&ctx);
    diags_free(&diags);
    arena_free(&arena);
    return n;
}

static void assert_count(struct count n, u32 added, u32 removed, u32 renamed, u32 moved, u32 changed)
{
    ck_assert_msg(n.added == added && n.removed == removed && n.renamed == renamed && n.moved == moved && n.changed == changed,
                  "%u added, %u removed, %u renamed, %u moved, %u changed", n.added, n.removed, n.renamed, n.moved, n.changed);
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

/* Each optional clause, taken away, is one statement's one change. */
static void each_clause(const struct item_kind *kind, const struct entity *e)
{
    struct phrase p = { .kind = kind, .entity = e, .optional = ~0u };
    char *whole = text_of(&p);
    assert_count(diff(whole, whole), 0, 0, 0, 0, 0);
    for (u32 i = 0; i < phrase_optional(e); i++) {
        p.optional = ~(1u << i);
        char *less = text_of(&p);
        struct count n = diff(whole, less), back = diff(less, whole);
        ck_assert_msg(n.changed + n.renamed + n.added + n.removed + n.header > 0, "%s\nis as\n%s", whole, less);
        ck_assert_uint_eq(n.added, back.removed);
        ck_assert_uint_eq(n.removed, back.added);
        ck_assert_uint_eq(n.changed, back.changed);
        ck_assert_uint_eq(n.fields, back.fields);
        ck_assert_uint_le(n.changed, 1);
        free(less);
    }
    free(whole);
}

START_TEST(each_clause_of_each_statement_is_seen)
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 k = 0; k < (*d)->n_kinds; k++)
            for (u32 e = 0; e < (*d)->kinds[k].n_entities; e++)
                if ((*d)->kinds[k].layer != LAYER_SESSION)
                    each_clause(&(*d)->kinds[k], &(*d)->kinds[k].entities[e]);
}
END_TEST

#define PLAN(body) "dist.program @p schema 1.0 {\n  mesh @r [tp = 2]\n" body "}\n"

START_TEST(what_reads_a_renamed_thing_has_not_changed)
{
    assert_count(diff(PLAN("task @a control()\ntask @b control() after @a\ntask @c control() after (@a, @b)\n"),
                      PLAN("task @x control()\ntask @b control() after @x\ntask @c control() after (@x, @b)\n")), 0, 0, 1, 0, 0);
    assert_count(diff(PLAN("input %x : tensor<4xf16>\ntask @a local model.gelu(%x) -> %y : tensor<4xf16>\ntask @b local model.silu(%y) effects (read %y)\n"),
                      PLAN("input %q : tensor<4xf16>\ntask @a local model.gelu(%q) -> %z : tensor<4xf16>\ntask @b local model.silu(%z) effects (read %z)\n")),
                 0, 0, 2, 0, 0);
}
END_TEST

START_TEST(a_chain_of_new_names_is_renamed_in_order)
{
    assert_count(diff(PLAN("task @a control()\ntask @b control() after @a\ntask @c control() after @b\n"),
                      PLAN("task @x control()\ntask @y control() after @x\ntask @z control() after @y\n")), 0, 0, 3, 0, 0);
}
END_TEST

START_TEST(a_new_name_with_another_body_is_another_thing)
{
    assert_count(diff(PLAN("task @a control()\ntask @b local model.gelu()\n"), PLAN("task @a control()\ntask @c local model.silu()\n")), 1, 1, 0, 0, 0);
}
END_TEST

START_TEST(only_what_left_its_place_has_moved)
{
    assert_count(diff(PLAN("task @a control()\ntask @b control()\ntask @c control()\ntask @d control()\n"),
                      PLAN("task @b control()\ntask @c control()\ntask @d control()\ntask @a control()\n")), 0, 0, 0, 1, 0);
    assert_count(diff(PLAN("task @a control()\ntask @b control()\ntask @c control()\ntask @d control()\n"),
                      PLAN("task @d control()\ntask @c control()\ntask @b control()\ntask @a control()\n")), 0, 0, 0, 3, 0);
}
END_TEST

START_TEST(nameless_statements_are_told_apart_by_what_they_say)
{
    assert_count(diff(PLAN("input %x : tensor<4xf16>\ninput %y : tensor<4xf16>\noutput %x\noutput %y\n"),
                      PLAN("input %x : tensor<4xf16>\ninput %y : tensor<4xf16>\noutput %y\n")), 0, 1, 0, 0, 0);
    assert_count(diff(PLAN("scale (blocks 2, batch 2, microbatch 1)\n"), PLAN("scale (blocks 3, batch 2, microbatch 1)\n")), 0, 0, 0, 0, 1);
}
END_TEST

START_TEST(a_header_is_a_difference_of_its_own)
{
    struct count n = diff("dist.program @p schema 1.0 from @m {\n mesh @r [tp = 2]\n}", "dist.program @p schema 1.0 from @n {\n mesh @r [tp = 2]\n}");
    ck_assert(n.header);
    assert_count(n, 0, 0, 0, 0, 0);
}
END_TEST

/* 5000 tasks in an order that a linear generator shuffles: as many stay as are in a longest rising run. */
START_TEST(large_shuffles_are_sorted_out)
{
    enum { N = 5000 };
    struct out a, b;
    static u32 order[N], tail[N];
    u32 longest = 0;
    out_memory(&a);
    out_memory(&b);
    out_string(&a, "dist.program @p schema 1.0 {\n");
    out_string(&b, "dist.program @p schema 1.0 {\n");
    for (u32 i = 0; i < N; i++) {
        u32 k = order[i] = (u32)((u64)i * 2654435761u % N), low = 0;
        out_printf(&a, "task @t%u control()\n", i);
        out_printf(&b, "task @t%u control()\n", k);
        while (low < longest && tail[low] < k)
            low++;
        tail[low] = k;
        longest += low == longest;
    }
    out_string(&a, "}\n");
    out_string(&b, "}\n");
    out_char(&a, '\0');
    out_char(&b, '\0');
    assert_count(diff(a.data, b.data), 0, 0, 0, N - longest, 0);
    out_free(&a);
    out_free(&b);
}
END_TEST

Suite *diff_suite(void);

Suite *diff_suite(void)
{
    Suite *s = suite_create("diff");
    TCase *c = tcase_create("diff");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, each_clause_of_each_statement_is_seen);
    tcase_add_test(c, what_reads_a_renamed_thing_has_not_changed);
    tcase_add_test(c, a_chain_of_new_names_is_renamed_in_order);
    tcase_add_test(c, a_new_name_with_another_body_is_another_thing);
    tcase_add_test(c, only_what_left_its_place_has_moved);
    tcase_add_test(c, nameless_statements_are_told_apart_by_what_they_say);
    tcase_add_test(c, a_header_is_a_difference_of_its_own);
    tcase_add_test(c, large_shuffles_are_sorted_out);
    suite_add_tcase(s, c);
    return s;
}
