/* One file of many inputs: parts between marker lines. */
#ifndef BP_OPT_SPLIT_H
#define BP_OPT_SPLIT_H

#include "support/diag.h"

#define SPLIT_MARKER "// -----"

/*
 * The parts of WHOLE, in ARENA; a part's lines are numbered as in the whole. Writes a NUL over the first byte of each
 * marker line, so that a part ends as a source does. A MARKER is a whole line, blanks around it aside; NULL gives one
 * part, the whole.
 */
struct source *split_source(struct source *whole, const char *marker, struct arena *arena, u32 *n);

/* Warns of each line of a part that was probably meant as the standard marker. */
void split_warn(const struct source *part, struct diags *diags);

#endif
