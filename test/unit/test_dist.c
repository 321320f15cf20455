/* What lit can't reach: proofs about ranks and symbols against enumeration, and programs that no text stands behind. */
#include "dialects/dist/verify.h"

#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>

static struct diags diags;
static struct context ctx;
static struct item *program;

static atom name(const char *text)
{
    return intern_string(&ctx.names, text);
}

static struct stmt *add(enum dist_entity entity, const char *called)
{
    struct stmt *s = item_add(program, entity);
    if (called) {
        s->name = name(called);
        ck_assert_ptr_null(item_declare(program, s));
    }
    return s;
}

/* mesh @ranks [a = 2, b = 3, c = 2] */
static void add_mesh(void)
{
    u32 axes[] = { name("a"), 2, 0, name("b"), 3, 0, name("c"), 2, 0 };
    ((struct dist_mesh *)add(DIST_MESH, "ranks"))->axes = item_list(program, axes, COUNT(axes));
}

static struct dist_task *add_task(const char *called)
{
    struct dist_task *t = (struct dist_task *)add(DIST_TASK, called);
    t->body = DIST_LOCAL;
    t->operation = name("transformer.gelu");
    return t;
}

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    program = item_new(&ctx, context_item_kind(&ctx, "dist.program", 12), name("p"));
    add_mesh();
}

static void teardown(void)
{
    item_free(program);
    context_free(&ctx);
    diags_free(&diags);
}

static struct dist_checker *checker(struct verifier *v)
{
    *v = (struct verifier){ .item = program, .ctx = &ctx };
    arena_init(&v->scratch);
    struct dist_checker *c = ARENA_NEW(&v->scratch, struct dist_checker);
    *c = (struct dist_checker){ .v = v, .it = program, .ctx = &ctx };
    dist_facts_init(c);
    dist_mesh_check(c, (const struct dist_mesh *)item_symbol(program, name("ranks")));
    return c;
}

/* ---- Groups of a 2x3x2 mesh: every set of its 12 ranks, every set of its axes ---- */

enum { RANKS = 12 };

static u32 coordinate(u32 rank, u32 axis)
{
    static const u32 stride[] = { 6, 2, 1 }, size[] = { 2, 3, 2 };
    return rank / stride[axis] % size[axis];
}

static bool same_group(u32 x, u32 y, u64 mask)
{
    for (u32 axis = 0; axis < 3; axis++)
        if (!(mask >> axis & 1) && coordinate(x, axis) != coordinate(y, axis))
            return false;
    return true;
}

static bool whole_groups(u32 set, u64 mask)
{
    for (u32 x = 0; x < RANKS; x++)
        for (u32 y = 0; y < RANKS; y++)
            if (set >> x & 1 && !(set >> y & 1) && same_group(x, y, mask))
                return false;
    return true;
}

static u32 ranks_of(u32 set)
{
    u32 words[2 * RANKS], n = 0;
    for (u32 rank = 0; rank < RANKS; rank++)
        if (set >> rank & 1)
            words[n] = words[n + 1] = rank, n += 2;
    return item_list(program, words, n);
}

START_TEST(a_set_is_whole_groups_exactly_when_enumeration_says_so)
{
    struct verifier v;
    struct dist_checker *c = checker(&v);
    for (u32 set = 1; set < 1u << RANKS; set++) {
        u32 number = rank_set_of(&c->sets, ranks_of(set));
        for (u64 mask = 0; mask < 8; mask++) {
            u64 in, out;
            bool grouped = dist_ranks_grouped(c, number, mask, &in, &out);
            ck_assert_msg(grouped == whole_groups(set, mask), "set %x, axes %x", set, (u32)mask);
            ck_assert(grouped || (set >> in & 1 && !(set >> out & 1) && same_group((u32)in, (u32)out, mask)));
        }
    }
    arena_free(&v.scratch);
}
END_TEST

START_TEST(a_group_is_listed_from_its_first_rank)
{
    struct verifier v;
    struct dist_checker *c = checker(&v);
    ck_assert_str_eq(dist_group_text(c, 5, 1), "[5, 11]");
    ck_assert_str_eq(dist_group_text(c, 9, 2 | 4), "[6, 7, 8, 9, 10, 11]");
    ck_assert_str_eq(dist_group_text(c, 9, 7), "[0, 1, 2, 3, 4, 5, 6, 7, ...]");
    arena_free(&v.scratch);
}
END_TEST

/* ---- Symbols: what is proved of k*$s + b must hold for every $s, what is refuted for none ---- */

