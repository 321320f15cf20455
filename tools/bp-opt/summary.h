/* --summary: what the tasks and buffers of dist programs and portable plans add up to, exactly. */
#ifndef BP_OPT_SUMMARY_H
#define BP_OPT_SUMMARY_H

#include "ir/item.h"

/* True for items that have tasks with a phase, a body and work. */
bool summary_covers(const struct item *it);

/* As a table, or as one object of JSON; a newline ends it. False: reported, a sum leaves 128 bits. */
bool summary_print(struct out *o, struct item *it, bool json);

#endif
