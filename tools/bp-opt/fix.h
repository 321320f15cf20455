/* --fix: the input with the fixes of its messages applied. */
#ifndef BP_OPT_FIX_H
#define BP_OPT_FIX_H

#include "driver.h"

/*
 * Writes the mended text to -o or standard output, whatever remains wrong with it; messages are of that text. STATUS_REFUSED
 * when errors remain.
 */
enum status fix_run(struct driver *d);

#endif
