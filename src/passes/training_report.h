/*
 * What a training derivation means for a whole pipeline stage and a whole iteration: the part of --summary that needs
 * the model and the session besides the derived program. Every number is exact; each says what it covers.
 */
#ifndef PASSES_TRAINING_REPORT_H
#define PASSES_TRAINING_REPORT_H

#include "passes/pass.h"
#include "transformer/stage.h"

struct training_report {
    struct context *ctx;
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
    enum attention_pairs pairs;         /* that the program counts */
    struct block *block;                /* in the context's arena */
    struct stage_memory memory;         /* of the first stage, the heaviest */
    u64 microbatches;
    u64 blocks;                         /* of a stage */
    u128 kept, kept_baseline;           /* stored or checkpoint bytes of a block; the same under all_reduce without recompute */
};

/*
 * Fills OUT for a program that distribute-transformer-training made from MODEL, with session items looked up in M by the
 * pins of its header. False, nothing reported: it is no such program, or an item is not there.
 */
bool training_report_of(struct training_report *out, const struct item *model, const struct item *dist, const struct module *m);

void training_report_text(struct out *o, const struct training_report *r);

/* For a pass that makes such a program: the value of training_totals. One whose `block` is NULL leaves 128 bits. */
void training_report_publish(struct pass_run *r);

/* Members of an object, each behind a comma. */
void training_report_json(struct out *o, const struct training_report *r);

#endif
