/* Accounts: read from the same tables as the derivation, they give its numbers, and name what the numbers depend on. */
#include "transformer/account.h"

#include <check.h>

static struct arena arena;
static struct interner names;
static struct exprs *x;

static void setup(void)
{
    arena_init(&arena);
    interner_init(&names, &arena);
    x = exprs_new(&arena, &names);
}

static void teardown(void)
{
    interner_free(&names);
    arena_free(&arena);
}

/* GPT-3 175B in shape, small in numbers that divide. */
static const struct transformer_model model = {
    .name = "m", .hidden = 64, .feedforward = 256, .heads = 8, .kv_heads = 8, .head_size = 8, .sequence = 32, .blocks = 16, .dropout = true,
};
static const struct training_workload workload = { .batch = 64, .microbatch = 2, .element_bytes = 2 };
static const struct training_strategy plain = { .tensor = 4, .pipeline = 2, .schedule = SCHEDULE_ONE_F_ONE_B, .virtual_stages = 1, .data = 2 };

struct derived {
    struct block block;
    struct account account;
    struct block_switches on;
};

static struct derived *derive(const struct transformer_model *m, const struct training_workload *w, const struct training_strategy *s)
{
    struct derived *d = ARENA_NEW(&arena, struct derived);
    struct block_fault fault;
    struct block_sizes sizes = block_sizes_of(x, m, w, s);
    d->on = block_switches_of(m, s, ATTENTION_DENSE);
    ck_assert(block_derive(x, &arena, &sizes, &d->on, &d->block, &fault));
    account_training(&d->account, x, &arena, &sizes, &d->on);
    return d;
}

static u32 variants(struct training_strategy *out)
{
    u32 n = 0;
    for (u32 i = 0; i < 96; i++) {
        struct training_strategy s = plain;
        s.tensor = i & 1 ? 4 : 1;
        s.communication = i & 2 ? COMMUNICATION_REDUCE_SCATTER_ALL_GATHER : COMMUNICATION_ALL_REDUCE;
        s.recompute = (enum recompute_policy)(i / 4 % 3);
        s.fused_activation = i / 12 & 1;
        s.input_regather = i / 24 & 1;
        s.optimizer_sharding = i / 48 & 1;
        out[n++] = s;
    }
    return n;
}

static qty line_of(const struct account *a, const char *fact)
{
    for (u32 i = 0; i < a->n_lines; i++)
        if (!strcmp(a->lines[i].fact, fact))
            return a->lines[i].value;
    return 0;
}

START_TEST(the_account_of_each_task_gives_its_numbers)
{
    struct training_strategy all[96];
    u32 n = variants(all);
    for (u32 v = 0; v < n; v++) {
        struct derived *d = derive(&model, &workload, &all[v]);
        for (u32 i = 0; i < d->block.n; i++) {
            const struct block_invocation *call = &d->block.invocations[i];
            struct account *a = ARENA_NEW(&arena, struct account);
            *a = d->account;
            ck_assert_msg(account_training_task(a, &d->on, layer_table[call->layer].name, call->phase, call->collective != COLLECTIVE_NONE), "%s", call->name);
            ck_assert_msg(line_of(a, "operations") == call->work.operations, "%s", call->name);
            ck_assert_msg(line_of(a, "read") == call->work.read, "%s", call->name);
            ck_assert_msg(line_of(a, "write") == call->work.write, "%s", call->name);
            ck_assert_msg(line_of(a, "message") == call->work.message, "%s", call->name);
        }
    }
}
END_TEST

static const struct {
    const char *name;
    size_t offset;
} memory_facts[] = {
    { "weights", offsetof(struct block_memory, weights) }, { "working", offsetof(struct block_memory, working) },
    { "stored", offsetof(struct block_memory, stored) }, { "checkpoint", offsetof(struct block_memory, checkpoint) },
    { "gradients", offsetof(struct block_memory, gradients) }, { "optimizer", offsetof(struct block_memory, optimizer) },
    { "gradients_unsharded", offsetof(struct block_memory, gradients_unsharded) },
    { "activation_gradients", offsetof(struct block_memory, activation_gradients) },
};

static qty memory_of(const struct block *b, size_t i)
{
    return *(const qty *)((const char *)&b->memory + memory_facts[i].offset);
}

/* The sum of the parts, and all that they depend on. */
static qty sum_parts(const struct derived *d, const char *fact, account_facts *depends)
{
    struct account *a = ARENA_NEW(&arena, struct account);
    qty sum = 0;
    *a = d->account;
    ck_assert(account_training_memory(a, &d->on, fact));
    *depends = a->left_out;
    for (u32 i = 0; i < a->n_lines; i++) {
        ck_assert_int_eq(qty_add(x, sum, a->lines[i].value, &sum), EXPR_OK);
        *depends |= account_depends(a, &a->lines[i]);
    }
    return sum;
}

