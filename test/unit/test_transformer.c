/* One block in training against numbers that papers, Calculon and hand-worked fixtures give. */
#include "transformer/formula.h"
#include "training.h"

static void derive_175b(u64 tensor, enum tensor_communication c, enum recompute_policy recompute, bool regather)
{
    derive(decoder(12288, 96, 96), 1, parallel(tensor, c, recompute, regather));
}

/* 8 heads of 8, 32 positions, microbatch 1. */
static void derive_fixture(struct training_strategy s)
{
    struct transformer_model m = { .hidden = 64, .feedforward = 256, .heads = 8, .kv_heads = 8, .head_size = 8, .sequence = 32,
                                   .blocks = 2, .dropout = true };
    derive(m, 1, s);
}

static u64 moved(enum training_phase phase)
{
    return block.phases[phase].read + block.phases[phase].write;
}

static qty operations(enum training_phase phase)
{
    return block.phases[phase].operations;
}

START_TEST(the_175b_block_has_the_operations_of_each_phase)
{
    derive_175b(8, RS_AG, RECOMPUTE_ATTENTION, true);
    ck_assert_uint_eq(operations(PHASE_FORWARD), 953998639104);
    ck_assert_uint_eq(operations(PHASE_RECOMPUTE), 13186891776);
    ck_assert_uint_eq(operations(PHASE_ACTIVATION_GRADIENT), 980108181504);
    ck_assert_uint_eq(operations(PHASE_WEIGHT_GRADIENT), 927756976128);
    ck_assert_uint_eq(operations(PHASE_OPTIMIZER), 2491957248);
    ck_assert_uint_eq(block.n, 66);
    ck_assert_uint_eq(block.memory.weights, 453083136);
    ck_assert_uint_eq(block.memory.stored, 106954752);
    ck_assert_uint_eq(block.memory.working, 471859200);
}
END_TEST

/* Korthikanti, section 4.2.2, and the two gathers that are repeated for the weight gradients. */
START_TEST(the_175b_block_sends_ten_messages_of_the_whole_activation)
{
    derive_175b(8, RS_AG, RECOMPUTE_ATTENTION, true);
    u32 kinds[4] = { 0 };
    for (u32 i = 0; i < block.n; i++) {
        const struct block_invocation *v = &block.invocations[i];
        ck_assert_int_eq(v->collective != COLLECTIVE_NONE, v->work.message != 0);
        if (v->collective)
            ck_assert_uint_eq(v->work.message, 50331648);
        kinds[v->collective]++;
    }
    ck_assert_uint_eq(kinds[COLLECTIVE_ALL_GATHER], 6);
    ck_assert_uint_eq(kinds[COLLECTIVE_REDUCE_SCATTER], 4);
    ck_assert_uint_eq(kinds[COLLECTIVE_ALL_REDUCE], 0);
}
END_TEST

START_TEST(all_reduce_sends_two_messages_forward_and_two_back)
{
    derive_175b(8, AR, RECOMPUTE_NONE, false);
    ck_assert_uint_eq(block.phases[PHASE_FORWARD].message, 2 * 50331648);
    ck_assert_uint_eq(block.phases[PHASE_ACTIVATION_GRADIENT].message, 2 * 50331648);
    ck_assert_uint_eq(block.phases[PHASE_RECOMMUNICATION].message, 0);
    ck_assert_uint_eq(operations(PHASE_FORWARD), 954483081216);
    ck_assert_uint_eq(operations(PHASE_ACTIVATION_GRADIENT), 980944945152);
    ck_assert_uint_eq(operations(PHASE_WEIGHT_GRADIENT), 928065257472);
}
END_TEST

START_TEST(full_recompute_adds_exactly_one_forward_pass)
{
    derive_175b(8, AR, RECOMPUTE_FULL, false);
    ck_assert_uint_eq(operations(PHASE_RECOMPUTE), 954439041024);
    ck_assert_uint_eq(operations(PHASE_RECOMMUNICATION), 44040192);
    ck_assert_uint_eq(operations(PHASE_RECOMPUTE) + operations(PHASE_RECOMMUNICATION), operations(PHASE_FORWARD));
    ck_assert_uint_eq(moved(PHASE_RECOMPUTE) + moved(PHASE_RECOMMUNICATION), moved(PHASE_FORWARD));
    ck_assert_uint_eq(block.phases[PHASE_RECOMMUNICATION].message, block.phases[PHASE_FORWARD].message);
}
END_TEST

