/* Types: one number a type, exact sizes, one text. */
#include "attempt.h"

#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct diags diags;
static struct context ctx;

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
}

static void teardown(void)
{
    context_free(&ctx);
    diags_free(&diags);
}

static u32 make(enum element e, u32 rank, const qty *dims, const u8 *layout)
{
    return type_intern(ctx.types, &(struct type){ .element = (u8)e, .rank = (u8)rank, .dims = dims, .layout = layout });
}

START_TEST(equal_types_are_one_number)
{
    u32 a = make(ELEMENT_F16, 2, (qty[]){ 4, 8 }, NULL);
    ck_assert_uint_ne(a, 0);
    ck_assert_uint_eq(make(ELEMENT_F16, 2, (qty[]){ 4, 8 }, NULL), a);
    ck_assert_uint_ne(make(ELEMENT_F16, 2, (qty[]){ 8, 4 }, NULL), a);
    ck_assert_uint_ne(make(ELEMENT_BF16, 2, (qty[]){ 4, 8 }, NULL), a);
    ck_assert_uint_ne(make(ELEMENT_F16, 2, (qty[]){ 4, 8 }, (u8[]){ 1, 0 }), a);
    ck_assert_uint_ne(make(ELEMENT_F16, 1, (qty[]){ 4 }, NULL), a);
    ck_assert_uint_eq(make(ELEMENT_F16, 0, NULL, NULL), make(ELEMENT_F16, 0, NULL, NULL));
}
END_TEST

START_TEST(types_stay_when_the_table_grows)
{
    u32 first = make(ELEMENT_F16, 1, (qty[]){ 1 }, NULL);
    for (u32 i = 1; i <= 5000; i++)
        ck_assert_uint_eq(make(ELEMENT_F16, 1, (qty[]){ i }, NULL), first + i - 1);
    for (u32 i = 1; i <= 5000; i++)
        ck_assert_uint_eq(type_get(ctx.types, first + i - 1)->dims[0], i);
}
END_TEST

START_TEST(elements_have_mlirs_names_and_widths)
{
    static const struct { const char *name; u32 bits; bool real; } rows[] = {
        { "f64", 64, true }, { "f32", 32, true }, { "f16", 16, true }, { "bf16", 16, true }, { "f8E4M3FN", 8, true }, { "f8E5M2", 8, true },
        { "i64", 64, false }, { "i32", 32, false }, { "i8", 8, false }, { "i4", 4, false }, { "i1", 1, false }, { "ui8", 8, false },
    };
    ck_assert_uint_eq(COUNT(rows), ELEMENTS - 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum element e = element_find(rows[i].name, strlen(rows[i].name));
        ck_assert_msg(e != ELEMENT_NONE, "%s", rows[i].name);
        ck_assert_str_eq(element_name(e), rows[i].name);
        ck_assert_uint_eq(element_bits(e), rows[i].bits);
        ck_assert_int_eq(element_is_float(e), rows[i].real);
    }
    ck_assert_int_eq(element_find("f17", 3), ELEMENT_NONE);
    ck_assert_int_eq(element_find("", 0), ELEMENT_NONE);
    ck_assert_int_eq(element_find("F16", 3), ELEMENT_NONE);
}
END_TEST

static enum expr_status bytes_of(enum element e, u32 rank, const qty *dims, u128 *out)
{
    qty q = 0;
    enum expr_status status = type_bytes(ctx.exprs, type_get(ctx.types, make(e, rank, dims, NULL)), &q);
    if (status == EXPR_OK)
        ck_assert(qty_value(ctx.exprs, q, out));
    return status;
}

START_TEST(bytes_are_exact)
{
    u128 n;
    ck_assert_int_eq(bytes_of(ELEMENT_F16, 3, (qty[]){ 1, 2048, 12288 }, &n), EXPR_OK);
    ck_assert(n == 50331648);
    ck_assert_int_eq(bytes_of(ELEMENT_F64, 0, NULL, &n), EXPR_OK);
    ck_assert(n == 8);
    ck_assert_int_eq(bytes_of(ELEMENT_I4, 1, (qty[]){ 6 }, &n), EXPR_OK);
    ck_assert(n == 3);
    ck_assert_int_eq(bytes_of(ELEMENT_I1, 1, (qty[]){ 16 }, &n), EXPR_OK);
    ck_assert(n == 2);
    ck_assert_int_eq(bytes_of(ELEMENT_I4, 1, (qty[]){ 7 }, &n), EXPR_INEXACT);
    ck_assert_int_eq(bytes_of(ELEMENT_I1, 1, (qty[]){ 9 }, &n), EXPR_INEXACT);
}
END_TEST

