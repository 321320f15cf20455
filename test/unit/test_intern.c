/* Interning: equal texts are one atom, whatever their bytes and however many there are. */
#include "support/intern.h"

#include <check.h>
#include <stdio.h>

static struct arena arena;
static struct interner names;

static void setup(void)
{
    arena_init(&arena);
    interner_init(&names, &arena);
}

static void teardown(void)
{
    interner_free(&names);
    arena_free(&arena);
}

START_TEST(equal_texts_are_one_atom)
{
    char text[] = "weights";
    atom a = intern_string(&names, text);
    ck_assert_uint_ne(a, 0);
    text[0] = 'x';
    ck_assert_uint_eq(intern_string(&names, "weights"), a);
    ck_assert_uint_ne(intern_string(&names, text), a);
    ck_assert(intern_is(&names, a, "weights"));
    ck_assert(!intern_is(&names, a, "weight"));
    ck_assert(!intern_is(&names, a, "weightss"));
}
END_TEST

START_TEST(any_bytes_are_a_text)
{
    atom empty = intern(&names, "", 0), nul = intern(&names, "\0", 1), two = intern(&names, "\0\0", 2);
    ck_assert(empty && nul && two);
    ck_assert(empty != nul && nul != two && empty != two);
    ck_assert_uint_eq(names.atoms[two].length, 2);
    ck_assert_uint_eq(intern(&names, "\0\0", 2), two);
}
END_TEST

START_TEST(finding_adds_nothing)
{
    u32 n = names.n;
    ck_assert_uint_eq(intern_find(&names, "nothing", 7), 0);
    ck_assert_uint_eq(names.n, n);
    atom a = intern_string(&names, "something");
    ck_assert_uint_eq(intern_find(&names, "something", 9), a);
}
END_TEST

START_TEST(borrowed_text_is_not_copied)
{
    static const char text[] = "borrowed text";
    atom a = intern_borrowed(&names, text, 8), b = intern(&names, text, 13);
    ck_assert_ptr_eq(names.atoms[a].text, text);
    ck_assert_ptr_ne(names.atoms[b].text, text);
    ck_assert_str_eq(intern_text(&names, a, &arena), "borrowed");
}
END_TEST

START_TEST(atoms_stay_when_the_table_grows)
{
    char text[16];
    for (u32 i = 0; i < 200000; i++) {
        int n = snprintf(text, sizeof text, "name%u", i);
        ck_assert_uint_eq(intern(&names, text, (size_t)n), i + 1);
    }
    for (u32 i = 0; i < 200000; i++) {
        int n = snprintf(text, sizeof text, "name%u", i);
        ck_assert_uint_eq(intern_find(&names, text, (size_t)n), i + 1);
    }
}
END_TEST

START_TEST(room_that_is_made_ahead_changes_no_atom)
{
    char text[16];
    atom first = intern_string(&names, "first");
    interner_expect(&names, 1);
    interner_expect(&names, 5000);
    u32 *slots = names.slots;
    for (u32 i = 0; i < 4990; i++) {
        int n = snprintf(text, sizeof text, "name%u", i);
        ck_assert_uint_eq(intern(&names, text, (size_t)n), first + i + 1);
    }
    ck_assert_ptr_eq(names.slots, slots);
    ck_assert_uint_eq(intern_find(&names, "first", 5), first);
    ck_assert_uint_eq(intern_find(&names, "name77", 6), first + 78);
}
END_TEST

Suite *intern_suite(void);

Suite *intern_suite(void)
{
    Suite *s = suite_create("intern");
    TCase *c = tcase_create("intern");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, equal_texts_are_one_atom);
    tcase_add_test(c, any_bytes_are_a_text);
    tcase_add_test(c, finding_adds_nothing);
    tcase_add_test(c, borrowed_text_is_not_copied);
    tcase_add_test(c, atoms_stay_when_the_table_grows);
    tcase_add_test(c, room_that_is_made_ahead_changes_no_atom);
    suite_add_tcase(s, c);
    return s;
}
