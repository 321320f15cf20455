/* Elements that only change places. */
#include "execute/kernel.h"

#include <inttypes.h>
#include <math.h>

/* All of the first operand, as it lies. */
static void copy(struct kernel_call *c)
{
    memcpy(c->out[0].at, c->in[0].at, c->in[0].n * sizeof(double));
    c->out[0].bound = c->in[0].bound;
}

bool kernel_move(struct kernel_call *c)
{
    if (!kernel_makes(c, 0, c->in[0].size, c->in[0].rank))
        return false;
    copy(c);
    return true;
}

bool kernel_cast(struct kernel_call *c)
{
    struct tensor *y = &c->out[0];
    bool cut = element_is_float((enum element)c->in[0].element) && !element_is_float((enum element)y->element);
    if (!kernel_move(c))
        return false;
    for (u64 i = 0; cut && i < y->n; i++)
        y->at[i] = trunc(y->at[i]);
    y->bound += cut && y->bound > 0;        /* what lies near a whole number may fall on either side */
    return true;
}

bool kernel_reshape(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0], *y = &c->out[0];
    if (x->n != y->n)
        return kernel_refuse(c, "execute.shape", "%s is %s, and %s is %s, which is not as many elements", c->in_names[0],
                             sizes_text(c->arena, x->size, x->rank), c->out_names[0],
                             sizes_text(c->arena, y->size, y->rank));
    copy(c);
    return true;
}

bool kernel_transpose(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct tensor *y = &c->out[0];
    u64 sizes[MAX_RANK], place[MAX_RANK], from[MAX_RANK];
    if (c->n_permutation != x->rank)
        return kernel_refuse(c, "execute.shape", "the permutation has %u dimensions, and %s has %u", c->n_permutation,
                             c->in_names[0], x->rank);
    for (u32 i = 0; i < x->rank; i++)
        sizes[i] = x->size[c->permutation[i]];
    if (!kernel_makes(c, 0, sizes, x->rank))
        return false;
    for (u64 i = 0; i < y->n; i++) {
        tensor_place(y, i, place);
        for (u32 k = 0; k < y->rank; k++)
            from[c->permutation[k]] = place[k] - y->from[k] + x->from[c->permutation[k]];
        y->at[i] = tensor_get(x, from);
    }
    y->bound = x->bound;
    return true;
}

/* ---- Along an axis ---- */

static bool axis_fits(struct kernel_call *c)
{
    return c->axis < c->in[0].rank ||
           kernel_refuse(c, "execute.shape", "%s has no dimension %u", c->in_names[0], c->axis);
}

/* PART's elements against those of WHOLE from AT on along the axis, both as they lie. */
static void slice(const struct kernel_call *c, struct tensor *whole, struct tensor *part, u64 at, bool out_of_whole)
{
    u64 inner = sizes_product(part->size + c->axis + 1, part->rank - c->axis - 1), run = part->size[c->axis] * inner;
    u64 stride = whole->size[c->axis] * inner;
    for (u64 i = 0; run && i < part->n / run; i++) {
        double *w = whole->at + i * stride + at * inner, *p = part->at + i * run;
        memcpy(out_of_whole ? p : w, out_of_whole ? w : p, run * sizeof *w);
    }
}

/* The sizes that N parts make up along the axis; false when they differ elsewhere. */
static bool joined(struct kernel_call *c, const struct tensor *parts, u32 n, u64 *sizes)
{
    memcpy(sizes, parts[0].size, MAX_RANK * sizeof *sizes);
    sizes[c->axis] = 0;
    for (u32 i = 0; i < n; i++) {
        for (u32 k = 0; k < parts[0].rank; k++)
            if (parts[i].rank != parts[0].rank || (k != c->axis && parts[i].size[k] != parts[0].size[k]))
                return kernel_refuse(c, "execute.shape", "the parts are %s and %s, which fit only along dimension %u",
                                     sizes_text(c->arena, parts[0].size, parts[0].rank),
                                     sizes_text(c->arena, parts[i].size, parts[i].rank), c->axis);
        sizes[c->axis] += parts[i].size[c->axis];
    }
    return true;
}

