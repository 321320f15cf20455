#include "ir/expr.h"

#include "ir/expr_pool.h"
#include "support/quantity.h"

qty qty_number(struct exprs *x, u128 value)
{
    qty q = 0;
    polynomial_make(x, &(struct term){ .magnitude = value }, value != 0, &q);
    return q;
}

static bool is_constant(struct terms t)
{
    return t.n == 0 || (t.n == 1 && t.at->monomial == 0);
}

/* The constant that T is; zero has no terms. */
static struct term constant_of(struct terms t)
{
    return t.n ? *t.at : (struct term){ 0 };
}

static enum expr_status make_constant(struct exprs *x, struct term c, qty *out)
{
    return polynomial_make(x, &c, c.magnitude != 0, out);
}

bool qty_is_constant(const struct exprs *x, qty q)
{
    struct term room;
    return is_constant(qty_terms(x, q, &room));
}

bool qty_is_negative(const struct exprs *x, qty q)
{
    struct term room;
    struct terms t = qty_terms(x, q, &room);
    return is_constant(t) && constant_of(t).negative;
}

bool qty_value(const struct exprs *x, qty q, u128 *out)
{
    struct term room;
    struct terms t = qty_terms(x, q, &room);
    if (!is_constant(t) || constant_of(t).negative)
        return false;
    *out = constant_of(t).magnitude;
    return true;
}

/* a + b of two signed numbers. */
static bool add_signed(struct term a, struct term b, struct term *out)
{
    *out = a;
    if (a.negative == b.negative)
        return u128_add(a.magnitude, b.magnitude, &out->magnitude);
    out->negative = a.magnitude >= b.magnitude ? a.negative : b.negative;
    out->magnitude = a.magnitude >= b.magnitude ? a.magnitude - b.magnitude : b.magnitude - a.magnitude;
    return true;
}

/* Merges two sorted lists of terms into OUT, which has room for both. */
static enum expr_status merge(const struct exprs *x, struct terms a, struct terms b, struct term *out, u32 *n)
{
    u32 i = 0, j = 0, k = 0;
    while (i < a.n || j < b.n) {
        int order = i == a.n ? 1 : j == b.n ? -1 : compare_monomials(x, a.at[i].monomial, b.at[j].monomial);
        if (order < 0) {
            out[k++] = a.at[i++];
        } else if (order > 0) {
            out[k++] = b.at[j++];
        } else {
            if (!add_signed(a.at[i++], b.at[j++], &out[k]))
                return EXPR_OVERFLOW;
            k += out[k].magnitude != 0;
        }
    }
    *n = k;
    return EXPR_OK;
}

static enum expr_status add_terms(struct exprs *x, struct terms a, struct terms b, qty *out)
{
    struct term sum[2 * MAX_TERMS];
    u32 n;
    enum expr_status status = merge(x, a, b, sum, &n);
    return status ? status : polynomial_make(x, sum, n, out);
}

enum expr_status qty_add(struct exprs *x, qty a, qty b, qty *out)
{
    if (qty_is_small(a) && qty_is_small(b) && qty_is_small(a + b)) {
        *out = a + b;
        return EXPR_OK;
    }
    struct term left, right;
    return add_terms(x, qty_terms(x, a, &left), qty_terms(x, b, &right), out);
}

enum expr_status qty_sub(struct exprs *x, qty a, qty b, qty *out)
{
    if (qty_is_small(a) && qty_is_small(b) && b <= a) {
        *out = a - b;
        return EXPR_OK;
    }
    struct term left, right, negated[MAX_TERMS];
    struct terms minus = qty_terms(x, b, &right);
    for (u32 i = 0; i < minus.n; i++) {
        negated[i] = minus.at[i];
        negated[i].negative = !negated[i].negative;
    }
    return add_terms(x, qty_terms(x, a, &left), (struct terms){ negated, minus.n }, out);
}

/* The product of two monomials: their factors merged, which keeps them sorted. */
static enum expr_status multiply_monomials(struct exprs *x, u32 a, u32 b, u32 *out)
{
    const struct monomial *l = monomial_at(x, a), *r = monomial_at(x, b);
    u32 factors[2 * MAX_DEGREE], i = 0, j = 0, n = 0;
    while (i < l->degree || j < r->degree) {
        bool left = j == r->degree || (i < l->degree && compare_factors(x, l->factors[i], r->factors[j]) <= 0);
        factors[n++] = left ? l->factors[i++] : r->factors[j++];
    }
    return monomial_make(x, factors, n, out);
}

