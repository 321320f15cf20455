/* A text with the fixes of its diagnostics applied. */
#ifndef SUPPORT_FIX_H
#define SUPPORT_FIX_H

#include "support/diag.h"

struct fix_count {
    u32 applied;            /* diagnostics whose fixes are in the text */
    u32 left_out;           /* those of which a fix overlaps one that is: they can be tried on the new text */
};

/*
 * Writes SRC's text to O with the fixes of D that lie in it, in the order of place. All fixes of a diagnostic are applied
 * or none; of two that overlap the first wins, and one that says the same as another is applied with it. Lines that fixes
 * add end as the first line of the text does.
 */
struct fix_count fixes_apply(struct diags *d, const struct source *src, struct out *o);

#endif
