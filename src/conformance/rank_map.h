/*
 * For each rank the last thing that it did. Ranks that did the same are one run, so that what all ranks do costs one step;
 * over all calls the cost is that of the ranges that are written, times the logarithm of the runs.
 */
#ifndef CONFORMANCE_RANK_MAP_H
#define CONFORMANCE_RANK_MAP_H

#include "ir/ranks.h"

struct rank_map {
    struct arena *arena;
    struct rank_run {
        u64 first;
        u32 value;              /* 0: nothing yet */
    } *runs;
    u32 n, cap;
};

void rank_map_init(struct rank_map *m, struct arena *arena);

/* The ranks of SET do VALUE now. VISIT gets each other value, not 0, that some of them did last, and its lowest such rank. */
void rank_map_put(struct rank_map *m, const struct rank_set *set, u32 value, void (*visit)(void *state, u32 before, u32 rank), void *state);

#endif
