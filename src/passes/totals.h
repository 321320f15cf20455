/* Analyses of one item that passes conserve: a pass that preserves one is held to it, by what both sides add up to. */
#ifndef PASSES_TOTALS_H
#define PASSES_TOTALS_H

#include "passes/analysis.h"
#include "passes/sums.h"

/* The engines that steps run on, whatever their layer calls the body that does. */
enum step_engine { STEPS_COMPUTE, STEPS_COLLECTIVE, STEPS_TRANSFER, STEPS_HOST, STEP_ENGINES };

struct engine_counts {
    u64 steps[STEP_ENGINES];         /* barriers, signals and waits order the others, and are not counted */
};

struct buffer_totals {
    u64 buffers;
    qty bytes;                  /* of one rank */
};

/* Where a step of BODY, the word of its layer, runs; STEP_ENGINES: nowhere. */
enum step_engine engine_of(const char *body);

#endif
