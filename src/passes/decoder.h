/* What the passes that take a coarse decoder check and say alike: what the contract finds, the boundary's types, the origin. */
#ifndef PASSES_DECODER_H
#define PASSES_DECODER_H

#include "passes/pass.h"
#include "passes/spec.h"
#include "transformer/contract.h"

struct decoder {
    struct pass_run *r;
    const struct model_op *op;
};

/* The only operation of the input, which is the pass's; NULL: reported, with OTHER where that is the pass that takes it. */
const struct model_op *decoder_find(struct pass_run *r, const struct pass *other);

/* A contract_report: at the field of the model, the workload or the strategy. STATE is a struct decoder. */
void decoder_report(void *state, const struct contract_finding *f);

/* A value of the boundary has RANK dimensions, called WHAT. */
bool decoder_check_rank(const struct decoder *d, const struct model_value *v, u32 rank, const char *what);

/* Dimension I of a value: a symbol takes SIZE, a number must be it. WHAT says whose size it is. */
bool decoder_check_dimension(const struct decoder *d, const struct model_value *v, u32 i, u128 size, const char *what);

/* The elements of a value are the workload's dtype. */
bool decoder_check_element(const struct decoder *d, const struct model_value *v);

/* The program's `origin`: its tasks and facts are lowered from the decoder. Stands above them. */
void decoder_emit_origin(struct pass_run *r, const struct model_op *op);

#endif
