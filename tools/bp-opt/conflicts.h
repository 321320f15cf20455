/* Options that contradict each other. */
#ifndef BP_OPT_CONFLICTS_H
#define BP_OPT_CONFLICTS_H

#include "options.h"

/* False: a message was written to standard error, the exit status is 2. */
bool options_agree(const struct options *o);

#endif
