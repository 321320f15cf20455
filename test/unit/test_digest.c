/* Digests are what `xxhsum -H2` prints; the numbers below are its output. */
#include "support/digest.h"

#include <check.h>
#include <stdlib.h>

static struct digest digest_of(const char *bytes, size_t n, size_t step)
{
    struct out o;
    out_digest(&o);
    for (size_t i = 0; i < n; i += step)
        out_bytes(&o, bytes + i, n - i < step ? n - i : step);
    return digest_finish(&o);
}

static void assert_digest(struct digest d, const char *text)
{
    struct out o;
    out_memory(&o);
    out_digest_text(&o, d);
    out_char(&o, '\0');
    ck_assert_str_eq(o.data, text);
    out_free(&o);
}

START_TEST(known_texts_have_known_digests)
{
    assert_digest(digest_of("", 0, 1), "xxh128:99aa06d3014798d86001c324468d497f");
    assert_digest(digest_of("a", 1, 1), "xxh128:a96faf705af16834e6c632b61e964e1f");
    assert_digest(digest_of("session.strategy @s {\n}\n", 24, 24), "xxh128:3bc82ce0d24691c75fbd95c3b75d51bd");
}
END_TEST

START_TEST(a_digest_does_not_depend_on_how_the_text_arrives)
{
    size_t n = 3 * OUT_BUFFER + 17;
    char *text = malloc(n);
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(i * i >> 3);
    struct digest whole = digest_of(text, n, n);
    ck_assert(digest_equal(whole, digest_of(text, n, 1)));
    ck_assert(digest_equal(whole, digest_of(text, n, 4099)));
    text[n - 1]++;
    ck_assert(!digest_equal(whole, digest_of(text, n, n)));
    free(text);
}
END_TEST

START_TEST(digests_read_back)
{
    struct digest d;
    ck_assert(digest_parse("0123456789abcdef00000000000000ff", 32, &d));
    ck_assert_uint_eq(d.high, 0x0123456789abcdef);
    ck_assert_uint_eq(d.low, 0xff);
    assert_digest(d, "xxh128:0123456789abcdef00000000000000ff");
    ck_assert(!digest_is_none(d));
    ck_assert(digest_parse("00000000000000000000000000000000", 32, &d) && digest_is_none(d));
}
END_TEST

START_TEST(what_is_no_digest_is_refused)
{
    struct digest d = { 1, 2 };
    ck_assert(!digest_parse("0123456789abcdef00000000000000f", 31, &d));
    ck_assert(!digest_parse("0123456789abcdef00000000000000fff", 33, &d));
    ck_assert(!digest_parse("0123456789ABCDEF00000000000000ff", 32, &d));
    ck_assert(!digest_parse("0123456789abcdeg00000000000000ff", 32, &d));
    ck_assert(digest_equal(d, (struct digest){ 1, 2 }));
}
END_TEST

Suite *digest_suite(void);

Suite *digest_suite(void)
{
    Suite *s = suite_create("digest");
    TCase *c = tcase_create("digest");
    tcase_add_test(c, known_texts_have_known_digests);
    tcase_add_test(c, a_digest_does_not_depend_on_how_the_text_arrives);
    tcase_add_test(c, digests_read_back);
    tcase_add_test(c, what_is_no_digest_is_refused);
    suite_add_tcase(s, c);
    return s;
}
