/* What is written down of one pass on one item: facts only, so that a replay writes the same bytes. */
#ifndef BP_OPT_RECORD_H
#define BP_OPT_RECORD_H

#include "passes/pass.h"

/*
 * Lines of a word and what it says: pass, revision, digest of its contract, input and output with digests, the session's fingerprint and the
 * items behind it, entities by kind, relations proved, analyses published.
 */
void record_print(struct out *o, const struct checkpoint *c);

/* "0001.plan-transformer-training.bpir" of the N-th checkpoint; KIND is its ending. */
const char *record_name(struct arena *arena, u32 n, const struct pass *pass, const char *kind);

/* "result @name xxh128:…" of each item, in order. */
void record_results(struct out *o, const struct module *m);

#endif
