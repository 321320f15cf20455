#include "transformer/contract.h"

#include <check.h>

static struct arena arena;
static struct transformer_model model;
static struct training_workload workload;
static struct training_strategy strategy;

/* GPT-3 175B on 8 x 8 ranks, which every test then spoils. */
static void setup(void)
{
    arena_init(&arena);
    model = (struct transformer_model){
        .name = "gpt3_175b", .hidden = 12288, .feedforward = 49152, .heads = 96, .kv_heads = 96, .head_size = 128,
        .sequence = 2048, .blocks = 96, .vocabulary = 51200,
    };
    workload = (struct training_workload){ .batch = 64, .microbatch = 1, .element_bytes = 2 };
    strategy = (struct training_strategy){
        .tensor = 8, .communication = COMMUNICATION_REDUCE_SCATTER_ALL_GATHER, .pipeline = 8,
        .schedule = SCHEDULE_INTERLEAVED_ONE_F_ONE_B, .virtual_stages = 3, .data = 1,
        .recompute = RECOMPUTE_ATTENTION, .input_regather = true, .world = 64,
    };
}

static void teardown(void)
{
    arena_free(&arena);
}

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

static struct findings check(bool legal)
{
    struct findings all = { 0 };
    ck_assert_int_eq(contract_check_training(&model, &workload, &strategy, &arena, collect, &all), legal);
    return all;
}

/* Exactly one finding, an error with this code at this field. */
static struct contract_finding only(const char *code, const char *field)
{
    struct findings all = check(false);
    ck_assert_uint_eq(all.n, 1);
    ck_assert_str_eq(all.at[0].rule->code, code);
    ck_assert_str_eq(all.at[0].field, field);
    ck_assert_int_eq(all.at[0].severity, SEVERITY_ERROR);
    return all.at[0];
}

static void says(struct contract_finding f, const char *message, const char *note)
{
    ck_assert_str_eq(f.message, message);
    ck_assert_str_eq(f.note, note);
}

static void single_stage(void)
{
    strategy.pipeline = strategy.virtual_stages = 1;
    strategy.schedule = SCHEDULE_SINGLE_STAGE;
    strategy.world = 0;
}

START_TEST(the_demo_is_accepted_in_silence)
{
    ck_assert_uint_eq(check(true).n, 0);
}
END_TEST

START_TEST(blocks_that_chunks_do_not_divide_are_refused)
{
    model.blocks = 80;
    strategy.pipeline = 16;
    strategy.virtual_stages = 2;
    strategy.world = 0;
    struct contract_finding f = only("strategy.virtual_stages.blocks_not_divisible", "virtual_stages");
    says(f, "blocks 80 is not divisible by pipeline 16 x virtual_stages 2 = 32: remainder 16",
         "legal are the divisors of the blocks of a stage, 5: 1 5");
    ck_assert_uint_eq(f.remainder, 16);
}
END_TEST

START_TEST(blocks_that_stages_do_not_divide_are_refused)
{
    model.blocks = 30;
    strategy.pipeline = 4;
    strategy.schedule = SCHEDULE_ONE_F_ONE_B;
    strategy.virtual_stages = 1;
    strategy.world = 0;
    says(only("strategy.pipeline.blocks_not_divisible", "pipeline"),
         "blocks 30 is not divisible by pipeline 4: remainder 2", "legal are the divisors of blocks 30: 1 2 3 5 6 10 15 30");
}
END_TEST

START_TEST(heads_that_tensor_does_not_divide_are_refused_with_the_legal_degrees)
{
    model.heads = model.kv_heads = 52;
    says(only("strategy.tensor.heads_not_divisible", "tensor"), "heads 52 is not divisible by tensor 8: remainder 4",
         "legal are the divisors of heads 52: 1 2 4 13 26 52");
}
END_TEST

START_TEST(hidden_that_tensor_does_not_divide_is_refused)
{
    model.hidden = 5140;
    ck_assert_uint_eq(only("strategy.tensor.hidden_not_divisible", "tensor").remainder, 4);
}
END_TEST

START_TEST(feedforward_that_tensor_does_not_divide_is_refused)
{
    model.feedforward = 49153;
    ck_assert_uint_eq(only("strategy.tensor.feedforward_not_divisible", "tensor").remainder, 1);
}
END_TEST

