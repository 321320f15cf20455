/* --diff: what changed between two files, or two items, by entity and field. */
#ifndef BP_OPT_DIFF_H
#define BP_OPT_DIFF_H

#include "driver.h"

/* STATUS_SUCCESS when nothing differs, STATUS_REFUSED when something does, STATUS_MISUSED when it can't be told. */
enum status diff_run(struct driver *d);

#endif
