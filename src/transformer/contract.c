#include "transformer/contract.h"

#include "support/quantity.h"

#include <inttypes.h>

enum contract_rule {
#define RULE(id, code, explanation) RULE_##id,
#include "transformer/contract.def"
#undef RULE
    RULES
};

const struct rule contract_rules[] = {
#define RULE(id, code, explanation) { code, explanation },
#include "transformer/contract.def"
#undef RULE
};

const size_t contract_rule_count = RULES;

struct check {
    const struct transformer_model *m;
    const struct training_workload *w;
    const struct training_strategy *s;
    struct arena *arena;
    contract_report *report;
    void *state;
    u32 errors;
};

static void find(struct check *c, enum contract_rule rule, enum contract_item item, const char *field, u64 remainder,
                 const char *message, const char *note)
{
    struct contract_finding f = { &contract_rules[rule], SEVERITY_ERROR, item, field, message, note, remainder };
    if (rule == RULE_SCHEDULE_UNEVEN)
        f.severity = SEVERITY_WARNING;
    c->errors += f.severity == SEVERITY_ERROR;
    c->report(c->state, &f);
}

#define TEXT(c, ...) arena_format((c)->arena, __VA_ARGS__)

enum { DIVISORS_SHOWN = 32, DIVISOR_SEARCH = 1 << 16 };

/* "legal are the divisors of heads 52: 1 2 4 13 26 52", at most DIVISORS_SHOWN of them. */
static const char *divisors(struct check *c, const char *field, u64 value)
{
    u64 small[DIVISORS_SHOWN + 1];
    size_t n = 0;
    struct out o;
    out_memory(&o);
    out_printf(&o, "legal are the divisors of %s %" PRIu64 ":", field, value);
    for (u64 d = 1; d <= value / d && d < DIVISOR_SEARCH && n <= DIVISORS_SHOWN; d++)
        if (value % d == 0)
            small[n++] = d;
    size_t shown = 0, pairs = n > 0 && small[n - 1] == value / small[n - 1] ? n - 1 : n;
    for (size_t i = 0; i < n && shown < DIVISORS_SHOWN; i++, shown++)
        out_printf(&o, " %" PRIu64, small[i]);
    for (size_t i = pairs; i-- > 0 && shown < DIVISORS_SHOWN; shown++)
        out_printf(&o, " %" PRIu64, value / small[i]);
    if (shown < n + pairs)
        out_string(&o, " …");
    const char *text = arena_copy(c->arena, o.data, o.n);
    out_free(&o);
    return text;
}

static void check_given(struct check *c, enum contract_rule rule, enum contract_item item, const char *field, u64 value)
{
    if (!value)
        find(c, rule, item, field, 0, TEXT(c, "%s is 0; it must be at least 1", field), NULL);
}

/* The checks behind these two divide by these fields. */
static bool check_stage_given(struct check *c)
{
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "blocks", c->m->blocks);
    check_given(c, RULE_WORKLOAD_ZERO, CONTRACT_WORKLOAD, "batch", c->w->batch);
    check_given(c, RULE_WORKLOAD_ZERO, CONTRACT_WORKLOAD, "microbatch", c->w->microbatch);
    check_given(c, RULE_STRATEGY_ZERO, CONTRACT_STRATEGY, "tensor", c->s->tensor);
    check_given(c, RULE_STRATEGY_ZERO, CONTRACT_STRATEGY, "pipeline", c->s->pipeline);
    check_given(c, RULE_STRATEGY_ZERO, CONTRACT_STRATEGY, "data", c->s->data);
    check_given(c, RULE_STRATEGY_ZERO, CONTRACT_STRATEGY, "virtual_stages", c->s->virtual_stages);
    return c->errors == 0;
}

static bool check_all_given(struct check *c)
{
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "hidden", c->m->hidden);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "feedforward", c->m->feedforward);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "heads", c->m->heads);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "kv_heads", c->m->kv_heads);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "head_size", c->m->head_size);
    check_given(c, RULE_MODEL_ZERO, CONTRACT_MODEL, "sequence", c->m->sequence);
    return check_stage_given(c);
}

