/* What a model's spec makes of its block, against numbers of the models' own configurations and against forms by hand. */
#include "training.h"

/* Facts of the published configurations. */
static struct transformer_model gpt(u64 hidden, u64 heads, u64 head_size, u64 blocks, u64 sequence)
{
    return (struct transformer_model){ .hidden = hidden, .feedforward = 4 * hidden, .heads = heads, .kv_heads = heads,
                                       .head_size = head_size, .sequence = sequence, .blocks = blocks, .bias = true, .dropout = true };
}

static struct transformer_model llama(u64 hidden, u64 feedforward, u64 heads, u64 kv_heads, u64 head_size, u64 blocks)
{
    return (struct transformer_model){ .hidden = hidden, .feedforward = feedforward, .heads = heads, .kv_heads = kv_heads,
                                       .head_size = head_size, .sequence = 2048, .blocks = blocks, .norm = NORM_RMS,
                                       .mlp = MLP_SWIGLU, .rotary = true };
}

static struct transformer_model llama2_7b(void) { return llama(4096, 11008, 32, 32, 128, 32); }
static struct transformer_model llama3_8b(void) { return llama(4096, 14336, 32, 8, 128, 32); }
static struct transformer_model llama3_70b(void) { return llama(8192, 28672, 64, 8, 128, 80); }

static const struct block_layer *layer(const char *name)
{
    for (u32 i = 0; i < block.n_layers; i++)
        if (!strcmp(layer_table[block.layers[i].row].name, name))
            return &block.layers[i];
    return NULL;
}

static qty forward(const char *name)
{
    const struct block_layer *l = layer(name);
    return l ? l->forward.operations : 0;
}

static qty projections(void) { return forward("attention.query") + forward("attention.key") + forward("attention.value"); }
static qty core(void) { return forward("attention.query_key") + forward("attention.probability_value"); }
static qty mlp(void) { return forward("mlp.gate") + forward("mlp.expand") + forward("mlp.contract"); }

static qty products(void) { return projections() + core() + forward("attention.output_projection") + mlp(); }

static void derive_pairs(struct transformer_model m, struct training_strategy s, enum attention_pairs pairs)
{
    struct training_workload w = { .batch = s.data, .microbatch = 1, .element_bytes = 2 };
    struct block_sizes sizes = block_sizes_of(pool, &m, &w, &s);
    struct block_switches switches = block_switches_of(&m, &s, pairs);
    ck_assert(block_derive(pool, &arena, &sizes, &switches, &block, &fault));
}

static void derive_whole(struct transformer_model m)
{
    derive(m, 1, parallel(1, AR, RECOMPUTE_NONE, false));
}

/* ---- Products: operations of one block over 2048 tokens, 2MNK each ---- */

START_TEST(gpt3_175b_has_24bshh_and_4bssh)
{
    derive_whole(decoder(12288, 96, 96));
    ck_assert_uint_eq(products(), 7627861917696);
}
END_TEST

START_TEST(llama2_7b_has_three_products_in_its_mlp)
{
    derive_whole(llama2_7b());
    ck_assert_uint_eq(projections(), 206158430208);
    ck_assert_uint_eq(forward("attention.output_projection"), 68719476736);
    ck_assert_uint_eq(core(), 68719476736);
    ck_assert_uint_eq(mlp(), 554050781184);
    ck_assert_uint_eq(products(), 897648164864);
    ck_assert_uint_eq(forward("attention.softmax"), 671088640);
}
END_TEST

START_TEST(llama3_70b_shares_keys_and_values_among_eight_heads)
{
    struct transformer_model m = llama3_70b();
    derive_whole(m);
    ck_assert_uint_eq(projections(), 343597383680);
    ck_assert_uint_eq(products(), 3642132267008);
    m.kv_heads = m.heads;
    derive_whole(m);
    ck_assert_uint_eq(projections(), 824633720832);
    ck_assert_uint_eq(products(), 4123168604160);
}
END_TEST

