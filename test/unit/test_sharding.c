/* Shardings: per dimension the axes that split it, and partial sums; what says nothing is not written. */
#include "ir/sharding.h"

#include "attempt.h"
#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct diags diags;
static struct context ctx;
static struct item *it;

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    it = item_new(&ctx, context_item_kind(&ctx, "dist.program", 12), intern_string(&ctx.names, "d"));
}

static void teardown(void)
{
    item_free(it);
    context_free(&ctx);
    diags_free(&diags);
}

START_TEST(what_is_written_is_read)
{
    u32 tp = intern_string(&ctx.names, "tp"), dp = intern_string(&ctx.names, "dp"), both[] = { dp, tp };
    struct sharding s = { .rank = 3, .n_partial = 1 }, back;
    s.dims[1] = (struct axis_list){ both, 2 };
    s.partial[0].reduction = REDUCTION_MAX;
    s.partial[0].axes = (struct axis_list){ &tp, 1 };
    sharding_read(it, sharding_write(it, &s, 3), &back);
    ck_assert_uint_eq(back.rank, 3);
    ck_assert_uint_eq(back.dims[0].n, 0);
    ck_assert_uint_eq(back.dims[1].n, 2);
    ck_assert_uint_eq(back.dims[1].axes[0], dp);
    ck_assert_uint_eq(back.dims[1].axes[1], tp);
    ck_assert_uint_eq(back.n_partial, 1);
    ck_assert_int_eq(back.partial[0].reduction, REDUCTION_MAX);
    ck_assert(axis_list_has(back.partial[0].axes, tp) && !axis_list_has(back.partial[0].axes, dp));
}
END_TEST

START_TEST(replicated_everywhere_is_nothing)
{
    struct sharding s = { .rank = 2 }, back;
    ck_assert_uint_eq(sharding_write(it, &s, 2), 0);
    ck_assert_uint_ne(sharding_write(it, &s, 3), 0);        /* kept, so that the wrong rank is refused */
    sharding_read(it, 0, &back);
    ck_assert_uint_eq(back.rank, 0);
    ck_assert_uint_eq(back.n_partial, 0);
}
END_TEST

static void prints(const char *sharding, const char *printed)
{
    static const char form[] = "dist.program @d schema 1.0 {\n  input %%x : tensor<4x8xf16>%s\n}\n";
    char text[512], expected[512];
    snprintf(text, sizeof text, form, sharding);
    snprintf(expected, sizeof expected, form, printed);
    assert_prints(text, expected);
}

START_TEST(shardings_print_in_one_form)
{
    prints(" sharding [{tp}, {}]", " sharding [{tp}, {}]");
    prints(" sharding [{}, {dp, tp}]", " sharding [{}, {dp, tp}]");
    prints(" sharding [{}, {}]", "");
    prints(" sharding [{}, {}] partial sum {tp}", " partial sum {tp}");
    prints(" partial sum {tp}", " partial sum {tp}");
    prints(" partial sum {tp} partial max {dp}", " partial sum {tp} partial max {dp}");
    prints(" partial sum {tp} sharding [{dp}, {}]", " sharding [{dp}, {}] partial sum {tp}");
    prints(" sharding [{tp}, {}] owners [0..3] from @a", " sharding [{tp}, {}] owners [0..3] from @a");
}
END_TEST

static void refuses(const char *sharding, const char *code, const char *at)
{
    char text[1024];
    snprintf(text, sizeof text, "dist.program @d schema 1.0 {\n  input %%x : tensor<4x8xf16> %s\n}\n", sharding);
    assert_errors(text, 1, code, at, "");
}

START_TEST(faulty_shardings_are_refused)
{
    refuses("sharding [tp, {}]", "syntax.value.kind", "tp");
    refuses("sharding {tp}", "syntax.expected", "{tp}");
    refuses("sharding [{tp = 2}]", "syntax.value.kind", "= 2");
    refuses("partial {tp}", "syntax.expected", "{tp}");
    refuses("partial mean {tp}", "syntax.value.word", "mean");
    refuses("partial sum {a} partial max {b} partial min {c} partial product {d} partial sum {e}", "syntax.value.extra", "sum {e}");
    refuses("sharding [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]", "type.rank", "{}]");
}
END_TEST

Suite *sharding_suite(void);

Suite *sharding_suite(void)
{
    Suite *s = suite_create("sharding");
    TCase *c = tcase_create("sharding");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, what_is_written_is_read);
    tcase_add_test(c, replicated_everywhere_is_nothing);
    tcase_add_test(c, shardings_print_in_one_form);
    tcase_add_test(c, faulty_shardings_are_refused);
    suite_add_tcase(s, c);
    return s;
}
