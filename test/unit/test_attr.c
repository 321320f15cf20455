/* Free values: trees that keep their kinds, with the keys of a dictionary sorted. */
#include "ir/attr.h"

#include "attempt.h"
#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct diags diags;
static struct context ctx;
static struct item *a, *b;

static atom name(const char *text)
{
    return intern_string(&ctx.names, text);
}

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    const struct item_kind *kind = context_item_kind(&ctx, "portable.plan", 13);
    a = item_new(&ctx, kind, name("a"));
    b = item_new(&ctx, kind, name("b"));
}

static void teardown(void)
{
    item_free(a);
    item_free(b);
    context_free(&ctx);
    diags_free(&diags);
}

static u32 word(struct item *it, const char *text)
{
    return attr_word(it, name(text));
}

static u32 number(struct item *it, double value)
{
    return attr_put(it, &(struct attr){ .kind = ATTR_FLOAT, .number = value });
}

static u32 list(struct item *it, const u32 *elements, u32 n)
{
    return attr_put(it, &(struct attr){ .kind = ATTR_LIST, .elements = elements, .n = n });
}

static u32 dict(struct item *it, const u32 *pairs, u32 n)
{
    return attr_put(it, &(struct attr){ .kind = ATTR_DICT, .elements = pairs, .n = n });
}

static void assert_text(u32 handle, const char *text)
{
    struct out o;
    out_memory(&o);
    out_attr(&o, a, handle);
    out_char(&o, '\0');
    ck_assert_str_eq(o.data, text);
    out_free(&o);
}

START_TEST(values_come_back_as_they_were_put)
{
    struct attr q = attr_get(a, attr_quantity(a, 18446744073709551615u / 3)), f = attr_get(a, number(a, -0.5)), w = attr_get(a, word(a, "x"));
    ck_assert(q.kind == ATTR_QUANTITY && q.quantity == 18446744073709551615u / 3);
    ck_assert(f.kind == ATTR_FLOAT && f.number == -0.5);
    ck_assert(w.kind == ATTR_WORD && w.text == name("x"));
    ck_assert_int_eq(attr_get(a, 0).kind, ATTR_NONE);
}
END_TEST

START_TEST(keys_are_sorted_and_found)
{
    u32 pairs[] = { name("zeta"), attr_quantity(a, 1), name("b"), attr_quantity(a, 2), name("a"), attr_quantity(a, 3), name("ab"), attr_quantity(a, 4) };
    u32 d = dict(a, pairs, 4);
    assert_text(d, "{a = 3, ab = 4, b = 2, zeta = 1}");
    ck_assert_uint_eq(attr_get(a, attr_find(a, d, name("ab"))).quantity, 4);
    ck_assert_uint_eq(attr_find(a, d, name("c")), 0);
    ck_assert_uint_eq(attr_find(a, attr_quantity(a, 1), name("a")), 0);
}
END_TEST

START_TEST(many_keys_are_sorted)
{
    enum { N = 3000 };
    static u32 pairs[2 * N];
    char text[16];
    for (u32 i = 0; i < N; i++) {
        snprintf(text, sizeof text, "k%04u", i * 1999 % N);
        pairs[2 * i] = name(text);
        pairs[2 * i + 1] = attr_quantity(a, i);
    }
    struct attr d = attr_get(a, dict(a, pairs, N));
    ck_assert_uint_eq(d.n, N);
    for (u32 i = 0; i < N; i++) {
        snprintf(text, sizeof text, "k%04u", i);
        ck_assert(intern_is(&ctx.names, d.elements[2 * i], text));
        ck_assert_uint_eq(attr_get(a, d.elements[2 * i + 1]).quantity * 1999 % N, i);
    }
}
END_TEST

START_TEST(empty_lists_and_dictionaries_differ)
{
    u32 l = list(a, NULL, 0), d = dict(a, NULL, 0);
    assert_text(l, "[]");
    assert_text(d, "{}");
    ck_assert(!attr_equal(a, l, a, d));
    ck_assert(!attr_equal(a, l, a, 0));
}
END_TEST

/* One tree in two items, whose pools differ; and one that differs from it in one leaf. */
static u32 tree(struct item *it, const char *leaf)
{
    u32 inner = list(it, (u32[]){ attr_quantity(it, 1), number(it, 1.5), word(it, leaf) }, 3);
    return dict(it, (u32[]){ name("k"), inner, name("e"), list(it, NULL, 0) }, 2);
}

START_TEST(equality_does_not_depend_on_the_pool)
{
    word(b, "something else first");
    ck_assert(attr_equal(a, tree(a, "x"), b, tree(b, "x")));
    ck_assert(!attr_equal(a, tree(a, "x"), b, tree(b, "y")));
}
END_TEST

START_TEST(values_of_different_kinds_differ)
{
    u32 all[] = { word(a, "x"), attr_put(a, &(struct attr){ .kind = ATTR_STRING, .text = name("x") }), attr_quantity(a, 1), number(a, 1.0),
                  attr_put(a, &(struct attr){ .kind = ATTR_SYMBOL, .text = name("x") }), attr_put(a, &(struct attr){ .kind = ATTR_VALUE, .text = name("x") }),
                  number(a, 0.0), number(a, -0.0), list(a, NULL, 0) };
    for (size_t i = 0; i < COUNT(all); i++)
        for (size_t k = 0; k < COUNT(all); k++)
            ck_assert_int_eq(attr_equal(a, all[i], a, all[k]), i == k);
}
END_TEST

START_TEST(a_list_of_pairs_is_no_dictionary)
{
    assert_errors("portable.plan @p schema 1.0 {\n  task @t compute f() note {a = [b = 1]}\n}\n", 1, "syntax.value.kind", "1]", "expected `,` or `]`");
    assert_errors("portable.plan @p schema 1.0 {\n  task @t compute f() note {a}\n}\n", 1, "syntax.value.kind", "a}", "expected `a = value`");
    assert_errors("portable.plan @p schema 1.0 {\n  task @t compute f() note [1]\n}\n", 1, "syntax.value.kind", "[1", "a dictionary");
}
END_TEST

Suite *attr_suite(void);

Suite *attr_suite(void)
{
    Suite *s = suite_create("attr");
    TCase *c = tcase_create("attr");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, values_come_back_as_they_were_put);
    tcase_add_test(c, keys_are_sorted_and_found);
    tcase_add_test(c, many_keys_are_sorted);
    tcase_add_test(c, empty_lists_and_dictionaries_differ);
    tcase_add_test(c, equality_does_not_depend_on_the_pool);
    tcase_add_test(c, values_of_different_kinds_differ);
    tcase_add_test(c, a_list_of_pairs_is_no_dictionary);
    suite_add_tcase(s, c);
    return s;
}
