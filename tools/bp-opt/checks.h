/* --check: which checkers run, on what, and how what they say is shown. */
#ifndef BP_OPT_CHECKS_H
#define BP_OPT_CHECKS_H

#include "conformance/checker.h"
#include "options.h"
#include "passes/pass.h"

enum { MOST_CHECKERS = 32 };

struct checks {
    const struct checker *chosen[MOST_CHECKERS];    /* each once, in the order of the table */
    u32 n;
    u32 ran[MOST_CHECKERS];                         /* on how many items of the part so far */
};

/* What --check names; nothing without it. False: reported, exit status 2. */
bool checks_choose(struct checks *c, const struct options *o, struct arena *arena);

/*
 * The chosen checkers on the items of a verified module, ONLY (0: all) alone. A remark says what each proved and what it
 * could not check; false: something is refused.
 */
bool checks_module(struct checks *c, const struct module *m, atom only);

/* The same on what each pass makes, before it is published. STATE is a struct checks. */
struct observer checks_observer(struct checks *c);

/* Behind a part: remarks of the checkers that found nothing to read in it, and a new count. */
void checks_end(struct checks *c, struct context *ctx);

#endif
