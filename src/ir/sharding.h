/*
 * Shardings: for each dimension the mesh axes that split it, major to minor, and the axes over which the value is an
 * unreduced partial result. A handle names the encoded list in the item's pool; 0 is "replicated everywhere".
 *
 * Encoding: rank, then for each dimension n and n axis atoms; then the number of partial groups, and for each
 * its reduction (enum reduction), n and n axis atoms.
 */
#ifndef IR_SHARDING_H
#define IR_SHARDING_H

#include "ir/item.h"

struct axis_list {
    const u32 *axes;        /* atoms */
    u32 n;
};

struct sharding {
    u32 rank;               /* 0 with handle 0 */
    struct axis_list dims[MAX_RANK];
    u32 n_partial;
    struct {
        enum reduction reduction;
        struct axis_list axes;
    } partial[4];
};

void sharding_read(const struct item *it, u32 handle, struct sharding *out);

/* Encodes. Dimensions of which none is split are left out (so that what prints equal is equal), unless the rank is not
 * RANK, the value's: then they are kept for the verifier to refuse. Nothing left and nothing partial gives 0. */
u32 sharding_write(struct item *it, const struct sharding *s, u32 rank);

bool axis_list_has(struct axis_list list, atom axis);

void out_sharding(struct out *o, const struct item *it, u32 handle);     /* " sharding […] partial sum {…}" */

#endif
