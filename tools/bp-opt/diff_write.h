/* What --diff prints, as text or as JSON. */
#ifndef BP_OPT_DIFF_WRITE_H
#define BP_OPT_DIFF_WRITE_H

#include "ir/diff.h"

#include "driver.h"
#include "lines.h"

struct diff_pair {
    struct item *a, *b;     /* NULL: it was added, removed */
};

struct diff_report {
    struct driver *d;
    struct out *o;
    bool json;
    struct line_counter lines_a, lines_b;
    const struct item_diff *diff;       /* of the pair that is written */
    bool any;                           /* something differs */
    u32 fields;                         /* of the statement that is written */
    u32 renamed, moved, changed, added, removed;
};

/* Writes what differs in the pairs, and counts it. */
void diff_write(struct diff_report *r, const struct diff_pair *pairs, u32 n);

#endif
