/* One run of bp-opt: read, verify, run passes, print. */
#ifndef BP_OPT_DRIVER_H
#define BP_OPT_DRIVER_H

#include "options.h"

enum status { STATUS_SUCCESS, STATUS_REFUSED, STATUS_MISUSED };

/* All of it; messages go to standard error, nothing to standard output unless all succeeded. */
enum status driver_run(const struct options *o);

#endif
