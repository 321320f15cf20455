/*
 * What a step of inference means for a pipeline stage, the whole model and a device: the part of --summary that needs the
 * model and the session besides the derived program. Every number is exact; each says what it covers.
 */
#ifndef PASSES_INFERENCE_REPORT_H
#define PASSES_INFERENCE_REPORT_H

#include "passes/pass.h"
#include "transformer/inference.h"

struct inference_report {
    struct context *ctx;
    struct transformer_model model;
    struct training_strategy strategy;
    struct inference_request request;   /* of which the program is a step */
    struct inference_step step;
    struct inference_block *block;      /* in the context's arena; NULL: it leaves 128 bits */
    u64 blocks;                         /* of a stage */
};

/*
 * Fills OUT for a program that distribute-transformer-inference made from MODEL, with session items looked up in M by the
 * pins of its header. False, nothing reported: it is no such program, or an item is not there.
 */
bool inference_report_of(struct inference_report *out, const struct item *model, const struct item *dist, const struct module *m);

/* For a pass that makes such a program: the value of inference_totals. */
void inference_report_publish(struct pass_run *r);

/*
 * The longest context that a stage has room for in BYTES on each device, with as many new tokens at a time as the step
 * has; 0: there is none. Buffers are laid out as a plan's, each from a multiple of 16.
 */
u64 inference_report_fit(const struct inference_report *r, u64 bytes);

/* Where deployments stand, and the sizes of their devices: in the file, and in those of --session, which may be NULL. */
struct deployments {
    const struct module *file, *session;
};

void inference_report_text(struct out *o, const struct inference_report *r, const struct deployments *deployments);

/* Members of an object, each behind a comma. DEPLOYMENTS may be NULL. */
void inference_report_json(struct out *o, const struct inference_report *r, const struct deployments *deployments);

#endif
