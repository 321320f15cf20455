/* The numbers of --why: formulas with values put in, and the facts that they depend on. */
#ifndef BP_OPT_WHY_NUMBERS_H
#define BP_OPT_WHY_NUMBERS_H

#include "ir/item.h"
#include "transformer/account.h"

/* A statement and its item. */
struct place {
    const struct item *it;
    const struct stmt *s;
};

struct why {
    struct out *o;
    const struct module *m;
    const struct module *session;
    struct arena *arena;
    struct place dist;          /* the nearest statement of the dist layer that it is from */
    struct place portable;
    struct place model;         /* the model's operation */
    struct account *account;
    const char *printed[2 * ACCOUNT_NAMES];     /* names that a number has explained already */
    u32 n_printed;
};

/* Explains what w->dist, or the buffer w->portable, says in numbers; nothing where no pass of ours made it. */
void why_numbers(struct why *w);

#endif
