/* Where --timing and --pass-statistics go: standard error, or a file each. */
#ifndef BP_OPT_HOST_REPORT_H
#define BP_OPT_HOST_REPORT_H

#include "driver.h"

bool timing_asked(const struct options *o);
bool statistics_asked(const struct options *o);

/* Looks, before any work, whether the files can be written. False: reported. */
bool host_report_check(struct driver *d);

/* Of a run that failed, too: the reports are about bp-opt, not about what it made. False: reported. */
bool host_report_write(struct driver *d);

#endif