START_TEST(the_parts_of_each_memory_fact_add_up_to_it)
{
    struct training_strategy all[96];
    u32 n = variants(all);
    account_facts depends;
    for (u32 v = 0; v < n; v++) {
        struct derived *d = derive(&model, &workload, &all[v]);
        for (size_t i = 0; i < COUNT(memory_facts); i++)
            ck_assert_msg(sum_parts(d, memory_facts[i].name, &depends) == memory_of(&d->block, i), "%s of variant %u", memory_facts[i].name, v);
    }
}
END_TEST

/* Each strategy differs from its neighbour in one fact: where a number differs, too, the account must name that fact. */
static void assert_named(const struct training_strategy *s, const struct training_strategy *t, enum account_fact fact)
{
    struct derived *d = derive(&model, &workload, s), *e = derive(&model, &workload, t);
    account_facts depends;
    for (size_t i = 0; i < COUNT(memory_facts); i++) {
        sum_parts(d, memory_facts[i].name, &depends);
        if (memory_of(&d->block, i) != memory_of(&e->block, i))
            ck_assert_msg(depends >> fact & 1, "%s depends on %s", memory_facts[i].name, account_fact_table[fact].field);
    }
}

START_TEST(what_changes_a_number_is_among_what_it_depends_on)
{
    struct training_strategy all[96], t;
    u32 n = variants(all);
    for (u32 v = 0; v < n; v++) {
        t = all[v];
        t.tensor = 8;
        assert_named(&all[v], &t, FACT_TENSOR);
        t = all[v];
        t.communication = !t.communication;
        assert_named(&all[v], &t, FACT_COMMUNICATION);
        t = all[v];
        t.fused_activation = !t.fused_activation;
        assert_named(&all[v], &t, FACT_FUSED_ACTIVATION);
        t = all[v];
        t.input_regather = !t.input_regather;
        assert_named(&all[v], &t, FACT_INPUT_REGATHER);
        t = all[v];
        t.optimizer_sharding = !t.optimizer_sharding;
        assert_named(&all[v], &t, FACT_OPTIMIZER_SHARDING);
        t = all[v];
        t.recompute = (enum recompute_policy)((t.recompute + 1) % 3);
        assert_named(&all[v], &t, FACT_RECOMPUTE);
        t = all[v];
        t.data = 4;
        assert_named(&all[v], &t, FACT_DATA);
    }
}
END_TEST

/* 16 blocks over 2 stages are 8 a stage; 16 microbatches of 2 over 2 replicas, of which the first stage holds min(16, 2). */
START_TEST(the_account_of_a_stage_gives_its_buffers)
{
    static const struct {
        const char *name;
        size_t offset;
    } buffers[] = {
        { "weights", offsetof(struct stage_memory, weights) }, { "gradients", offsetof(struct stage_memory, gradients) },
        { "activation_gradients", offsetof(struct stage_memory, activation_gradients) }, { "optimizer", offsetof(struct stage_memory, optimizer) },
        { "working", offsetof(struct stage_memory, working) }, { "stored", offsetof(struct stage_memory, stored) },
        { "checkpoint", offsetof(struct stage_memory, checkpoint) },
    };
    struct training_strategy all[96];
    u32 n = variants(all);
    for (u32 v = 0; v < n; v++) {
        struct derived *d = derive(&model, &workload, &all[v]);
        struct stage_memory stage;
        struct block_fault fault;
        ck_assert(stage_derive_memory(x, &model, &workload, &all[v], &d->block.memory, &stage, &fault));
        for (u32 i = 0; i < COUNT(buffers); i++) {
            struct account *a = ARENA_NEW(&arena, struct account);
            *a = d->account;
            ck_assert(account_stage(a, &d->on, &d->block.memory, 8, 8 * 2, buffers[i].name));
            ck_assert_msg(a->lines[0].value == *(const qty *)((const char *)&stage + buffers[i].offset), "%s of variant %u", buffers[i].name, v);
        }
    }
    struct account *a = ARENA_NEW(&arena, struct account);
    *a = derive(&model, &workload, &all[0])->account;
    ck_assert(!account_stage(a, &derive(&model, &workload, &all[0])->on, &(struct block_memory){ 0 }, 8, 16, "total"));
}
END_TEST

/* 2MNK: rows, hidden width and a rank's heads; neither the feed-forward width nor how anything is recomputed. */
START_TEST(what_does_not_occur_is_not_among_what_it_depends_on)
{
    struct derived *d = derive(&model, &workload, &plain);
    ck_assert(account_training_task(&d->account, &d->on, "attention.query", PHASE_FORWARD, false));
    ck_assert_uint_eq(account_depends(&d->account, &d->account.lines[0]),
                      ACCOUNT(FACT_MICROBATCH) | ACCOUNT(FACT_SEQUENCE) | ACCOUNT(FACT_HIDDEN) | ACCOUNT(FACT_HEADS) | ACCOUNT(FACT_HEAD_SIZE) |
                          ACCOUNT(FACT_TENSOR));
}
END_TEST

