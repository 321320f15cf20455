/* Hand-written files, damaged in every small way: each ends in a clean acceptance or a located refusal, never a crash. */
#include "attempt.h"

#include "grammar.h"
#include "lexer/lexer.h"

#include <check.h>
#include <stdlib.h>

static void must_be_clean(const char *path, const char *how, size_t place, const char *text, size_t size)
{
    struct attempt a;
    attempt_begin(&a, text, size);
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s, %s at byte %zu: %s", path, how, place, fault);
    attempt_end(&a);
}

static void cut_every(const char *path, const char *text, size_t size, size_t step)
{
    for (size_t n = 0; n <= size; n += step)
        must_be_clean(path, "cut", n, text, n);
}

static void cut_at_every_byte(const char *path, const char *text, size_t size)
{
    cut_every(path, text, size, 1);
}

static void cut_here_and_there(const char *path, const char *text, size_t size)
{
    cut_every(path, text, size, size / 23 + 1);
}

/* ---- Tokens ---- */

struct edit {
    char *text;
    size_t size;
};

static void put(struct edit *e, const char *from, size_t n)
{
    memcpy(e->text + e->size, from, n);
    e->size += n;
}

/* Where the tokens are, in a vector that the caller frees. */
static struct span *tokens(const char *text, size_t size, size_t *n)
{
    struct attempt a;
    struct lexer l;
    const u16 *keyword;
    const u8 *layers;
    u64 value;
    struct span *all = calloc(size + 1, sizeof *all);
    ck_assert_ptr_nonnull(all);
    attempt_parse(&a, text, size);
    lexer_keywords(&a.ctx, &keyword, &layers);
    lexer_init(&l, &a.ctx, &a.source, NULL, keyword, layers);
    *n = 0;
    while (lexer_next(&l, &value, &all[*n]) != END)
        ++*n;
    attempt_end(&a);
    return all;
}

/* The text with the I-th token gone, doubled, or exchanged with the one behind it. */
static void edit_token(struct edit *e, const char *text, size_t size, const struct span *t, size_t i, int how)
{
    e->size = 0;
    put(e, text, t[i].begin);
    if (how == 1) {
        put(e, text + t[i].begin, t[i].end - t[i].begin);
        put(e, " ", 1);
        put(e, text + t[i].begin, t[i].end - t[i].begin);
    } else if (how == 2) {
        put(e, text + t[i + 1].begin, t[i + 1].end - t[i + 1].begin);
        put(e, text + t[i].end, t[i + 1].begin - t[i].end);
        put(e, text + t[i].begin, t[i].end - t[i].begin);
    }
    u32 rest = how == 2 ? t[i + 1].end : t[i].end;
    put(e, text + rest, size - rest);
}

static void edit_every_token(const char *path, const char *text, size_t size)
{
    static const char *const names[] = { "a token deleted", "a token doubled", "two tokens exchanged" };
    struct edit e = { .text = malloc(2 * size + 2) };
    size_t n;
    struct span *t = tokens(text, size, &n);
    ck_assert_ptr_nonnull(e.text);
    ck_assert_msg(n > 0, "%s has no tokens", path);
    for (int how = 0; how < 3; how++)
        for (size_t i = 0; i + (how == 2) < n; i++) {
            edit_token(&e, text, size, t, i, how);
            must_be_clean(path, names[how], t[i].begin, e.text, e.size);
        }
    free(t);
    free(e.text);
}

/* ---- Bytes ---- */

/* One byte of the text becomes another; the text of a small file, so that all of it is tried. */
static void spoil_bytes(const char *path, const char *text, size_t size)
{
    static const char bytes[] = "\0\n\"\\{}[]()<>%@$,.:-=/x0\x80\xff\xc3";
    char *copy = malloc(size + 1);
    ck_assert_ptr_nonnull(copy);
    for (size_t i = 0; i < size; i += 5) {
        memcpy(copy, text, size);
        copy[i] = bytes[i / 5 % (sizeof bytes - 1)];
        must_be_clean(path, "a byte spoilt", i, copy, size);
    }
    free(copy);
}

START_TEST(examples_cut_at_every_byte_are_refused_cleanly)
{
    each_file("examples", ".bpir", cut_at_every_byte);
}
END_TEST

START_TEST(programs_cut_at_every_byte_are_refused_cleanly)
{
    each_file("test/lit", "/program.bpir", cut_at_every_byte);
}
END_TEST

START_TEST(tests_cut_here_and_there_are_refused_cleanly)
{
    each_file("test/lit", ".bpir", cut_here_and_there);
}
END_TEST

START_TEST(examples_with_one_token_off_end_cleanly)
{
    each_file("examples", ".bpir", edit_every_token);
}
END_TEST

START_TEST(programs_with_one_token_off_end_cleanly)
{
    each_file("test/lit", "/program.bpir", edit_every_token);
}
END_TEST

START_TEST(programs_with_one_byte_off_end_cleanly)
{
    each_file("test/lit", "/program.bpir", spoil_bytes);
}
END_TEST

Suite *hostile_suite(void);

Suite *hostile_suite(void)
{
    Suite *s = suite_create("hostile");
    TCase *c = tcase_create("hostile");
    tcase_add_test(c, examples_cut_at_every_byte_are_refused_cleanly);
    tcase_add_test(c, programs_cut_at_every_byte_are_refused_cleanly);
    tcase_add_test(c, tests_cut_here_and_there_are_refused_cleanly);
    tcase_add_test(c, examples_with_one_token_off_end_cleanly);
    tcase_add_test(c, programs_with_one_token_off_end_cleanly);
    tcase_add_test(c, programs_with_one_byte_off_end_cleanly);
    suite_add_tcase(s, c);
    return s;
}
