#define _POSIX_C_SOURCE 200809L
/* What lit can't reach: all rows of the operations' table, and programs that no text stands behind. */
#include "attempt.h"

#include "dialects/model/model.h"
#include "dialects/registry.h"
#include "ir/verify.h"

#include <check.h>
#include <stdlib.h>

/* ---- Samples, "(4x8xf16, 8x16xf16) -> 4x16xf16 axis 1", as programs ---- */

/* One type of a list; *AT moves behind it and the comma. */
static void out_sample_type(struct out *o, const char **at, const char *before)
{
    size_t n = strcspn(*at, ",) ");
    out_printf(o, "tensor<%s%.*s>", before, (int)n, *at);
    *at += n;
    *at += strspn(*at, ", ");
}

static u32 out_values(struct out *o, const char *at, const char *end, bool odd_last)
{
    u32 n = 0;
    while (at < end) {
        bool last = !memchr(at, ',', (size_t)(end - at));
        out_printf(o, "  input %%in%u : ", n++);
        out_sample_type(o, &at, odd_last && last ? "3x" : "");
        out_char(o, '\n');
    }
    return n;
}

/* The sample's program. With ODD_OPERAND or ODD_RESULT the last operand or the first result has a dimension too much. */
static char *sample_program(const struct operation *op, bool odd_operand, bool odd_result)
{
    struct out o;
    out_memory(&o);
    const char *close = strchr(op->sample, ')'), *at = strstr(close, "-> ") + 3;
    out_string(&o, "model.program @m schema 1.0 {\n");
    u32 n = out_values(&o, op->sample + 1, close, odd_operand), results = 0;
    out_printf(&o, "  op @op %s(", op->name);
    for (u32 i = 0; i < n; i++)
        out_printf(&o, "%s%%in%u", i ? ", " : "", i);
    const char *end = *at == '(' ? strchr(at, ')') : at + strcspn(at, " ");
    at += *at == '(';
    out_string(&o, ") -> (");
    for (; at < end; results++) {
        out_printf(&o, "%s%%out%u : ", results ? ", " : "", results);
        out_sample_type(&o, &at, odd_result && !results ? "3x" : "");
    }
    out_printf(&o, ")%s%s\n  output %%out0\n}\n", *end == ')' || *end == ' ' ? " " : "", *end ? end + 1 : "");
    char *text = strndup(o.data, o.n);
    out_free(&o);
    return text;
}

START_TEST(each_operation_has_a_sample_that_is_legal)
{
    const struct operation *op = &model_dialect.operations[_i];
    char *text = sample_program(op, false, false);
    assert_accepted(text);
    free(text);
}
END_TEST

static void assert_misshapen(char *text)
{
    struct attempt a;
    attempt_begin(&a, text, strlen(text));
    ck_assert_msg(a.parsed, "does not parse:\n%s", text);
    ck_assert_msg(!a.verified && a.diags.first, "accepted:\n%s", text);
    ck_assert_msg(!strncmp(a.diags.first->code, "model.shape.", 12), "%s:\n%s", a.diags.first->code, text);
    ck_assert_msg(!attempt_fault(&a), "%s\n%s", attempt_fault(&a), text);
    attempt_end(&a);
    free(text);
}

START_TEST(no_operation_takes_another_shape)
{
    const struct operation *op = &model_dialect.operations[_i];
    assert_misshapen(sample_program(op, true, false));
    assert_misshapen(sample_program(op, false, true));
}
END_TEST

START_TEST(each_operation_has_a_shape_rule)
{
    ck_assert_msg(model_dialect.operations[_i].shape != SHAPE_ANY, "%s", model_dialect.operations[_i].name);
}
END_TEST

/* ---- Programs without text ---- */

static struct diags diags;
static struct context ctx;
static struct item *program;

static atom name(const char *text)
{
    return intern_string(&ctx.names, text);
}

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    program = item_new(&ctx, context_item_kind(&ctx, "model.program", 13), name("m"));
}

static void teardown(void)
{
    item_free(program);
    context_free(&ctx);
    diags_free(&diags);
}

static u32 vector_of(qty size)
{
    return type_intern(ctx.types, &(struct type){ .element = ELEMENT_F16, .rank = 1, .dims = &size });
}

static struct model_value *add_value(const char *called, bool result)
{
    struct stmt *s = result ? item_add_result(program, MODEL_VALUE) : item_add(program, MODEL_VALUE);
    struct model_value *value = (struct model_value *)s;
    s->name = name(called);
    value->role = result ? MODEL_ACTIVATION : MODEL_INPUT;
    value->type = vector_of(8);
    ck_assert_ptr_null(item_declare(program, s));
    return value;
}

static void add_gelu(const char *called, const char *operand, const char *result)
{
    struct model_op *op = (struct model_op *)item_add(program, MODEL_OP);
    u32 in = name(operand), out = name(result);
    op->s.name = name(called);
    op->operation = name("model.gelu");
    op->operands = item_list(program, &in, 1);
    op->results = item_list(program, &out, 1);
    ck_assert_ptr_null(item_declare(program, &op->s));
}

static void add_output(const char *value)
{
    ((struct model_output *)item_add(program, MODEL_OUTPUT))->value = name(value);
}

START_TEST(a_program_without_text_is_verified)
{
    add_value("x", false);
    add_value("y", true);
    add_gelu("up", "x", "y");
    add_output("y");
    ck_assert(verify_item(program, NULL));
    ck_assert_ptr_null(diags.first);
}
END_TEST

START_TEST(without_text_a_message_says_where_in_words)
{
    add_value("x", false);
    add_value("h", true);
    add_value("y", true);
    add_gelu("down", "h", "y");
    add_gelu("up", "x", "h");
    add_output("y");
    ck_assert(!verify_item(program, NULL));
    ck_assert_uint_eq(diags.errors, 1);
    ck_assert_str_eq(diags.first->code, "model.ssa.use_before_definition");
    ck_assert_str_eq(diags.first->context, "@m, @down");
    ck_assert_str_eq(diags.first->notes->message, "@up makes it: move that above @down");
}
END_TEST

START_TEST(a_wrong_type_is_reported_where_it_is_made_only)
{
    add_value("x", false);
    add_value("h", true)->type = vector_of(9);
    add_value("y", true);
    add_gelu("up", "x", "h");
    add_gelu("down", "h", "y");
    add_output("y");
    ck_assert(!verify_item(program, NULL));
    ck_assert_uint_eq(diags.errors, 1);
    ck_assert_str_eq(diags.first->code, "model.shape.result");
    ck_assert_str_eq(diags.first->context, "@m, @up");
}
END_TEST

Suite *model_suite(void)
{
    Suite *s = suite_create("model");
    TCase *table = tcase_create("table"), *built = tcase_create("built");
    int n = (int)model_dialect.n_operations;
    tcase_add_loop_test(table, each_operation_has_a_sample_that_is_legal, 0, n);
    tcase_add_loop_test(table, no_operation_takes_another_shape, 0, n);
    tcase_add_loop_test(table, each_operation_has_a_shape_rule, 0, n);
    suite_add_tcase(s, table);
    tcase_add_checked_fixture(built, setup, teardown);
    tcase_add_test(built, a_program_without_text_is_verified);
    tcase_add_test(built, without_text_a_message_says_where_in_words);
    tcase_add_test(built, a_wrong_type_is_reported_where_it_is_made_only);
    suite_add_tcase(s, built);
    return s;
}
