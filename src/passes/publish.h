/* Analyses in a transaction: what a pass requires is there, what it preserves is true, what it produces is as promised. */
#ifndef PASSES_PUBLISH_H
#define PASSES_PUBLISH_H

#include "passes/pass.h"

/* Every analysis that the contract requires of the input is in KNOWN, computed now if it can be. False: reported. */
bool require_analyses(const struct pass_run *r, struct analyses *known);

/*
 * Holds the pass to what it preserves: computed on both sides, the two agree. Adds these to r->products, under the
 * output's digest. False: reported as the gate's refusal.
 */
bool prove_preserved(struct pass_run *r, struct analyses *known);

/* The products are those that the contract names, each once, whole and true; completes their addresses. False: reported. */
bool prove_products(struct pass_run *r);

/* Nothing in KNOWN contradicts what the run publishes. False: reported. */
bool prove_agreement(const struct pass_run *r, const struct analyses *known);

#endif
