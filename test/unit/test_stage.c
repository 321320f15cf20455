/* Schedules, stages and the papers' conventions against numbers that papers, Megatron-LM and Calculon give. */
#include "transformer/stage.h"

#include "transformer/convention.h"
#include "training.h"

static struct training_strategy pipelined(enum pipeline_schedule schedule, u64 pipeline, u64 virtual_stages)
{
    return (struct training_strategy){ .tensor = 1, .pipeline = pipeline, .virtual_stages = virtual_stages, .data = 1,
                                       .schedule = schedule };
}

#define GPIPE SCHEDULE_GPIPE
#define ONE SCHEDULE_ONE_F_ONE_B
#define INTER SCHEDULE_INTERLEAVED_ONE_F_ONE_B

static const struct {
    enum pipeline_schedule schedule;
    u64 pipeline, virtual_stages, microbatches;
    u64 warmup[8], peak[8];         /* of each stage; 0 ends a list */
} schedules[] = {
    { GPIPE, 4, 1, 8, { 8, 8, 8, 8 }, { 8, 8, 8, 8 } },
    { ONE, 4, 1, 8, { 3, 2, 1, 0 }, { 4, 3, 2, 1 } },
    { ONE, 8, 1, 4, { 4, 4, 4, 4, 3, 2, 1, 0 }, { 4, 4, 4, 4, 4, 3, 2, 1 } },
    { INTER, 4, 2, 8, { 10, 8, 6, 4 }, { 11, 9, 7, 5 } },
    { INTER, 8, 3, 64, { 30, 28, 26, 24, 22, 20, 18, 16 }, { 31, 29, 27, 25, 23, 21, 19, 17 } },
    { INTER, 4, 4, 4, { 16, 16, 14, 12 }, { 16, 16, 15, 13 } },
};

START_TEST(each_stage_warms_up_and_peaks_as_its_schedule_says)
{
    struct training_strategy s =
        pipelined(schedules[_i].schedule, schedules[_i].pipeline, schedules[_i].virtual_stages);
    for (u64 rank = 0; rank < s.pipeline; rank++) {
        ck_assert_uint_eq((u64)stage_warmup_chunks(&s, schedules[_i].microbatches, rank), schedules[_i].warmup[rank]);
        ck_assert_uint_eq((u64)stage_peak_chunks(&s, schedules[_i].microbatches, rank), schedules[_i].peak[rank]);
    }
}
END_TEST

START_TEST(an_interleaved_stage_holds_a_fraction_of_a_microbatch_more)
{
    struct training_strategy s = pipelined(INTER, 8, 3);
    ck_assert(ratio_equal(stage_in_flight(&s, 64, 0), ratio_of(31, 3)));
    s = pipelined(INTER, 4, 4);
    ck_assert(ratio_equal(stage_in_flight(&s, 4, 0), ratio_of(4, 1)));
}
END_TEST

static const struct {
    u64 pipeline, microbatches, virtual_stages, ideal_over, ideal_under, total_over, total_under;
} bubbles[] = {
    { 4, 8, 1, 3, 8, 3, 11 },    { 8, 64, 1, 7, 64, 7, 71 },      { 8, 64, 3, 7, 192, 7, 199 },
    { 4, 8, 2, 3, 16, 3, 19 },   { 64, 512, 1, 63, 512, 63, 575 }, { 35, 280, 3, 17, 420, 17, 437 },
};

START_TEST(a_bubble_is_an_exact_share_of_the_work_and_of_the_whole)
{
    u64 v = bubbles[_i].virtual_stages, m = bubbles[_i].microbatches;
    struct training_strategy s = pipelined(v > 1 ? INTER : ONE, bubbles[_i].pipeline, v);
    struct ratio ideal = stage_bubble_over_ideal(&s, m), total = stage_bubble_over_total(&s, m);
    ck_assert_uint_eq((u64)ideal.over, bubbles[_i].ideal_over);
    ck_assert_uint_eq((u64)ideal.under, bubbles[_i].ideal_under);
    ck_assert_uint_eq((u64)total.over, bubbles[_i].total_over);
    ck_assert_uint_eq((u64)total.under, bubbles[_i].total_under);
}
END_TEST

