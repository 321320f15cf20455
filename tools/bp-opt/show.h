/* Options that print what bp-opt knows and then end: --help, --list-passes, --show-ops, --explain … */
#ifndef BP_OPT_SHOW_H
#define BP_OPT_SHOW_H

#include "ir/schema.h"
#include "options.h"

/* True when such an option was given; it was obeyed, and *STATUS is the exit status. */
bool show(const struct options *o, struct arena *arena, int *status);

const char *layer_name(enum layer layer);

#endif
