/*
 * The checker work-conservation, in parts: a decoder's block against closed forms (work_block.c: which quantities,
 * work_terms.h: its tasks, work_facts.c: its scale and memory), and products whose values are written (work_products.c).
 */
#ifndef CONFORMANCE_WORK_H
#define CONFORMANCE_WORK_H

#include "conformance/checker.h"

#include "dialects/dist/dist.h"
#include "dialects/model/model.h"
#include "dialects/session/session.h"

/* An amount over all ranks, and how much of it a single rank that does everything would have: the model's. */
struct amount {
    qty all, once;
};

/* A program that is one decoder's block, or several alike, and what it is of. */
struct block {
    struct check *c;
    const struct item *it, *model;
    const struct model_op *op;
    const struct dist_scale *scale;             /* or NULL */
    const struct dist_memory *memory;           /* or NULL */
    const struct dist_value *boundary;          /* the input whose type is b x s x h */
    const struct session_strategy *strategy;    /* or NULL: not in the file */
    const struct session_workload *workload;
    u32 axes;                                   /* of the mesh */
    bool training, split, causal, rms_norm, swiglu, rotary, bias, dropout;
    u64 ranks, data;                            /* of the mesh; replicas over which optimizer state is shared */
    u64 dealt;                                  /* ranks that hold one head of keys and values, where these are fewer */
    u64 hidden, feedforward, heads, kv_heads, head_size, sequence, blocks, element_bytes;
    qty b, s, context;
    struct amount letters[128];                 /* by character: block_terms.def */
};

/* False: IT is no block of a decoder in the file, or one that can't be checked; *why says that, or is NULL. */
bool block_read(struct block *b, struct check *c, const char **why);

/* The sum "2p+4k" of letters with factors. False: reported, it leaves 128 bits. */
bool block_sum(struct block *b, const char *sum, struct amount *out);
const char *block_letter_text(char letter);

/*
 * X is what Y is: the same number or polynomial, or the same number where every symbol of a dist program of so many RANKS is
 * a legal one.
 */
bool work_same(const struct item *it, u64 ranks, qty x, qty y);

/* OUT = A*N, or OUT = A + B; false: reported at S. */
bool work_times(struct check *c, const struct stmt *s, qty a, u64 n, qty *out);
bool work_add(struct check *c, const struct stmt *s, qty a, qty b, qty *out);

bool work_check_facts(struct block *b);         /* scale and memory */

/* Products of dist programs whose operands are written: by themselves, and against the model's. */
bool work_check_products(struct check *c);

#endif