static void check_element(struct check *c)
{
    u64 e = c->w->element_bytes;
    if (e != 1 && e != 2 && e != 4)
        find(c, RULE_ELEMENT_BYTES, CONTRACT_WORKLOAD, "dtype", 0, TEXT(c, "elements of %" PRIu64 " bytes", e),
             "legal are types of 1, 2 and 4 bytes");
}

static void check_batch(struct check *c)
{
    u128 unit = (u128)c->s->data * c->w->microbatch;
    u64 batch = c->w->batch, rest = (u64)(batch % unit);
    if (!rest)
        return;
    char product[U128_DIGITS], above[U128_DIGITS];
    const char *message = TEXT(c, "batch %" PRIu64 " is not a multiple of data %" PRIu64 " x microbatch %" PRIu64
                               " = %s: remainder %" PRIu64, batch, c->s->data, c->w->microbatch,
                               u128_text(unit, product), rest);
    u128_text(batch - rest + unit, above);
    const char *note = batch > rest ? TEXT(c, "the nearest legal batches are %" PRIu64 " and %s", batch - rest, above)
                                    : TEXT(c, "the smallest legal batch is %s", above);
    find(c, RULE_BATCH, CONTRACT_WORKLOAD, "batch", rest, message, note);
}

static void check_split(struct check *c, enum contract_rule rule, const char *what, u64 value)
{
    u64 t = c->s->tensor, rest = value % t;
    if (rest)
        find(c, rule, CONTRACT_STRATEGY, "tensor", rest,
             TEXT(c, "%s %" PRIu64 " is not divisible by tensor %" PRIu64 ": remainder %" PRIu64, what, value, t, rest),
             divisors(c, what, value));
}

/* Degrees that share out whole heads and keep heads of keys and values whole: divisors of heads one way or the other. */
static const char *legal_degrees(struct check *c)
{
    u64 heads = c->m->heads, kv = c->m->kv_heads, shown = 0;
    struct out o;
    out_memory(&o);
    out_printf(&o, "legal are the degrees that divide heads %" PRIu64 ", and divide kv_heads %" PRIu64
               " or are a multiple of it:", heads, kv);
    for (u64 d = 1; d <= heads && d < DIVISOR_SEARCH && shown <= DIVISORS_SHOWN; d++)
        if (heads % d == 0 && (kv % d == 0 || d % kv == 0) && shown++ < DIVISORS_SHOWN)
            out_printf(&o, " %" PRIu64, d);
    if (shown > DIVISORS_SHOWN || heads >= DIVISOR_SEARCH)
        out_string(&o, " …");
    const char *text = arena_copy(c->arena, o.data, o.n);
    out_free(&o);
    return text;
}

static void check_kv_heads(struct check *c)
{
    u64 heads = c->m->heads, kv = c->m->kv_heads, t = c->s->tensor;
    if (heads % kv) {
        find(c, RULE_MODEL_KV_HEADS, CONTRACT_MODEL, "kv_heads", heads % kv,
             TEXT(c, "heads %" PRIu64 " is not divisible by kv_heads %" PRIu64 ": remainder %" PRIu64, heads, kv, heads % kv),
             divisors(c, "heads", heads));
        return;
    }
    u64 rest = kv >= t ? kv % t : t % kv;
    if (rest && (heads % t == 0 || kv != heads))
        find(c, RULE_TENSOR_KV_HEADS, CONTRACT_STRATEGY, "tensor", rest,
             TEXT(c, "kv_heads %" PRIu64 " and tensor %" PRIu64 ": neither divides the other, remainder %" PRIu64, kv, t, rest),
             legal_degrees(c));
}

