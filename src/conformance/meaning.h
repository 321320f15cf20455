/*
 * What an operation means for the pieces of values: which dimensions of its operands are dimensions of its result, which it
 * sums over, which it needs whole, and whether it commutes with a sum that is still to come. Written from the operations'
 * definitions, apart from the dialect's verifier.
 */
#ifndef CONFORMANCE_MEANING_H
#define CONFORMANCE_MEANING_H

#include "dialects/dist/dist.h"

enum meaning {
    MEANING_OPEN,               /* nothing is known */
    MEANING_MOVE,               /* elements stay elements: reshape, transpose, split, concat, write, fork, cast */
    MEANING_SCALE,              /* each element by a factor that no operand's value decides: dropout, mask, rope */
    MEANING_SUM, MEANING_PRODUCT,
    MEANING_CURVE,              /* not linear */
};

/* What a dimension of an operand is: a dimension of the result (below MAX_RANK), or one of these. */
enum { DIM_SUMMED = MAX_RANK, DIM_AVERAGED, DIM_CUT, DIM_RESHAPED };

enum { MOST_OPERANDS = 64 };

struct task_meaning {
    u8 meaning, form;
    bool known;                 /* dimensions are told by meaning_dim; else only `meaning` may be relied on */
    bool writes;                /* a part into a state */
    bool pairs;                 /* neighbours along the last dimension of operand 0 are needed together */
    bool whole;                 /* the last dimension of operand 0 is needed by each element of the result */
    u8 rank, result_rank;       /* of operand 0, of result 0 */
    u8 place[MAX_RANK];         /* transpose: of each dimension of the operand, its place in the result */
    u8 axis;                    /* split, concat, write: along which */
};

struct meanings {
    const struct item *it;
    u8 *form_of;                /* by atom below ctx->n_operations */
    atom axis, permutation;
};

void meanings_init(struct meanings *m, struct arena *arena, const struct item *it);

/* Of a local task. What has no operands or results, or does not fit the operation as it is defined, is not known. */
void meaning_of(const struct meanings *m, const struct dist_task *t, struct task_meaning *out);

/* Dimension DIM, one of RANK, of operand I. Only where the task is known. */
u8 meaning_dim(const struct task_meaning *x, u32 i, u32 dim, u32 rank);

#endif
