/*
 * The mesh of a program as coordinates, and how a value lies over it. Rank r has the coordinates of r written in the mixed
 * base of the axes, major to minor. Axes of one rank divide nothing and are left out of everything here.
 */
#ifndef CONFORMANCE_GRID_H
#define CONFORMANCE_GRID_H

#include "ir/ranks.h"
#include "ir/sharding.h"

enum { GRID_AXES = 64, REDUCTIONS = 5 };

struct grid_axis {
    atom name;
    u64 size, stride;           /* the rank next along the axis is STRIDE further */
};

struct grid {
    const struct item *it;
    struct arena *arena;
    struct grid_axis axes[GRID_AXES];
    u32 n;
    u64 size;                   /* ranks; 0: the item has no mesh */
    struct rank_sets sets;      /* all: the ranks of the mesh */
    struct covered *covered;    /* what grid_covers has found: programs repeat themselves */
    u32 n_covered, covered_mask;
};

/* AXES: a FIELD_AXIS_SIZES handle of a verified item. Everything lies in ARENA. */
void grid_read(struct grid *g, struct arena *arena, const struct item *it, u32 axes);

u64 grid_axes_size(const struct grid *g, u64 mask);     /* product of the sizes of the axes in MASK */
const char *grid_axes_text(const struct grid *g, u64 mask);     /* "{dp, tp}" */
u64 grid_over(const struct grid *g, u32 list);          /* the axes of a FIELD_AXES handle; 0: all */

/*
 * True when the SET, a number of g->sets, has a rank of every combination of coordinates along the axes of MASK. Else a
 * combination that it lacks, in *missing ("tp = 1"). The cost grows with the ranges of the set, not with its ranks.
 */
bool grid_covers(struct grid *g, u32 set, u64 mask, const char **missing);

/* A value over the grid: per dimension the positions of the axes that split it, major to minor. */
struct piece {
    const struct type *type;
    u32 rank;
    u8 first[MAX_RANK + 1];     /* of dimension i: axes[first[i]] to axes[first[i + 1] - 1] */
    u8 axes[GRID_AXES];
    u64 split, partial, partial_of[REDUCTIONS];
};

/* TYPE and SHARDING of a verified value. */
void piece_read(const struct grid *g, u32 type, u32 sharding, struct piece *out);

static inline u32 piece_n(const struct piece *p, u32 dim) { return p->first[dim + 1] - p->first[dim]; }
static inline const u8 *piece_at(const struct piece *p, u32 dim) { return p->axes + p->first[dim]; }

/* The axes of dimension A of P are the first ones of dimension B of Q, in order: each part of Q's lies in one of P's. */
bool piece_leads(const struct piece *p, u32 a, const struct piece *q, u32 b);

u64 piece_mask(const struct piece *p, u32 dim);
const char *piece_dim_text(const struct grid *g, const struct piece *p, u32 dim);       /* "{dp, tp}" */
const char *piece_text(const struct grid *g, const struct piece *p);    /* "sharding [{}, {tp}] partial sum {dp}", "replicated" */

/* N names, each with a number from 0. */
struct numbering {
    u32 (*slots)[2];            /* name, number + 1 */
    u32 mask, n;
};
void numbering_init(struct numbering *x, struct arena *arena, u32 most);
u32 numbering_add(struct numbering *x, atom name);          /* its number, new or known */
bool numbering_find(const struct numbering *x, atom name, u32 *number);

#endif