/* ROW = a * c. The order of monomials is kept by a multiplication, so the row is sorted. */
static enum expr_status scale(struct exprs *x, struct terms a, struct term c, struct term *row)
{
    for (u32 i = 0; i < a.n; i++) {
        if (!u128_mul(a.at[i].magnitude, c.magnitude, &row[i].magnitude))
            return EXPR_OVERFLOW;
        row[i].negative = a.at[i].negative != c.negative;
        enum expr_status status = multiply_monomials(x, a.at[i].monomial, c.monomial, &row[i].monomial);
        if (status)
            return status;
    }
    return EXPR_OK;
}

static enum expr_status multiply(struct exprs *x, struct terms a, struct terms b, qty *out)
{
    struct term row[MAX_TERMS], sum[MAX_TERMS], next[2 * MAX_TERMS];
    u32 n = 0;
    if ((u64)a.n * b.n > 16 * MAX_TERMS)
        return EXPR_LARGE;
    for (u32 i = 0; i < b.n; i++) {
        enum expr_status status = scale(x, a, b.at[i], row);
        if (!status)
            status = merge(x, (struct terms){ sum, n }, (struct terms){ row, a.n }, next, &n);
        if (status || n > MAX_TERMS)
            return status ? status : EXPR_LARGE;
        memcpy(sum, next, n * sizeof *sum);
    }
    return polynomial_make(x, sum, n, out);
}

enum expr_status qty_mul(struct exprs *x, qty a, qty b, qty *out)
{
    if (qty_is_small(a) && qty_is_small(b)) {
        *out = qty_number(x, (u128)a * b);
        return EXPR_OK;
    }
    struct term left, right;
    struct terms l = qty_terms(x, a, &left), r = qty_terms(x, b, &right);
    return l.n >= r.n ? multiply(x, l, r, out) : multiply(x, r, l, out);
}

/* MONOMIAL / divisor; false when some factor of the divisor is not in it. */
static bool divide_monomials(struct exprs *x, u32 monomial, u32 divisor, u32 *out)
{
    const struct monomial *m = monomial_at(x, monomial), *d = monomial_at(x, divisor);
    u32 rest[MAX_DEGREE], n = 0, j = 0;
    for (u32 i = 0; i < m->degree; i++)
        if (j < d->degree && m->factors[i] == d->factors[j])
            j++;
        else
            rest[n++] = m->factors[i];
    return j == d->degree && monomial_make(x, rest, n, out) == EXPR_OK;
}

/* a / d where the one term d divides every term of a. */
static enum expr_status divide_terms(struct exprs *x, struct terms a, struct term d, qty *out)
{
    struct term row[MAX_TERMS];
    for (u32 i = 0; i < a.n; i++) {
        row[i].negative = a.at[i].negative != d.negative;
        if (!u128_div_exact(a.at[i].magnitude, d.magnitude, &row[i].magnitude) ||
            !divide_monomials(x, a.at[i].monomial, d.monomial, &row[i].monomial))
            return EXPR_INEXACT;
    }
    return polynomial_make(x, row, a.n, out);
}

enum expr_status qty_div_exact(struct exprs *x, qty a, qty b, qty *out)
{
    struct term left, right;
    struct terms l = qty_terms(x, a, &left), r = qty_terms(x, b, &right);
    if (r.n == 0)
        return EXPR_DIVISION_BY_ZERO;
    return r.n == 1 ? divide_terms(x, l, *r.at, out) : a == b ? (*out = 1, EXPR_OK) : EXPR_INEXACT;
}

/* The integer below (or, for UP, above) a / d of two numbers. */
static enum expr_status divide_constants(struct exprs *x, struct term a, struct term d, bool up, qty *out)
{
    struct term q = { .magnitude = a.magnitude / d.magnitude, .negative = a.negative != d.negative };
    bool away = a.magnitude % d.magnitude != 0 && q.negative != up;
    if (away && !u128_add(q.magnitude, 1, &q.magnitude))
        return EXPR_OVERFLOW;
    return make_constant(x, q, out);
}