/* 8192 tokens make 8192*8193/2 = 33558528 pairs a head; dense 8192^2 = 67108864. */
START_TEST(causal_attention_counts_the_lower_triangle)
{
    struct transformer_model m = llama3_8b();
    m.sequence = 8192;
    derive_pairs(m, parallel(1, AR, RECOMPUTE_NONE, false), ATTENTION_CAUSAL);
    ck_assert_uint_eq(core(), 549822922752);
    ck_assert_uint_eq(layer("attention.softmax")->in, (qty)32 * 67108864);
    ck_assert_uint_eq(forward("attention.softmax"), (qty)5 * 32 * 33558528);
    qty gradient = layer("attention.query_key")->activation_gradient.operations;
    ck_assert_uint_eq(gradient, (qty)4 * 32 * 33558528 * 128);
    qty stored = block.memory.stored, read = block.phases[PHASE_FORWARD].read;
    derive_pairs(m, parallel(1, AR, RECOMPUTE_NONE, false), ATTENTION_DENSE);
    ck_assert_uint_eq(forward("attention.softmax"), (qty)5 * 32 * 67108864);
    ck_assert_uint_eq(block.memory.stored, stored);         /* what is materialized is the rectangle, causal or not */
    ck_assert_uint_eq(block.phases[PHASE_FORWARD].read, read);
}
END_TEST

/* ---- Parameters: L blocks, V h of embeddings (twice unless tied), s h of learned positions, the last norm ---- */

static const struct {
    struct transformer_model m;
    u64 vocabulary, embeddings, positions, parameters;
} published[] = {
#define GPT(h, a, L, s, total) { { .hidden = h, .feedforward = 4 * h, .heads = a, .kv_heads = a, .head_size = h / a, .sequence = s, \
                                   .blocks = L, .bias = true, .dropout = true }, 50257, 1, s, total }
#define LLAMA(h, f, a, k, d, L, V, n, total) { { .hidden = h, .feedforward = f, .heads = a, .kv_heads = k, .head_size = d, .sequence = 2048, \
                                                 .blocks = L, .norm = NORM_RMS, .mlp = MLP_SWIGLU, .rotary = true }, V, n, 0, total }
    GPT(768, 12, 12, 1024, 124439808),                              /* GPT-2 */
    GPT(1024, 16, 24, 1024, 354823168),                             /* medium */
    GPT(1280, 20, 36, 1024, 774030080),                             /* large */
    GPT(1600, 25, 48, 1024, 1557611200),                            /* XL */
    GPT(12288, 96, 96, 2048, 174604259328),                         /* GPT-3 175B */
    GPT(20480, 128, 105, 2048, 529581506560),                       /* MT-NLG 530B */
    LLAMA(4096, 11008, 32, 32, 128, 32, 32000, 2, 6738415616),      /* Llama-2-7B */
    LLAMA(5120, 13824, 40, 40, 128, 40, 32000, 2, 13015864320),     /* Llama-2-13B */
    LLAMA(8192, 28672, 64, 8, 128, 80, 32000, 2, 68976648192),      /* Llama-2-70B */
    LLAMA(4096, 14336, 32, 8, 128, 32, 128256, 2, 8030261248),      /* Llama-3-8B */
    LLAMA(8192, 28672, 64, 8, 128, 80, 128256, 2, 70553706496),     /* Llama-3-70B */
    LLAMA(16384, 53248, 128, 8, 128, 126, 128256, 2, 405853388800), /* Llama-3.1-405B */
    LLAMA(2048, 8192, 32, 8, 64, 16, 128256, 1, 1235814400),        /* Llama-3.2-1B, tied */
    LLAMA(4096, 14336, 32, 8, 128, 32, 32000, 2, 7241732096),       /* Mistral-7B */
};