static const struct {
    u64 tensor;
    enum tensor_communication communication;
    enum recompute_policy recompute;
    bool regather;
    u64 stored, checkpoint;
} kept_175b[] = {
    { 1, AR, RECOMPUTE_NONE, false, 2868903936, 0 },
    { 8, AR, RECOMPUTE_NONE, false, 578813952, 0 },
    { 8, RS_AG, RECOMPUTE_NONE, true, 358612992, 0 },
    { 8, RS_AG, RECOMPUTE_NONE, false, 459276288, 0 },
    { 8, AR, RECOMPUTE_ATTENTION, false, 327155712, 0 },
    { 8, RS_AG, RECOMPUTE_ATTENTION, true, 106954752, 0 },
    { 8, RS_AG, RECOMPUTE_ATTENTION, false, 157286400, 0 },
    { 8, AR, RECOMPUTE_FULL, false, 0, 50331648 },
    { 8, RS_AG, RECOMPUTE_FULL, false, 0, 50331648 / 8 },
};

START_TEST(the_175b_block_keeps_what_the_paper_says)
{
    derive_175b(kept_175b[_i].tensor, kept_175b[_i].communication, kept_175b[_i].recompute, kept_175b[_i].regather);
    ck_assert_uint_eq(block.memory.stored, kept_175b[_i].stored);
    ck_assert_uint_eq(block.memory.checkpoint, kept_175b[_i].checkpoint);
}
END_TEST

START_TEST(with_one_rank_a_regather_gathers_nothing_and_drops_nothing)
{
    derive_175b(1, RS_AG, RECOMPUTE_NONE, true);
    ck_assert_uint_eq(block.memory.stored, 2868903936);
    ck_assert_uint_eq(block.phase_counts[PHASE_RECOMMUNICATION], 0);
}
END_TEST

/* Forward, recompute, recommunication, activation gradient, weight gradient, optimizer. */
static const struct {
    u64 tensor;
    enum tensor_communication communication;
    enum recompute_policy recompute;
    bool regather;
    u32 counts[PHASES];
} counts[] = {
    { 1, AR, RECOMPUTE_NONE, false, { 17, 0, 0, 20, 8, 8 } },
    { 1, RS_AG, RECOMPUTE_ATTENTION, false, { 17, 3, 0, 20, 8, 8 } },
    { 1, AR, RECOMPUTE_FULL, false, { 17, 17, 0, 20, 8, 8 } },
    { 2, AR, RECOMPUTE_NONE, false, { 19, 0, 0, 22, 8, 8 } },
    { 2, AR, RECOMPUTE_ATTENTION, false, { 19, 3, 0, 22, 8, 8 } },
    { 2, AR, RECOMPUTE_FULL, false, { 19, 17, 2, 22, 8, 8 } },
    { 2, RS_AG, RECOMPUTE_NONE, false, { 21, 0, 0, 24, 8, 8 } },
    { 2, RS_AG, RECOMPUTE_NONE, true, { 21, 0, 2, 24, 8, 8 } },
    { 2, RS_AG, RECOMPUTE_ATTENTION, false, { 21, 3, 1, 24, 8, 8 } },
    { 2, RS_AG, RECOMPUTE_ATTENTION, true, { 21, 3, 2, 24, 8, 8 } },
    { 2, RS_AG, RECOMPUTE_FULL, false, { 21, 17, 4, 24, 8, 8 } },
};

START_TEST(each_policy_has_its_count_of_invocations)
{
    derive_fixture(parallel(counts[_i].tensor, counts[_i].communication, counts[_i].recompute, counts[_i].regather));
    u32 all = 0;
    for (size_t p = 0; p < PHASES; p++) {
        ck_assert_uint_eq(block.phase_counts[p], counts[_i].counts[p]);
        all += counts[_i].counts[p];
    }
    ck_assert_uint_eq(block.n, all);
}
END_TEST

START_TEST(the_fixture_on_two_ranks_with_all_reduce_has_its_facts)
{
    derive_fixture(parallel(2, AR, RECOMPUTE_ATTENTION, false));
    ck_assert_uint_eq(operations(PHASE_FORWARD), 1808384);
    ck_assert_uint_eq(moved(PHASE_FORWARD), 188928 + 65536);
    ck_assert_uint_eq(operations(PHASE_RECOMPUTE), 90112);
    ck_assert_uint_eq(moved(PHASE_RECOMPUTE), 32768 + 16384);
    ck_assert_uint_eq(operations(PHASE_ACTIVATION_GRADIENT), 2011136);
    ck_assert_uint_eq(moved(PHASE_ACTIVATION_GRADIENT), 229888 + 65536);
    ck_assert_uint_eq(operations(PHASE_WEIGHT_GRADIENT), 1601536);
    ck_assert_uint_eq(moved(PHASE_WEIGHT_GRADIENT), 65536 + 49664);
    ck_assert_uint_eq(operations(PHASE_OPTIMIZER), 273152);
    ck_assert_uint_eq(moved(PHASE_OPTIMIZER), 297984);
    ck_assert_uint_eq(block.memory.weights, 49664);
    ck_assert_uint_eq(block.memory.working, 73728);
    ck_assert_uint_eq(block.memory.stored, 45056);
    ck_assert_uint_eq(block.memory.gradients, 49664);
    ck_assert_uint_eq(block.memory.gradients_unsharded, 99328);
    ck_assert_uint_eq(block.memory.activation_gradients, 81920);
    ck_assert_uint_eq(block.memory.optimizer, 297984);
}
END_TEST