static void check_tensor(struct check *c)
{
    check_split(c, RULE_TENSOR_HIDDEN, "hidden", c->m->hidden);
    check_split(c, RULE_TENSOR_FEEDFORWARD, "feedforward", c->m->feedforward);
    check_split(c, RULE_TENSOR_HEADS, "heads", c->m->heads);
    check_kv_heads(c);
    if (c->s->communication == COMMUNICATION_REDUCE_SCATTER_ALL_GATHER)
        check_split(c, RULE_TENSOR_SEQUENCE, "sequence", c->m->sequence);
}

static void check_stages(struct check *c)
{
    u64 blocks = c->m->blocks, p = c->s->pipeline, v = c->s->virtual_stages, rest = blocks % p;
    if (rest) {
        find(c, RULE_PIPELINE_BLOCKS, CONTRACT_STRATEGY, "pipeline", rest,
             TEXT(c, "blocks %" PRIu64 " is not divisible by pipeline %" PRIu64 ": remainder %" PRIu64, blocks, p, rest),
             divisors(c, "blocks", blocks));
        return;
    }
    if (c->s->schedule != SCHEDULE_INTERLEAVED_ONE_F_ONE_B || p == 1 || (blocks / p) % v == 0)
        return;
    char product[U128_DIGITS];
    u128 chunks = (u128)p * v;
    rest = (u64)(blocks % chunks);
    find(c, RULE_VIRTUAL_STAGES_BLOCKS, CONTRACT_STRATEGY, "virtual_stages", rest,
         TEXT(c, "blocks %" PRIu64 " is not divisible by pipeline %" PRIu64 " x virtual_stages %" PRIu64
              " = %s: remainder %" PRIu64, blocks, p, v, u128_text(chunks, product), rest),
         divisors(c, "the blocks of a stage,", blocks / p));
}

static void check_schedule(struct check *c)
{
    u64 p = c->s->pipeline, v = c->s->virtual_stages;
    enum pipeline_schedule schedule = c->s->schedule;
    const char *word = schedule_word(schedule);
    if (schedule == SCHEDULE_FORWARD_ONLY)
        find(c, RULE_SCHEDULE_FORWARD_ONLY, CONTRACT_STRATEGY, "schedule", 0,
             "forward_only has no gradients: training needs another schedule",
             p == 1 ? "legal with pipeline 1: single_stage"
                    : "legal in training: gpipe, one_f_one_b, interleaved_one_f_one_b");
    else if (p == 1 && schedule != SCHEDULE_SINGLE_STAGE)
        find(c, RULE_SCHEDULE_NO_PIPELINE, CONTRACT_STRATEGY, "schedule", 0,
             TEXT(c, "%s needs more than one stage, and pipeline is 1", word), "legal with pipeline 1: single_stage");
    else if (p > 1 && schedule == SCHEDULE_SINGLE_STAGE)
        find(c, RULE_SCHEDULE_NO_ORDER, CONTRACT_STRATEGY, "schedule", 0,
             TEXT(c, "single_stage is one stage, and pipeline is %" PRIu64, p),
             "legal in training: gpipe, one_f_one_b, interleaved_one_f_one_b");
    else if (schedule == SCHEDULE_INTERLEAVED_ONE_F_ONE_B && v < 2)
        find(c, RULE_VIRTUAL_STAGES_FEW, CONTRACT_STRATEGY, "virtual_stages", 0,
             "interleaved_one_f_one_b needs at least 2 virtual stages, and virtual_stages is 1", NULL);
    if (v > 1 && schedule != SCHEDULE_INTERLEAVED_ONE_F_ONE_B)
        find(c, RULE_VIRTUAL_STAGES_UNUSED, CONTRACT_STRATEGY, "virtual_stages", 0,
             TEXT(c, "virtual_stages %" PRIu64 " with schedule %s, which has none", v, word),
             "legal without interleaving: 1");
}

