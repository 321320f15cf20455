/*
 * What the gate of distribute-transformer-training proves with: quantities of a block as the model, the session and the
 * option `attention` give them, and closed forms over them that are written in training_proof.c and nowhere else.
 */
#ifndef PASSES_TRAINING_PROOF_H
#define PASSES_TRAINING_PROOF_H

#include "passes/spec.h"

struct training_proof {
    const struct pass_run *r;
    struct transformer_model m;
    struct training_workload w;
    struct training_strategy s;
    u128 M, H, K, J, F, A, R, G;        /* rows; widths (K, J, F of one rank); boundary; its share; feed-forward */
    u128 C, D;                          /* scores that are computed, and that are held: all of the rectangle */
    u128 dropout, rotary, bias, up;     /* 1 where the block has it; products of the MLP ahead of its activation: 1 or 2 */
    u128 replicas, Y;                   /* ranks that hold the same keys and values, and how many weights of them */
    u128 X;                             /* what a collective exchanges: A, or 0 on one rank */
    u128 reduce;                        /* operations of the reductions of one pass over the block */
    bool split;
    const struct model_op *op;
    atom axes[2];                       /* of the mesh */
    u32 n_axes;
    struct qty_binding symbols[2];      /* microbatch and sequence of the model's boundary, where they are symbols */
    u32 n_symbols;
};

/* A fact of the output as a number, under the session's sizes. */
bool training_proof_number(const struct training_proof *p, qty q, u128 *out);

/* Operations and bytes of each phase; the facts of `memory`. False: refused, with the closed form's number. */
bool training_proof_totals(const struct training_proof *p);
bool training_proof_memory(const struct training_proof *p);

#endif
