/*
 * What the tasks and the buffers of an item add up to; read through the dialects' tables, so that a new layer with tasks
 * has sums too.
 */
#ifndef PASSES_SUMS_H
#define PASSES_SUMS_H

#include "ir/item.h"

enum { MAX_FACTS = 8 };

/* Tasks of one phase on one engine (or of all), or buffers of one role and storage. */
struct sum {
    const char *first, *second;     /* phase and engine, role and storage */
    u32 count;
    qty facts[MAX_FACTS];
};

/* A grouping of an item's statements by two enumerations. */
struct sums {
    const struct field *facts[MAX_FACTS];   /* what is added up */
    u32 n_facts;
    struct sum *list;               /* in the order of the enumerations, empty groups left out */
    u32 n;
    struct sum total;
};

/* Of the tasks: by phase and body, the facts of `work`. N_FACTS 0: the layer has no such tasks. False: reported. */
bool sums_of_tasks(struct sums *s, const struct item *it, struct arena *arena);

/* Of the buffers: by role and storage, `size`. The same. */
bool sums_of_buffers(struct sums *s, const struct item *it, struct arena *arena);

#endif
