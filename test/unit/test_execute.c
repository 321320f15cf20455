/*
 * What each kernel computes, against values worked out by hand or known in closed form; where inputs come from; and that
 * each operation of the model has a kernel. Whole programs are in test/lit/execute.
 */
#include "execute/generate.h"
#include "execute/kernel.h"
#include "execute/mesh.h"

#include "dialects/model/model.h"

#include <check.h>
#include <math.h>

static struct arena arena;
static struct kernel_call call;

static void setup(void)
{
    arena_init(&arena);
    call = (struct kernel_call){ .arena = &arena };
}

static void teardown(void)
{
    arena_free(&arena);
}

/* A whole value. SIZES end with 0; elements are zero where AT is NULL. */
static struct tensor tensor(const u64 *sizes, const double *at)
{
    struct tensor t = { .element = ELEMENT_F64 };
    while (sizes[t.rank]) {
        t.size[t.rank] = t.whole[t.rank] = sizes[t.rank];
        t.rank++;
    }
    tensor_allot(&t, &arena);
    if (at)
        memcpy(t.at, at, t.n * sizeof *at);
    return t;
}

#define SIZES(...) ((const u64[]){ __VA_ARGS__ })      /* the last is 0 */
#define TENSOR(sizes, ...) tensor(sizes, (const double[]){ __VA_ARGS__ })
#define ROOM(sizes) tensor(sizes, NULL)

static bool run(const char *name, u32 n_in, const struct tensor *in, u32 n_out, struct tensor *out)
{
    static const char *const names[] = { "%a", "%b", "%c", "%d" };
    const struct kernel *k = kernel_find(name);
    ck_assert_msg(k != NULL, "%s has no kernel", name);
    call.in = in;
    call.n_in = n_in;
    call.out = out;
    call.n_out = n_out;
    call.in_names = call.out_names = names;
    return k->run(&call);
}

static struct tensor run1(const char *name, struct tensor x, struct tensor out)
{
    ck_assert_msg(run(name, 1, &x, 1, &out), "%s", call.fault);
    return out;
}

static struct tensor run2(const char *name, struct tensor a, struct tensor b, struct tensor out)
{
    ck_assert_msg(run(name, 2, (struct tensor[]){ a, b }, 1, &out), "%s", call.fault);
    return out;
}

static void assert_near(const struct tensor *t, u64 n, const double *want)
{
    ck_assert_uint_eq(t->n, n);
    for (u64 i = 0; i < n; i++)
        ck_assert_msg(t->at[i] == want[i] || fabs(t->at[i] - want[i]) <= 4e-16 * fmax(1, fabs(want[i])), "element %d is %.17g, not %.17g",
                      (int)i, t->at[i], want[i]);
}

static void assert_equal(const struct tensor *t, u64 n, const double *want)
{
    ck_assert_uint_eq(t->n, n);
    for (u64 i = 0; i < n; i++)
        ck_assert_msg(t->at[i] == want[i], "element %d is %.17g, not %.17g", (int)i, t->at[i], want[i]);
}

#define NEAR(t, ...) assert_near(&(struct tensor[]){ (t) }[0], COUNT(((const double[]){ __VA_ARGS__ })), (const double[]){ __VA_ARGS__ })
#define EQUAL(t, ...) assert_equal(&(struct tensor[]){ (t) }[0], COUNT(((const double[]){ __VA_ARGS__ })), (const double[]){ __VA_ARGS__ })

/* A part of T: rows FROM to FROM + SIZE of dimension DIM. */
static struct tensor part(struct tensor t, u32 dim, u64 from, u64 size)
{
    struct tensor p = t;
    p.from[dim] = from;
    p.size[dim] = size;
    tensor_allot(&p, &arena);
    tensor_overlap(&p, &t, REDUCTION_NONE);
    return p;
}

/* Room for a result with the same box. */
static struct tensor like(struct tensor t)
{
    tensor_allot(&t, &arena);
    return t;
}

/* ---- The table ---- */

