/* --explain-digest=@name: what an item's digest is made of, down to what was written by hand, and what is not in it. */
#ifndef BP_OPT_EXPLAIN_DIGEST_H
#define BP_OPT_EXPLAIN_DIGEST_H

#include "driver.h"

/* Of the first part that has the item. False: reported, no part has it. */
bool explain_digest_report(struct out *o, struct driver *d);

#endif