bool kernel_split(struct kernel_call *c)
{
    struct tensor x = c->in[0];
    u64 sizes[MAX_RANK], at = 0;
    if (!axis_fits(c))
        return false;
    if (c->out[0].rank != x.rank)
        return kernel_makes(c, 0, x.size, x.rank);
    if (!joined(c, c->out, c->n_out, sizes))
        return false;
    if (memcmp(sizes, x.size, x.rank * sizeof *sizes))
        return kernel_refuse(c, "execute.shape", "%s is %s here, and its pieces make up %s", c->in_names[0],
                             sizes_text(c->arena, x.size, x.rank), sizes_text(c->arena, sizes, x.rank));
    for (u32 i = 0; i < c->n_out; at += c->out[i++].size[c->axis]) {
        slice(c, &x, &c->out[i], at, true);
        c->out[i].bound = x.bound;
    }
    return true;
}

bool kernel_concat(struct kernel_call *c)
{
    struct tensor *y = &c->out[0];
    u64 sizes[MAX_RANK], at = 0;
    if (!axis_fits(c) || !joined(c, c->in, c->n_in, sizes) || !kernel_makes(c, 0, sizes, c->in[0].rank))
        return false;
    for (u32 i = 0; i < c->n_in; at += c->in[i++].size[c->axis]) {
        struct tensor part = c->in[i];
        slice(c, y, &part, at, false);
        y->bound = fmax(y->bound, part.bound);
    }
    return true;
}

/* What a rank has of the part goes where it belongs in what it has of the state. */
bool kernel_write(struct kernel_call *c)
{
    struct tensor part = c->in[1], *y = &c->out[0];
    if (!axis_fits(c) || !kernel_makes(c, 0, c->in[0].size, c->in[0].rank))
        return false;
    u64 whole = c->in[0].whole[c->axis];
    if (part.rank != c->in[0].rank || part.whole[c->axis] > whole || c->offset > whole - part.whole[c->axis])
        return kernel_refuse(c, "execute.shape", "%s does not hold %" PRIu64 " from %" PRIu64 " on in dimension %u",
                             c->in_names[0], part.rank > c->axis ? part.whole[c->axis] : 1, c->offset, c->axis);
    copy(c);
    part.from[c->axis] += c->offset;
    tensor_overlap(y, &part, REDUCTION_NONE);
    y->bound = fmax(y->bound, part.bound);
    return true;
}

/* A rank that holds some rows of the table gives zeros for the others: over the ranks the results are a sum. */
bool kernel_embedding(struct kernel_call *c)
{
    const struct tensor *t = &c->in[0], *table = &c->in[1];
    struct tensor *y = &c->out[0];
    u64 sizes[MAX_RANK] = { 0 };
    if (!kernel_rank(c, 1, 2) || t->rank == MAX_RANK)
        return kernel_refuse(c, "execute.shape", "%s takes no rows by %s", c->in_names[1], c->in_names[0]);
    memcpy(sizes, t->size, t->rank * sizeof *sizes);
    sizes[t->rank] = table->size[1];
    if (!kernel_makes(c, 0, sizes, t->rank + 1))
        return false;
    u64 n = table->size[1];
    for (u64 i = 0; i < t->n; i++) {
        if (!(t->at[i] >= 0 && t->at[i] < (double)table->whole[0]))
            return kernel_refuse(c, "execute.index", "element %" PRIu64 " of %s is %.17g, and %s has %" PRIu64 " rows", i,
                                 c->in_names[0], t->at[i], c->in_names[1], table->whole[0]);
        u64 row = (u64)t->at[i];
        if (row >= table->from[0] && row - table->from[0] < table->size[0])
            memcpy(y->at + i * n, table->at + (row - table->from[0]) * n, n * sizeof *y->at);
    }
    y->bound = table->bound;
    return true;
}