START_TEST(each_operation_of_the_model_has_a_kernel)
{
    u32 n = 0;
    for (u32 i = 0; i < model_dialect.n_operations; i++) {
        const char *name = model_dialect.operations[i].name;
        if (!name || strncmp(name, "model.", 6))
            continue;
        ck_assert_msg(kernel_find(name) != NULL, "%s has no row in kernels.def", name);
        n++;
    }
    ck_assert_uint_eq(n, n_kernels);
}
END_TEST

/* ---- Inputs ---- */

START_TEST(inputs_come_from_published_generators)
{
    ck_assert_uint_eq(generate_word(0, 0), 0xe220a8397b1dcdaf);     /* SplitMix64 from 0: its first two numbers */
    ck_assert_uint_eq(generate_word(0, 1), 0x6e789e6aa1b965f4);
    ck_assert_uint_eq(generate_state("", 0, 0), 0xcbf29ce484222325 ^ 0xe220a8397b1dcdaf);
    ck_assert_uint_eq(generate_state("a", 1, 0), 0xaf63dc4c8601ec8c ^ 0xe220a8397b1dcdaf);          /* FNV-1a of "a" */
    ck_assert_uint_eq(generate_state("foobar", 6, 0), 0x85944171f73967e8 ^ 0xe220a8397b1dcdaf);     /* and of "foobar" */
}
END_TEST

START_TEST(floats_are_multiples_of_a_power_of_two_below_one)
{
    double sum = 0;
    for (u64 i = 0; i < 4096; i++) {
        double x = generate_float(generate_state("x", 1, 7), i);
        ck_assert(x >= -1 && x < 1 && x * 0x1p20 == rint(x * 0x1p20));
        sum += x;
        ck_assert(generate_integer(5, i, 3) < 3);
    }
    ck_assert(fabs(sum) < 4 * sqrt(4096 / 3.0));     /* four deviations of a uniform sum */
    ck_assert(generate_float(generate_state("x", 1, 7), 0) != generate_float(generate_state("x", 1, 8), 0));
    ck_assert(generate_float(generate_state("x", 1, 7), 0) != generate_float(generate_state("y", 1, 7), 0));
}
END_TEST

/* ---- Products ---- */

START_TEST(linear_multiplies_and_adds)
{
    struct tensor x = TENSOR(SIZES(2, 2, 0), 1, 2, 3, 4), w = TENSOR(SIZES(2, 2, 0), 5, 6, 7, 8), b = TENSOR(SIZES(2, 0), 10, 20);
    struct tensor y = run2("model.linear", x, w, ROOM(SIZES(2, 2, 0)));
    EQUAL(y, 19, 22, 43, 50);
    y = ROOM(SIZES(2, 2, 0));
    ck_assert(run("model.linear", 3, (struct tensor[]){ x, w, b }, 1, &y));
    EQUAL(y, 29, 42, 53, 70);
    y = run2("model.linear", TENSOR(SIZES(3, 0), 1, 2, 3), TENSOR(SIZES(3, 1, 0), 1, 10, 100), ROOM(SIZES(1, 0)));
    EQUAL(y, 321);
}
END_TEST

START_TEST(matmul_runs_over_the_leading_dimensions)
{
    struct tensor a = TENSOR(SIZES(2, 1, 2, 0), 1, 2, 3, 4), b = TENSOR(SIZES(2, 2, 1, 0), 5, 6, 7, 8);
    EQUAL(run2("model.matmul", a, b, ROOM(SIZES(2, 1, 1, 0))), 17, 53);
    struct tensor c = TENSOR(SIZES(2, 3, 0), 1, 2, 3, 4, 5, 6), d = TENSOR(SIZES(3, 2, 0), 1, 0, 0, 1, 1, 1);
    EQUAL(run2("model.matmul", c, d, ROOM(SIZES(2, 2, 0))), 4, 5, 10, 11);
}
END_TEST

