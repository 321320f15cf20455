/*
 * Rank sets as verifiers compare them: sorted, disjoint ranges, numbered so that equal sets are equal numbers.
 * Set ALL_RANKS is every rank that there is.
 */
#ifndef IR_RANKS_H
#define IR_RANKS_H

#include "ir/item.h"

enum { ALL_RANKS = 0 };

struct rank_range {
    u32 first, last;
};

struct rank_set {
    const struct rank_range *ranges;
    u32 n;
};

struct rank_sets {
    struct arena *arena;            /* owner of everything here */
    const struct item *item;
    struct rank_set *sets;
    u32 n, cap;
    u32 *slots, mask;               /* hash of the sets: number + 1 */
    u32 last_handle, last_set;
};

/* ALL need not be sorted; it is copied. */
void rank_sets_init(struct rank_sets *r, struct arena *arena, const struct item *it, const struct rank_range *all, u32 n);

/* The number of a set: of a FIELD_RANKS handle, or of one rank. */
u32 rank_set_of(struct rank_sets *r, u32 handle);
u32 rank_set_ranges(struct rank_sets *r, const struct rank_range *ranges, u32 n);     /* in any order, copied */
u32 rank_set_one(struct rank_sets *r, u32 rank);

bool rank_set_has(const struct rank_sets *r, u32 set, u32 rank);
bool rank_sets_meet(const struct rank_sets *r, u32 a, u32 b);

/* The lowest rank of A that is not in B; false when there is none. */
bool rank_sets_differ(const struct rank_sets *r, u32 a, u32 b, u32 *rank);

/*
 * With each rank R has all that differ from it only along an axis: of SIZE > 1 positions, the next STRIDE further. Else *in
 * is a rank of R, and *out one of its group that R lacks. The cost grows with the ranges, not with the ranks.
 */
bool rank_set_closed(const struct rank_set *r, u64 stride, u64 size, u64 *in, u64 *out);

/*
 * Cuts the ranks into parts such that each of the N sets (numbers, repeats allowed) is a union of parts, and gives the
 * lowest rank of each part in ascending order; ranks in no set are in no part. The result is in SCRATCH.
 */
u32 rank_sets_cut(const struct rank_sets *r, const u32 *sets, u32 n, struct arena *scratch, const u32 **ranks);

/* What is wrong with a written list of ranks: a rank that stands twice. Empty lists are told by list_n. */
bool ranks_repeat(const struct item *it, u32 handle, struct arena *scratch, u32 *rank);

#endif
