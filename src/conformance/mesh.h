/* Meshes and groups of ranks, as dist programs and portable plans write them. */
#ifndef CONFORMANCE_MESH_H
#define CONFORMANCE_MESH_H

#include "ir/item.h"

/* Ranks of a FIELD_AXIS_SIZES list: the product, below 2^32 in a verified item. */
static inline u64 mesh_ranks(const struct item *it, u32 axes)
{
    u64 n = 1;
    for (u32 k = 0; k + 2 < list_n(it, axes); k += 3)
        n *= pair_get(list_at(it, axes) + k + 1);
    return n;
}

/* The size of one axis; 1 where the mesh has none of that name. */
static inline u64 mesh_axis(const struct item *it, u32 axes, atom axis)
{
    for (u32 k = 0; k + 2 < list_n(it, axes); k += 3)
        if (list_at(it, axes)[k] == axis)
            return pair_get(list_at(it, axes) + k + 1);
    return 1;
}

/* Ranks of a group over the axes OVER (a FIELD_AXES list; none is all of them). */
static inline u64 mesh_group(const struct item *it, u32 axes, u32 over)
{
    u64 n = 1;
    if (!list_n(it, over))
        return mesh_ranks(it, axes);
    for (u32 i = 0; i < list_n(it, over); i++)
        n *= mesh_axis(it, axes, list_at(it, over)[i]);
    return n;
}

/* How many ranks a FIELD_RANKS list names; all ALL of them when it is absent. */
static inline u64 ranks_count(const struct item *it, u32 ranks, u64 all)
{
    u64 n = 0;
    if (!ranks)
        return all;
    for (u32 i = 0; i + 1 < list_n(it, ranks); i += 2)
        n += (u64)list_at(it, ranks)[i + 1] - list_at(it, ranks)[i] + 1;
    return n;
}

#endif