START_TEST(the_fixture_on_one_rank_has_no_collective_and_no_buffer_for_one)
{
    derive_fixture(parallel(1, AR, RECOMPUTE_ATTENTION, false));
    ck_assert_uint_eq(block.memory.working, 110592);
    ck_assert_uint_eq(block.memory.activation_gradients, 118784);
    ck_assert_uint_eq(block.memory.stored, 69632);
    for (size_t i = 0; i < block.n_layers; i++)
        if (primitive_table[layer_table[block.layers[i].row].primitive].engine == ENGINE_COLLECTIVE) {
            ck_assert_uint_eq(block.layers[i].act_bytes + block.layers[i].activation_gradient_bytes, 0);
            ck_assert_uint_eq(block.layers[i].forward.read, 0);
        }
}
END_TEST

START_TEST(the_fixture_split_along_the_sequence_has_its_facts)
{
    derive_fixture(parallel(2, RS_AG, RECOMPUTE_NONE, false));
    ck_assert_uint_eq(operations(PHASE_FORWARD), 1785856);
    ck_assert_uint_eq(moved(PHASE_FORWARD), 182784 + 57344);
    ck_assert_uint_eq(block.phases[PHASE_FORWARD].message, 16384);
    ck_assert_uint_eq(operations(PHASE_ACTIVATION_GRADIENT), 1972224);
    ck_assert_uint_eq(operations(PHASE_WEIGHT_GRADIENT), 1587200);
    ck_assert_uint_eq(block.memory.working, 67584);
    ck_assert_uint_eq(block.memory.stored, 63488);
    ck_assert_uint_eq(block.memory.activation_gradients, 71680);
    ck_assert_uint_eq(block.boundary, 2 * 32 * 64 / 2);
}
END_TEST

START_TEST(a_fused_activation_keeps_nothing_of_its_own)
{
    struct training_strategy s = parallel(2, AR, RECOMPUTE_NONE, false);
    s.fused_activation = true;
    derive_fixture(s);
    ck_assert_uint_eq(block.memory.working, 65536);
    ck_assert_uint_eq(block.memory.stored, 57344);
    ck_assert_uint_eq(block.memory.activation_gradients, 73728);
    ck_assert_uint_eq(operations(PHASE_FORWARD), 1808384);
}
END_TEST

START_TEST(sharded_gradients_and_optimizer_are_shared_by_the_replicas)
{
    struct training_strategy s = parallel(2, AR, RECOMPUTE_NONE, false);
    s.data = 2;
    s.optimizer_sharding = true;
    derive_fixture(s);
    ck_assert_uint_eq(block.memory.gradients, 24832);
    ck_assert_uint_eq(block.memory.optimizer, 148992);
    ck_assert_uint_eq(block.memory.gradients_unsharded, 99328);
}
END_TEST

/* w = 64*32 of a projection over 3 replicas: 2048/3 rounded up is 683. */
START_TEST(a_share_that_is_not_whole_is_the_largest_ranks)
{
    struct training_strategy s = parallel(2, AR, RECOMPUTE_NONE, false);
    s.data = 3;
    s.optimizer_sharding = true;
    derive_fixture(s);
    ck_assert_uint_eq(block.layers[4].weights, 2048);
    ck_assert_uint_eq(block.layers[4].gradient_bytes, 2 * 683);
    ck_assert_uint_eq(block.layers[4].optimizer_bytes, 12 * 683);
    ck_assert_uint_eq(block.layers[4].optimizer.operations, 11 * 683);
}
END_TEST

