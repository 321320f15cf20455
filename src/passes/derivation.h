/* What headers say of passes, held against the passes that there are; and derived items, derived once more. */
#ifndef PASSES_DERIVATION_H
#define PASSES_DERIVATION_H

#include "passes/pass.h"

/*
 * Each `by` names a pass that there is, a revision that it has or had, and an item of each kind that it needs; and the
 * pass makes this layer from its parent's, as far as those are in M. False: reported.
 */
bool derivation_check_headers(const struct module *m);

/*
 * Runs the pass of each derived item of M once more, on its parent and with the session items that the header names, and
 * compares. ONLY: of one item, or 0. M must be verified, and stays as it is; SESSION holds items of other files. False:
 * some item is not what its pass makes, which is reported; what could not be derived again is told in a remark.
 */
bool derivation_check(const struct module *m, const struct module *session, atom only);

#endif
