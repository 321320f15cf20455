/* What the command line asks for, beyond its words: a pipeline, an item, files to read and to write. */
#ifndef BP_OPT_REQUEST_H
#define BP_OPT_REQUEST_H

#include "driver.h"

/* Reads the sources, too. False: reported, the exit status is 2. */
bool request_prepare(struct driver *d);

/* Steps of it: d->item from --item, d->output from -o. */
bool request_item(struct driver *d);
bool request_output(struct driver *d);

#endif