START_TEST(a_formula_is_written_with_its_numbers)
{
    struct derived *d = derive(&model, &workload, &plain);
    struct out o;
    ck_assert(account_training_task(&d->account, &d->on, "attention.query", PHASE_FORWARD, false));
    out_memory(&o);
    account_out_numbers(&o, &d->account, &d->account.lines[0], d->account.lines[0].formula);
    out_char(&o, '\0');
    ck_assert_str_eq(o.data, "2*64*64*16");        /* M = 2*32 rows, H = 64, K = 8/4*8 */
    ck_assert_uint_eq(d->account.lines[0].value, 2 * 64 * 64 * 16);
    out_free(&o);
}
END_TEST

START_TEST(a_layer_that_is_not_there_has_no_account)
{
    struct derived *d = derive(&model, &workload, &plain);
    ck_assert(!account_training_task(&d->account, &d->on, "attention.qury", PHASE_FORWARD, false));
    ck_assert(!account_training_memory(&d->account, &d->on, "kv_cache"));
}
END_TEST

static struct inference_step decode = { .decode = true, .batch = 4, .query = 1, .context = 24, .element_bytes = 2 };

START_TEST(the_account_of_inference_gives_its_numbers)
{
    for (u32 v = 0; v < 8; v++) {
        struct transformer_model m = model;
        struct training_strategy s = plain;
        struct inference_block *b = ARENA_NEW(&arena, struct inference_block);
        struct block_fault fault;
        s.tensor = v & 1 ? 4 : 1;
        m.kv_heads = v & 2 ? 4 : 8;
        m.mlp = v & 4 ? MLP_SWIGLU : MLP_GELU;
        m.norm = v & 4 ? NORM_RMS : NORM_LAYER;
        struct inference_sizes sizes = inference_sizes_of(x, &m, &decode, &s);
        struct inference_switches on = inference_switches_of(&m, &decode, &s);
        ck_assert(inference_derive(x, &arena, &sizes, &on, "decode", b, &fault));
        for (u32 i = 0; i < b->n; i++) {
            const struct inference_task_row *row = &inference_task_table[b->calls[i].row];
            struct account *a = ARENA_NEW(&arena, struct account);
            account_inference(a, x, &arena, &sizes, &on, ACCOUNT(FACT_MODE), ACCOUNT(FACT_MODE) | ACCOUNT(FACT_CONTEXT));
            ck_assert_msg(account_inference_task(a, &on, row->layer, row->engine == ENGINE_COLLECTIVE), "%s", row->layer);
            ck_assert_msg(line_of(a, "operations") == b->calls[i].work.operations && line_of(a, "read") == b->calls[i].work.read &&
                              line_of(a, "write") == b->calls[i].work.write && line_of(a, "message") == b->calls[i].work.message, "%s", row->layer);
        }
        static const char *const facts[] = { "weights", "kv_cache", "workspace", "boundary" };
        const qty expected[] = { b->memory.weights, b->memory.kv_cache, b->memory.workspace, b->memory.boundary };
        for (u32 i = 0; i < COUNT(facts); i++) {
            struct account *a = ARENA_NEW(&arena, struct account);
            qty sum = 0;
            account_inference(a, x, &arena, &sizes, &on, ACCOUNT(FACT_MODE), ACCOUNT(FACT_MODE) | ACCOUNT(FACT_CONTEXT));
            ck_assert(account_inference_memory(a, &on, facts[i]));
            for (u32 k = 0; k < a->n_lines; k++)
                ck_assert_int_eq(qty_add(x, sum, a->lines[k].value, &sum), EXPR_OK);
            ck_assert_msg(sum == expected[i], "%s", facts[i]);
        }
    }
}
END_TEST

Suite *account_suite(void);

Suite *account_suite(void)
{
    Suite *s = suite_create("account");
    TCase *c = tcase_create("account");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, the_account_of_each_task_gives_its_numbers);
    tcase_add_test(c, the_parts_of_each_memory_fact_add_up_to_it);
    tcase_add_test(c, what_changes_a_number_is_among_what_it_depends_on);
    tcase_add_test(c, the_account_of_a_stage_gives_its_buffers);
    tcase_add_test(c, what_does_not_occur_is_not_among_what_it_depends_on);
    tcase_add_test(c, a_formula_is_written_with_its_numbers);
    tcase_add_test(c, a_layer_that_is_not_there_has_no_account);
    tcase_add_test(c, the_account_of_inference_gives_its_numbers);
    suite_add_tcase(s, c);
    return s;
}
