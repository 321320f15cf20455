/* The same run once more, from copies: what two runs disagree in is not derived from the input. */
#ifndef PASSES_REPLAY_H
#define PASSES_REPLAY_H

#include "passes/pass.h"

/*
 * Runs R's pass again on items that were printed and parsed anew, into an output of its own, TWIN (empty, header filled
 * in), and compares digests: of the outputs and of what was published. False: reported. TWIN is the caller's.
 */
bool replay_check(const struct pass_run *r, struct item *twin);

#endif
