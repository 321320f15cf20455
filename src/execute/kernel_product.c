/* Products. The bound of a sum of K products: K roundings of the sum of their magnitudes, and what the operands bring. */
#include "execute/kernel.h"

#include <math.h>

/* What bounds a product: the largest sums of magnitudes of a row of A, of a column of B, and of the products. */
struct magnitudes {
    double row, column, products;
};

static double largest_row(const double *a, u64 rows, u64 n)
{
    double largest = 0;
    for (u64 i = 0; i < rows; i++) {
        double sum = 0;
        for (u64 k = 0; k < n; k++)
            sum += fabs(a[i * n + k]);
        largest = fmax(largest, sum);
    }
    return largest;
}

static double largest_column(const double *b, u64 rows, u64 n)
{
    double largest = 0;
    for (u64 k = 0; k < n; k++) {
        double sum = 0;
        for (u64 i = 0; i < rows; i++)
            sum += fabs(b[i * n + k]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* Y = A B, of rows x k by k x n. SUMS has room for n. */
static void multiply(const double *a, const double *b, double *y, u64 rows, u64 k, u64 n, double *sums, struct magnitudes *m)
{
    for (u64 i = 0; i < rows; i++) {
        memset(sums, 0, n * sizeof *sums);
        for (u64 l = 0; l < k; l++)
            for (u64 j = 0; j < n; j++) {
                double term = a[i * k + l] * b[l * n + j];
                y[i * n + j] += term;
                sums[j] += fabs(term);
            }
        for (u64 j = 0; j < n; j++)
            m->products = fmax(m->products, sums[j]);
    }
    m->row = fmax(m->row, largest_row(a, rows, k));
    m->column = fmax(m->column, largest_column(b, k, n));
}

static double product_bound(const struct magnitudes *m, u64 k, double a, double b)
{
    return roundings(k) * m->products + a * m->column + b * m->row + (double)k * a * b;
}

static void add_bias(struct tensor *y, const struct tensor *b)
{
    u64 n = last_size(y);
    for (u64 i = 0; i < y->n; i++)
        y->at[i] += b->at[i % n];
    y->bound += b->bound + ROUNDING * tensor_largest(y);
}

bool kernel_linear(struct kernel_call *c)
{
    const struct tensor *x = &c->in[0], *w = &c->in[1];
    struct tensor *y = &c->out[0];
    u64 sizes[MAX_RANK];
    if (!kernel_rank(c, 0, 1) || !kernel_rank(c, 1, 2) || !kernel_same(c, 0, x->rank - 1, 1, 0) ||
        (c->n_in > 2 && !kernel_same(c, 1, 1, 2, 0)))
        return false;
    u64 k = last_size(x), n = w->size[1];
    memcpy(sizes, x->size, sizeof sizes);
    sizes[x->rank - 1] = n;
    if (!kernel_makes(c, 0, sizes, x->rank))
        return false;
    struct magnitudes m = { 0 };
    multiply(x->at, w->at, y->at, row_count(x), k, n, ARENA_ARRAY(c->arena, double, n), &m);
    y->bound = product_bound(&m, k, x->bound, w->bound);
    if (c->n_in > 2)
        add_bias(y, &c->in[2]);
    return true;
}

static bool batched(struct kernel_call *c)
{
    u32 rank = c->in[0].rank;
    u64 sizes[MAX_RANK];
    if (!kernel_rank(c, 0, 2) || !kernel_rank(c, 1, rank) || !kernel_same(c, 0, rank - 1, 1, rank - 2))
        return false;
    for (u32 i = 0; i + 2 < rank; i++)
        if (!kernel_same(c, 0, i, 1, i))
            return false;
    memcpy(sizes, c->in[0].size, sizeof sizes);
    sizes[rank - 1] = last_size(&c->in[1]);
    return kernel_makes(c, 0, sizes, rank);
}

bool kernel_matmul(struct kernel_call *c)
{
    const struct tensor *a = &c->in[0], *b = &c->in[1];
    struct tensor *y = &c->out[0];
    if (!batched(c))
        return false;
    u64 rows = a->size[a->rank - 2], k = last_size(a), n = last_size(b), batch = sizes_product(a->size, a->rank - 2);
    struct magnitudes m = { 0 };
    double *sums = ARENA_ARRAY(c->arena, double, n);
    for (u64 i = 0; i < batch; i++)
        multiply(a->at + i * rows * k, b->at + i * k * n, y->at + i * rows * n, rows, k, n, sums, &m);
    y->bound = product_bound(&m, k, a->bound, b->bound);
    return true;
}
