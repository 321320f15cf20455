#include "ir/expr.h"

#include "support/quantity.h"

#include <check.h>

static struct arena arena;
static struct interner names;
static struct exprs *pool;

static void setup(void)
{
    arena_init(&arena);
    interner_init(&names, &arena);
    pool = exprs_new(&arena, &names);
}

static void teardown(void)
{
    interner_free(&names);
    arena_free(&arena);
}

/* A reader of the canonical text's grammar, independent of the project's parser. Ends the test on a fault. */
struct reader {
    struct exprs *x;
    struct interner *names;
    const char *at;
    enum expr_status status;
};

static bool take(struct reader *r, const char *word)
{
    while (*r->at == ' ')
        r->at++;
    if (strncmp(r->at, word, strlen(word)))
        return false;
    r->at += strlen(word);
    return true;
}

static void apply(struct reader *r, enum expr_status (*verb)(struct exprs *, qty, qty, qty *), qty *a, qty b)
{
    if (!r->status)
        r->status = verb(r->x, *a, b, a);
}

static qty read_sum(struct reader *r);

static qty read_call(struct reader *r, enum expr_status (*verb)(struct exprs *, qty, qty, qty *))
{
    qty q = read_sum(r);
    while (take(r, ","))
        apply(r, verb, &q, read_sum(r));
    ck_assert(take(r, ")"));
    return q;
}

static qty read_primary(struct reader *r)
{
    if (take(r, "max("))
        return read_call(r, qty_max);
    if (take(r, "min("))
        return read_call(r, qty_min);
    if (take(r, "(")) {
        qty q = read_sum(r);
        ck_assert(take(r, ")"));
        return q;
    }
    bool symbol = take(r, "$"), quoted = symbol && take(r, "\"");
    size_t n = strspn(r->at, quoted ? "abcdefghijklmnopqrstuvwxyz-" : "abcdefghijklmnopqrstuvwxyz0123456789_.");
    const char *word = r->at;
    ck_assert_msg(n, "an operand was expected at: %s", r->at);
    r->at += n;
    if (quoted)
        ck_assert(take(r, "\""));
    if (symbol)
        return qty_symbol(r->x, intern(r->names, word, n));
    u128 value;
    ck_assert(u128_parse(word, n, &value));
    return qty_number(r->x, value);
}

static qty read_product(struct reader *r)
{
    qty q = read_primary(r);
    for (;;)
        if (take(r, "*"))
            apply(r, qty_mul, &q, read_primary(r));
        else if (take(r, "floordiv"))
            apply(r, qty_floordiv, &q, read_primary(r));
        else if (take(r, "ceildiv"))
            apply(r, qty_ceildiv, &q, read_primary(r));
        else
            return q;
}

static qty read_sum(struct reader *r)
{
    qty q = read_product(r);
    for (;;)
        if (take(r, "+"))
            apply(r, qty_add, &q, read_product(r));
        else if (take(r, "-"))
            apply(r, qty_sub, &q, read_product(r));
        else
            return q;
}

static enum expr_status read_in(struct exprs *x, struct interner *in, const char *text, qty *out)
{
    struct reader r = { .x = x, .names = in, .at = text };
    *out = read_sum(&r);
    ck_assert(!*r.at);
    return r.status;
}

static qty read(const char *text)
{
    qty q;
    ck_assert_int_eq(read_in(pool, &names, text, &q), EXPR_OK);
    return q;
}

static char *text_in(const struct exprs *x, qty q)
{
    struct out o;
    out_memory(&o);
    out_qty(&o, x, q);
    char *text = arena_copy(&arena, o.data, o.n);
    out_free(&o);
    return text;
}

static char *text(qty q)
{
    return text_in(pool, q);
}

