/* Items built by hand: names, lists, rank sets, files. */
#include "ir/item.h"

#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>

static struct diags diags;
static struct context ctx;
static struct item *it;

static atom name(const char *text)
{
    return intern_string(&ctx.names, text);
}

static struct item *plan(const char *text)
{
    return item_new(&ctx, context_item_kind(&ctx, "portable.plan", 13), name(text));
}

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    it = plan("p");
}

static void teardown(void)
{
    item_free(it);
    context_free(&ctx);
    diags_free(&diags);
}

static struct stmt *add(u32 entity, const char *text)
{
    struct stmt *s = item_add(it, entity);
    s->name = name(text);
    return s;
}

START_TEST(names_of_each_sigil_are_apart)
{
    struct stmt *buffer = add(PORTABLE_BUFFER, "x"), *task = add(PORTABLE_TASK, "x"), *symbol = add(PORTABLE_SYMBOL, "x"), *twin = add(PORTABLE_BUFFER, "x");
    ck_assert_ptr_null(item_declare(it, buffer));
    ck_assert_ptr_null(item_declare(it, task));
    ck_assert_ptr_null(item_declare(it, symbol));
    ck_assert_ptr_eq(item_declare(it, twin), buffer);
    ck_assert_ptr_eq(item_value(it, name("x")), buffer);
    ck_assert_ptr_eq(item_symbol(it, name("x")), task);
    ck_assert_ptr_eq(item_dollar(it, name("x")), symbol);
    ck_assert_ptr_eq(item_ref(it, REF_VALUE(name("x"))), buffer);
    ck_assert_ptr_eq(item_ref(it, REF_SYMBOL(name("x"))), task);
    ck_assert_ptr_null(item_value(it, name("y")));
}
END_TEST

START_TEST(many_names_are_found)
{
    char text[16];
    for (u32 i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "n%u", i * 7919 % 20000);
        ck_assert_ptr_null(item_declare(it, add(PORTABLE_TASK, text)));
    }
    for (u32 i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "n%u", i);
        ck_assert_uint_eq(item_symbol(it, name(text))->name, name(text));
    }
}
END_TEST

/* In every order and distance; atoms need not be of strings here. */
START_TEST(names_are_found_however_far_apart)
{
    enum { N = 3000 };
    static const struct { u32 step, modulo, far; } orders[] = {
        { 1, N, 0 }, { N - 1, N, 0 }, { 7, N, 0 }, { 3, 1 << 20, 0 }, { 1 << 12, 1 << 24, 0 }, { 2654435761, 0, 0 },
        { 1, N, 1000 }, { 1, N, 1024 }, { 1, N, 2048 }, { 3, 1 << 20, 1500 },
    };
    for (u32 o = 0; o < COUNT(orders); o++) {
        struct item *each = plan("q");
        struct stmt *all[N + 1];
        for (u32 i = 0; i <= N; i++) {
            u32 at = i * orders[o].step;
            all[i] = item_add(each, PORTABLE_TASK);
            all[i]->name = 5 + (orders[o].modulo ? at % orders[o].modulo : at);
            if (i == N || (orders[o].far && i == orders[o].far))
                all[i]->name = UINT32_MAX - i;      /* far from all others */
            ck_assert_ptr_null(item_symbol(each, all[i]->name));
            ck_assert_ptr_null(item_declare(each, all[i]));
            ck_assert_ptr_eq(item_declare(each, all[i / 2]), all[i / 2]);
        }
        for (u32 i = 0; i <= N; i++)
            ck_assert_ptr_eq(item_symbol(each, all[i]->name), all[i]);
        ck_assert_ptr_null(item_symbol(each, 1));
        ck_assert_ptr_null(item_symbol(each, UINT32_MAX - N - 1));
        item_free(each);
    }
}
END_TEST

