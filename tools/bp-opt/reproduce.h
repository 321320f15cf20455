/* --crash-reproducer and --run-reproducer: a failure as one file that runs by itself. */
#ifndef BP_OPT_REPRODUCE_H
#define BP_OPT_REPRODUCE_H

#include "driver.h"

/* False: reported, the exit status is 2. */
bool reproduce_check(struct driver *d);

/* Guards the run, if the options ask for it. False: reported. */
bool reproduce_begin(struct driver *d);

/* The passes of a part have failed. */
void reproduce_keep(struct driver *d);

/* Takes the flags of the file into d->options, before a plain run. STATUS_SUCCESS, or what the run ends with: reported. */
enum status reproduce_options(struct driver *d);

#endif