START_TEST(a_published_model_has_its_parameters)
{
    struct transformer_model m = published[_i].m;
    derive_whole(m);
    qty norm = m.norm == NORM_RMS ? m.hidden : 2 * m.hidden, weights = block.memory.weights / 2;
    qty rows = published[_i].embeddings * published[_i].vocabulary + published[_i].positions;
    ck_assert_uint_eq(m.blocks * weights + rows * m.hidden + norm, published[_i].parameters);
}
END_TEST

/* Over the ranks of a tensor group, weights are those of the whole: norms and the biases behind a sum are on each rank. */
START_TEST(ranks_share_the_weights_and_hold_alike_what_is_whole)
{
    struct transformer_model m = gpt(12288, 96, 128, 96, 2048);
    derive_whole(m);
    qty whole = block.memory.weights / 2, alike = 4 * 12288 + 2 * 12288;
    derive(m, 1, parallel(8, RS_AG, RECOMPUTE_NONE, false));
    ck_assert_uint_eq(8 * (block.memory.weights / 2) - 7 * alike, whole);
}
END_TEST

/* ---- Vector operations: of M = 32 rows by hand; 8 heads of 8, 2 with keys and values, H 64, F 96 ---- */

static struct transformer_model small(void)
{
    struct transformer_model m = llama(64, 96, 8, 2, 8, 2);
    m.sequence = 32;
    return m;
}

START_TEST(elementwise_layers_are_counted_by_element)
{
    struct transformer_model m = small();
    m.bias = true;
    derive_whole(m);
    ck_assert_uint_eq(forward("attention.rms_norm"), 4 * 32 * 64);
    ck_assert_uint_eq(layer("mlp.rms_norm")->activation_gradient.operations, 6 * 32 * 64);
    ck_assert_uint_eq(layer("mlp.rms_norm")->weight_gradient.operations, 3 * 32 * 64);
    ck_assert_uint_eq(layer("mlp.rms_norm")->weights, 64);
    ck_assert_uint_eq(forward("attention.rope"), 6 * 32 * (64 + 16));     /* 6 an element of queries, 64, and keys, 16 */
    ck_assert_uint_eq(layer("attention.rope")->activation_gradient.operations, 6 * 32 * (64 + 16));
    ck_assert_uint_eq(forward("mlp.swiglu"), 6 * 32 * 96);
    ck_assert_uint_eq(layer("mlp.swiglu")->activation_gradient.operations, 11 * 32 * 96);
    ck_assert_uint_eq(forward("attention.qkv_bias"), 32 * (64 + 2 * 16));
    ck_assert_uint_eq(layer("attention.qkv_bias")->weights, 64 + 2 * 16);
    ck_assert_uint_eq(layer("attention.qkv_bias")->optimizer.operations, 11 * (64 + 2 * 16));
    ck_assert_uint_eq(layer("attention.qkv_bias")->weight_gradient.operations, 32 * (64 + 2 * 16));
    ck_assert_uint_eq(forward("mlp.expand_bias"), 32 * 2 * 96);
    ck_assert_uint_eq(layer("mlp.output_bias")->weights, 64);
    ck_assert_ptr_null(layer("attention.layer_norm"));
    ck_assert_ptr_null(layer("mlp.gelu"));
    ck_assert_ptr_null(layer("attention.output_dropout"));
}
END_TEST

START_TEST(queries_and_keys_alike_are_turned_in_twelve_operations_an_element_of_one)
{
    struct transformer_model m = small();
    m.kv_heads = m.heads;
    derive_whole(m);
    ck_assert_uint_eq(forward("attention.rope"), 12 * 32 * 64);
}
END_TEST

/* ---- What is kept: bytes of a block as in Korthikanti et al. 2022, section 4.1, of the operands that gradients need ---- */

