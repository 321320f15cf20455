/* One block in inference, and the steps of a request, against numbers that papers and hand-worked fixtures give. */
#include "transformer/inference.h"

#include "transformer/contract.h"

#include <check.h>

static struct arena arena;
static struct interner names;
static struct exprs *pool;
static struct inference_block block;

static void setup(void)
{
    arena_init(&arena);
    interner_init(&names, &arena);
    pool = exprs_new(&arena, &names);
}

static void teardown(void)
{
    interner_free(&names);
    arena_free(&arena);
}

/* ---- Models ---- */

/* 8 heads of 8, feed-forward 256, 8 blocks of up to 512 tokens. */
static const struct transformer_model fixture = { .hidden = 64, .feedforward = 256, .heads = 8, .kv_heads = 8, .head_size = 8,
                                                  .sequence = 512, .blocks = 8, .rotary = true };

/* Two norms, no biases. */
static const struct transformer_model phi2 = { .hidden = 2560, .feedforward = 10240, .heads = 32, .kv_heads = 32, .head_size = 80,
                                               .sequence = 4096, .blocks = 32, .rotary = true };

static struct transformer_model llama(u64 hidden, u64 feedforward, u64 heads, u64 kv_heads, u64 blocks)
{
    return (struct transformer_model){ .hidden = hidden, .feedforward = feedforward, .heads = heads, .kv_heads = kv_heads,
                                       .head_size = 128, .sequence = 131072, .blocks = blocks, .norm = NORM_RMS,
                                       .mlp = MLP_SWIGLU, .rotary = true };
}

static struct training_strategy on(u64 tensor)
{
    return (struct training_strategy){ .tensor = tensor, .pipeline = 1, .virtual_stages = 1, .data = 1 };
}

/* ---- Derivation ---- */

static void derive_step(struct transformer_model m, struct inference_step step, u64 tensor)
{
    struct training_strategy s = on(tensor);
    struct inference_sizes sizes = inference_sizes_of(pool, &m, &step, &s);
    struct inference_switches switches = inference_switches_of(&m, &step, &s);
    struct block_fault fault;
    ck_assert(inference_derive(pool, &arena, &sizes, &switches, step.decode ? "decode" : "prefill", &block, &fault));
}

static void prefill(struct transformer_model m, u64 batch, u64 tokens, u64 tensor)
{
    derive_step(m, (struct inference_step){ .batch = batch, .query = tokens, .context = tokens, .element_bytes = 2 }, tensor);
}

static void decode(struct transformer_model m, u64 batch, u64 context, u64 tensor)
{
    derive_step(m, (struct inference_step){ .decode = true, .batch = batch, .query = 1, .context = context, .element_bytes = 2 }, tensor);
}

static const struct block_work *work(const char *name)
{
    for (u32 i = 0; i < block.n; i++)
        if (!strcmp(block.calls[i].name, name))
            return &block.calls[i].work;
    ck_abort_msg("no task is called %s", name);
    return NULL;
}

static void moves(const char *name, u64 operations, u64 read, u64 write)
{
    const struct block_work *w = work(name);
    ck_assert_uint_eq(w->operations, operations);
    ck_assert_uint_eq(w->read, read);
    ck_assert_uint_eq(w->write, write);
    ck_assert_uint_eq(w->message, 0);
}

static void takes(u64 weights, u64 kv_cache, u64 workspace, u64 boundary)
{
    ck_assert_uint_eq(block.memory.weights, weights);
    ck_assert_uint_eq(block.memory.kv_cache, kv_cache);
    ck_assert_uint_eq(block.memory.workspace, workspace);
    ck_assert_uint_eq(block.memory.boundary, boundary);
}

/* Two operations a weight and token: queries, keys, values, output and MLP. */
static u64 products(void)
{
    u64 sum = 0;
    for (u32 i = 0; i < block.n; i++)
        if (block.calls[i].weights && inference_task_table[block.calls[i].row].engine == ENGINE_MATRIX)
            sum += block.calls[i].work.operations;
    return sum;
}

/* Those of the attention core: the rest is 5 a score of softmax. */
static u64 core_products(u64 scores)
{
    for (u32 i = 0; i < block.n; i++)
        if (!strcmp(inference_task_table[block.calls[i].row].layer, "attention.core"))
            return block.calls[i].work.operations - 5 * scores;
    return 0;
}

/* ---- The fixture ---- */

