/* What the command line asks for, beyond its words: a pipeline, an item, files to read and to write. */
#ifndef BP_OPT_REQUEST_H
#define BP_OPT_REQUEST_H

#include "driver.h"

/* Reads the sources, too. False: reported, the exit status is 2. */
bool request_prepare(struct driver *d);

/* An item's name as options write it, `@name`, `name` or `@"any name"`; 0: it is none. */
atom request_name(struct driver *d, const char *text);

/* Steps of it: d->item from --item, d->output from -o. */
bool request_item(struct driver *d);
bool request_output(struct driver *d);

#endif