static const struct {
    const char *input, *canonical;
} forms[] = {
    { "1 + 2*$s*$b", "2*$b*$s + 1" },
    { "$b*$s*12288*2", "24576*$b*$s" },
    { "$s + $b", "$b + $s" },
    { "$b*$b + 2*$b*$s + $s*$s", "$b*$b + 2*$b*$s + $s*$s" },
    { "($b + $s)*($b - $s)", "$b*$b - $s*$s" },
    { "$a + $a*$a*$a + 7 + $a*$a", "$a*$a*$a + $a*$a + $a + 7" },
    { "$a - $a", "0" },
    { "0 - $s + 1", "1 - $s" },
    { "0 - $s", "0 - $s" },
    { "1 - 4", "0 - 3" },
    { "7 floordiv 2", "3" },
    { "7 ceildiv 2", "4" },
    { "(0 - 7) floordiv 2", "0 - 4" },
    { "(0 - 7) ceildiv 2", "0 - 3" },
    { "(8*$s + 16) floordiv 8", "$s + 2" },
    { "$s floordiv 1", "$s" },
    { "$s floordiv 8 + 1", "$s floordiv 8 + 1" },
    { "3*($s floordiv 8)", "3*($s floordiv 8)" },
    { "3*$s floordiv 8", "(3*$s) floordiv 8" },
    { "$s*($s ceildiv ($t + 1))", "$s*($s ceildiv ($t + 1))" },
    { "max(4, $s, max(9, $b), $s)", "max($b, $s, 9)" },
    { "min(4, $s, min(9, $b))", "min($b, $s, 4)" },
    { "max(3, 5)", "5" },
    { "min(3, 0 - 5)", "0 - 5" },
    { "max($s, $s)", "$s" },
    { "2*max($s, 1) - 1", "2*max($s, 1) - 1" },
    { "max(2*$a*$b, $a) floordiv 3", "max(2*$a*$b, $a) floordiv 3" },
    { "($a floordiv 3) floordiv 5", "($a floordiv 3) floordiv 5" },
    { "$\"a-b\"*2", "2*$\"a-b\"" },
    { "9223372036854775807 + 1", "9223372036854775808" },
    { "340282366920938463463374607431768211455*$s", "340282366920938463463374607431768211455*$s" },
};

START_TEST(an_expression_prints_in_one_form)
{
    ck_assert_str_eq(text(read(forms[_i].input)), forms[_i].canonical);
}
END_TEST

START_TEST(canonical_text_reads_back_as_the_same_word)
{
    ck_assert_uint_eq(read(forms[_i].canonical), read(forms[_i].input));
}
END_TEST

START_TEST(text_does_not_depend_on_the_order_in_which_names_were_met)
{
    struct interner other_names;
    interner_init(&other_names, &arena);
    const char *backwards[] = { "z", "t", "s", "b", "a" };
    for (size_t i = 0; i < COUNT(backwards); i++)
        intern_string(&other_names, backwards[i]);
    struct exprs *other = exprs_new(&arena, &other_names);
    qty q;
    read_in(other, &other_names, "max($z, $a) + $t*$s + $b + $a floordiv $z", &q);
    for (size_t i = 0; i < COUNT(forms); i++) {
        ck_assert_int_eq(read_in(other, &other_names, forms[i].input, &q), EXPR_OK);
        ck_assert_str_eq(text_in(other, q), forms[i].canonical);
    }
    interner_free(&other_names);
}
END_TEST

START_TEST(equal_polynomials_are_equal_words)
{
    ck_assert_uint_eq(read("($a + $b)*($a + $b)"), read("$a*$a + $b*$a*2 + $b*$b"));
    ck_assert_uint_eq(read("max($a, $b)*2"), read("2*max($b, $a)"));
    ck_assert_uint_ne(read("$a floordiv $b"), read("$a ceildiv $b"));
    ck_assert_uint_eq(read("$a - $a + 12"), 12);
}
END_TEST

static const struct {
    const char *text;
    enum expr_status status;
} refused[] = {
    { "340282366920938463463374607431768211455 + 1", EXPR_OVERFLOW },
    { "18446744073709551616*18446744073709551616", EXPR_OVERFLOW },
    { "340282366920938463463374607431768211455*$a*2", EXPR_OVERFLOW },
    { "0 - 340282366920938463463374607431768211455 - 1", EXPR_OVERFLOW },
    { "1 floordiv 0", EXPR_DIVISION_BY_ZERO },
    { "$a ceildiv ($a - $a)", EXPR_DIVISION_BY_ZERO },
};

START_TEST(what_has_no_exact_value_is_refused)
{
    qty q;
    ck_assert_int_eq(read_in(pool, &names, refused[_i].text, &q), refused[_i].status);
}
END_TEST

START_TEST(products_of_past_two_to_the_64_do_not_wrap)
{
    ck_assert_str_eq(text(read("51390513775273574400*3072")), "157871658317640420556800");
    ck_assert_str_eq(text(read("9223372036854775807*2")), "18446744073709551614");
}
END_TEST

