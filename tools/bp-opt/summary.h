/* --summary: what tasks, buffers and bindings add up to, exactly. */
#ifndef BP_OPT_SUMMARY_H
#define BP_OPT_SUMMARY_H

#include "passes/inference_report.h"

struct training_report;

/* What is known of a derived block besides, each or NULL: for a stage, an iteration, the model. */
struct reports {
    const struct training_report *training;
    const struct inference_report *inference;
    struct deployments deployments;
};

/* True for items that have tasks with a phase, a body and work. */
bool summary_covers(const struct item *it);

/*
 * As a table, or as one object of JSON; a newline ends it. False: reported, a sum leaves 128 bits.
 */
bool summary_print(struct out *o, struct item *it, const struct reports *reports, bool json);

/* Summaries of the checkpoints of a run, in order, and the names of what they cover. */
struct checkpoints {
    bool json, good;
    const struct module *session;       /* of --session */
    struct out text;
    atom *names;
    u32 n, cap;
};

void checkpoints_init(struct checkpoints *c, bool json, const struct module *session);
void checkpoints_free(struct checkpoints *c);
bool checkpoints_cover(const struct checkpoints *c, atom name);
struct observer summary_observer(struct checkpoints *c);

#endif
