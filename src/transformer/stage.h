/*
 * A pipeline stage: how many microbatches are in flight on it, how much of the time it waits, and what its memory
 * holds. Microbatches of an interleaved stage are counted in chunks, of which `virtual_stages` make one microbatch
 * over the whole stage. For specifications that contract.h accepts.
 *
 * Sources: Narayanan et al. 2021 (arXiv 2104.04473), section 2.2, for schedules and bubbles; Megatron-LM's
 * get_pp_rank_microbatches for the warm-up of interleaved stages; Huang et al. 2018 (GPipe, arXiv 1811.06965).
 */
#ifndef TRANSFORMER_STAGE_H
#define TRANSFORMER_STAGE_H

#include "transformer/block.h"
#include "transformer/ratio.h"

/* Microbatches of one replica and step: batch / (data * microbatch). */
u64 stage_microbatches(const struct training_workload *w, const struct training_strategy *s);

/* Blocks of a stage. */
u64 stage_blocks(const struct transformer_model *m, const struct training_strategy *s);

/* Chunks whose forward pass stage RANK (0 is the first) runs before its first backward pass. */
u128 stage_warmup_chunks(const struct training_strategy *s, u64 microbatches, u64 rank);

/* Chunks whose activations stage RANK holds at once, at most. The first stage holds the most. */
u128 stage_peak_chunks(const struct training_strategy *s, u64 microbatches, u64 rank);

/* The same in microbatches over the whole stage: chunks / virtual stages. */
struct ratio stage_in_flight(const struct training_strategy *s, u64 microbatches, u64 rank);

/* Waiting time of a stage: over the time of its work (p-1)/(v m), and over the whole, (p-1)/(v m + p-1). */
struct ratio stage_bubble_over_ideal(const struct training_strategy *s, u64 microbatches);
struct ratio stage_bubble_over_total(const struct training_strategy *s, u64 microbatches);

/* Bytes of the heaviest stage, the first, on one rank. L blocks a stage, k microbatches in flight. */
struct stage_memory {
    qty weights;                /* L * weights */
    qty gradients;              /* one block unsharded at four bytes, L-1 blocks as they are kept */
    qty activation_gradients;   /* one block's */
    qty optimizer;              /* L * optimizer */
    qty working;                /* one block's */
    qty stored;                 /* stored * (L*k - 1): the block in work is in `working`; 0 under full recompute */
    qty checkpoint;             /* checkpoint * L*k */
    qty total;
};

/* Their formulas, in that order, over a block's memory: `held` is L*k, the microbatches' blocks in flight; `kept` is one
 * less, for the block in work. */
enum { STAGE_BUFFERS = 8 };
extern const struct stage_buffer {
    const char *name, *formula;
} stage_buffers[STAGE_BUFFERS];

/* False, and *FAULT names the sum, when a number leaves 128 bits or L*k is not whole. */
bool stage_derive_memory(struct exprs *x, const struct transformer_model *m, const struct training_workload *w,
                         const struct training_strategy *s, const struct block_memory *block, struct stage_memory *out,
                         struct block_fault *fault);

#endif