START_TEST(a_product_of_many_sums_is_refused_before_it_fills_memory)
{
    qty product = 1;
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 64 && !status; i++) {
        char *sum = arena_format(&arena, "$a%d + $b%d", i, i);
        status = qty_mul(pool, product, read(sum), &product);
    }
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(a_sum_of_endless_terms_is_refused)
{
    qty sum = 0;
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 100000 && !status; i++)
        status = qty_add(pool, sum, read(arena_format(&arena, "$s%d", i)), &sum);
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(a_power_of_endless_degree_is_refused)
{
    qty power = 1;
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 100000 && !status; i++)
        status = qty_mul(pool, power, read("$s"), &power);
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(endless_nesting_is_refused_before_it_fills_the_stack)
{
    qty q = read("$a");
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 1000000 && !status; i++)
        status = i % 2 ? qty_floordiv(pool, q, 3, &q) : qty_max(pool, q, read("$b"), &q);
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(an_expression_that_doubles_when_written_out_is_refused)
{
    qty q = read("$a");
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 60 && !status; i++) {
        qty left;
        status = qty_floordiv(pool, q, 3, &left);
        if (!status)
            status = qty_max(pool, left, q, &q);
    }
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(a_maximum_of_endless_operands_is_refused)
{
    qty q = 0;
    enum expr_status status = EXPR_OK;
    for (int i = 0; i < 100000 && !status; i++)
        status = qty_max(pool, q, read(arena_format(&arena, "$s%d", i)), &q);
    ck_assert_int_eq(status, EXPR_LARGE);
}
END_TEST

START_TEST(an_exact_division_divides_every_term_or_is_refused)
{
    qty q;
    ck_assert_int_eq(qty_div_exact(pool, 12, 4, &q), EXPR_OK);
    ck_assert_uint_eq(q, 3);
    ck_assert_int_eq(qty_div_exact(pool, read("8*$a + 16*$b"), 8, &q), EXPR_OK);
    ck_assert_str_eq(text(q), "$a + 2*$b");
    ck_assert_int_eq(qty_div_exact(pool, read("6*$a*$t + 2*$t"), read("2*$t"), &q), EXPR_OK);
    ck_assert_str_eq(text(q), "3*$a + 1");
    ck_assert_int_eq(qty_div_exact(pool, read("$a + 1"), read("$a + 1"), &q), EXPR_OK);
    ck_assert_uint_eq(q, 1);
    q = 77;
    ck_assert_int_eq(qty_div_exact(pool, 13, 4, &q), EXPR_INEXACT);
    ck_assert_int_eq(qty_div_exact(pool, read("8*$a + 4"), 8, &q), EXPR_INEXACT);
    ck_assert_int_eq(qty_div_exact(pool, read("$a*$t + 1"), read("$t"), &q), EXPR_INEXACT);
    ck_assert_int_eq(qty_div_exact(pool, read("$a"), 0, &q), EXPR_DIVISION_BY_ZERO);
    ck_assert_uint_eq(q, 77);
}
END_TEST

START_TEST(symbols_are_replaced_by_numbers_and_by_expressions_at_once)
{
    struct qty_binding bindings[] = {
        { intern_string(&names, "s"), read("$b + 1") },
        { intern_string(&names, "b"), 4 },
    };
    qty q;
    ck_assert_int_eq(qty_substitute(pool, read("$s*$s - $b"), bindings, 2, &q), EXPR_OK);
    ck_assert_str_eq(text(q), "$b*$b + 2*$b - 3");
    ck_assert_int_eq(qty_substitute(pool, read("max($s, $b) floordiv $c"), bindings, 2, &q), EXPR_OK);
    ck_assert_str_eq(text(q), "max($b + 1, 4) floordiv $c");
    bindings[0].value = 0;
    ck_assert_int_eq(qty_substitute(pool, read("1 floordiv $s"), bindings, 2, &q), EXPR_DIVISION_BY_ZERO);
}
END_TEST

START_TEST(an_expression_is_evaluated_or_says_why_not)
{
    struct qty_binding bindings[] = { { intern_string(&names, "s"), 2048 } };
    u128 value = 0;
    ck_assert_int_eq(qty_evaluate(pool, read("$s*$s floordiv 3"), bindings, 1, &value), EXPR_OK);
    ck_assert_uint_eq((u64)value, 1398101);
    ck_assert_int_eq(qty_evaluate(pool, read("$s - 4096"), bindings, 1, &value), EXPR_NEGATIVE);
    ck_assert_int_eq(qty_evaluate(pool, read("$s + $b"), bindings, 1, &value), EXPR_UNBOUND);
}
END_TEST

static void count_symbol(void *state, atom symbol)
{
    int *counts = state;
    counts[0]++;
    counts[1] += intern_is(&names, symbol, "b");
}

