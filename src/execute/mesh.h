/* The ranks of a run: one, for a model program; points of its mesh, for a distributed one. */
#ifndef EXECUTE_MESH_H
#define EXECUTE_MESH_H

#include "dialects/dist/dist.h"
#include "execute/tensor.h"
#include "ir/sharding.h"

enum { MESH_AXES = 64 };

struct mesh {
    struct {
        atom name;
        u64 size, stride;           /* the rank next along the axis is STRIDE further */
    } axes[MESH_AXES];
    u32 n;
    u64 size;
};

/* MESH NULL: one rank. */
void mesh_read(struct mesh *m, const struct item *it, const struct dist_mesh *mesh);

/* Axes as a mask; those that the mesh does not have are left out. */
u64 mesh_mask(const struct mesh *m, struct axis_list list);
u64 mesh_product(const struct mesh *m, u64 mask);       /* ranks that differ along these axes only */

/* The position of RANK along the axes of LIST, major to minor, or of MASK in the mesh's order. */
u64 mesh_position(const struct mesh *m, struct axis_list list, u64 rank);
u64 mesh_position_in(const struct mesh *m, u64 mask, u64 rank);

/* The rank at POSITION along the axes of MASK that is as RANK along the others. */
u64 mesh_member(const struct mesh *m, u64 mask, u64 rank, u64 position);

/* The box of a value that RANK has: WHOLE's sizes, cut by the sharding. False: an axis does not divide dimension *DIM. */
bool mesh_box(const struct mesh *m, const struct sharding *s, u64 rank, const struct tensor *whole, struct tensor *box, u32 *dim);

#endif