/* Sums of 1000 products in two orders lie within the bound, which is no larger than a thousand roundings allow. */
START_TEST(a_bound_holds_in_another_order)
{
    enum { K = 1000 };
    struct tensor x = ROOM(SIZES(1, K, 0)), w = ROOM(SIZES(K, 1, 0)), rx = ROOM(SIZES(1, K, 0)), rw = ROOM(SIZES(K, 1, 0));
    double magnitudes = 0;
    for (u64 i = 0; i < K; i++) {
        x.at[i] = rx.at[K - 1 - i] = sin((double)i);
        w.at[i] = rw.at[K - 1 - i] = cos(3.0 * (double)i);
        magnitudes += fabs(x.at[i] * w.at[i]);
    }
    struct tensor a = run2("model.linear", x, w, ROOM(SIZES(1, 1, 0))), b = run2("model.linear", rx, rw, ROOM(SIZES(1, 1, 0)));
    ck_assert(a.at[0] != b.at[0]);
    ck_assert(fabs(a.at[0] - b.at[0]) <= a.bound + b.bound);
    ck_assert(a.bound > 0 && a.bound <= 1.001 * K * 0x1p-53 * magnitudes);
}
END_TEST

/* x off by 2^-30 moves y by no more than the bound says, and by nearly that. */
START_TEST(a_bound_comes_with_its_operands)
{
    struct tensor x = TENSOR(SIZES(1, 2, 0), 1, 2), w = TENSOR(SIZES(2, 1, 0), 3, 4);
    x.bound = 0x1p-30;
    struct tensor y = run2("model.linear", x, w, ROOM(SIZES(1, 1, 0)));
    ck_assert(y.bound >= 7 * 0x1p-30 && y.bound < 7.001 * 0x1p-30);
    ck_assert(run1("model.gelu", x, ROOM(SIZES(1, 2, 0))).bound >= 1.12 * 0x1p-30);
    ck_assert(run2("model.add", x, x, ROOM(SIZES(1, 2, 0))).bound >= 2 * 0x1p-30);
    ck_assert(run2("model.mul", x, x, ROOM(SIZES(1, 2, 0))).bound >= 4 * 0x1p-30);
    ck_assert(run1("model.reshape", x, ROOM(SIZES(2, 0))).bound == 0x1p-30);
}
END_TEST

/* ---- Element by element ---- */

START_TEST(activations_are_the_exact_ones)
{
    NEAR(run1("model.gelu", TENSOR(SIZES(3, 0), 0, 1, -1), ROOM(SIZES(3, 0))), 0, 0.8413447460685429, -0.15865525393145707);   /* Phi(1) */
    NEAR(run1("model.silu", TENSOR(SIZES(3, 0), 0, 1, -1), ROOM(SIZES(3, 0))), 0, 0.7310585786300049, -0.2689414213699951);
    EQUAL(run2("model.add", TENSOR(SIZES(2, 0), 1, 2), TENSOR(SIZES(2, 0), 3, -5), ROOM(SIZES(2, 0))), 4, -3);
    EQUAL(run2("model.mul", TENSOR(SIZES(2, 0), 1, 2), TENSOR(SIZES(2, 0), 3, -5), ROOM(SIZES(2, 0))), 3, -10);
    EQUAL(run1("model.dropout", TENSOR(SIZES(2, 0), 1, 2), ROOM(SIZES(2, 0))), 1, 2);
}
END_TEST

START_TEST(a_mask_hides_later_tokens)
{
    struct tensor x = TENSOR(SIZES(3, 3, 0), 1, 2, 3, 4, 5, 6, 7, 8, 9);
    EQUAL(run1("model.mask", x, ROOM(SIZES(3, 3, 0))), 1, -INFINITY, -INFINITY, 4, 5, -INFINITY, 7, 8, 9);
    call.offset = 1;        /* the first row is the second token's */
    EQUAL(run1("model.mask", x, ROOM(SIZES(3, 3, 0))), 1, 2, -INFINITY, 4, 5, 6, 7, 8, 9);
    call.offset = 0;        /* and so it is in the part of a rank that begins there */
    struct tensor rows = part(x, 0, 1, 2);
    EQUAL(run1("model.mask", rows, like(rows)), 4, 5, -INFINITY, 7, 8, 9);
}
END_TEST