START_TEST(each_symbol_is_visited_once)
{
    int counts[2] = { 0 };
    qty_symbols(pool, read("$b*$b + max($b, $s + $b) floordiv $t"), count_symbol, counts);
    ck_assert_int_eq(counts[0], 3);
    ck_assert_int_eq(counts[1], 1);
}
END_TEST

/* A random expression over $a and $b; a step that can't be made leaves what there was. */
static qty random_expression(u32 *state, int depth)
{
    static enum expr_status (*const verbs[])(struct exprs *, qty, qty, qty *) = { qty_add, qty_sub, qty_mul, qty_floordiv, qty_ceildiv, qty_max, qty_min };
    u32 pick = (*state = *state * 1664525 + 1013904223) >> 16;
    if (depth == 0)
        return pick % 3 ? qty_symbol(pool, intern_string(&names, pick % 2 ? "a" : "b")) : qty_number(pool, pick / 3 % 5);
    qty left = random_expression(state, depth - 1), right = random_expression(state, depth - 1);
    verbs[pick % COUNT(verbs)](pool, left, right, &left);
    return left;
}

/* At all small values of the symbols. */
static void assert_below(qty q, u32 limit)
{
    for (u32 a = 1; a <= 5; a++)
        for (u32 b = 1; b <= 5; b++) {
            struct qty_binding bindings[] = { { intern_string(&names, "a"), qty_number(pool, a) }, { intern_string(&names, "b"), qty_number(pool, b) } };
            qty value;
            u128 n;
            if (qty_substitute(pool, q, bindings, 2, &value) == EXPR_OK)
                ck_assert(qty_is_negative(pool, value) || (qty_value(pool, value, &n) && n < limit));
        }
}

START_TEST(what_is_said_to_be_below_is_below)
{
    u32 state = 1, below[2] = { 0, 0 };
    for (int i = 0; i < 20000; i++) {
        qty q = random_expression(&state, 1 + i % 4);
        for (u32 limit = 0; limit < 2; limit++)
            if (qty_is_below(pool, q, limit)) {
                assert_below(q, limit);
                below[limit]++;
            }
    }
    ck_assert_uint_gt(below[0], 200);
    ck_assert_uint_gt(below[1], below[0]);
    ck_assert(!qty_is_below(pool, qty_number(pool, ~(u128)0), 1));
}
END_TEST

START_TEST(a_negative_constant_is_constant_but_has_no_value)
{
    u128 value;
    ck_assert(qty_is_constant(pool, read("1 - 4")));
    ck_assert(qty_is_negative(pool, read("1 - 4")));
    ck_assert(!qty_value(pool, read("1 - 4"), &value));
    ck_assert(!qty_is_constant(pool, read("$a - 4")));
    ck_assert(qty_value(pool, read("340282366920938463463374607431768211455"), &value));
    ck_assert(value == U128_MAX);
}
END_TEST

Suite *expr_suite(void);

Suite *expr_suite(void)
{
    TCase *t = tcase_create("expr");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, an_expression_prints_in_one_form, 0, COUNT(forms));
    tcase_add_loop_test(t, canonical_text_reads_back_as_the_same_word, 0, COUNT(forms));
    tcase_add_test(t, text_does_not_depend_on_the_order_in_which_names_were_met);
    tcase_add_test(t, equal_polynomials_are_equal_words);
    tcase_add_loop_test(t, what_has_no_exact_value_is_refused, 0, COUNT(refused));
    tcase_add_test(t, products_of_past_two_to_the_64_do_not_wrap);
    tcase_add_test(t, a_product_of_many_sums_is_refused_before_it_fills_memory);
    tcase_add_test(t, a_sum_of_endless_terms_is_refused);
    tcase_add_test(t, a_power_of_endless_degree_is_refused);
    tcase_add_test(t, endless_nesting_is_refused_before_it_fills_the_stack);
    tcase_add_test(t, an_expression_that_doubles_when_written_out_is_refused);
    tcase_add_test(t, a_maximum_of_endless_operands_is_refused);
    tcase_add_test(t, an_exact_division_divides_every_term_or_is_refused);
    tcase_add_test(t, symbols_are_replaced_by_numbers_and_by_expressions_at_once);
    tcase_add_test(t, an_expression_is_evaluated_or_says_why_not);
    tcase_add_test(t, each_symbol_is_visited_once);
    tcase_add_test(t, what_is_said_to_be_below_is_below);
    tcase_add_test(t, a_negative_constant_is_constant_but_has_no_value);
    Suite *s = suite_create("expr");
    suite_add_tcase(s, t);
    return s;
}