START_TEST(prefill_of_the_fixture_is_what_was_worked_out)
{
    prefill(fixture, 3, 64, 2);
    takes(49664, 24576, 122880, 24576);
    moves("attention.core.prefill", 1818624, 36864, 12288);
    moves("attention.qkv.prefill", 2359296, 36864, 36864);
    moves("mlp.up.prefill", 3145728, 40960, 49152);
    ck_assert_uint_eq(work("attention.output.prefill.all_reduce")->message, 24576);
    ck_assert_uint_eq(block.n, 14);
    prefill(fixture, 3, 32, 2);
    ck_assert_uint_eq(work("attention.core.prefill")->operations, 454656);
}
END_TEST

START_TEST(decode_of_the_fixture_is_what_was_worked_out)
{
    decode(fixture, 3, 96, 2);
    takes(49664, 36864, 2688, 384);
    moves("attention.core.decode", 42624, 37056, 192);
    ck_assert_uint_eq(work("mlp.down.decode.all_reduce")->message, 384);
    decode(fixture, 3, 64, 2);
    ck_assert_uint_eq(work("attention.core.decode")->operations, 28416);
    decode(fixture, 3, 32, 2);
    ck_assert_uint_eq(work("attention.core.decode")->operations, 14208);
}
END_TEST

/* Row by row, with T = 3*64*64 = 12288 and T/t = 6144: 12 tasks on one rank. */
START_TEST(one_rank_sends_nothing)
{
    prefill(fixture, 3, 64, 1);
    ck_assert_uint_eq(block.n, 12);
    ck_assert_uint_eq(block.total.message, 0);
    moves("attention.input_norm.prefill", 5 * 12288, (12288 + 2 * 64) * 2, 12288 * 2);
    moves("attention.rope.prefill", 12 * 12288, 2 * 12288 * 2, 2 * 12288 * 2);
    moves("attention.kv_cache.prefill", 0, 2 * 12288 * 2, 2 * 12288 * 2);
    moves("attention.residual.prefill", 12288, 2 * 12288 * 2, 12288 * 2);
    moves("mlp.activation.prefill", 8 * 49152, 49152 * 2, 49152 * 2);
}
END_TEST

START_TEST(phi_2_has_its_weights_cache_and_workspace)
{
    decode(phi2, 1, 33, 1);
    takes(157306880, 337920, 25600, 5120);
    prefill(phi2, 1, 128, 1);
    ck_assert_uint_eq(block.memory.workspace, 3276800);
}
END_TEST

/* ---- The models that people serve ---- */

START_TEST(llama_2_7b_has_the_products_of_the_literature)
{
    prefill(llama(4096, 11008, 32, 32, 32), 1, 2048, 1);
    ck_assert_uint_eq(work("attention.qkv.prefill")->operations, 206158430208);
    ck_assert_uint_eq(work("attention.output.prefill")->operations, 68719476736);
    ck_assert_uint_eq(core_products(32ull * 2048 * 2048), 68719476736);
    ck_assert_uint_eq(work("attention.core.prefill")->operations, 69390565376);
    ck_assert_uint_eq(work("mlp.gate.prefill")->operations + work("mlp.up.prefill")->operations + work("mlp.down.prefill")->operations,
                      554050781184);
    ck_assert_uint_eq(products() + 68719476736, 897648164864);
    decode(llama(4096, 11008, 32, 32, 32), 1, 2048, 1);
    ck_assert_uint_eq(products() + core_products(32 * 2048), 438304768);
}
END_TEST

START_TEST(llama_3_70b_shares_keys_and_values)
{
    prefill(llama(8192, 28672, 64, 8, 80), 1, 2048, 1);
    ck_assert_uint_eq(work("attention.qkv.prefill")->operations, 343597383680);
    ck_assert_uint_eq(products() + core_products(64ull * 2048 * 2048), 3642132267008);
    prefill(llama(8192, 28672, 64, 64, 80), 1, 2048, 1);
    ck_assert_uint_eq(work("attention.qkv.prefill")->operations, 824633720832);
    ck_assert_uint_eq(products() + core_products(64ull * 2048 * 2048), 4123168604160);
}
END_TEST