/* Only where the batch itself is dealt out evenly. */
static void check_groups(struct check *c)
{
    u128 unit = (u128)c->s->data * c->w->microbatch;
    u64 p = c->s->pipeline;
    if (c->s->schedule != SCHEDULE_INTERLEAVED_ONE_F_ONE_B || p == 1 || c->w->batch % unit)
        return;
    u64 microbatches = (u64)(c->w->batch / unit), rest = microbatches % p;
    if (rest)
        find(c, RULE_SCHEDULE_UNEVEN, CONTRACT_STRATEGY, "schedule", rest,
             TEXT(c, "%" PRIu64 " microbatches are not a multiple of pipeline %" PRIu64 ": remainder %" PRIu64,
                  microbatches, p, rest),
             "the last group of microbatches is smaller, and the bubble larger than (pipeline - 1)/(virtual_stages x "
             "microbatches)");
}

static void check_sharding(struct check *c)
{
    if (c->s->optimizer_sharding && c->s->data == 1)
        find(c, RULE_SHARDING_NO_DATA, CONTRACT_STRATEGY, "optimizer_sharding", 0,
             "optimizer_sharding over data 1: there is no other replica to share with", "legal with data 2 and more");
}

static void check_recompute(struct check *c)
{
    if (!c->s->input_regather)
        return;
    if (c->s->communication == COMMUNICATION_ALL_REDUCE && c->s->tensor > 1)
        find(c, RULE_REGATHER_ALL_REDUCE, CONTRACT_STRATEGY, "input_regather", 0,
             "input_regather with all_reduce: nothing was gathered that could be gathered again",
             "legal with communication reduce_scatter_all_gather");
    if (c->s->recompute == RECOMPUTE_FULL)
        find(c, RULE_REGATHER_FULL, CONTRACT_STRATEGY, "input_regather", 0,
             "input_regather with full recompute, which repeats every gather already",
             "legal with recompute none and attention");
}

static void check_world(struct check *c)
{
    u64 t = c->s->tensor, p = c->s->pipeline, d = c->s->data;
    u128 product;
    bool fits = u128_mul((u128)t * p, d, &product);
    if (!c->s->world || (fits && product == c->s->world))
        return;
    char digits[U128_DIGITS];
    const char *ranks = fits ? u128_text(product, digits) : "more than 128 bits";
    find(c, RULE_WORLD, CONTRACT_STRATEGY, "world", 0,
         TEXT(c, "world %" PRIu64 " is not tensor %" PRIu64 " x pipeline %" PRIu64 " x data %" PRIu64 " = %s",
              c->s->world, t, p, d, ranks),
         fits ? TEXT(c, "legal: %s", ranks) : NULL);
}

bool contract_check_training(const struct transformer_model *m, const struct training_workload *w,
                             const struct training_strategy *s, struct arena *arena, contract_report *report,
                             void *state)
{
    struct check c = { m, w, s, arena, report, state, 0 };
    check_element(&c);
    bool element = c.errors == 0;
    c.errors = 0;
    if (!check_all_given(&c))
        return false;
    check_batch(&c);
    check_tensor(&c);
    check_stages(&c);
    check_schedule(&c);
    check_groups(&c);
    check_sharding(&c);
    check_recompute(&c);
    check_world(&c);
    return element && c.errors == 0;
}

bool contract_check_stage(const struct transformer_model *m, const struct training_workload *w,
                          const struct training_strategy *s, struct arena *arena, contract_report *report, void *state)
{
    struct check c = { m, w, s, arena, report, state, 0 };
    if (!check_stage_given(&c))
        return false;
    check_batch(&c);
    check_stages(&c);
    check_schedule(&c);
    check_sharding(&c);
    check_world(&c);
    return c.errors == 0;
}

/* ---- Inference ---- */

