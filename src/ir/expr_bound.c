/* What an expression can be when every symbol is at least 1: intervals, wide where nothing is known. */
#include "ir/expr_pool.h"

/* Past ENDLESS nothing is counted: as a bound it means "or beyond". */
#define ENDLESS ((i128)1 << 126)

struct interval {
    i128 low, high;
};

static const struct interval anything = { -ENDLESS, ENDLESS };

static struct interval interval_of(const struct exprs *x, qty q);

static i128 clamp(i128 n)
{
    return n > ENDLESS ? ENDLESS : n < -ENDLESS ? -ENDLESS : n;
}

static i128 times(i128 a, i128 b)
{
    i128 product;
    if (!__builtin_mul_overflow(a, b, &product))
        return clamp(product);
    return (a < 0) == (b < 0) ? ENDLESS : -ENDLESS;
}

static struct interval product(struct interval a, struct interval b)
{
    i128 ends[] = { times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high) };
    struct interval out = { ends[0], ends[0] };
    for (int i = 1; i < 4; i++) {
        out.low = ends[i] < out.low ? ends[i] : out.low;
        out.high = ends[i] > out.high ? ends[i] : out.high;
    }
    return out;
}

/* An end that is endless stays so, whatever is added. */
static struct interval sum(struct interval a, struct interval b)
{
    return (struct interval){ a.low == -ENDLESS || b.low == -ENDLESS ? -ENDLESS : clamp(a.low + b.low),
                              a.high == ENDLESS || b.high == ENDLESS ? ENDLESS : clamp(a.high + b.high) };
}

/* By something that is at least 1: a quotient is no farther from 0, and on the same side or 0; floors go down. */
static struct interval quotient(struct interval a, struct interval b, bool up)
{
    if (b.low < 1)
        return anything;
    struct interval out = { a.low, a.high };
    if (a.low >= 0)
        out.low = up && a.low > 0;
    if (a.high >= 0)
        out.high = a.high == ENDLESS ? ENDLESS : up && a.high ? (a.high - 1) / b.low + 1 : a.high / b.low;
    else
        out.high = up ? 0 : -1;
    return out;
}

static struct interval factor_interval(const struct exprs *x, const struct factor *f)
{
    if (f->kind == FACTOR_SYMBOL)
        return (struct interval){ 1, ENDLESS };
    struct interval out = interval_of(x, f->operands[0]);
    if (f->kind == FACTOR_FLOORDIV || f->kind == FACTOR_CEILDIV)
        return quotient(out, interval_of(x, f->operands[1]), f->kind == FACTOR_CEILDIV);
    for (u32 i = 1; i < f->n; i++) {
        struct interval next = interval_of(x, f->operands[i]);
        bool low = f->kind == FACTOR_MAX ? next.low > out.low : next.low < out.low;
        bool high = f->kind == FACTOR_MAX ? next.high > out.high : next.high < out.high;
        out = (struct interval){ low ? next.low : out.low, high ? next.high : out.high };
    }
    return out;
}

static struct interval interval_of(const struct exprs *x, qty q)
{
    struct term room;
    struct terms t = qty_terms(x, q, &room);
    struct interval out = { 0, 0 };
    for (u32 i = 0; i < t.n; i++) {
        i128 c = t.at[i].magnitude > (u128)ENDLESS ? ENDLESS : (i128)t.at[i].magnitude;
        struct interval term = { t.at[i].negative ? -c : c, t.at[i].negative ? -c : c };
        const struct monomial *m = monomial_at(x, t.at[i].monomial);
        for (u32 k = 0; k < m->degree; k++)
            term = product(term, factor_interval(x, factor_at(x, m->factors[k])));
        out = sum(out, term);
    }
    return out;
}

bool qty_is_below(const struct exprs *x, qty q, u32 limit)
{
    return interval_of(x, q).high < (i128)limit;
}
