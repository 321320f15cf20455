#include "execute/tensor.h"

#include <inttypes.h>
#include <math.h>

u64 sizes_product(const u64 *sizes, u32 n)
{
    u64 product = 1;
    for (u32 i = 0; i < n; i++)
        if (__builtin_mul_overflow(product, sizes[i], &product))
            return UINT64_MAX;
    return product;
}

void tensor_allot(struct tensor *t, struct arena *arena)
{
    t->n = sizes_product(t->size, t->rank);
    t->at = ARENA_ARRAY(arena, double, t->n);
}

/* ---- Boxes ---- */

/* The common box, in coordinates of the whole; false when there is none. */
static bool common(const struct tensor *a, const struct tensor *b, u64 *from, u64 *size)
{
    for (u32 i = 0; i < a->rank; i++) {
        u64 low = a->from[i] > b->from[i] ? a->from[i] : b->from[i];
        u64 high_a = a->from[i] + a->size[i], high_b = b->from[i] + b->size[i], high = high_a < high_b ? high_a : high_b;
        if (low >= high)
            return false;
        from[i] = low;
        size[i] = high - low;
    }
    return true;
}

static u64 index_of(const struct tensor *t, const u64 *place)
{
    u64 index = 0;
    for (u32 i = 0; i < t->rank; i++)
        index = index * t->size[i] + (place[i] - t->from[i]);
    return index;
}

/* The next place of a box in row-major order; false behind the last. */
static bool step(u64 *place, const u64 *from, const u64 *size, u32 rank)
{
    for (u32 i = rank; i-- > 0;) {
        if (++place[i] < from[i] + size[i])
            return true;
        place[i] = from[i];
    }
    return false;
}

static double combined(double a, double b, enum reduction how)
{
    switch (how) {
    case REDUCTION_SUM: return a + b;
    case REDUCTION_MAX: return a > b ? a : b;
    case REDUCTION_MIN: return a < b ? a : b;
    case REDUCTION_PRODUCT: return a * b;
    case REDUCTION_NONE: break;
    }
    return b;
}

static void combine(double *to, const double *from, u64 n, enum reduction how)
{
    if (how == REDUCTION_NONE)
        memcpy(to, from, n * sizeof *to);
    else if (how == REDUCTION_SUM)
        for (u64 i = 0; i < n; i++)
            to[i] += from[i];
    else
        for (u64 i = 0; i < n; i++)
            to[i] = combined(to[i], from[i], how);
}

/* Row by row: along the last dimension both lie in one piece. */
u64 tensor_overlap(struct tensor *to, const struct tensor *from, enum reduction how)
{
    u64 low[MAX_RANK], size[MAX_RANK], place[MAX_RANK], n = 0;
    if (!common(to, from, low, size))
        return 0;
    u32 outer = to->rank ? to->rank - 1 : 0;
    u64 run = to->rank ? size[outer] : 1;
    memcpy(place, low, sizeof place);
    do {
        combine(&to->at[index_of(to, place)], &from->at[index_of(from, place)], run, how);
        n += run;
    } while (step(place, low, size, outer));
    return n;
}

/* ---- Elements ---- */

double tensor_largest(const struct tensor *t)
{
    double largest = 0;
    for (u64 i = 0; i < t->n; i++)
        if (isfinite(t->at[i]) && fabs(t->at[i]) > largest)
            largest = fabs(t->at[i]);
    return largest;
}

void tensor_place(const struct tensor *t, u64 index, u64 place[MAX_RANK])
{
    for (u32 i = t->rank; i-- > 0;) {
        place[i] = t->from[i] + index % t->size[i];
        index /= t->size[i];
    }
}

double tensor_get(const struct tensor *t, const u64 place[MAX_RANK])
{
    return t->at[index_of(t, place)];
}

const char *place_text(struct arena *arena, const u64 *place, u32 rank)
{
    const char *text = "";
    for (u32 i = 0; i < rank; i++)
        text = arena_format(arena, "%s%s%" PRIu64, text, i ? ", " : "", place[i]);
    return arena_format(arena, "[%s]", text);
}

const char *sizes_text(struct arena *arena, const u64 *sizes, u32 rank)
{
    const char *text = rank ? "" : "scalar";
    for (u32 i = 0; i < rank; i++)
        text = arena_format(arena, "%s%s%" PRIu64, text, i ? "x" : "", sizes[i]);
    return text;
}