/* The first field that takes the request past the model's sequence; nothing that only follows from it. */
static void check_tokens(struct check *c, const struct inference_request *r)
{
    u64 most = c->m->sequence, given = r->mode == REQUEST_DECODE ? r->first_context : r->prompt;
    const char *field = r->mode == REQUEST_WHOLE ? "prompt" : "context";
    if (given > most) {
        find(c, RULE_CONTEXT_SEQUENCE, CONTRACT_WORKLOAD, field, 0,
             TEXT(c, "%s %" PRIu64 " exceeds the model's sequence %" PRIu64 " by %" PRIu64, field, given, most, given - most),
             TEXT(c, "legal are 1 to %" PRIu64, most));
        return;
    }
    u128 last = request_last_context(r);
    char digits[U128_DIGITS], over[U128_DIGITS], made[U128_DIGITS];
    if (last > most)
        find(c, RULE_CONTEXT_SEQUENCE, CONTRACT_WORKLOAD, "generated", 0,
             TEXT(c, "prompt %" PRIu64 " and generated %s reach a context of %s, which exceeds the model's sequence %" PRIu64 " by %s",
                  given, u128_text((u128)r->decodes + 1, made), u128_text(last, digits), most, u128_text(last - most, over)),
             TEXT(c, "legal with prompt %" PRIu64 ": generated 1 to %" PRIu64, given, most - given + 1));
}

static void refuse_fact(struct check *c, bool there, const char *field)
{
    if (there)
        find(c, RULE_INFERENCE_TRAINING, CONTRACT_STRATEGY, field, 0,
             TEXT(c, "%s is a fact of training: inference has no gradients", field), "leave it out");
}

static void check_inference_strategy(struct check *c)
{
    const struct training_strategy *s = c->s;
    bool single = s->schedule == SCHEDULE_SINGLE_STAGE;
    if (s->communication != COMMUNICATION_ALL_REDUCE)
        find(c, RULE_INFERENCE_COMMUNICATION, CONTRACT_STRATEGY, "communication", 0,
             "reduce_scatter_all_gather splits the boundary along the sequence, and inference does not", "legal is all_reduce");
    if (s->pipeline > 1 ? s->schedule != SCHEDULE_FORWARD_ONLY : !single && s->schedule != SCHEDULE_FORWARD_ONLY)
        find(c, RULE_INFERENCE_SCHEDULE, CONTRACT_STRATEGY, "schedule", 0,
             TEXT(c, "inference over %" PRIu64 " stage%s does not run %s", s->pipeline, s->pipeline > 1 ? "s" : "", schedule_word(s->schedule)),
             s->pipeline > 1 ? "legal is forward_only" : "legal are single_stage and forward_only");
    refuse_fact(c, s->virtual_stages > 1, "virtual_stages");
    refuse_fact(c, s->optimizer_sharding, "optimizer_sharding");
    refuse_fact(c, s->recompute != RECOMPUTE_NONE, "recompute");
    refuse_fact(c, s->fused_activation, "fused_activation");
    refuse_fact(c, s->input_regather, "input_regather");
}

bool contract_check_inference(const struct transformer_model *m, const struct inference_request *r,
                              const struct training_strategy *s, struct arena *arena, contract_report *report, void *state)
{
    const struct training_workload w = { r->batch, 1, r->element_bytes };
    struct check c = { m, &w, s, arena, report, state, 0 };
    bool decode = r->mode == REQUEST_DECODE;
    check_element(&c);
    check_given(&c, RULE_WORKLOAD_ZERO, CONTRACT_WORKLOAD, r->mode == REQUEST_WHOLE ? "prompt" : "context",
                decode ? r->first_context : r->prompt);
    bool good = c.errors == 0;
    c.errors = 0;
    if (!check_all_given(&c) || !good)
        return false;
    check_tokens(&c, r);
    check_tensor(&c);
    check_stages(&c);
    check_inference_strategy(&c);
    check_world(&c);
    return c.errors == 0;
}

bool contract_check_inference_stage(const struct transformer_model *m, const struct training_strategy *s, struct arena *arena,
                                    contract_report *report, void *state)
{
    const struct training_workload w = { 1, 1, 1 };
    struct check c = { m, &w, s, arena, report, state, 0 };
    if (!check_stage_given(&c))
        return false;
    check_stages(&c);
    check_inference_strategy(&c);
    check_world(&c);
    return c.errors == 0;
}
