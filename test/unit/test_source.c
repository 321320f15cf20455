/* Reading files of awkward sizes, and places in texts. */
#define _GNU_SOURCE
#include "support/source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary file of SIZE bytes, the last of which is no newline. The caller frees and unlinks. */
static char *file_of(size_t size)
{
    char *path = strdup("/tmp/bp-unit-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    for (size_t i = 0; i < size; i++)
        putc(i % 61 == 60 ? '\n' : 'a' + (int)(i % 26), f);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

START_TEST(files_that_fill_their_pages_end_with_a_nul)
{
    static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8191, 8192, 12288, 65535, 65536, 65537, 1 << 20, 2 << 20, (2 << 20) + 1,
                                    (8 << 20) - 2, (8 << 20) - 1, 8 << 20, (8 << 20) + 4096, (8 << 20) + 4097 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *path = file_of(sizes[i]);
        struct source s;
        const char *fault = source_read(&s, path);
        ck_assert_msg(!fault, "%s", fault);
        ck_assert_uint_eq(s.size, sizes[i]);
        ck_assert_int_eq(s.text[s.size], '\0');
        for (size_t k = 0; k < sizes[i]; k += 997)
            ck_assert_int_eq(s.text[k], k % 61 == 60 ? '\n' : 'a' + (int)(k % 26));
        source_free(&s);
        unlink(path);
        free(path);
    }
}
END_TEST

START_TEST(what_was_read_of_a_large_file_can_be_read_again)
{
    char *path = file_of(40 << 20);
    struct source s;
    u32 released = 0;
    ck_assert_ptr_null(source_read(&s, path));
    for (u32 k = 0; k < s.size; k += 4096)
        source_release(&s, k, &released);
    for (u32 k = 0; k < s.size; k += 997)
        ck_assert_int_eq(s.text[k], k % 61 == 60 ? '\n' : 'a' + (int)(k % 26));
    source_free(&s);
    unlink(path);
    free(path);
}
END_TEST

START_TEST(a_pipe_is_read_to_its_end)
{
    int ends[2];
    struct source s;
    ck_assert_int_eq(pipe(ends), 0);
    if (!fork()) {
        for (int i = 0; i < 50000; i++)
            if (write(ends[1], "0123456789", 10) != 10)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], 0);
    ck_assert_ptr_null(source_read(&s, "-"));
    ck_assert_str_eq(s.name, "<stdin>");
    ck_assert_uint_eq(s.size, 500000);
    ck_assert(!memcmp(s.text + 499990, "0123456789", 11));
    source_free(&s);
}
END_TEST

START_TEST(what_cannot_be_read_says_why)
{
    struct source s;
    ck_assert_str_eq(source_read(&s, "/no/such/file"), "No such file or directory");
    ck_assert_str_eq(source_read(&s, "/tmp"), "Is a directory");
}
END_TEST

START_TEST(a_large_file_that_grows_keeps_its_end)
{
    char *path = file_of((40 << 20) + 100);
    struct source s;
    ck_assert_ptr_null(source_read(&s, path));
    FILE *f = fopen(path, "a");
    for (int i = 0; i < 8192; i++)
        putc('!', f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_uint_eq(s.size, (40 << 20) + 100);
    ck_assert_int_eq(s.text[s.size], '\0');
    source_free(&s);
    unlink(path);
    free(path);
}
END_TEST

START_TEST(a_device_that_does_not_end_is_refused)
{
    struct source s;
    ck_assert_str_eq(source_read(&s, "/dev/zero"), "it is a device, and gives more than 64 MiB");
    ck_assert_ptr_null(source_read(&s, "/dev/null"));
    ck_assert_uint_eq(s.size, 0);
    source_free(&s);
}
END_TEST

static void assert_place(const char *text, u32 offset, u32 line, u32 column)
{
    struct source s;
    source_borrow(&s, "t", text, strlen(text));
    struct position p = source_position(&s, offset);
    ck_assert_uint_eq(p.line, line);
    ck_assert_uint_eq(p.column, column);
}

START_TEST(lines_and_columns_count_from_one)
{
    assert_place("", 0, 1, 1);
    assert_place("ab\ncd", 0, 1, 1);
    assert_place("ab\ncd", 2, 1, 3);
    assert_place("ab\ncd", 3, 2, 1);
    assert_place("ab\ncd", 5, 2, 3);
    assert_place("ab\ncd\n", 6, 3, 1);
    assert_place("\n\n\n", 2, 3, 1);
    assert_place("ab", 99, 1, 3);
}
END_TEST

START_TEST(columns_count_code_points)
{
    assert_place("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", 9, 1, 4);
    assert_place("a\tb", 2, 1, 3);
}
END_TEST

START_TEST(lines_of_a_part_go_on_from_the_whole)
{
    struct source s;
    source_borrow(&s, "t", "a\nb", 3);
    s.first_line = 40;
    struct position p = source_position(&s, 2);
    ck_assert_uint_eq(p.line, 41);
    ck_assert_uint_eq(p.line_begin, 2);
    ck_assert_uint_eq(p.line_end, 3);
}
END_TEST

Suite *source_suite(void);

Suite *source_suite(void)
{
    Suite *s = suite_create("source");
    TCase *c = tcase_create("source");
    tcase_add_test(c, files_that_fill_their_pages_end_with_a_nul);
    tcase_add_test(c, what_was_read_of_a_large_file_can_be_read_again);
    tcase_add_test(c, a_pipe_is_read_to_its_end);
    tcase_add_test(c, what_cannot_be_read_says_why);
    tcase_add_test(c, a_large_file_that_grows_keeps_its_end);
    tcase_add_test(c, a_device_that_does_not_end_is_refused);
    tcase_add_test(c, lines_and_columns_count_from_one);
    tcase_add_test(c, columns_count_code_points);
    tcase_add_test(c, lines_of_a_part_go_on_from_the_whole);
    suite_add_tcase(s, c);
    return s;
}
