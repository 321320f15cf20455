/* The contract: what model, workload and strategy must hold together. Nothing is rounded to make it fit. */
#ifndef TRANSFORMER_CONTRACT_H
#define TRANSFORMER_CONTRACT_H

#include "support/diag.h"
#include "transformer/request.h"

enum contract_item { CONTRACT_MODEL, CONTRACT_WORKLOAD, CONTRACT_STRATEGY };

struct contract_finding {
    const struct rule *rule;
    enum severity severity;         /* error or warning */
    enum contract_item item;        /* where to point: the item and its field */
    const char *field;
    const char *message;            /* what did not divide, with the remainder */
    const char *note;               /* the legal values, or NULL */
    u64 remainder;                  /* of the division that failed, else 0 */
};

typedef void contract_report(void *state, const struct contract_finding *finding);

/*
 * Reports every violation in one run, none that only follows from another. Texts live in ARENA. True when there is
 * no error (warnings don't count).
 */
bool contract_check_training(const struct transformer_model *m, const struct training_workload *w,
                             const struct training_strategy *s, struct arena *arena, contract_report *report,
                             void *state);

/*
 * The part of it that a stage depends on, for a program whose model is not at hand: of M the blocks are read only. No
 * warnings.
 */
bool contract_check_stage(const struct transformer_model *m, const struct training_workload *w,
                          const struct training_strategy *s, struct arena *arena, contract_report *report, void *state);

/* The same for inference: every step of a request within the model's sequence, and no fact that only training has. */
bool contract_check_inference(const struct transformer_model *m, const struct inference_request *w,
                              const struct training_strategy *s, struct arena *arena, contract_report *report, void *state);

/* The part of it that a stage depends on: of M the blocks are read only. */
bool contract_check_inference_stage(const struct transformer_model *m, const struct training_strategy *s, struct arena *arena,
                                    contract_report *report, void *state);

/* All rules of contract.def, for --explain. */
extern const struct rule contract_rules[];
extern const size_t contract_rule_count;

#endif
