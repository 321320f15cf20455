/* Comments and blank lines: kept wherever they stand, in a form that does not change when it is printed again. */
#include "attempt.h"

#include <check.h>
#include <stdlib.h>

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static char *canonical_of(const char *text, size_t size)
{
    struct attempt a;
    attempt_parse(&a, text, size);
    char *canonical = attempt_print(&a, false);
    attempt_end(&a);
    return canonical;
}

/* What is printed has COMMENTS times `//~`, no two blank lines behind one another, and the canonical text SAME. */
static void try_text(const char *path, const char *text, size_t size, size_t comments, const char *same)
{
    struct attempt a;
    attempt_parse(&a, text, size);
    const char *fault = attempt_fault(&a);
    ck_assert_msg(a.parsed && !fault, "%s: %s\n%.*s", path, fault ? fault : a.diags.first->message, (int)size, text);
    char *printed = attempt_print(&a, true), *canonical = attempt_print(&a, false);
    ck_assert_msg(count(printed, "//~") == comments, "%s: a comment is lost or doubled:\n%.*s\n%s", path, (int)size, text, printed);
    ck_assert_msg(!strstr(printed, "\n\n\n") && printed[0] != '\n', "%s: blank lines:\n%s", path, printed);
    ck_assert_str_eq(canonical, same);
    free(printed);
    free(canonical);
    attempt_end(&a);
}

/* EXTRA between each two bytes of which one is a blank: there it is between two tokens, or in a string or comment. */
static void insert_everywhere(const char *path, const char *text, size_t size, const char *extra)
{
    size_t n = strlen(extra), comments = count(text, "//~") + (strstr(extra, "//~") != NULL);
    char *copy = malloc(size + n + 1), *canonical = canonical_of(text, size);
    ck_assert_ptr_nonnull(copy);
    bool quoted = false, comment = false;
    for (size_t i = 0; i < size; i++) {
        quoted ^= text[i] == '"' && !comment;
        comment = (comment || (!quoted && !strncmp(text + i, "//", 2))) && text[i] != '\n';
        if (quoted || comment || (text[i] != ' ' && text[i] != '\n'))
            continue;
        memcpy(copy, text, i);
        memcpy(copy + i, extra, n);
        memcpy(copy + i + n, text + i, size - i);
        copy[size + n] = '\0';
        try_text(path, copy, size + n, comments, canonical);
    }
    free(copy);
    free(canonical);
}

static void insert_all(const char *path, const char *text, size_t size)
{
    insert_everywhere(path, text, size, " //~ behind\n");
    insert_everywhere(path, text, size, "\n//~ on its own\n");
    insert_everywhere(path, text, size, "\n\n \t\n\n");
}

START_TEST(comments_stand_anywhere_in_examples)
{
    each_file("examples", "gpt3-175b.bpir", insert_all);
}
END_TEST

START_TEST(comments_stand_anywhere_in_programs)
{
    each_file("test/lit", "/program.bpir", insert_all);
}
END_TEST

START_TEST(comments_keep_their_places)
{
    static const char text[] =
        "// leading\n\n// second\nsession.workload @w {  // behind the brace\n  // before mode\n  mode = training  // behind mode\n\n"
        "  // before batch\n  batch = 4\n  dtype = f16\n  // at the end\n}  // behind\n\n// between\n\n"
        "model.program @m schema 1.0 {  // open\n  // first\n  input %x : tensor<4x8xf16>  // x\n\n"
        "  op @a model.gelu(%x) -> %y : tensor<4x8xf16>\n    note {a = 1}  // a\n  output %y\n  // before the brace\n\n  // and again\n}\n\n// last\n";
    assert_prints(text, text);
}
END_TEST

START_TEST(comments_in_a_statement_move_behind_it)
{
    assert_prints("model.program @m schema 1.0 {\n  op @a model.gelu( // one\n    // two\n\n    %x) -> %y : tensor<4xf16>\n}\n",
                  "model.program @m schema 1.0 {\n  op @a model.gelu(%x) -> %y : tensor<4xf16>  // one\n  // two\n\n}\n");
}
END_TEST

START_TEST(fields_out_of_order_take_their_comments_along)
{
    static const char text[] = "session.workload @w {\n  dtype = f16  // type\n  // batch\n  batch = 4\n  mode = training\n}\n";
    struct attempt a;
    attempt_parse(&a, text, sizeof text - 1);
    ck_assert_ptr_null(attempt_fault(&a));
    char *printed = attempt_print(&a, true);
    ck_assert_msg(count(printed, "// type") == 1 && count(printed, "// batch") == 1, "%s", printed);
    free(printed);
    attempt_end(&a);
}
END_TEST

START_TEST(a_file_may_be_comments_only)
{
    assert_prints("", "");
    assert_prints("\n\n", "");
    assert_prints("// a", "// a\n");
    assert_prints("\n\n// a\n\n\n// b\n\n", "// a\n\n// b\n");
    assert_prints("//\n//\n", "//\n//\n");
}
END_TEST

START_TEST(trailing_blanks_of_comments_go)
{
    assert_prints("// a \t\nsession.strategy @s {  //   \n}//x\n", "// a\nsession.strategy @s {  //\n}  //x\n");
}
END_TEST

START_TEST(a_missing_final_newline_is_added)
{
    assert_prints("session.strategy @s {\n}", "session.strategy @s {\n}\n");
    assert_prints("session.strategy @s {\n}\n// end", "session.strategy @s {\n}\n// end\n");
}
END_TEST

Suite *comments_suite(void);

Suite *comments_suite(void)
{
    Suite *s = suite_create("comments");
    TCase *c = tcase_create("comments");
    tcase_add_test(c, comments_stand_anywhere_in_examples);
    tcase_add_test(c, comments_stand_anywhere_in_programs);
    tcase_add_test(c, comments_keep_their_places);
    tcase_add_test(c, comments_in_a_statement_move_behind_it);
    tcase_add_test(c, fields_out_of_order_take_their_comments_along);
    tcase_add_test(c, a_file_may_be_comments_only);
    tcase_add_test(c, trailing_blanks_of_comments_go);
    tcase_add_test(c, a_missing_final_newline_is_added);
    suite_add_tcase(s, c);
    return s;
}