START_TEST(new_statements_have_the_defaults_of_the_table)
{
    struct portable_task *t = (struct portable_task *)add(PORTABLE_TASK, "t");
    struct portable_buffer *b = (struct portable_buffer *)add(PORTABLE_BUFFER, "b");
    ck_assert_uint_eq(t->more->source, UINT64_MAX);
    ck_assert_uint_eq(t->work[PORTABLE_READ], 0);
    ck_assert_uint_eq(t->s.begin, NO_PLACE);
    ck_assert_uint_eq(b->align, 1);
    ck_assert_ptr_eq(stmt_entity(it, &t->s), &it->kind->entities[PORTABLE_TASK]);
}
END_TEST

static struct item *program(const char *text)
{
    return item_new(&ctx, context_item_kind(&ctx, "dist.program", 12), name(text));
}

static struct dist_task *task(struct item *of)
{
    return (struct dist_task *)item_add(of, DIST_TASK);
}

static const struct field *clause(const char *text)
{
    const struct item_kind *kind = context_item_kind(&ctx, "dist.program", 12);
    return field_find(kind->entities[DIST_TASK].fields, text, strlen(text));
}

/* So that a million tasks fit in 88 MB. */
START_TEST(what_few_tasks_say_takes_no_room_in_all)
{
    ck_assert_uint_le(sizeof(struct dist_task), 88);
    struct item *d = program("d");
    struct dist_task *first = task(d), *second = task(d);
    ck_assert_ptr_eq(first->more, second->more);
    ck_assert_uint_eq(first->more->source, UINT64_MAX);
    ck_assert_uint_eq(first->more->after, 0);
    field_set(d, &first->s, clause("source"), UINT64_MAX);
    ck_assert_ptr_eq(first->more, second->more);
    item_free(d);
}
END_TEST

START_TEST(what_one_task_says_no_other_says)
{
    struct item *d = program("d");
    struct dist_task *first = task(d), *second = task(d);
    dist_more(d, first)->note = 5;
    field_set(d, &first->s, clause("source"), 3);
    ck_assert_uint_eq(first->more->note, 5);
    ck_assert_uint_eq(field_get(&first->s, clause("source")), 3);
    ck_assert_uint_eq(second->more->note, 0);
    ck_assert_uint_eq(task(d)->more->source, UINT64_MAX);

    struct dist_task *copy = (struct dist_task *)item_add_copy(d, &first->s, sizeof *first);
    ck_assert_uint_eq(copy->more->source, 3);
    field_set(d, &copy->s, clause("source"), 4);
    ck_assert_uint_eq(copy->more->source, 4);
    ck_assert_uint_eq(copy->more->note, 5);
    ck_assert_uint_eq(first->more->source, 3);
    item_free(d);
}
END_TEST

START_TEST(a_copy_in_another_item_outlives_what_it_is_of)
{
    struct item *d = program("d"), *e = program("e");
    struct dist_task *says = task(d), *silent = task(d), *one = task(e), *two = task(e);
    dist_more(d, says)->after = 7;
    stmt_copy(e, &one->s, &says->s);
    stmt_copy(e, &two->s, &silent->s);
    item_free(d);
    ck_assert_uint_eq(one->more->after, 7);
    ck_assert_uint_eq(two->more->after, 0);
    ck_assert_ptr_eq(two->more, task(e)->more);
    dist_more(e, two)->after = 8;
    ck_assert_uint_eq(one->more->after, 7);
    ck_assert_uint_eq(task(e)->more->after, 0);
    item_free(e);
}
END_TEST

START_TEST(lists_keep_their_elements)
{
    u32 handles[100], elements[100];
    for (u32 i = 0; i < 100; i++) {
        for (u32 k = 0; k < i; k++)
            elements[k] = i * 1000 + k;
        handles[i] = item_list(it, elements, i);
        ck_assert_uint_ne(handles[i], 0);
    }
    for (u32 i = 0; i < 100; i++) {
        ck_assert_uint_eq(list_n(it, handles[i]), i);
        for (u32 k = 0; k < i; k++)
            ck_assert_uint_eq(list_at(it, handles[i])[k], i * 1000 + k);
    }
    ck_assert_uint_eq(list_n(it, 0), 0);
}
END_TEST