START_TEST(rope_turns_pairs_by_their_position)
{
    struct tensor x = TENSOR(SIZES(2, 4, 0), 1, 0, 1, 0, 1, 0, 1, 0);
    /* position 0: nothing; position 1: by 1 and by 10000^(-2/4) = 0.01 */
    NEAR(run1("model.rope", x, ROOM(SIZES(2, 4, 0))), 1, 0, 1, 0, 0.5403023058681398, 0.8414709848078965, 0.9999500004166653, 0.009999833334166664);
    struct tensor second = part(x, 0, 1, 1);
    NEAR(run1("model.rope", second, like(second)), 0.5403023058681398, 0.8414709848078965, 0.9999500004166653, 0.009999833334166664);
    call.offset = 1;
    struct tensor y = TENSOR(SIZES(1, 2, 0), 0, 1);
    NEAR(run1("model.rope", y, ROOM(SIZES(1, 2, 0))), -0.8414709848078965, 0.5403023058681398);
    struct tensor odd = TENSOR(SIZES(1, 3, 0), 1, 2, 3), out = ROOM(SIZES(1, 3, 0));
    ck_assert(!run("model.rope", 1, &odd, 1, &out));
    ck_assert_str_eq(call.code, "execute.shape");
}
END_TEST

/* ---- Rows ---- */

START_TEST(softmax_of_equal_logits_is_even)
{
    NEAR(run1("model.softmax", TENSOR(SIZES(1, 4, 0), 7, 7, 7, 7), ROOM(SIZES(1, 4, 0))), 0.25, 0.25, 0.25, 0.25);
    NEAR(run1("model.softmax", TENSOR(SIZES(2, 2, 0), 0, log(3), 1000, 1000), ROOM(SIZES(2, 2, 0))), 0.25, 0.75, 0.5, 0.5);
    NEAR(run1("model.softmax", TENSOR(SIZES(3, 0), 5, -INFINITY, 5), ROOM(SIZES(3, 0))), 0.5, 0, 0.5);
}
END_TEST

START_TEST(normalizations_of_known_rows)
{
    struct tensor x = TENSOR(SIZES(1, 4, 0), 1, 2, 3, 4), g = TENSOR(SIZES(4, 0), 1, 1, 2, 1), s = TENSOR(SIZES(4, 0), 0, 0, 0, 10);
    double root = sqrt(1.25001);        /* mean 2.5, variance 1.25 */
    struct tensor y = ROOM(SIZES(1, 4, 0));
    ck_assert(run("model.layer_norm", 3, (struct tensor[]){ x, g, s }, 1, &y));
    NEAR(y, -1.5 / root, -0.5 / root, 1 / root, 10 + 1.5 / root);
    root = sqrt(12.50001);              /* (9 + 16) / 2 */
    NEAR(run2("model.rms_norm", TENSOR(SIZES(1, 2, 0), 3, 4), TENSOR(SIZES(2, 0), 1, 2), ROOM(SIZES(1, 2, 0))), 3 / root, 8 / root);
}
END_TEST

START_TEST(cross_entropy_is_a_mean_of_logarithms)
{
    struct tensor even = TENSOR(SIZES(2, 4, 0), 3, 3, 3, 3, 0, 0, 0, 0), labels = TENSOR(SIZES(2, 0), 2, 0);
    NEAR(run2("model.cross_entropy", even, labels, ROOM(SIZES(0))), 1.3862943611198906);      /* ln 4 */
    struct tensor x = TENSOR(SIZES(2, 2, 0), 0, log(3), 0, log(3)), picks = TENSOR(SIZES(2, 0), 0, 1);
    NEAR(run2("model.cross_entropy", x, picks, ROOM(SIZES(0))), (log(4) + log(4.0 / 3)) / 2);
    /* A rank's share is of the mean over all tokens. */
    NEAR(run2("model.cross_entropy", part(x, 0, 1, 1), part(picks, 0, 1, 1), ROOM(SIZES(0))), log(4.0 / 3) / 2);
    struct tensor wrong = TENSOR(SIZES(2, 0), 0, 2), out = ROOM(SIZES(0));
    ck_assert(!run("model.cross_entropy", 2, (struct tensor[]){ x, wrong }, 1, &out));
    ck_assert_str_eq(call.code, "execute.index");
}
END_TEST

