/* What needs all of the last dimension: normalizations, softmax, cross entropy. */
#include "execute/kernel.h"

#include <inttypes.h>
#include <math.h>

#define EPSILON 1e-5
enum { FUNCTION_ROUNDINGS = 8 };

/* All of the last dimension is here, and the vectors behind the first operand have its size. */
static bool whole_rows(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    if (!kernel_rank(c, 0, 1))
        return false;
    if (last_size(x) != x->whole[x->rank - 1])
        return kernel_refuse(c, "execute.shape",
                             "%s has only %" PRIu64 " of %" PRIu64 " elements of its last dimension here",
                             c->in_names[0], last_size(x), x->whole[x->rank - 1]);
    return true;
}

static bool vectors(struct kernel_call *c)
{
    if (!whole_rows(c))
        return false;
    for (u32 i = 1; i < c->n_in; i++)
        if (!kernel_same(c, 0, c->in[0].rank - 1, i, 0))
            return false;
    return kernel_makes(c, 0, c->in[0].size, c->in[0].rank);
}

/* Rows as z = (x - CENTER) / ROOT: the smallest root and the largest |z| bound what becomes of an error. */
struct rows {
    double least_root, largest;
};

static double mean(const double *x, u64 n)
{
    double sum = 0;
    for (u64 i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

static void normalize(const double *x, double *z, u64 n, double center, struct rows *r)
{
    double sum = 0;
    for (u64 i = 0; i < n; i++)
        sum += (x[i] - center) * (x[i] - center);
    double root = sqrt(sum / (double)n + EPSILON);
    for (u64 i = 0; i < n; i++) {
        z[i] = (x[i] - center) / root;
        r->largest = fmax(r->largest, fabs(z[i]));
    }
    r->least_root = fmin(r->least_root, root);
}

/* y = z g + s. OWN: the terms of z's derivative besides z's own, 2 with a mean and 1 without. */
static void scale(struct kernel_call *c, const struct rows *r, double own)
{
    const struct tensor *x = &c->in[0], *g = c->n_in > 1 ? &c->in[1] : NULL, *s = c->n_in > 2 ? &c->in[2] : NULL;
    struct tensor *y = &c->out[0];
    u64 n = last_size(y);
    for (u64 i = 0; i < y->n; i++)
        y->at[i] = y->at[i] * (g ? g->at[i % n] : 1) + (s ? s->at[i % n] : 0);
    double entering = x->bound + roundings(n + 2) * tensor_largest(x);
    double z = entering / r->least_root * (own + r->largest) + roundings(n + FUNCTION_ROUNDINGS) * r->largest;
    y->bound = g ? z * (tensor_largest(g) + g->bound) + r->largest * g->bound : z;
    y->bound += (s ? s->bound : 0) + 2 * ROUNDING * (tensor_largest(y) + (s ? tensor_largest(s) : 0));
}

bool kernel_layer_norm(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct rows r = { .least_root = INFINITY };
    if (!vectors(c))
        return false;
    u64 n = last_size(x);
    for (u64 i = 0; i < x->n; i += n)
        normalize(x->at + i, c->out[0].at + i, n, mean(x->at + i, n), &r);
    scale(c, &r, 2);
    return true;
}

bool kernel_rms_norm(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct rows r = { .least_root = INFINITY };
    if (!vectors(c))
        return false;
    u64 n = last_size(x);
    for (u64 i = 0; i < x->n; i += n)
        normalize(x->at + i, c->out[0].at + i, n, 0, &r);
    scale(c, &r, 1);
    return true;
}

/* The largest of a row, and in *SUM what the exponentials of the others below it add up to. */
static double exponentials(const double *x, u64 n, double *sum)
{
    double largest = -INFINITY;
    *sum = 0;
    for (u64 i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    for (u64 i = 0; i < n; i++)
        *sum += exp(x[i] - largest);
    return largest;
}

bool kernel_softmax(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0];
    struct tensor *y = &c->out[0];
    double sum;
    if (!whole_rows(c) || !kernel_makes(c, 0, x->size, x->rank))
        return false;
    u64 n = last_size(x);
    for (u64 i = 0; i < x->n; i += n) {
        double largest = exponentials(x->at + i, n, &sum);
        for (u64 k = 0; k < n; k++)
            y->at[i + k] = exp(x->at[i + k] - largest) / sum;
    }
    y->bound = (expm1(2 * x->bound) + roundings(n + FUNCTION_ROUNDINGS)) * tensor_largest(y);
    return true;
}

static bool label_fits(struct kernel_call *c, double label, u64 classes, u64 token)
{
    if (label >= 0 && label < (double)classes)
        return true;
    return kernel_refuse(c, "execute.index", "token %" PRIu64 " of %s has the label %.17g, and %s has %" PRIu64 " classes",
                         token,
                         c->in_names[1], label, c->in_names[0], classes);
}

/* The share of the rank's tokens in the mean over all: shares of a split batch are a partial sum. */
bool kernel_cross_entropy(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0], *labels = &c->in[1];
    struct tensor *y = &c->out[0];
    double sum, total = 0, magnitudes = 0;
    if (!whole_rows(c) || !kernel_rank(c, 1, x->rank - 1) || !kernel_makes(c, 0, x->size, 0))
        return false;
    for (u32 i = 0; i + 1 < x->rank; i++)
        if (!kernel_same(c, 0, i, 1, i))
            return false;
    u64 n = last_size(x), tokens = row_count(x), all = sizes_product(x->whole, x->rank - 1);
    for (u64 i = 0; i < tokens; i++) {
        const double *row = x->at + i * n;
        if (!label_fits(c, labels->at[i], n, i))
            return false;
        double largest = exponentials(row, n, &sum), of_label = row[(u64)labels->at[i]];
        total += log(sum) + largest - of_label;
        magnitudes += log(sum) + fabs(largest) + fabs(of_label) + 1;
    }
    y->at[0] = total / (double)all;
    y->bound = (2 * x->bound * (double)tokens + roundings(n + tokens + FUNCTION_ROUNDINGS) * magnitudes) / (double)all;
    return true;
}
