/* Watching passes: --print-ir-* and the item that --item has become. */
#ifndef BP_OPT_OBSERVERS_H
#define BP_OPT_OBSERVERS_H

#include "options.h"
#include "passes/pass.h"

/* True when some option asks for print_observer. */
bool printer_prints(const struct options *o);

struct printer {
    const struct options *options;
};

/* Prints to standard error what the options ask for, under mlir-opt's banner. STATE is a struct printer. */
struct observer print_observer(struct printer *p);

/* Follows the atom *NAME: when a pass takes the item of that name, it becomes the name of what the pass made. */
struct observer follow_observer(atom *name);

/* The passes that --print-ir-before and --print-ir-after name exist. False: reported, exit status 2. */
bool printer_check(const struct options *o, struct arena *arena);

#endif