START_TEST(bytes_past_128_bits_are_refused)
{
    qty big = (qty)1 << 62;
    u128 n;
    ck_assert_int_eq(bytes_of(ELEMENT_I8, 2, (qty[]){ big, big }, &n), EXPR_OK);
    ck_assert(n == (u128)1 << 124);
    ck_assert_int_eq(bytes_of(ELEMENT_F64, 2, (qty[]){ big, big }, &n), EXPR_OK);
    ck_assert_int_eq(bytes_of(ELEMENT_F64, 3, (qty[]){ big, big, 2 }, &n), EXPR_OVERFLOW);
    ck_assert_int_eq(bytes_of(ELEMENT_I8, 3, (qty[]){ big, big, 16 }, &n), EXPR_OVERFLOW);
}
END_TEST

/* A type in a program prints as PRINTED. */
static void prints(const char *type, const char *printed)
{
    char text[512], expected[512];
    static const char form[] = "dist.program @d schema 1.0 {\n  input %%x : %s\n}\n";
    snprintf(text, sizeof text, form, type);
    snprintf(expected, sizeof expected, form, printed);
    assert_prints(text, expected);
}

START_TEST(types_print_in_one_form)
{
    prints("tensor<f32>", "tensor<f32>");
    prints("tensor< 4x  8x\n f16 >", "tensor<4x8xf16>");
    prints("tensor<($b)x(2 * $s)x12288xbf16>", "tensor<($b)x(2*$s)x12288xbf16>");
    prints("tensor<(4)x(2 * 4)xi8>", "tensor<4x8xi8>");
    prints("tensor<($s + 1)x($s)xi8>", "tensor<($s + 1)x($s)xi8>");
    prints("tensor<4x8xf16, layout [1, 0]>", "tensor<4x8xf16, layout [1, 0]>");
    prints("tensor<4x8xf16, layout [0, 1]>", "tensor<4x8xf16>");
    prints("tensor<18446744073709551616xi1>", "tensor<18446744073709551616xi1>");
    prints("tensor<04xi1>", "tensor<4xi1>");
}
END_TEST

START_TEST(faulty_types_are_refused)
{
    static const char *const rows[][3] = {
        { "tensor<-1xf32>", "syntax.type.form", "-1" }, { "tensor<?xf32>", "syntax.type.form", "?" }, { "tensor<0xf32>", "type.dimension", "0x" },
        { "tensor<4x8>", "syntax.type.form", "8>" }, { "tensor<>", "syntax.expected", ">\n" }, { "tensor<4x8xf17>", "type.element", "f17" },
        { "tensor<4xx8xf16>", "type.element", "x8xf16" }, { "tensor<4x8xf16, layout [1, 1]>", "type.layout", "1]" },
        { "tensor<4x8xf16, layout [0]>", "type.layout", "tensor" }, { "tensor<4x8xf16, layout [0, 2]>", "type.layout", "2]" },
        { "tensor<($s)8xf16>", "syntax.type.form", "8xf16" }, { "tensor<(0)xf16>", "type.dimension", "0)" }, { "tensor<(1 - 2)xf16>", "type.dimension", "1 - 2" },
        { "tensor<340282366920938463463374607431768211456xf16>", "syntax.number.range", "3402" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, "dist.program @d schema 1.0 {\n  input %%x : %s\n}\n", rows[i][0]);
        assert_errors(text, 1, rows[i][1], rows[i][2], "");
    }
}
END_TEST

Suite *type_suite(void);

Suite *type_suite(void)
{
    Suite *s = suite_create("type");
    TCase *c = tcase_create("type");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, equal_types_are_one_number);
    tcase_add_test(c, types_stay_when_the_table_grows);
    tcase_add_test(c, elements_have_mlirs_names_and_widths);
    tcase_add_test(c, bytes_are_exact);
    tcase_add_test(c, bytes_past_128_bits_are_refused);
    tcase_add_test(c, types_print_in_one_form);
    tcase_add_test(c, faulty_types_are_refused);
    suite_add_tcase(s, c);
    return s;
}
