/* Element by element, and by place: sums, products, activations, rotary embedding, causal mask. */
#include "execute/kernel.h"

#include <inttypes.h>
#include <math.h>

/* Roundings of one call of exp or erf and what stands around it, with room to spare for a library's own. */
enum { FUNCTION_ROUNDINGS = 8 };

static bool alike(struct kernel_call *c)
{
    for (u32 i = 1; i < c->n_in; i++)
        if (!kernel_like(c, i))
            return false;
    return kernel_makes(c, 0, c->in[0].size, c->in[0].rank);
}

bool kernel_add(struct kernel_call *c)
{
    const struct tensor *a = &c->in[0], *b = &c->in[1];
    struct tensor *y = &c->out[0];
    if (!alike(c))
        return false;
    for (u64 i = 0; i < y->n; i++)
        y->at[i] = a->at[i] + b->at[i];
    y->bound = a->bound + b->bound + ROUNDING * tensor_largest(y);
    return true;
}

bool kernel_mul(struct kernel_call *c)
{
    const struct tensor *a = &c->in[0], *b = &c->in[1];
    struct tensor *y = &c->out[0];
    if (!alike(c))
        return false;
    for (u64 i = 0; i < y->n; i++)
        y->at[i] = a->at[i] * b->at[i];
    y->bound = tensor_largest(a) * b->bound + tensor_largest(b) * a->bound + a->bound * b->bound;
    y->bound += ROUNDING * tensor_largest(y);
    return true;
}

/* y = f(x), whose slope is nowhere steeper than SLOPE. */
static bool activate(struct kernel_call *c, double (*f)(double), double slope)
{
    const struct tensor *x = &c->in[0];
    struct tensor *y = &c->out[0];
    if (!alike(c))
        return false;
    for (u64 i = 0; i < y->n; i++)
        y->at[i] = f(x->at[i]);
    y->bound = slope * x->bound + FUNCTION_ROUNDINGS * ROUNDING * tensor_largest(x);
    return true;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* Its slope is largest at sqrt 2: 1.1289. */
bool kernel_gelu(struct kernel_call *c)
{
    return activate(c, gelu, 1.13);
}

/* Its slope is largest at 2.3994: 1.0998. */
bool kernel_silu(struct kernel_call *c)
{
    return activate(c, silu, 1.1);
}

bool kernel_mask(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct tensor *y = &c->out[0];
    u64 place[MAX_RANK];
    if (!kernel_rank(c, 0, 2) || !alike(c))
        return false;
    for (u64 i = 0; i < y->n; i++) {
        tensor_place(x, i, place);
        u64 row = place[x->rank - 2], column = place[x->rank - 1];
        y->at[i] = column > row && column - row > c->offset ? -INFINITY : x->at[i];
    }
    y->bound = x->bound;
    return true;
}

/* A pair lies in one part, and is told from the next by where the part begins. */
static bool pairs(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    if (!kernel_rank(c, 0, 2) || !alike(c))
        return false;
    u64 from = x->from[x->rank - 1], size = last_size(x);
    if (from % 2 == 0 && size % 2 == 0)
        return true;
    return kernel_refuse(c, "execute.shape",
                         "the last dimension of %s is turned in pairs, and a rank holds %" PRIu64 " from %" PRIu64 " on",
                         c->in_names[0], size, from);
}

bool kernel_rope(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct tensor *y = &c->out[0];
    u64 place[MAX_RANK];
    if (!pairs(c))
        return false;
    double d = (double)x->whole[x->rank - 1];
    for (u64 i = 0; i + 1 < y->n; i += 2) {
        tensor_place(x, i, place);
        double angle = ((double)place[x->rank - 2] + (double)c->offset) * pow(10000, -(double)place[x->rank - 1] / d);
        y->at[i] = x->at[i] * cos(angle) - x->at[i + 1] * sin(angle);
        y->at[i + 1] = x->at[i] * sin(angle) + x->at[i + 1] * cos(angle);
    }
    y->bound = 1.4143 * x->bound + FUNCTION_ROUNDINGS * ROUNDING * tensor_largest(x);
    return true;
}
