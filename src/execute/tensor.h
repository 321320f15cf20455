/*
 * Dense tensors in double precision. Each is a box of a whole value, in row-major order: a rank's part knows where in the
 * whole it lies. A bound comes along: how far an element may be from what exact arithmetic would give, or, in a program that is
 * compared with another, from what the other has.
 */
#ifndef EXECUTE_TENSOR_H
#define EXECUTE_TENSOR_H

#include "ir/item.h"

struct tensor {
    u8 element;                         /* enum element */
    u32 rank;
    u64 from[MAX_RANK], size[MAX_RANK]; /* the box */
    u64 whole[MAX_RANK];                /* sizes of the value that it is a part of */
    u64 n;                              /* elements in the box */
    double *at;                         /* NULL: not held */
    double bound;                       /* absolute, to first order; 0: exact */
    double largest;                     /* magnitude, once the part is finished: see tensor_largest */
};

/* Half a unit in the last place of 1: what one rounding to nearest may change, relatively. */
#define ROUNDING 0x1p-53

/* What N roundings in a row may change, relatively. */
static inline double roundings(u64 n)
{
    return (double)n * ROUNDING / (1 - (double)n * ROUNDING);
}

/* Product of N sizes; UINT64_MAX when it is no smaller. */
u64 sizes_product(const u64 *sizes, u32 n);

/* Zeros, and room for them, in ARENA. T's box is set. */
void tensor_allot(struct tensor *t, struct arena *arena);

/*
 * Combines what lies in both boxes, in coordinates of the whole: FROM's elements replace TO's, or are reduced with them.
 * Returns how many elements that were.
 */
u64 tensor_overlap(struct tensor *to, const struct tensor *from, enum reduction how);

/* The largest finite magnitude. */
double tensor_largest(const struct tensor *t);

/* Coordinates in the whole of element INDEX of the box. */
void tensor_place(const struct tensor *t, u64 index, u64 place[MAX_RANK]);

/* The element at a place of the whole, which the box has. */
double tensor_get(const struct tensor *t, const u64 place[MAX_RANK]);

/* "[0, 3]", "[]". */
const char *place_text(struct arena *arena, const u64 *place, u32 rank);

/* "4x8", "scalar". */
const char *sizes_text(struct arena *arena, const u64 *sizes, u32 rank);

#endif