START_TEST(invocations_run_forward_again_backward_and_optimize)
{
    derive_fixture(parallel(2, RS_AG, RECOMPUTE_ATTENTION, true));
    const char *expected[] = {
        [0] = "attention.layer_norm.forward",
        [1] = "attention.input_collective.forward.all_gather",
        [9] = "attention.output_projection.forward",
        [10] = "attention.output_collective.forward.reduce_scatter",
        [20] = "mlp.residual.forward",
        [21] = "attention.input_collective.recommunication.all_gather",
        [22] = "attention.query_key.recompute",
        [25] = "mlp.input_collective.recommunication.all_gather",
        [26] = "mlp.residual.activation_gradient",
        [28] = "mlp.output_collective.activation_gradient.all_gather",
        [29] = "mlp.contract.activation_gradient",
        [30] = "mlp.contract.weight_gradient",
        [57] = "attention.fork.activation_gradient",
        [58] = "attention.layer_norm.optimizer",
        [65] = "mlp.contract.optimizer",
    };
    ck_assert_uint_eq(block.n, 66);
    for (size_t i = 0; i < COUNT(expected); i++)
        if (expected[i])
            ck_assert_str_eq(block.invocations[i].name, expected[i]);
    ck_assert_int_eq(block.invocations[65].engine, ENGINE_VECTOR);
    ck_assert_str_eq(block.invocations[65].primitive, "linear");
    ck_assert_int_eq(block.invocations[29].engine, ENGINE_MATRIX);
}
END_TEST

START_TEST(a_count_past_128_bits_names_the_layer_and_the_term)
{
    struct transformer_model m = { .hidden = (u64)1 << 60, .feedforward = (u64)1 << 60, .heads = 1, .kv_heads = 1,
                                   .head_size = 1, .sequence = 1024, .blocks = 1 };
    struct training_workload w = { .batch = 1, .microbatch = 1, .element_bytes = 2 };
    struct training_strategy s = parallel(1, AR, RECOMPUTE_NONE, false);
    struct block_sizes sizes = block_sizes_of(pool, &m, &w, &s);
    struct block_switches switches = block_switches_of(&m, &s, ATTENTION_DENSE);
    ck_assert(!block_derive(pool, &arena, &sizes, &switches, &block, &fault));
    ck_assert_str_eq(fault.layer, "mlp.expand");
    ck_assert_str_eq(fault.term, "2*M*H*N");
    ck_assert_int_eq(fault.status, EXPR_OVERFLOW);
}
END_TEST

START_TEST(a_split_that_is_not_exact_names_the_quantity)
{
    struct transformer_model m = decoder(12288, 52, 96);
    struct training_workload w = { .batch = 1, .microbatch = 1, .element_bytes = 2 };
    struct training_strategy s = parallel(8, AR, RECOMPUTE_NONE, false);
    struct block_sizes sizes = block_sizes_of(pool, &m, &w, &s);
    struct block_switches switches = block_switches_of(&m, &s, ATTENTION_DENSE);
    ck_assert(!block_derive(pool, &arena, &sizes, &switches, &block, &fault));
    ck_assert_str_eq(fault.layer, "block");
    ck_assert_str_eq(fault.term, "h/t*s");
    ck_assert_int_eq(fault.status, EXPR_INEXACT);
}
END_TEST

/* ---- Closed forms: the same table with symbols. H = h s, h = t k, F = 4 H; A = b S H, C = b k S S ---- */

static qty symbol(const char *name)
{
    return qty_symbol(pool, intern_string(&names, name));
}

static qty closed(const char *formula)
{
    qty b = symbol("b"), S = symbol("S"), k = symbol("k"), s = symbol("s"), t = symbol("t"), H = 0, A = 0, C = 0, q = 0;
    const struct formula_name base[] = { { "b", b }, { "S", S }, { "k", k }, { "s", s }, { "t", t } };
    const struct formula_scope symbols = { base, COUNT(base), NULL };
    ck_assert_int_eq(formula_evaluate(pool, "t*k*s", &symbols, &H), EXPR_OK);
    ck_assert_int_eq(formula_evaluate(pool, "b*S*t*k*s", &symbols, &A), EXPR_OK);
    ck_assert_int_eq(formula_evaluate(pool, "b*k*S*S", &symbols, &C), EXPR_OK);
    const struct formula_name wide[] = { { "A", A }, { "C", C }, { "H", H } };
    const struct formula_scope scope = { wide, COUNT(wide), &symbols };
    ck_assert_int_eq(formula_evaluate(pool, formula, &scope, &q), EXPR_OK);
    return q;
}

static void derive_symbolic(bool split, enum recompute_policy recompute, bool regather)
{
    struct block_sizes sizes = {
        .b = symbol("b"), .S = symbol("S"), .H = closed("H"), .F = closed("4*H"), .h = closed("t*k"),
        .s = symbol("s"), .k = symbol("k"), .t = symbol("t"), .r = 1, .e = 2, .o = 12, .d = 1,
    };
    struct block_switches switches = { .parallel = true, .split = split, .input_regather = regather,
                                       .recompute = recompute, .dropout = true };
    ck_assert(block_derive(pool, &arena, &sizes, &switches, &block, &fault));
}