/* ---- What moves ---- */

START_TEST(embedding_looks_rows_up)
{
    struct tensor t = TENSOR(SIZES(3, 0), 2, 0, 3), table = TENSOR(SIZES(4, 2, 0), 1, 2, 3, 4, 5, 6, 7, 8);
    EQUAL(run2("model.embedding", t, table, ROOM(SIZES(3, 2, 0))), 5, 6, 1, 2, 7, 8);
    EQUAL(run2("model.embedding", t, part(table, 0, 2, 2), ROOM(SIZES(3, 2, 0))), 5, 6, 0, 0, 7, 8);    /* rows 2 and 3 only */
    struct tensor late = TENSOR(SIZES(1, 0), 4), out = ROOM(SIZES(1, 2, 0));
    ck_assert(!run("model.embedding", 2, (struct tensor[]){ late, table }, 1, &out));
    ck_assert_str_eq(call.code, "execute.index");
}
END_TEST

START_TEST(elements_keep_their_order_or_change_it_as_said)
{
    struct tensor x = TENSOR(SIZES(2, 3, 0), 1, 2, 3, 4, 5, 6);
    EQUAL(run1("model.reshape", x, ROOM(SIZES(3, 2, 0))), 1, 2, 3, 4, 5, 6);
    call.permutation[0] = 1;
    call.permutation[1] = 0;
    call.n_permutation = 2;
    EQUAL(run1("model.transpose", x, ROOM(SIZES(3, 2, 0))), 1, 4, 2, 5, 3, 6);
    /* [2, 0, 1] of 1x2x3: result dimension 0 is operand dimension 2 */
    memcpy(call.permutation, (u32[]){ 2, 0, 1 }, 3 * sizeof(u32));
    call.n_permutation = 3;
    EQUAL(run1("model.transpose", TENSOR(SIZES(1, 2, 3, 0), 1, 2, 3, 4, 5, 6), ROOM(SIZES(3, 1, 2, 0))), 1, 4, 2, 5, 3, 6);
}
END_TEST

START_TEST(pieces_lie_along_the_axis)
{
    struct tensor x = TENSOR(SIZES(2, 3, 0), 1, 2, 3, 4, 5, 6), pieces[] = { ROOM(SIZES(2, 1, 0)), ROOM(SIZES(2, 2, 0)) };
    call.axis = 1;
    ck_assert(run("model.split", 1, &x, 2, pieces));
    EQUAL(pieces[0], 1, 4);
    EQUAL(pieces[1], 2, 3, 5, 6);
    EQUAL(run2("model.concat", pieces[1], pieces[0], ROOM(SIZES(2, 3, 0))), 2, 3, 1, 5, 6, 4);
    call.axis = 0;
    EQUAL(run2("model.concat", TENSOR(SIZES(1, 2, 0), 1, 2), TENSOR(SIZES(1, 2, 0), 3, 4), ROOM(SIZES(2, 2, 0))), 1, 2, 3, 4);
    struct tensor short_pieces[] = { ROOM(SIZES(1, 3, 0)), ROOM(SIZES(2, 3, 0)) };
    ck_assert(!run("model.split", 1, &x, 2, short_pieces));
    ck_assert_str_eq(call.code, "execute.shape");
}
END_TEST