/* Bytes a token, and GiB of 4096, 8192 and 131072 tokens. */
START_TEST(caches_have_the_sizes_of_the_literature)
{
    const struct {
        u64 blocks, kv_heads, head_size, token, at_4096;
    } rows[] = {
        { 32, 32, 128, 524288, 2147483648 },        /* Llama-2-7B: 2 GiB */
        { 40, 40, 128, 819200, 3355443200 },        /* Llama-2-13B: 3.125 GiB */
        { 80, 8, 128, 327680, 1342177280 },         /* Llama-2-70B, Llama-3-70B: 1.25 GiB */
        { 80, 64, 128, 2621440, 10737418240 },      /* were its heads not shared: 10 GiB */
        { 32, 8, 128, 131072, 536870912 },          /* Llama-3-8B, Mixtral-8x7B: 0.5 GiB */
        { 126, 8, 128, 516096, 2113929216 },        /* Llama-3.1-405B: 1.96875 GiB */
        { 96, 96, 128, 4718592, 19327352832 },      /* GPT-3 175B: 18 GiB */
        { 36, 8, 64, 73728, 301989888 },            /* gpt-oss-120b, all layers whole: 0.28125 GiB */
    };
    for (u32 i = 0; i < COUNT(rows); i++) {
        struct transformer_model m = { .hidden = 1024, .feedforward = 4096, .heads = rows[i].kv_heads, .kv_heads = rows[i].kv_heads,
                                       .head_size = rows[i].head_size, .sequence = 131072, .blocks = rows[i].blocks };
        decode(m, 1, 1, 1);
        ck_assert_uint_eq(rows[i].blocks * block.memory.kv_cache, rows[i].token);
        decode(m, 1, 4096, 1);
        ck_assert_uint_eq(rows[i].blocks * block.memory.kv_cache, rows[i].at_4096);
        decode(m, 1, 131072, 1);
        ck_assert_uint_eq(rows[i].blocks * block.memory.kv_cache, 131072 * rows[i].token);
    }
}
END_TEST

/* 40960 bytes a token and rank on 8 ranks, and on 16, of which two hold each head. */
START_TEST(ranks_beyond_the_shared_heads_hold_copies)
{
    for (u64 tensor = 8; tensor <= 64; tensor *= 2) {
        decode(llama(8192, 28672, 64, 8, 80), 1, 1, tensor);
        ck_assert_uint_eq(80 * block.memory.kv_cache, 40960);
    }
    decode(llama(8192, 28672, 64, 8, 80), 1, 4096, 8);
    ck_assert_uint_eq(block.memory.kv_cache, 2097152);
    decode(llama(8192, 28672, 64, 8, 80), 1, 1, 4);
    ck_assert_uint_eq(80 * block.memory.kv_cache, 81920);
}
END_TEST

/* Queries, keys and values 64 + 2*64 columns, output and contraction 64 each, expansion 256, over two ranks. */
START_TEST(biases_add_one_addition_and_one_weight_a_column)
{
    struct transformer_model m = fixture;
    prefill(m, 3, 64, 2);
    u64 without = block.memory.weights, operations = block.total.operations, n = block.n;
    m.bias = true;
    prefill(m, 3, 64, 2);
    ck_assert_uint_eq(block.memory.weights, without + 2 * (96 + 64 + 128 + 64));
    ck_assert_uint_eq(block.total.operations, operations + 192 * (96 + 64 + 128 + 64));
    ck_assert_uint_eq(block.n, n + 4);
    moves("attention.qkv_bias.prefill", 192 * 96, 2 * 96, 0);
    moves("attention.output_bias.prefill", 192 * 64, 2 * 64, 0);
    m.mlp = MLP_SWIGLU;
    prefill(m, 3, 64, 2);
    moves("mlp.up_bias.prefill", 192 * 256, 2 * 256, 0);
}
END_TEST

/* The cache task and the core read no weights; norms do. */
START_TEST(weights_are_read_by_the_tasks_that_have_them)
{
    prefill(fixture, 3, 64, 2);
    u64 sum = 0;
    for (u32 i = 0; i < block.n; i++) {
        const char *operation = inference_task_table[block.calls[i].row].operation;
        ck_assert_int_eq(block.calls[i].weights != 0, !strcmp(operation, "linear") || !strcmp(operation, "layer_norm"));
        sum += 2 * block.calls[i].weights;
    }
    ck_assert_uint_eq(sum, 49664);
}
END_TEST

/* ---- Steps ---- */

static struct inference_request request(u64 prompt, u64 generated, u64 chunk)
{
    struct inference_request r = { .mode = REQUEST_WHOLE, .batch = 1, .chunk = chunk, .element_bytes = 2 };
    request_generates(&r, prompt, generated);
    return r;
}

static u64 context_of(const struct inference_request *r, u64 i)
{
    struct inference_step step;
    ck_assert(request_step(r, i, &step));
    return step.context;
}

