/* --replay: runs again what a folder of --checkpoint-dir holds, and compares every digest. */
#ifndef BP_OPT_REPLAY_H
#define BP_OPT_REPLAY_H

#include "driver.h"

/* STATUS_SUCCESS when every file is as it was written and every digest is the same; it says so on standard output. */
enum status replay_run(struct driver *d);

#endif