static struct stage_memory stage_175b(enum recompute_policy recompute, bool regather)
{
    struct transformer_model m = decoder(12288, 96, 96);
    struct training_workload w = { .batch = 64, .microbatch = 1, .element_bytes = 2 };
    struct training_strategy s = { .tensor = 8, .communication = RS_AG, .pipeline = 8, .schedule = INTER,
                                   .virtual_stages = 3, .data = 1, .recompute = recompute, .input_regather = regather };
    struct stage_memory memory;
    derive(m, 1, s);
    ck_assert(stage_derive_memory(pool, &m, &w, &s, &block.memory, &memory, &fault));
    return memory;
}

START_TEST(the_demos_heaviest_stage_holds_58060800000_bytes)
{
    struct stage_memory memory = stage_175b(RECOMPUTE_ATTENTION, true);
    ck_assert_uint_eq(memory.weights, 5436997632);
    ck_assert_uint_eq(memory.gradients, 5890080768);
    ck_assert_uint_eq(memory.activation_gradients, 484442112);
    ck_assert_uint_eq(memory.optimizer, 32621985792);
    ck_assert_uint_eq(memory.working, 471859200);
    ck_assert_uint_eq(memory.stored, 13155434496);
    ck_assert_uint_eq(memory.checkpoint, 0);
    ck_assert_uint_eq(memory.total, 58060800000);
}
END_TEST

/* L k = 12 * 31/3 = 124 checkpoints of one rank's share, 50331648/8 bytes. */
START_TEST(full_recompute_holds_checkpoints_instead_of_activations)
{
    struct stage_memory memory = stage_175b(RECOMPUTE_FULL, false);
    ck_assert_uint_eq(memory.stored, 0);
    ck_assert_uint_eq(memory.checkpoint, 124 * (50331648 / 8));
}
END_TEST

/* ---- Conventions ---- */

static const struct {
    u64 hidden, heads, blocks, batch;
    const char *parameters, *recomputed, *plain;
} narayanan[] = {
    { 2304, 24, 24, 512, "1652226048", "15466830067924992", "11785665138130944" },
    { 3072, 32, 30, 512, "3562162176", "32655495344947200", "24739011624960000" },
    { 4096, 32, 36, 512, "7467778048", "67184558503624704", "50718272366051328" },
    { 6144, 48, 40, 1024, "18449743872", "324839715310141440", "244619346947604480" },
    { 8192, 64, 48, 1536, "39096025088", "1021226399878348800", "767898920838758400" },
    { 10240, 80, 60, 1792, "76050718720", "2302047495074611200", "1729421839328870400" },
    { 12288, 96, 80, 2304, "145622237184", "5641682123048878080", "4235714614379151360" },
    { 16384, 128, 96, 2160, "310130507776", "11194006936108400640", "8401071479696916480" },
    { 20480, 128, 105, 2520, "529600778240", "22215941676859392000", "16670073745833984000" },
    { 25600, 160, 128, 3072, "1008038707200", "51390513775273574400", "38555254837267660800" },
};

START_TEST(the_counts_of_narayanan_2021_are_exact_past_64_bits)
{
    struct transformer_model m = decoder(narayanan[_i].hidden, narayanan[_i].heads, narayanan[_i].blocks);
    struct training_workload w = { .batch = narayanan[_i].batch, .microbatch = 1, .element_bytes = 2 };
    qty q;
    ck_assert_int_eq(narayanan_parameters(pool, &m, &q), CONVENTION_OK);
    ck_assert_str_eq(text(q), narayanan[_i].parameters);
    ck_assert_int_eq(narayanan_operations(pool, &m, &w, true, &q), CONVENTION_OK);
    ck_assert_str_eq(text(q), narayanan[_i].recomputed);
    ck_assert_int_eq(narayanan_operations(pool, &m, &w, false, &q), CONVENTION_OK);
    ck_assert_str_eq(text(q), narayanan[_i].plain);
}
END_TEST