/* Prompt 64: one token is made by its prefill, four need three steps more. */
START_TEST(a_request_decodes_one_context_less_than_it_generates)
{
    struct inference_step step;
    struct inference_request one = request(64, 1, 0), four = request(64, 4, 0);
    ck_assert_uint_eq(request_steps(&one), 1);
    ck_assert(!request_step(&one, 1, &step));
    ck_assert_uint_eq(request_steps(&four), 4);
    ck_assert_uint_eq(context_of(&four, 1), 65);
    ck_assert_uint_eq(context_of(&four, 2), 66);
    ck_assert_uint_eq(context_of(&four, 3), 67);
    ck_assert(!request_step(&four, 4, &step));
    ck_assert_uint_eq(request_last_context(&four), 67);
}
END_TEST

/* 8192 tokens: 8192*8193/2 = 33558528 pairs however they are cut; rectangles 4 x 2048 come to 41943040 of 67108864. */
START_TEST(chunks_conserve_causal_pairs)
{
    const u64 chunks[] = { 1, 7, 1000, 2048, 4096, 8191, 8192, 100000, 0 };
    for (u32 k = 0; k < COUNT(chunks); k++) {
        struct inference_request r = request(8192, 1, chunks[k]);
        struct inference_step step;
        u64 causal = 0, tokens = 0, dense = 0;
        for (u64 i = 0; request_step(&r, i, &step); i++) {
            tokens += step.query;
            ck_assert_uint_eq(step.context, tokens);
            dense += request_pairs(&step);
            step.pairs = ATTENTION_CAUSAL;
            causal += request_pairs(&step);
        }
        ck_assert_uint_eq(tokens, 8192);
        ck_assert_uint_eq(causal, 33558528);
        if (chunks[k] == 2048)
            ck_assert_uint_eq(dense, 41943040);
        if (chunks[k] == 0)
            ck_assert_uint_eq(dense, 67108864);
    }
}
END_TEST

/* Llama-3-8B, 4 chunks of 2048: 549822922752 operations of products a layer. */
START_TEST(chunked_cores_do_the_work_of_the_triangle)
{
    struct transformer_model m = llama(4096, 14336, 32, 8, 32);
    struct inference_request r = request(8192, 1, 2048);
    struct inference_step step;
    u64 sum = 0;
    r.pairs = ATTENTION_CAUSAL;
    for (u64 i = 0; request_step(&r, i, &step); i++) {
        derive_step(m, step, 1);
        ck_assert_uint_eq(block.pairs, request_pairs(&step));
        sum += core_products(32 * block.pairs);
        ck_assert_uint_eq(block.memory.kv_cache, 2 * step.context * 1024 * 2);
    }
    ck_assert_uint_eq(sum, 549822922752);
}
END_TEST

START_TEST(a_decode_step_is_causal_and_dense_alike)
{
    struct inference_step step = { .decode = true, .batch = 1, .query = 1, .context = 97, .pairs = ATTENTION_CAUSAL };
    ck_assert_uint_eq(request_pairs(&step), 97);
    step.pairs = ATTENTION_DENSE;
    ck_assert_uint_eq(request_pairs(&step), 97);
}
END_TEST

/* ---- Contract ---- */

struct findings {
    u32 n;
    struct contract_finding at[16];
};

static void collect(void *state, const struct contract_finding *f)
{
    struct findings *all = state;
    ck_assert_uint_lt(all->n, COUNT(all->at));
    all->at[all->n++] = *f;
}

static struct findings check_contract(struct transformer_model m, struct inference_request r, struct training_strategy s)
{
    struct findings all = { 0 };
    bool legal = contract_check_inference(&m, &r, &s, &arena, collect, &all);
    ck_assert_int_eq(legal, all.n == 0);
    return all;
}

static void refuses(struct transformer_model m, struct inference_request r, struct training_strategy s, const char *code,
                    const char *field, const char *message, const char *note)
{
    struct findings all = check_contract(m, r, s);
    ck_assert_uint_eq(all.n, 1);
    ck_assert_str_eq(all.at[0].rule->code, code);
    ck_assert_str_eq(all.at[0].field, field);
    ck_assert_str_eq(all.at[0].message, message);
    ck_assert_str_eq(all.at[0].note, note);
}

