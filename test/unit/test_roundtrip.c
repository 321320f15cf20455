/* verify_roundtrip finds what a printer, a parser or a digest could get wrong; the text is what such a fault would leave. */
#include "parser/roundtrip.h"

#include "dialects/registry.h"
#include "parser/parse.h"

#include <check.h>

static const char text[] = "portable.plan @p schema 1.0 {\n"
                           "  // A comment.\n"
                           "  buffer %x input device_local size 64\n"
                           "  task @a compute model.gelu(%x)\n"
                           "    phase forward work (operations 5)\n"
                           "}\n";

static struct diags diags;
static struct context ctx;
static struct source source;
static struct module module;

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    source_borrow(&source, "test", text, sizeof text - 1);
    ck_assert(parse_module(&module, &ctx, &source));
}

static void teardown(void)
{
    module_free(&module);
    context_free(&ctx);
    diags_free(&diags);
}

static void assert_refused(const char *message)
{
    ck_assert(!verify_roundtrip(&module));
    ck_assert_uint_gt(diags.errors, 0);
    ck_assert_str_eq(diags.last->code, "ir.roundtrip");
    ck_assert_msg(strstr(diags.last->message, message), "'%s' is not in '%s'", message, diags.last->message);
}

START_TEST(a_parsed_program_survives)
{
    ck_assert(verify_roundtrip(&module));
    ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

START_TEST(a_program_without_a_text_survives)
{
    module.items[0]->src = NULL;
    ck_assert(verify_roundtrip(&module));
}
END_TEST

START_TEST(text_that_does_not_parse_is_found)
{
    struct item *it = module.items[0];
    struct stmt *twice = it->stmts[1];
    it->src = NULL;
    *VEC_PUSH(it->stmts, it->n_stmts, it->cap_stmts) = twice;
    assert_refused("does not parse");
}
END_TEST

START_TEST(a_field_that_is_lost_is_found)
{
    struct item *it = module.items[0];
    it->src = NULL;
    it->stmts[1]->lineage = item_list(it, &(u32){ REF_SYMBOL(it->name) }, 1);    /* without its kind: not printed */
    assert_refused("@a differs");
}
END_TEST

START_TEST(a_digest_that_is_stale_is_found)
{
    module.items[0]->digest = (struct digest){ 1, 2 };
    assert_refused("its digest differs");
}
END_TEST

Suite *roundtrip_suite(void);

Suite *roundtrip_suite(void)
{
    Suite *s = suite_create("roundtrip");
    TCase *c = tcase_create("roundtrip");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_parsed_program_survives);
    tcase_add_test(c, a_program_without_a_text_survives);
    tcase_add_test(c, text_that_does_not_parse_is_found);
    tcase_add_test(c, a_field_that_is_lost_is_found);
    tcase_add_test(c, a_digest_that_is_stale_is_found);
    suite_add_tcase(s, c);
    return s;
}
