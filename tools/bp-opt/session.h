/* The items of --session files. */
#ifndef BP_OPT_SESSION_H
#define BP_OPT_SESSION_H

#include "driver.h"

/* Fills d->session from the sources that were read. False: reported. */
bool session_parse(struct driver *d);

#endif
