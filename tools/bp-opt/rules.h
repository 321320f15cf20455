/* Codes of bp-opt's own messages, and all codes that there are. */
#ifndef BP_OPT_RULES_H
#define BP_OPT_RULES_H

#include "support/diag.h"

/* Calls VISIT for each rule of every table. */
void rules_visit(void (*visit)(void *state, const struct rule *r), void *state);

#endif
