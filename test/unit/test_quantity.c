/* Exact arithmetic at the ends of 128 bits. Decimal powers of two are from bc. */
#include "support/quantity.h"

#include <check.h>

static const char two_to_63[] = "9223372036854775808", two_to_64[] = "18446744073709551616",
                  largest[] = "340282366920938463463374607431768211455", too_large[] = "340282366920938463463374607431768211456";

static u128 parse(const char *text)
{
    u128 n = 7;
    ck_assert_msg(u128_parse(text, strlen(text), &n), "%s", text);
    return n;
}

START_TEST(numbers_read_back_as_they_are_written)
{
    static const char *const texts[] = { "0", "1", "9", "10", "99", "100", "12345678901234567", "999999999999999999", "1000000000000000000",
                                         two_to_63, "18446744073709551615", two_to_64, largest };
    char buffer[U128_DIGITS];
    for (size_t i = 0; i < COUNT(texts); i++) {
        ck_assert_str_eq(u128_text(parse(texts[i]), buffer), texts[i]);
        ck_assert_uint_eq(u128_digits(parse(texts[i]), buffer), strlen(texts[i]));
    }
    ck_assert(parse(two_to_63) == (u128)1 << 63);
    ck_assert(parse(two_to_64) == (u128)1 << 64);
    ck_assert(parse(largest) == U128_MAX);
}
END_TEST

START_TEST(every_power_of_ten_and_its_neighbours_read_back)
{
    char buffer[U128_DIGITS];
    u128 power = 1;
    for (int digits = 1; digits <= 38; digits++, power *= 10) {
        ck_assert_uint_eq(u128_digits(power, buffer), (size_t)digits);
        ck_assert(parse(u128_text(power, buffer)) == power);
        ck_assert(parse(u128_text(power - 1, buffer)) == power - 1);
        ck_assert(parse(u128_text(power + 1, buffer)) == power + 1);
    }
}
END_TEST

START_TEST(underscores_stand_between_digits)
{
    ck_assert(parse("50_331_648") == 50331648);
    ck_assert(parse("1_0") == 10);
    ck_assert(parse("340_282_366_920_938_463_463_374_607_431_768_211_455") == U128_MAX);
}
END_TEST

START_TEST(what_is_no_number_is_refused_and_nothing_is_written)
{
    static const char *const texts[] = { "", "_1", "1_", "1__0", "a", "1a", "-1", "+1", " 1", "1 ", "0x10", too_large,
                                         "340282366920938463463374607431768211460", "3402823669209384634633746074317682114550" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        u128 n = 7;
        ck_assert_msg(!u128_parse(texts[i], strlen(texts[i]), &n), "%s", texts[i]);
        ck_assert(n == 7);
    }
    u128 n = 7;
    ck_assert(u128_parse("0000000000000000000000000000000000000000000000001", 49, &n) && n == 1);
}
END_TEST

START_TEST(sums_and_differences_do_not_wrap)
{
    u128 n = 7;
    ck_assert(u128_add(U128_MAX - 1, 1, &n) && n == U128_MAX);
    n = 7;
    ck_assert(!u128_add(U128_MAX, 1, &n) && n == 7);
    ck_assert(!u128_add(1, U128_MAX, &n) && n == 7);
    ck_assert(!u128_sub(1, 2, &n) && n == 7);
    ck_assert(u128_sub(2, 2, &n) && n == 0);
}
END_TEST

START_TEST(products_do_not_wrap)
{
    u128 n = 7, half = (u128)1 << 64;
    ck_assert(!u128_mul(half, half, &n) && n == 7);
    ck_assert(!u128_mul(U128_MAX, 2, &n) && n == 7);
    ck_assert(u128_mul(half - 1, half + 1, &n) && n == U128_MAX);
    ck_assert(u128_mul(0, U128_MAX, &n) && n == 0);
}
END_TEST

START_TEST(divisions_are_exact_or_refused)
{
    u128 n = 7;
    ck_assert(!u128_div_exact(7, 2, &n) && n == 7);
    ck_assert(!u128_div_exact(7, 0, &n) && n == 7);
    ck_assert(u128_div_exact(U128_MAX, 3, &n) && n == parse("113427455640312821154458202477256070485"));
    ck_assert(u128_div_exact(0, 5, &n) && n == 0);
}
END_TEST

START_TEST(common_divisors)
{
    ck_assert(u128_gcd(1023, 8) == 1);
    ck_assert(u128_gcd(96, 64) == 32);
    ck_assert(u128_gcd(0, 5) == 5);
    ck_assert(u128_gcd(5, 0) == 5);
    ck_assert(u128_gcd(U128_MAX, (u128)1 << 64) == 1);
}
END_TEST

Suite *quantity_suite(void);

Suite *quantity_suite(void)
{
    Suite *s = suite_create("quantity");
    TCase *c = tcase_create("quantity");
    tcase_add_test(c, numbers_read_back_as_they_are_written);
    tcase_add_test(c, every_power_of_ten_and_its_neighbours_read_back);
    tcase_add_test(c, underscores_stand_between_digits);
    tcase_add_test(c, what_is_no_number_is_refused_and_nothing_is_written);
    tcase_add_test(c, sums_and_differences_do_not_wrap);
    tcase_add_test(c, products_do_not_wrap);
    tcase_add_test(c, divisions_are_exact_or_refused);
    tcase_add_test(c, common_divisors);
    suite_add_tcase(s, c);
    return s;
}
