/* Contracts as far as they can be judged before anything runs: of one pass, and of passes behind one another. */
#ifndef PASSES_CONTRACT_H
#define PASSES_CONTRACT_H

#include "passes/pass.h"

/* The item kind of a layer, as messages name it: "dist.program". */
const char *layer_kind(enum layer layer);

/* The contract is whole and does not contradict itself. False: reported. */
bool contract_check(const struct pass *p, struct context *ctx);

/* The contract takes an item of this schema. False: reported. */
bool contract_accepts(const struct pass *p, const struct item *input);

/* Every clause of the contract, a line each: what the contract's digest is made of. */
void contract_print(struct out *o, const struct pass *p);
struct digest contract_digest(const struct pass *p);

/* KEY is in the list, which ends with NULL or is NULL. */
bool analysis_listed(const struct analysis *const *list, const struct analysis *key);

#endif
