/* Holding what must not change against its digest; and observers, who are held so. */
#ifndef PASSES_GUARD_H
#define PASSES_GUARD_H

#include "passes/pass.h"

/* What the items of a run say. */
struct guard {
    struct digest input, output, session[BINDINGS];
};

/* Reads the items anew; without an output, none is held. */
struct guard guard_take(const struct pass_run *r, bool output);

/* What the input and the session said when their digests were first computed: the header of the output holds these. */
struct guard guard_known(const struct pass_run *r);

/* NULL, or the item that says something else now. */
const struct item *guard_broken(const struct guard *g, const struct pass_run *r);

/* "PASS WHAT", a fault of the pass. Always false. */
bool internal_error(const struct pass_run *r, const char *format, ...) PRINTF_LIKE(2, 3);

/* Shows C to the observers one by one. False: one refused, or changed something; reported. */
bool observe_before(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c);
bool observe_after(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c);
void observe_failure(const struct pass_run *r, const struct run_options *o, const struct checkpoint *c);

#endif