START_TEST(a_part_is_written_where_it_begins)
{
    struct tensor state = TENSOR(SIZES(4, 1, 0), 1, 2, 3, 4), new = TENSOR(SIZES(2, 1, 0), 8, 9);
    EQUAL(run2("model.write", state, new, ROOM(SIZES(4, 1, 0))), 8, 9, 3, 4);
    call.offset = 1;
    EQUAL(run2("model.write", state, new, ROOM(SIZES(4, 1, 0))), 1, 8, 9, 4);
    struct tensor lower = part(state, 0, 2, 2);
    EQUAL(run2("model.write", lower, new, like(lower)), 9, 4);     /* a rank with rows 2 and 3 */
    call.offset = 3;
    struct tensor out = ROOM(SIZES(4, 1, 0));
    ck_assert(!run("model.write", 2, (struct tensor[]){ state, new }, 1, &out));
}
END_TEST

START_TEST(casts_round_towards_zero_only_to_integers)
{
    struct tensor whole = ROOM(SIZES(3, 0));
    whole.element = ELEMENT_I32;
    EQUAL(run1("model.cast", TENSOR(SIZES(3, 0), 1.75, -1.75, 2), whole), 1, -1, 2);
    struct tensor half = ROOM(SIZES(1, 0));
    half.element = ELEMENT_F16;
    EQUAL(run1("model.cast", TENSOR(SIZES(1, 0), 1.0 / 3), half), 1.0 / 3);
}
END_TEST

START_TEST(what_only_moves_is_exact)
{
    struct tensor x = TENSOR(SIZES(2, 3, 0), 1, 2, 3, 4, 5, 6);
    for (u32 i = 0; i < n_kernels; i++) {
        if (!(kernels[i].flags & KERNEL_MOVES) || kernels[i].run == kernel_transpose)
            continue;
        struct tensor y = ROOM(SIZES(2, 3, 0)), in[] = { x, x };
        call.axis = 0;
        ck_assert_msg(run(kernels[i].name, kernels[i].run == kernel_write ? 2 : 1, in, 1, &y), "%s", call.fault);
        ck_assert(y.bound == 0);
        EQUAL(y, 1, 2, 3, 4, 5, 6);
    }
}
END_TEST

/* No kernel may read or write beyond what it is given, whatever it is given. */
START_TEST(what_does_not_fit_is_refused)
{
    for (u32 i = 0; i < n_kernels; i++) {
        struct tensor in[] = { ROOM(SIZES(2, 3, 0)), ROOM(SIZES(5, 7, 0)), ROOM(SIZES(11, 0)) }, out = ROOM(SIZES(13, 2, 0));
        call.axis = 1;
        call.n_permutation = 2;
        call.permutation[0] = 1;
        call.permutation[1] = 0;
        bool two = strstr("model.linear model.matmul model.layer_norm model.rms_norm model.add model.mul model.embedding "
                          "model.write model.cross_entropy model.concat", kernels[i].name) != NULL;
        ck_assert_msg(!run(kernels[i].name, two ? 2 : 1, in, 1, &out), "%s takes it", kernels[i].name);
        ck_assert(call.code && call.fault);
        in[0] = in[1] = ROOM(SIZES(0));
        ck_assert_msg(!run(kernels[i].name, two ? 2 : 1, in, 1, &out), "%s takes scalars", kernels[i].name);
    }
}
END_TEST

/* ---- The mesh ---- */

/* Rank 5 of [a = 2, b = 2, c = 2] is at (1, 0, 1). */
START_TEST(ranks_are_counted_major_to_minor)
{
    struct mesh m = { .axes = { { 1, 2, 4 }, { 2, 2, 2 }, { 3, 2, 1 } }, .n = 3, .size = 8 };
    ck_assert_uint_eq(mesh_position(&m, (struct axis_list){ (u32[]){ 1, 3 }, 2 }, 5), 3);
    ck_assert_uint_eq(mesh_position(&m, (struct axis_list){ (u32[]){ 2, 1 }, 2 }, 5), 1);
    ck_assert_uint_eq(mesh_position_in(&m, 6, 5), 1);
    ck_assert_uint_eq(mesh_member(&m, 5, 5, 0), 0);
    ck_assert_uint_eq(mesh_member(&m, 5, 5, 2), 4);
    ck_assert_uint_eq(mesh_product(&m, 5), 4);
}
END_TEST

