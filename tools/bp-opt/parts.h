/* The parts of the input: each is parsed, verified and run through the passes by itself. */
#ifndef BP_OPT_PARTS_H
#define BP_OPT_PARTS_H

#include "driver.h"

/* Cuts the input into parts: one, without --split-input-file. */
void parts_split(struct driver *d);

/* True when all parts are as they should be. Messages so far are of no part: expectations don't concern them. */
bool parts_process(struct driver *d);

void part_free(const struct driver *d, struct part *part);

#endif