static const struct {
    bool split;
    enum recompute_policy recompute;
    bool regather;
    const char *stored;
} stored_forms[] = {
    { false, RECOMPUTE_NONE, false, "10*A + 24*A/t + 5*C" },
    { true, RECOMPUTE_NONE, false, "4*A + 34*A/t + 5*C" },
    { true, RECOMPUTE_NONE, true, "34*A/t + 5*C" },
    { false, RECOMPUTE_ATTENTION, false, "10*A + 24*A/t" },
    { true, RECOMPUTE_ATTENTION, false, "2*A + 34*A/t" },
    { true, RECOMPUTE_ATTENTION, true, "34*A/t" },
    { false, RECOMPUTE_FULL, false, "0" },
};

START_TEST(stored_activations_are_the_papers_closed_form)
{
    derive_symbolic(stored_forms[_i].split, stored_forms[_i].recompute, stored_forms[_i].regather);
    ck_assert_str_eq(text(block.memory.stored), text(closed(stored_forms[_i].stored)));
}
END_TEST

START_TEST(products_are_the_papers_closed_forms)
{
    derive_symbolic(true, RECOMPUTE_NONE, false);
    qty qkv = 0, core = 0, mlp = 0;
    for (size_t i = 4; i <= 6; i++)
        qty_add(pool, qkv, block.layers[i].forward.operations, &qkv);
    qty_add(pool, block.layers[7].forward.operations, block.layers[10].forward.operations, &core);
    qty_add(pool, block.layers[18].forward.operations, block.layers[20].forward.operations, &mlp);
    ck_assert_str_eq(text(qkv), text(closed("6*b*S*H*H/t")));
    ck_assert_str_eq(text(core), text(closed("4*b*S*S*H/t")));
    ck_assert_str_eq(text(mlp), text(closed("4*b*S*H*4*H/t")));
}
END_TEST

START_TEST(every_message_is_the_whole_activation)
{
    derive_symbolic(true, RECOMPUTE_FULL, false);
    ck_assert_str_eq(text(block.phases[PHASE_FORWARD].message), text(closed("4*2*A")));
    ck_assert_str_eq(text(block.phases[PHASE_ACTIVATION_GRADIENT].message), text(closed("4*2*A")));
    ck_assert_str_eq(text(block.phases[PHASE_RECOMMUNICATION].message), text(closed("4*2*A")));
    ck_assert_str_eq(text(block.memory.checkpoint), text(closed("2*A/t")));
}
END_TEST

Suite *transformer_suite(void);

Suite *transformer_suite(void)
{
    TCase *t = tcase_create("transformer");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_175b_block_has_the_operations_of_each_phase);
    tcase_add_test(t, the_175b_block_sends_ten_messages_of_the_whole_activation);
    tcase_add_test(t, all_reduce_sends_two_messages_forward_and_two_back);
    tcase_add_test(t, full_recompute_adds_exactly_one_forward_pass);
    tcase_add_loop_test(t, the_175b_block_keeps_what_the_paper_says, 0, COUNT(kept_175b));
    tcase_add_test(t, with_one_rank_a_regather_gathers_nothing_and_drops_nothing);
    tcase_add_loop_test(t, each_policy_has_its_count_of_invocations, 0, COUNT(counts));
    tcase_add_test(t, the_fixture_on_two_ranks_with_all_reduce_has_its_facts);
    tcase_add_test(t, the_fixture_on_one_rank_has_no_collective_and_no_buffer_for_one);
    tcase_add_test(t, the_fixture_split_along_the_sequence_has_its_facts);
    tcase_add_test(t, a_fused_activation_keeps_nothing_of_its_own);
    tcase_add_test(t, sharded_gradients_and_optimizer_are_shared_by_the_replicas);
    tcase_add_test(t, a_share_that_is_not_whole_is_the_largest_ranks);
    tcase_add_test(t, invocations_run_forward_again_backward_and_optimize);
    tcase_add_test(t, a_count_past_128_bits_names_the_layer_and_the_term);
    tcase_add_test(t, a_split_that_is_not_exact_names_the_quantity);
    tcase_add_loop_test(t, stored_activations_are_the_papers_closed_form, 0, COUNT(stored_forms));
    tcase_add_test(t, products_are_the_papers_closed_forms);
    tcase_add_test(t, every_message_is_the_whole_activation);
    Suite *s = suite_create("transformer");
    suite_add_tcase(s, t);
    return s;
}