START_TEST(a_sharding_cuts_boxes)
{
    struct mesh m = { .axes = { { 1, 2, 2 }, { 2, 2, 1 } }, .n = 2, .size = 4 };
    struct sharding s = { .rank = 2, .dims = { { NULL, 0 }, { (u32[]){ 2, 1 }, 2 } } };
    struct tensor whole = ROOM(SIZES(3, 8, 0)), box;
    u32 dim;
    ck_assert(mesh_box(&m, &s, 1, &whole, &box, &dim));     /* at (0, 1): axis 2 is major, so the third quarter */
    ck_assert_uint_eq(box.from[1], 4);
    ck_assert_uint_eq(box.size[1], 2);
    ck_assert_uint_eq(box.size[0], 3);
    struct tensor odd = ROOM(SIZES(3, 6, 0));
    ck_assert(!mesh_box(&m, &s, 1, &odd, &box, &dim));
    ck_assert_uint_eq(dim, 1);
}
END_TEST

START_TEST(common_elements_are_copied_or_reduced)
{
    struct tensor x = TENSOR(SIZES(4, 0), 1, 2, 3, 4), low = part(x, 0, 0, 3), high = part(x, 0, 2, 2), y = ROOM(SIZES(4, 0));
    struct tensor last = part(x, 0, 3, 1), other = TENSOR(SIZES(4, 0), 0, 3, 0, 9);
    ck_assert_uint_eq(tensor_overlap(&y, &low, REDUCTION_NONE), 3);
    EQUAL(y, 1, 2, 3, 0);
    ck_assert_uint_eq(tensor_overlap(&y, &high, REDUCTION_SUM), 2);
    EQUAL(y, 1, 2, 6, 4);
    ck_assert_uint_eq(tensor_overlap(&low, &last, REDUCTION_NONE), 0);
    tensor_overlap(&y, &other, REDUCTION_MAX);
    EQUAL(y, 1, 3, 6, 9);
}
END_TEST

Suite *execute_suite(void)
{
    Suite *s = suite_create("execute");
    TCase *c = tcase_create("execute");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, each_operation_of_the_model_has_a_kernel);
    tcase_add_test(c, inputs_come_from_published_generators);
    tcase_add_test(c, floats_are_multiples_of_a_power_of_two_below_one);
    tcase_add_test(c, linear_multiplies_and_adds);
    tcase_add_test(c, matmul_runs_over_the_leading_dimensions);
    tcase_add_test(c, a_bound_holds_in_another_order);
    tcase_add_test(c, a_bound_comes_with_its_operands);
    tcase_add_test(c, activations_are_the_exact_ones);
    tcase_add_test(c, a_mask_hides_later_tokens);
    tcase_add_test(c, rope_turns_pairs_by_their_position);
    tcase_add_test(c, softmax_of_equal_logits_is_even);
    tcase_add_test(c, normalizations_of_known_rows);
    tcase_add_test(c, cross_entropy_is_a_mean_of_logarithms);
    tcase_add_test(c, embedding_looks_rows_up);
    tcase_add_test(c, elements_keep_their_order_or_change_it_as_said);
    tcase_add_test(c, pieces_lie_along_the_axis);
    tcase_add_test(c, a_part_is_written_where_it_begins);
    tcase_add_test(c, casts_round_towards_zero_only_to_integers);
    tcase_add_test(c, what_only_moves_is_exact);
    tcase_add_test(c, what_does_not_fit_is_refused);
    tcase_add_test(c, ranks_are_counted_major_to_minor);
    tcase_add_test(c, a_sharding_cuts_boxes);
    tcase_add_test(c, common_elements_are_copied_or_reduced);
    suite_add_tcase(s, c);
    return s;
}