START_TEST(a_sequence_is_split_by_itself_not_by_the_rows_of_a_batch)
{
    model.sequence = 1023;
    workload.microbatch = 8;
    ck_assert_uint_eq(1023 * 8 % 8, 0);
    says(only("strategy.tensor.sequence_not_divisible", "tensor"),
         "sequence 1023 is not divisible by tensor 8: remainder 7", "legal are the divisors of sequence 1023: 1 3 11 31 33 93 341 1023");
    strategy.communication = COMMUNICATION_ALL_REDUCE;
    strategy.input_regather = false;
    ck_assert_uint_eq(check(true).n, 0);
}
END_TEST

START_TEST(a_world_that_is_not_the_product_is_refused_with_the_product)
{
    model.blocks = 96;
    strategy = (struct training_strategy){ .tensor = 8, .pipeline = 16, .data = 64, .virtual_stages = 1,
                                           .schedule = SCHEDULE_ONE_F_ONE_B, .world = 16384 };
    says(only("strategy.world.product", "world"), "world 16384 is not tensor 8 x pipeline 16 x data 64 = 8192",
         "legal: 8192");
}
END_TEST

START_TEST(a_world_past_128_bits_is_refused_and_does_not_wrap)
{
    model = (struct transformer_model){ .hidden = UINT64_MAX, .feedforward = UINT64_MAX, .heads = UINT64_MAX,
                                        .kv_heads = UINT64_MAX, .head_size = 1, .sequence = UINT64_MAX, .blocks = UINT64_MAX };
    workload = (struct training_workload){ .batch = UINT64_MAX, .microbatch = 1, .element_bytes = 2 };
    strategy = (struct training_strategy){ .tensor = UINT64_MAX, .pipeline = UINT64_MAX, .data = UINT64_MAX,
                                           .virtual_stages = 1, .schedule = SCHEDULE_ONE_F_ONE_B, .world = 1 };
    ck_assert_ptr_nonnull(strstr(only("strategy.world.product", "world").message, "= more than 128 bits"));
}
END_TEST

START_TEST(a_batch_that_is_not_dealt_out_evenly_is_refused_with_both_factors)
{
    workload.batch = 100;
    workload.microbatch = 4;
    strategy.data = 6;
    single_stage();
    says(only("workload.batch.not_divisible", "batch"),
         "batch 100 is not a multiple of data 6 x microbatch 4 = 24: remainder 4",
         "the nearest legal batches are 96 and 120");
    workload.batch = 3;
    says(only("workload.batch.not_divisible", "batch"),
         "batch 3 is not a multiple of data 6 x microbatch 4 = 24: remainder 3", "the smallest legal batch is 24");
}
END_TEST

START_TEST(an_interleaved_schedule_with_one_stage_is_refused)
{
    single_stage();
    strategy.schedule = SCHEDULE_INTERLEAVED_ONE_F_ONE_B;
    strategy.virtual_stages = 2;
    only("strategy.schedule.no_pipeline", "schedule");
}
END_TEST

START_TEST(one_stage_of_many_is_refused)
{
    strategy.schedule = SCHEDULE_SINGLE_STAGE;
    strategy.virtual_stages = 1;
    only("strategy.schedule.single_stage", "schedule");
}
END_TEST

START_TEST(an_interleaved_stage_of_one_chunk_is_refused)
{
    strategy.virtual_stages = 1;
    only("strategy.virtual_stages.too_few", "virtual_stages");
}
END_TEST

START_TEST(virtual_stages_of_a_schedule_that_has_none_are_refused)
{
    strategy.schedule = SCHEDULE_ONE_F_ONE_B;
    only("strategy.virtual_stages.not_interleaved", "virtual_stages");
}
END_TEST

START_TEST(forward_only_is_refused_in_training)
{
    strategy.schedule = SCHEDULE_FORWARD_ONLY;
    strategy.virtual_stages = 1;
    only("strategy.schedule.forward_only", "schedule");
}
END_TEST

START_TEST(optimizer_sharding_over_one_replica_is_refused)
{
    strategy.optimizer_sharding = true;
    only("strategy.optimizer_sharding.no_data", "optimizer_sharding");
}
END_TEST

