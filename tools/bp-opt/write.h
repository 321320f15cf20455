/* What a run leaves behind, once all parts are processed. */
#ifndef BP_OPT_WRITE_H
#define BP_OPT_WRITE_H

#include "driver.h"

/* Text to -o or standard output, reports to standard output. False: reported. */
bool write_all(struct driver *d);

#endif
