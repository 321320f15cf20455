/*
 * Counts under a convention that a paper defines. They differ from a plan's own totals, which count vector operations
 * and no logits, and are never mixed with them: every result is shown with the convention's name.
 */
#ifndef TRANSFORMER_CONVENTION_H
#define TRANSFORMER_CONVENTION_H

#include "ir/expr.h"
#include "transformer/ratio.h"
#include "transformer/spec.h"

#define CONVENTION_NARAYANAN_2021 "narayanan-2021"
#define CONVENTION_KORTHIKANTI_2022 "korthikanti-2022"

enum convention_status {
    CONVENTION_OK,
    CONVENTION_OVERFLOW,
    CONVENTION_NO_VOCABULARY,       /* the count has a term in the vocabulary, which the model does not state */
    CONVENTION_OTHER_SHAPE,         /* the paper's model has feedforward 4*hidden, heads*head_size = hidden, keys and
                                       values for each head, and no gate in the MLP */
};

/*
 * Narayanan et al. 2021 (arXiv 2104.04473), equation (2): parameters of the model with tied, padded embeddings and
 * learned positions, 12 L h^2 (1 + 13/(12 h) + (V+s)/(12 L h)).
 */
enum convention_status narayanan_parameters(struct exprs *x, const struct transformer_model *m, qty *out);

/*
 * Equation (3): operations of one step over the whole batch and all ranks, 96 B s L h^2 (1 + s/(6h) + V/(16 L h)) with
 * full recompute; without it 72 B s L h^2 (1 + s/(6h) + V/(12 L h)).
 */
enum convention_status narayanan_operations(struct exprs *x, const struct transformer_model *m,
                                            const struct training_workload *w, bool recompute, qty *out);

/*
 * Korthikanti et al. 2022 (arXiv 2205.05198), figure 1, the first stage on one rank: 18 bytes a parameter for weights,
 * gradients and optimizer, 12 h^2 parameters a block; activations are STORED, the bytes a block keeps of a microbatch,
 * times the blocks and the microbatches in flight in a pipeline that is filled (p, interleaved p + (p-1)/v).
 */
enum convention_status korthikanti_parameter_bytes(const struct transformer_model *m, const struct training_strategy *s,
                                                   struct ratio *out);
enum convention_status korthikanti_activation_bytes(const struct transformer_model *m,
                                                    const struct training_strategy *s, u128 stored,
                                                    struct ratio *out);

const char *convention_status_text(enum convention_status status);

#endif