START_TEST(a_regather_of_what_was_not_gathered_is_refused)
{
    strategy.communication = COMMUNICATION_ALL_REDUCE;
    only("strategy.input_regather.all_reduce", "input_regather");
    strategy.tensor = 1;
    strategy.world = 8;
    ck_assert_uint_eq(check(true).n, 0);
}
END_TEST

START_TEST(a_regather_under_full_recompute_is_refused)
{
    strategy.recompute = RECOMPUTE_FULL;
    only("strategy.input_regather.full_recompute", "input_regather");
}
END_TEST

START_TEST(an_element_of_eight_bytes_is_refused)
{
    workload.element_bytes = 8;
    only("workload.type.unsupported", "dtype");
}
END_TEST

START_TEST(microbatches_that_are_no_multiple_of_pipeline_are_a_warning)
{
    workload.batch = 60;
    struct findings all = check(true);
    ck_assert_uint_eq(all.n, 1);
    ck_assert_int_eq(all.at[0].severity, SEVERITY_WARNING);
    ck_assert_str_eq(all.at[0].rule->code, "strategy.schedule.microbatches_uneven");
    ck_assert_str_eq(all.at[0].message, "60 microbatches are not a multiple of pipeline 8: remainder 4");
}
END_TEST

START_TEST(every_violation_is_reported_in_one_run)
{
    model.heads = model.kv_heads = 52;
    model.blocks = 30;
    workload.element_bytes = 3;
    workload.microbatch = 7;
    strategy.optimizer_sharding = true;
    strategy.world = 65;
    static const char *const codes[] = {
        "workload.type.unsupported", "workload.batch.not_divisible", "strategy.tensor.heads_not_divisible",
        "strategy.pipeline.blocks_not_divisible", "strategy.optimizer_sharding.no_data", "strategy.world.product",
    };
    struct findings all = check(false);
    ck_assert_uint_eq(all.n, COUNT(codes));
    for (size_t i = 0; i < COUNT(codes); i++)
        ck_assert_str_eq(all.at[i].rule->code, codes[i]);
}
END_TEST

START_TEST(fields_of_zero_are_each_reported_and_nothing_is_divided_by_them)
{
    model.hidden = model.blocks = 0;
    workload.microbatch = 0;
    strategy.tensor = 0;
    strategy.virtual_stages = 0;
    struct findings all = check(false);
    static const char *const fields[] = { "hidden", "blocks", "microbatch", "tensor", "virtual_stages" };
    static const char *const codes[] = { "model.field.zero", "model.field.zero", "workload.field.zero", "strategy.field.zero",
                                         "strategy.field.zero" };
    ck_assert_uint_eq(all.n, COUNT(fields));
    for (size_t i = 0; i < COUNT(fields); i++) {
        ck_assert_str_eq(all.at[i].field, fields[i]);
        ck_assert_str_eq(all.at[i].rule->code, codes[i]);
    }
}
END_TEST

START_TEST(kv_heads_are_shared_out_or_held_alike_by_as_many_ranks)
{
    model.heads = 96;
    model.kv_heads = 8;
    for (u64 t = 1; t <= 96; t++) {
        strategy.tensor = t;
        strategy.communication = COMMUNICATION_ALL_REDUCE;
        strategy.input_regather = false;
        strategy.world = 0;
        if (96 % t || 12288 % t)
            continue;
        bool legal = t == 1 || t == 2 || t == 4 || t == 8 || t == 16 || t == 24 || t == 32 || t == 48 || t == 96;
        struct findings all = check(legal);
        ck_assert_uint_eq(all.n, !legal);       /* of the divisors of 96: 3, 6, 12 */
        ck_assert_uint_eq(kv_heads_of_rank(&model, t), t <= 8 ? 8 / t : 1);
    }
    strategy.tensor = 12;
    struct contract_finding f = only("strategy.tensor.kv_heads_not_divisible", "tensor");
    ck_assert_str_eq(f.message, "kv_heads 8 and tensor 12: neither divides the other, remainder 4");
    ck_assert_str_eq(f.note, "legal are the degrees that divide heads 96, and divide kv_heads 8 or are a multiple of it: "
                             "1 2 4 8 16 24 32 48 96");
}
END_TEST