static enum expr_status divide(struct exprs *x, enum factor_kind kind, qty a, qty b, qty *out)
{
    struct term left, right;
    struct terms l = qty_terms(x, a, &left), r = qty_terms(x, b, &right);
    if (r.n == 0)
        return EXPR_DIVISION_BY_ZERO;
    if (is_constant(l) && is_constant(r))
        return divide_constants(x, constant_of(l), constant_of(r), kind == FACTOR_CEILDIV, out);
    if (is_constant(r) && divide_terms(x, l, *r.at, out) == EXPR_OK)
        return EXPR_OK;
    return factor_make(x, kind, (qty[]){ a, b }, 2, out);
}

enum expr_status qty_floordiv(struct exprs *x, qty a, qty b, qty *out)
{
    return divide(x, FACTOR_FLOORDIV, a, b, out);
}

enum expr_status qty_ceildiv(struct exprs *x, qty a, qty b, qty *out)
{
    return divide(x, FACTOR_CEILDIV, a, b, out);
}

/* Operands of a max or min under construction: sorted, distinct, at most one constant. */
struct operands {
    enum factor_kind kind;
    u32 n;
    qty at[MAX_OPERANDS + 1];
};

/* Whether the constant A replaces the constant B. */
static bool wins(const struct exprs *x, enum factor_kind kind, qty a, qty b)
{
    struct term left, right;
    struct term l = constant_of(qty_terms(x, a, &left)), r = constant_of(qty_terms(x, b, &right));
    bool less = l.negative != r.negative ? l.negative
                : l.negative             ? l.magnitude > r.magnitude
                                         : l.magnitude < r.magnitude;
    return less == (kind == FACTOR_MIN);
}

static bool insert(const struct exprs *x, struct operands *list, qty q)
{
    u32 i = 0;
    for (u32 j = 0; j < list->n && qty_is_constant(x, q); j++)
        if (qty_is_constant(x, list->at[j])) {
            if (wins(x, list->kind, q, list->at[j]))
                list->at[j] = q;
            return true;
        }
    while (i < list->n && compare_qtys(x, list->at[i], q) < 0)
        i++;
    if (i < list->n && list->at[i] == q)
        return true;
    memmove(&list->at[i + 1], &list->at[i], (list->n - i) * sizeof *list->at);
    list->at[i] = q;
    return ++list->n <= MAX_OPERANDS;
}

/* Q's own operands where Q is already a term of the same kind, else Q. */
static bool insert_flat(const struct exprs *x, struct operands *list, qty q)
{
    const struct factor *f = qty_as_factor(x, q, list->kind);
    if (!f)
        return insert(x, list, q);
    for (u32 i = 0; i < f->n; i++)
        if (!insert(x, list, f->operands[i]))
            return false;
    return true;
}

static enum expr_status extremum(struct exprs *x, enum factor_kind kind, qty a, qty b, qty *out)
{
    struct operands list = { .kind = kind };
    if (!insert_flat(x, &list, a) || !insert_flat(x, &list, b))
        return EXPR_LARGE;
    if (list.n > 1)
        return factor_make(x, kind, list.at, list.n, out);
    *out = list.at[0];
    return EXPR_OK;
}

enum expr_status qty_max(struct exprs *x, qty a, qty b, qty *out)
{
    return extremum(x, FACTOR_MAX, a, b, out);
}

enum expr_status qty_min(struct exprs *x, qty a, qty b, qty *out)
{
    return extremum(x, FACTOR_MIN, a, b, out);
}

const char *expr_status_text(enum expr_status status)
{
    static const char *const texts[] = {
        [EXPR_OK] = "is exact",
        [EXPR_OVERFLOW] = "overflows 128 bits",
        [EXPR_LARGE] = "is larger than an expression may be (512 terms, 64 factors, 128 nested divisions)",
        [EXPR_NEGATIVE] = "is negative",
        [EXPR_INEXACT] = "is not a whole number",
        [EXPR_DIVISION_BY_ZERO] = "divides by zero",
        [EXPR_UNBOUND] = "has a symbol without a value",
    };
    return texts[status];
}