START_TEST(contexts_end_with_the_sequence)
{
    ck_assert_uint_eq(check_contract(fixture, request(512, 1, 0), on(2)).n, 0);
    ck_assert_uint_eq(check_contract(fixture, request(509, 4, 0), on(2)).n, 0);
    refuses(fixture, request(510, 4, 0), on(2), "workload.context.past_sequence", "generated",
            "prompt 510 and generated 4 reach a context of 513, which exceeds the model's sequence 512 by 1",
            "legal with prompt 510: generated 1 to 3");
    refuses(fixture, request(600, 4, 0), on(2), "workload.context.past_sequence", "prompt",
            "prompt 600 exceeds the model's sequence 512 by 88", "legal are 1 to 512");
    refuses(fixture, request(UINT64_MAX, UINT64_MAX, 1), on(2), "workload.context.past_sequence", "prompt",
            "prompt 18446744073709551615 exceeds the model's sequence 512 by 18446744073709551103", "legal are 1 to 512");
    struct inference_request last = { .mode = REQUEST_DECODE, .batch = 1, .first_context = 513, .decodes = 1, .element_bytes = 2 };
    refuses(fixture, last, on(2), "workload.context.past_sequence", "context", "context 513 exceeds the model's sequence 512 by 1",
            "legal are 1 to 512");
}
END_TEST

START_TEST(ranks_take_whole_heads)
{
    struct findings all = check_contract(fixture, request(64, 4, 0), on(3));
    ck_assert_uint_eq(all.n, 3);        /* heads, hidden, feedforward */
    struct transformer_model m = llama(8192, 28672, 64, 8, 80);
    ck_assert_uint_eq(check_contract(m, request(64, 4, 0), on(16)).n, 0);
    m.kv_heads = 6;
    m.heads = 48;
    ck_assert_uint_eq(check_contract(m, request(64, 4, 0), on(4)).n, 1);
}
END_TEST

START_TEST(inference_has_no_facts_of_training)
{
    struct training_strategy s = on(2);
    s.recompute = RECOMPUTE_FULL;
    s.input_regather = s.fused_activation = true;
    s.optimizer_sharding = true;
    s.virtual_stages = 2;
    struct findings all = check_contract(fixture, request(64, 4, 0), s);
    ck_assert_uint_eq(all.n, 5);
    for (u32 i = 0; i < all.n; i++)
        ck_assert_str_eq(all.at[i].rule->code, "strategy.inference.training_fact");
    s = on(2);
    s.communication = COMMUNICATION_REDUCE_SCATTER_ALL_GATHER;
    refuses(fixture, request(64, 4, 0), s, "strategy.communication.inference", "communication",
            "reduce_scatter_all_gather splits the boundary along the sequence, and inference does not", "legal is all_reduce");
    s = on(2);
    s.pipeline = 2;
    s.schedule = SCHEDULE_ONE_F_ONE_B;
    refuses(fixture, request(64, 4, 0), s, "strategy.schedule.inference", "schedule", "inference over 2 stages does not run one_f_one_b",
            "legal is forward_only");
    s.schedule = SCHEDULE_FORWARD_ONLY;
    ck_assert_uint_eq(check_contract(fixture, request(64, 4, 0), s).n, 0);
}
END_TEST

Suite *inference_suite(void)
{
    Suite *s = suite_create("inference");
    TCase *t = tcase_create("inference");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, prefill_of_the_fixture_is_what_was_worked_out);
    tcase_add_test(t, decode_of_the_fixture_is_what_was_worked_out);
    tcase_add_test(t, one_rank_sends_nothing);
    tcase_add_test(t, phi_2_has_its_weights_cache_and_workspace);
    tcase_add_test(t, llama_2_7b_has_the_products_of_the_literature);
    tcase_add_test(t, llama_3_70b_shares_keys_and_values);
    tcase_add_test(t, caches_have_the_sizes_of_the_literature);
    tcase_add_test(t, ranks_beyond_the_shared_heads_hold_copies);
    tcase_add_test(t, biases_add_one_addition_and_one_weight_a_column);
    tcase_add_test(t, weights_are_read_by_the_tasks_that_have_them);
    tcase_add_test(t, a_request_decodes_one_context_less_than_it_generates);
    tcase_add_test(t, chunks_conserve_causal_pairs);
    tcase_add_test(t, chunked_cores_do_the_work_of_the_triangle);
    tcase_add_test(t, a_decode_step_is_causal_and_dense_alike);
    tcase_add_test(t, contexts_end_with_the_sequence);
    tcase_add_test(t, ranks_take_whole_heads);
    tcase_add_test(t, inference_has_no_facts_of_training);
    suite_add_tcase(s, t);
    return s;
}