START_TEST(kv_heads_that_do_not_divide_heads_are_refused)
{
    model.kv_heads = 36;
    struct contract_finding f = only("model.kv_heads.not_divisible", "kv_heads");
    ck_assert_int_eq(f.item, CONTRACT_MODEL);
    ck_assert_uint_eq(f.remainder, 24);
    ck_assert_str_eq(f.note, "legal are the divisors of heads 96: 1 2 3 4 6 8 12 16 24 32 48 96");
    model.kv_heads = 192;
    ck_assert_str_eq(only("model.kv_heads.not_divisible", "kv_heads").message, "heads 96 is not divisible by kv_heads 192: remainder 96");
    model.kv_heads = 0;
    only("model.field.zero", "kv_heads");
}
END_TEST

START_TEST(heads_as_wide_as_hidden_are_not_asked_for)
{
    model.hidden = 18432;       /* PaLM: 48 heads of 256 */
    model.feedforward = 4 * 18432;
    model.heads = model.kv_heads = 48;
    model.head_size = 256;
    ck_assert_uint_eq(check(true).n, 0);
}
END_TEST

START_TEST(every_rule_has_a_code_of_its_own_and_an_explanation)
{
    ck_assert_uint_gt(contract_rule_count, 0);
    for (size_t i = 0; i < contract_rule_count; i++) {
        ck_assert_ptr_nonnull(strchr(contract_rules[i].code, '.'));
        ck_assert_uint_gt(strlen(contract_rules[i].explanation), 40);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(contract_rules[i].code, contract_rules[j].code);
    }
}
END_TEST

Suite *contract_suite(void);

Suite *contract_suite(void)
{
    TCase *t = tcase_create("contract");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_demo_is_accepted_in_silence);
    tcase_add_test(t, blocks_that_chunks_do_not_divide_are_refused);
    tcase_add_test(t, blocks_that_stages_do_not_divide_are_refused);
    tcase_add_test(t, heads_that_tensor_does_not_divide_are_refused_with_the_legal_degrees);
    tcase_add_test(t, hidden_that_tensor_does_not_divide_is_refused);
    tcase_add_test(t, feedforward_that_tensor_does_not_divide_is_refused);
    tcase_add_test(t, a_sequence_is_split_by_itself_not_by_the_rows_of_a_batch);
    tcase_add_test(t, a_world_that_is_not_the_product_is_refused_with_the_product);
    tcase_add_test(t, a_world_past_128_bits_is_refused_and_does_not_wrap);
    tcase_add_test(t, a_batch_that_is_not_dealt_out_evenly_is_refused_with_both_factors);
    tcase_add_test(t, an_interleaved_schedule_with_one_stage_is_refused);
    tcase_add_test(t, one_stage_of_many_is_refused);
    tcase_add_test(t, an_interleaved_stage_of_one_chunk_is_refused);
    tcase_add_test(t, virtual_stages_of_a_schedule_that_has_none_are_refused);
    tcase_add_test(t, forward_only_is_refused_in_training);
    tcase_add_test(t, optimizer_sharding_over_one_replica_is_refused);
    tcase_add_test(t, a_regather_of_what_was_not_gathered_is_refused);
    tcase_add_test(t, a_regather_under_full_recompute_is_refused);
    tcase_add_test(t, an_element_of_eight_bytes_is_refused);
    tcase_add_test(t, microbatches_that_are_no_multiple_of_pipeline_are_a_warning);
    tcase_add_test(t, every_violation_is_reported_in_one_run);
    tcase_add_test(t, fields_of_zero_are_each_reported_and_nothing_is_divided_by_them);
    tcase_add_test(t, kv_heads_are_shared_out_or_held_alike_by_as_many_ranks);
    tcase_add_test(t, kv_heads_that_do_not_divide_heads_are_refused);
    tcase_add_test(t, heads_as_wide_as_hidden_are_not_asked_for);
    tcase_add_test(t, every_rule_has_a_code_of_its_own_and_an_explanation);
    Suite *s = suite_create("contract");
    suite_add_tcase(s, t);
    return s;
}