static qty closed(const char *formula, struct transformer_model m, u64 t)
{
    qty q = 0;
    const struct formula_name names[] = {
        { "A", qty_number(pool, m.sequence * m.hidden) }, { "K", m.sequence * m.heads * m.head_size },
        { "J", m.sequence * (m.kv_heads > t ? m.kv_heads / t : 1) * m.head_size * t },
        { "C", qty_number(pool, m.heads * m.sequence * m.sequence) }, { "G", m.sequence * m.feedforward }, { "t", t },
    };
    const struct formula_scope scope = { names, COUNT(names), NULL };
    ck_assert_int_eq(formula_evaluate(pool, formula, &scope, &q), EXPR_OK);
    return q;
}

/*
 * Without dropout: both norms' inputs, 4A; the input of query, key and value, 2A; queries and keys 2(K + J), probabilities
 * 2C, values 2J, the output projection's input 2K; the MLP's input 2A; gate, expansion and SiLU 6G, their product 2G.
 * Attention is computed again from queries, keys and values: without 2C. A fused activation makes SiLU again.
 */
static const struct {
    u64 tensor;
    enum tensor_communication c;
    enum recompute_policy recompute;
    bool regather, fused;
    const char *stored;
} kept[] = {
    { 1, AR, RECOMPUTE_NONE, false, false, "8*A + 4*K + 4*J + 2*C + 8*G" },
    { 1, AR, RECOMPUTE_NONE, false, true, "8*A + 4*K + 4*J + 2*C + 6*G" },
    { 1, AR, RECOMPUTE_ATTENTION, false, false, "8*A + 4*K + 4*J + 8*G" },
    { 2, AR, RECOMPUTE_NONE, false, false, "8*A + (4*K + 4*J + 2*C + 8*G)/t" },
    { 2, RS_AG, RECOMPUTE_NONE, false, false, "4*A + (8*A + 4*K + 4*J + 2*C + 8*G)/t" },
    { 2, RS_AG, RECOMPUTE_NONE, true, false, "(8*A + 4*K + 4*J + 2*C + 8*G)/t" },
    { 2, RS_AG, RECOMPUTE_ATTENTION, true, true, "(8*A + 4*K + 4*J + 6*G)/t" },
    { 8, RS_AG, RECOMPUTE_ATTENTION, true, true, "(8*A + 4*K + 4*J + 6*G)/t" },
    { 2, RS_AG, RECOMPUTE_FULL, false, false, "0" },
};

START_TEST(a_block_keeps_the_operands_of_its_gradients)
{
    struct training_strategy s = parallel(kept[_i].tensor, kept[_i].c, kept[_i].recompute, kept[_i].regather);
    s.fused_activation = kept[_i].fused;
    derive(small(), 1, s);
    ck_assert_str_eq(text(block.memory.stored), text(closed(kept[_i].stored, small(), kept[_i].tensor)));
}
END_TEST

/* Dropout adds a copy of the probabilities, 2C, its mask C, and the masks of both outputs, 2A. */
START_TEST(dropout_keeps_its_masks_and_the_probabilities_behind_it)
{
    struct transformer_model m = small();
    m.dropout = true;
    derive_whole(m);
    ck_assert_str_eq(text(block.memory.stored), text(closed("8*A + 4*K + 4*J + 5*C + 8*G + 2*A", m, 1)));
    derive(m, 1, parallel(1, AR, RECOMPUTE_ATTENTION, false));
    ck_assert_str_eq(text(block.memory.stored), text(closed("8*A + 4*K + 4*J + 8*G + 2*A", m, 1)));
    derive(small(), 1, parallel(1, AR, RECOMPUTE_ATTENTION, false));
    ck_assert_uint_eq(block.phase_counts[PHASE_RECOMPUTE], 2);      /* scores and softmax: there is no mask to make again */
}
END_TEST

/* ---- Keys and values that ranks hold alike: 2 heads of them on 8 ranks, so that 4 hold each ---- */