START_TEST(a_list_like_the_last_is_stored_once)
{
    u32 one = item_list(it, (u32[]){ 1, 2 }, 2), again = item_list(it, (u32[]){ 1, 2 }, 2), other = item_list(it, (u32[]){ 1, 3 }, 2);
    ck_assert_uint_eq(one, again);
    ck_assert_uint_ne(one, other);
}
END_TEST

START_TEST(rank_sets_contain_their_ranges)
{
    u32 set = item_list(it, (u32[]){ 0, 3, 7, 7 }, 4), none = item_list(it, NULL, 0);
    for (u32 rank = 0; rank < 10; rank++) {
        ck_assert_int_eq(ranks_contain(it, set, rank), rank <= 3 || rank == 7);
        ck_assert(ranks_contain(it, 0, rank));
        ck_assert(!ranks_contain(it, none, rank));
    }
}
END_TEST

START_TEST(pairs_hold_64_bits)
{
    u32 words[2];
    pair_put(words, 0x0123456789abcdefu);
    ck_assert_uint_eq(pair_get(words), 0x0123456789abcdefu);
    pair_put(words, UINT64_MAX);
    ck_assert_uint_eq(pair_get(words), UINT64_MAX);
}
END_TEST

START_TEST(items_are_found_by_name_in_their_file)
{
    struct module m, other;
    module_init(&m, &ctx, NULL);
    module_init(&other, &ctx, NULL);
    struct item *a = plan("a"), *b = plan("b"), *twin = plan("a"), *nameless = item_new(&ctx, a->kind, 0);
    module_add(&m, a);
    module_add(&m, b);
    module_add(&m, nameless);
    module_add(&other, twin);
    ck_assert_ptr_eq(module_find(&m, name("a")), a);
    ck_assert_ptr_eq(module_find(&m, name("b")), b);
    ck_assert_ptr_eq(module_find(&other, name("a")), twin);
    ck_assert_ptr_null(module_find(&other, name("b")));
    ck_assert_ptr_null(module_find(&m, name("p")));
    module_free(&m);
    ck_assert_ptr_eq(module_find(&other, name("a")), twin);
    module_free(&other);
}
END_TEST

START_TEST(two_contexts_do_not_meet)
{
    struct context second;
    context_init(&second, all_dialects, &diags);
    atom here = name("only here");
    ck_assert_uint_ne(here, 0);
    ck_assert_uint_eq(intern_find(&second.names, "only here", 9), 0);
    ck_assert_uint_eq(second.n_known, ctx.n_known);
    context_free(&second);
}
END_TEST

Suite *item_suite(void);

Suite *item_suite(void)
{
    Suite *s = suite_create("item");
    TCase *c = tcase_create("item");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, names_of_each_sigil_are_apart);
    tcase_add_test(c, many_names_are_found);
    tcase_add_test(c, names_are_found_however_far_apart);
    tcase_add_test(c, new_statements_have_the_defaults_of_the_table);
    tcase_add_test(c, what_few_tasks_say_takes_no_room_in_all);
    tcase_add_test(c, what_one_task_says_no_other_says);
    tcase_add_test(c, a_copy_in_another_item_outlives_what_it_is_of);
    tcase_add_test(c, lists_keep_their_elements);
    tcase_add_test(c, a_list_like_the_last_is_stored_once);
    tcase_add_test(c, rank_sets_contain_their_ranges);
    tcase_add_test(c, pairs_hold_64_bits);
    tcase_add_test(c, items_are_found_by_name_in_their_file);
    tcase_add_test(c, two_contexts_do_not_meet);
    suite_add_tcase(s, c);
    return s;
}