START_TEST(a_convention_says_when_it_does_not_apply)
{
    struct transformer_model m = decoder(2304, 24, 24);
    struct training_workload w = { .batch = UINT64_MAX, .microbatch = 1, .element_bytes = 2 };
    qty q;
    m.vocabulary = 0;
    ck_assert_int_eq(narayanan_parameters(pool, &m, &q), CONVENTION_NO_VOCABULARY);
    m.vocabulary = 51200;
    m.feedforward = 8192;
    ck_assert_int_eq(narayanan_parameters(pool, &m, &q), CONVENTION_OTHER_SHAPE);
    m = decoder((u64)1 << 40, 1, 24);
    ck_assert_int_eq(narayanan_operations(pool, &m, &w, true, &q), CONVENTION_OVERFLOW);
}
END_TEST

/* Figure 1 of Korthikanti, in GiB; the paper's numbers are whole multiples of 2^-13. */
static const struct {
    u64 hidden, heads, blocks, pipeline, virtual_stages, microbatch;
    double parameters, none, both;
} korthikanti[] = {
    { 6144, 64, 48, 1, 1, 4, 45.5625, 59.25, 9.5625 },
    { 12288, 96, 96, 8, 3, 1, 45.5625, 66.84375, 12.3515625 },
    { 20480, 128, 105, 35, 3, 1, 31.640625, 114.0234375, 23.076171875 },
    { 25600, 160, 128, 64, 1, 1, 32.958984375, 131.25, 26.5625 },
};

static void assert_gib(struct ratio bytes, double gib)
{
    ck_assert(bytes.over == (u128)(gib * (1 << 30)) * bytes.under);
}

START_TEST(the_first_stages_bytes_of_korthikanti_2022_are_exact)
{
    struct transformer_model m = decoder(korthikanti[_i].hidden, korthikanti[_i].heads, korthikanti[_i].blocks);
    struct training_strategy s = parallel(8, AR, RECOMPUTE_NONE, false);
    struct ratio bytes;
    u128 stored = 0;
    s.pipeline = korthikanti[_i].pipeline;
    s.virtual_stages = korthikanti[_i].virtual_stages;
    derive(m, korthikanti[_i].microbatch, s);
    ck_assert(qty_value(pool, block.memory.stored, &stored));
    ck_assert_int_eq(korthikanti_parameter_bytes(&m, &s, &bytes), CONVENTION_OK);
    assert_gib(bytes, korthikanti[_i].parameters);
    ck_assert_int_eq(korthikanti_activation_bytes(&m, &s, stored, &bytes), CONVENTION_OK);
    assert_gib(bytes, korthikanti[_i].none);
    s.communication = RS_AG;
    s.recompute = RECOMPUTE_ATTENTION;
    s.input_regather = true;
    derive(m, korthikanti[_i].microbatch, s);
    ck_assert(qty_value(pool, block.memory.stored, &stored));
    ck_assert_int_eq(korthikanti_activation_bytes(&m, &s, stored, &bytes), CONVENTION_OK);
    assert_gib(bytes, korthikanti[_i].both);
}
END_TEST

Suite *stage_suite(void);

Suite *stage_suite(void)
{
    TCase *t = tcase_create("stage");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, each_stage_warms_up_and_peaks_as_its_schedule_says, 0, COUNT(schedules));
    tcase_add_test(t, an_interleaved_stage_holds_a_fraction_of_a_microbatch_more);
    tcase_add_loop_test(t, a_bubble_is_an_exact_share_of_the_work_and_of_the_whole, 0, COUNT(bubbles));
    tcase_add_test(t, the_demos_heaviest_stage_holds_58060800000_bytes);
    tcase_add_test(t, full_recompute_holds_checkpoints_instead_of_activations);
    tcase_add_loop_test(t, the_counts_of_narayanan_2021_are_exact_past_64_bits, 0, COUNT(narayanan));
    tcase_add_test(t, a_convention_says_when_it_does_not_apply);
    tcase_add_loop_test(t, the_first_stages_bytes_of_korthikanti_2022_are_exact, 0, COUNT(korthikanti));
    Suite *s = suite_create("stage");
    suite_add_tcase(s, t);
    return s;
}
