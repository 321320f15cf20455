/* Messages of a run, in the form that its options ask for. */
#ifndef BP_OPT_MESSAGES_H
#define BP_OPT_MESSAGES_H

#include "driver.h"

static const struct loc nowhere = { 0 };

/* Writes DIAGS to standard error. */
void messages_show(const struct driver *d, struct diags *diags);

/* Always false. */
bool cannot_read(struct driver *d, const char *path, const char *fault);
bool cannot_write(struct driver *d, const struct output *p, const char *fault);

#endif