START_TEST(ranks_that_hold_the_same_keys_and_values_sum_their_gradients_once)
{
    derive(small(), 1, parallel(8, AR, RECOMPUTE_NONE, false));
    ck_assert_uint_eq(layer("attention.key")->weights, 64 * 8);
    ck_assert_uint_eq(forward("attention.key"), 2 * 32 * 64 * 8);
    ck_assert_uint_eq(forward("attention.query"), 2 * 32 * 64 * 8);
    const struct block_layer *sum = layer("attention.kv_replicas");
    ck_assert_int_eq(sum->optimizer_kind, COLLECTIVE_ALL_REDUCE);
    ck_assert_uint_eq(sum->optimizer.message, 2 * 2 * 64 * 8);
    ck_assert_uint_eq(sum->optimizer.operations, 2 * 64 * 8 / 4 * 3);
    ck_assert_uint_eq(sum->optimizer.read, 2 * 2 * 64 * 8);
    ck_assert_uint_eq(sum->weight_gradient.message + sum->forward.message + sum->activation_gradient.message, 0);
    u32 found = 0;
    for (u32 i = 0; i < block.n; i++)
        if (!strcmp(block.invocations[i].name, "attention.kv_replicas.optimizer.all_reduce")) {
            found++;
            ck_assert_int_eq(block.invocations[i].phase, PHASE_OPTIMIZER);
            ck_assert_int_eq(block.invocations[i].engine, ENGINE_COLLECTIVE);
            ck_assert_str_eq(block.invocations[i + 2].name, "attention.key.optimizer");
        }
    ck_assert_uint_eq(found, 1);
}
END_TEST

START_TEST(ranks_with_keys_and_values_of_their_own_sum_nothing)
{
    derive(small(), 1, parallel(2, AR, RECOMPUTE_NONE, false));
    ck_assert_ptr_null(layer("attention.kv_replicas"));
    ck_assert_uint_eq(layer("attention.key")->weights, 64 * 8);
}
END_TEST

/* Of what 32 ranks hold alike, 2*3*(64 + 1) = 390 weights and biases, the largest share is 13. */
START_TEST(a_share_of_the_sum_is_the_largest_ranks)
{
    struct transformer_model m = llama(64, 96, 32, 1, 3, 2);
    m.sequence = 32;
    m.bias = true;
    derive(m, 1, parallel(32, AR, RECOMPUTE_NONE, false));
    const struct block_layer *sum = layer("attention.kv_replicas");
    ck_assert_uint_eq(sum->optimizer.message, 2 * 2 * 3 * 65);
    ck_assert_uint_eq(sum->optimizer.operations, 13 * 31);
}
END_TEST

Suite *decoder_suite(void);

Suite *decoder_suite(void)
{
    TCase *t = tcase_create("decoder");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, gpt3_175b_has_24bshh_and_4bssh);
    tcase_add_test(t, llama2_7b_has_three_products_in_its_mlp);
    tcase_add_test(t, llama3_70b_shares_keys_and_values_among_eight_heads);
    tcase_add_test(t, causal_attention_counts_the_lower_triangle);
    tcase_add_loop_test(t, a_published_model_has_its_parameters, 0, COUNT(published));
    tcase_add_test(t, ranks_share_the_weights_and_hold_alike_what_is_whole);
    tcase_add_test(t, elementwise_layers_are_counted_by_element);
    tcase_add_test(t, queries_and_keys_alike_are_turned_in_twelve_operations_an_element_of_one);
    tcase_add_loop_test(t, a_block_keeps_the_operands_of_its_gradients, 0, COUNT(kept));
    tcase_add_test(t, dropout_keeps_its_masks_and_the_probabilities_behind_it);
    tcase_add_test(t, ranks_that_hold_the_same_keys_and_values_sum_their_gradients_once);
    tcase_add_test(t, ranks_with_keys_and_values_of_their_own_sum_nothing);
    tcase_add_test(t, a_share_of_the_sum_is_the_largest_ranks);
    Suite *s = suite_create("decoder");
    suite_add_tcase(s, t);
    return s;
}