START_TEST(a_proof_of_divisibility_holds_for_every_value_of_the_symbol)
{
    struct verifier v;
    u64 fact = (u64)_i + 1;
    ((struct dist_symbol *)add(DIST_SYMBOL, "s"))->multiple_of = fact;
    struct dist_checker *c = checker(&v);
    u32 proved = 0, refuted = 0;
    for (u64 k = 1; k <= 12; k++)
        for (u64 b = 0; b <= 12; b++)
            for (u64 n = 1; n <= 12; n++) {
                qty q;
                u64 remainder = 0;
                ck_assert_int_eq(qty_mul(ctx.exprs, k, qty_symbol(ctx.exprs, name("s")), &q), EXPR_OK);
                ck_assert_int_eq(qty_add(ctx.exprs, q, b, &q), EXPR_OK);
                enum dist_proof proof = dist_divides(c, q, n, &remainder);
                for (u64 s = fact; s <= 24 * fact && proof != DIST_UNPROVED; s += fact)
                    ck_assert_uint_eq((k * s + b) % n, proof == DIST_PROVED ? 0 : remainder);
                ck_assert(proof != DIST_WRONG || remainder);
                ck_assert(proof != DIST_UNPROVED || k * fact % n);
                proved += proof == DIST_PROVED;
                refuted += proof == DIST_WRONG;
            }
    ck_assert(proved && refuted);
    arena_free(&v.scratch);
}
END_TEST

START_TEST(two_quantities_differ_only_with_a_binding_that_shows_it)
{
    struct verifier v;
    ((struct dist_symbol *)add(DIST_SYMBOL, "s"))->multiple_of = 4;
    struct dist_checker *c = checker(&v);
    qty s = qty_symbol(ctx.exprs, name("s")), square, twice, half;
    u64 times;
    u128 a, b;
    ck_assert_int_eq(qty_mul(ctx.exprs, s, s, &square), EXPR_OK);
    ck_assert_int_eq(qty_mul(ctx.exprs, 8, s, &twice), EXPR_OK);
    ck_assert_int_eq(qty_floordiv(ctx.exprs, s, 2, &half), EXPR_OK);
    ck_assert(dist_apply_facts(c, square, &square) && dist_apply_facts(c, twice, &twice) && dist_apply_facts(c, half, &half));
    ck_assert_int_eq(dist_equal(c, square, twice, &times, &a, &b), DIST_WRONG);
    ck_assert_uint_eq((u64)a, 4 * times * 4 * times);
    ck_assert_uint_eq((u64)b, 8 * 4 * times);
    qty exact;
    ck_assert_int_eq(qty_mul(ctx.exprs, 2, s, &exact), EXPR_OK);     /* half of 4*$s */
    ck_assert_int_eq(dist_equal(c, half, exact, &times, &a, &b), DIST_PROVED);
    arena_free(&v.scratch);
}
END_TEST

/* ---- Programs made by a pass ---- */

static const char *verified(void)
{
    return verify_item(program, NULL) ? NULL : diags.first->code;
}

START_TEST(a_program_without_a_text_is_refused_with_names_instead_of_a_place)
{
    struct dist_task *t = add_task("t");
    t->over = item_list(program, (u32[]){ name("b") }, 1);
    ck_assert_str_eq(verified(), "dist.body.field");
    ck_assert_ptr_null(diags.first->loc.src);
    ck_assert_str_eq(diags.first->context, "@p, @t");
}
END_TEST

START_TEST(a_builder_that_lists_a_value_twice_is_caught)
{
    struct dist_value *value = (struct dist_value *)item_add_result(program, DIST_VALUE);
    qty dims[] = { 8 };
    value->s.name = name("y");
    value->role = DIST_ACTIVATION;
    value->type = type_intern(ctx.types, &(struct type){ .element = ELEMENT_F16, .rank = 1, .dims = dims });
    ck_assert_ptr_null(item_declare(program, &value->s));
    add_task("first")->results = item_list(program, (u32[]){ value->s.name }, 1);
    ck_assert_ptr_null(verified());
    add_task("second")->results = item_list(program, (u32[]){ value->s.name }, 1);
    ck_assert_str_eq(verified(), "dist.dataflow.multiple_definition");
}
END_TEST

START_TEST(a_hundred_thousand_cycles_are_told_apart_in_one_walk)
{
    enum { PAIRS = 100000 };
    diags.max_errors = 1;
    for (u32 i = 0; i < PAIRS; i++) {
        char first[32], second[32];
        snprintf(first, sizeof first, "a%u", i);
        snprintf(second, sizeof second, "b%u", i);
        dist_more(program, add_task(first))->after = item_list(program, (u32[]){ REF_SYMBOL(name(second)) }, 1);
        dist_more(program, add_task(second))->after = item_list(program, (u32[]){ REF_SYMBOL(name(first)) }, 1);
    }
    ck_assert_str_eq(verified(), "dist.dataflow.cycle");
    ck_assert_uint_eq(diags.errors, PAIRS);
}
END_TEST

Suite *dist_suite(void);

Suite *dist_suite(void)
{
    TCase *t = tcase_create("dist");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_set_is_whole_groups_exactly_when_enumeration_says_so);
    tcase_add_test(t, a_group_is_listed_from_its_first_rank);
    tcase_add_loop_test(t, a_proof_of_divisibility_holds_for_every_value_of_the_symbol, 0, 8);
    tcase_add_test(t, two_quantities_differ_only_with_a_binding_that_shows_it);
    tcase_add_test(t, a_program_without_a_text_is_refused_with_names_instead_of_a_place);
    tcase_add_test(t, a_builder_that_lists_a_value_twice_is_caught);
    tcase_add_test(t, a_hundred_thousand_cycles_are_told_apart_in_one_walk);
    Suite *s = suite_create("dist");
    suite_add_tcase(s, t);
    return s;
}
