/*
 * One pass on one item: every check around it, in this order, and nothing published before all have passed.
 *
 *     the schema is one that the contract accepts; the bindings are there; the analyses that it requires are known
 *     the pass runs; its input and the session are as they were; the output's header and names are sound
 *     the output verifies; its lineage is declared, exists and covers every source; the commit gate proves it
 *     a second run from copies gives the same digests (if asked for); what it publishes is what the contract says, and
 *     true; what it preserves is the same on both sides; the observers, who may refuse, have seen it
 */
#ifndef PASSES_TRANSACTION_H
#define PASSES_TRANSACTION_H

#include "passes/pass.h"

/* Everything a pipeline run works on; `work` replaces the module's list when all is done. */
struct transaction {
    struct module *m;               /* published on success only */
    struct module work;             /* the list as it would be; shares the items */
    struct module fresh;            /* items made in this run, freed on failure */
    const struct module *session;
    const struct run_options *options;
    struct analyses *known;         /* what passes may ask for, and have published */
    struct item **consumed;
    u32 n_consumed, cap_consumed;
    struct module chosen;           /* --item: the item, then what was derived from it; shares the items */
};

/*
 * Runs STEP on item *AT of t->work, which its outputs then replace, or stand behind with keep_sources. *AT follows.
 * False: reported; the caller gives up the whole transaction.
 */
bool transaction_run(struct transaction *t, const struct step *step, u32 *at);

#endif
