#include "transformer/stage.h"

#include "transformer/formula.h"

u64 stage_microbatches(const struct training_workload *w, const struct training_strategy *s)
{
    return w->batch / s->data / w->microbatch;
}

u64 stage_blocks(const struct transformer_model *m, const struct training_strategy *s)
{
    return m->blocks / s->pipeline;
}

static u128 smaller(u128 a, u128 b)
{
    return a < b ? a : b;
}

static u64 chunks_of(const struct training_strategy *s)
{
    return s->schedule == SCHEDULE_INTERLEAVED_ONE_F_ONE_B ? s->virtual_stages : 1;
}

u128 stage_warmup_chunks(const struct training_strategy *s, u64 microbatches, u64 rank)
{
    u64 p = s->pipeline, v = chunks_of(s), behind = p - rank - 1;
    switch (s->schedule) {
    case SCHEDULE_GPIPE: return microbatches;
    case SCHEDULE_ONE_F_ONE_B: return smaller(behind, microbatches);
    case SCHEDULE_INTERLEAVED_ONE_F_ONE_B: return smaller(2 * (u128)behind + (u128)(v - 1) * p, (u128)microbatches * v);
    default: return 0;
    }
}

u128 stage_peak_chunks(const struct training_strategy *s, u64 microbatches, u64 rank)
{
    return smaller(stage_warmup_chunks(s, microbatches, rank) + 1, (u128)microbatches * chunks_of(s));
}

struct ratio stage_in_flight(const struct training_strategy *s, u64 microbatches, u64 rank)
{
    return ratio_of(stage_peak_chunks(s, microbatches, rank), chunks_of(s));
}

struct ratio stage_bubble_over_ideal(const struct training_strategy *s, u64 microbatches)
{
    return ratio_of(s->pipeline - 1, (u128)chunks_of(s) * microbatches);
}

struct ratio stage_bubble_over_total(const struct training_strategy *s, u64 microbatches)
{
    u128 wait = s->pipeline - 1;
    return ratio_of(wait, (u128)chunks_of(s) * microbatches + wait);
}

const struct stage_buffer stage_buffers[STAGE_BUFFERS] = {
    { "weights", "L*weights" },
    { "gradients", "gradients_unsharded + (L - 1)*gradients" },
    { "activation_gradients", "activation_gradients" },
    { "optimizer", "L*optimizer" },
    { "working", "working" },
    { "stored", "kept*stored" },
    { "checkpoint", "held*checkpoint" },
    { "total", "weights + gradients + activation_gradients + optimizer + working + stored + checkpoint" },
};

/* The sums of the table over SCOPE, in the order of struct stage_memory; the last one over the others. */
static bool evaluate_buffers(struct exprs *x, const struct formula_scope *scope, qty *sums, struct block_fault *fault)
{
    struct formula_name done[STAGE_BUFFERS];
    struct formula_scope totals = { done, 0, NULL };
    for (size_t i = 0; i < STAGE_BUFFERS; i++) {
        bool last = i + 1 == STAGE_BUFFERS;
        enum expr_status status = formula_evaluate(x, stage_buffers[i].formula, last ? &totals : scope, &sums[i]);
        if (status) {
            *fault = (struct block_fault){ "stage", stage_buffers[i].formula, status };
            return false;
        }
        done[totals.n++] = (struct formula_name){ stage_buffers[i].name, sums[i] };
    }
    return true;
}

bool stage_derive_memory(struct exprs *x, const struct transformer_model *m, const struct training_workload *w,
                         const struct training_strategy *s, const struct block_memory *block, struct stage_memory *out,
                         struct block_fault *fault)
{
    u64 blocks = stage_blocks(m, s), chunks = chunks_of(s);
    u128 held = blocks;
    bool fits = u128_mul(held, stage_peak_chunks(s, stage_microbatches(w, s), 0), &held);
    if (!fits || !u128_div_exact(held, chunks, &held)) {
        *fault = (struct block_fault){ "stage", "L*k", fits ? EXPR_INEXACT : EXPR_OVERFLOW };
        return false;
    }
    const struct formula_name names[] = {
        { "L", qty_number(x, blocks) }, { "held", qty_number(x, held) }, { "kept", qty_number(x, held - 1) },
        { "weights", block->weights }, { "working", block->working }, { "stored", block->stored },
        { "checkpoint", block->checkpoint }, { "gradients", block->gradients },
        { "gradients_unsharded", block->gradients_unsharded },
        { "activation_gradients", block->activation_gradients }, { "optimizer", block->optimizer },
    };
    const struct formula_scope scope = { names, COUNT(names), NULL };
    qty sums[STAGE_BUFFERS];
    if (!evaluate_buffers(x, &scope, sums, fault))
        return false;
    *out = (struct stage_memory){ sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] };
    return true;
}
