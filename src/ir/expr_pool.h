/* The pool behind qty, private to the expr_*.c files: hash-consed factors, monomials and polynomials. */
#ifndef IR_EXPR_POOL_H
#define IR_EXPR_POOL_H

#include "ir/expr.h"

/* What hostile input can't exceed. Going past any of them is EXPR_OVERFLOW. */
enum {
    MAX_TERMS = 512,        /* of one polynomial */
    MAX_DEGREE = 64,        /* factors of one monomial */
    MAX_OPERANDS = 64,      /* of one max or min */
    MAX_DEPTH = 128,        /* nesting of floordiv, ceildiv, max and min: bounds every recursion here */
    MAX_SIZE = 1 << 14,     /* nodes of the expression written out as text */
};

enum factor_kind { FACTOR_SYMBOL, FACTOR_FLOORDIV, FACTOR_CEILDIV, FACTOR_MAX, FACTOR_MIN };

/* Of a written-out expression: enters the limits. */
struct extent {
    u32 size, depth;
};

struct factor {
    u32 hash;
    struct extent extent;
    enum factor_kind kind;
    atom symbol;            /* of FACTOR_SYMBOL */
    u32 n;
    const qty *operands;    /* of the others: two of a division, sorted and distinct of max and min */
};

struct monomial {
    u32 hash;
    struct extent extent;
    u32 degree;
    const u32 *factors;     /* sorted by compare_factors, repeated for powers */
};

/* Sign and magnitude, so that every unsigned 128-bit number is a coefficient. Never zero in a polynomial. */
struct term {
    u128 magnitude;
    u32 monomial;           /* 0 is the constant 1 */
    bool negative;
};

struct polynomial {
    u32 hash;
    struct extent extent;
    u32 n;
    const struct term *terms;   /* by degree, then factors; the constant last */
};

/* One kind of hash-consed object. Each begins with its u32 hash. */
struct cons {
    void **items;
    u32 n, cap;
    u32 *slots;             /* index + 1, or 0 */
    u32 mask;
};

struct exprs {
    struct arena *arena;
    struct interner *names;
    struct cons factors, monomials, polynomials;
};

/* Q as terms, without making anything: ROOM holds the term of a small number. */
struct terms {
    const struct term *at;
    u32 n;
};

struct terms qty_terms(const struct exprs *x, qty q, struct term *room);

static inline const struct factor *factor_at(const struct exprs *x, u32 i)
{
    return x->factors.items[i];
}

static inline const struct monomial *monomial_at(const struct exprs *x, u32 i)
{
    return x->monomials.items[i];
}

static inline const struct polynomial *polynomial_at(const struct exprs *x, qty q)
{
    return x->polynomials.items[q & ~QTY_EXPR];
}

/* The factor that Q is, if Q is one factor of KIND with nothing before or behind it; else NULL. */
const struct factor *qty_as_factor(const struct exprs *x, qty q, enum factor_kind kind);

/* Orders that depend on names and structure only, never on when a thing was made: texts are alike in every context. */
int compare_factors(const struct exprs *x, u32 a, u32 b);
int compare_monomials(const struct exprs *x, u32 a, u32 b);
int compare_qtys(const struct exprs *x, qty a, qty b);

/* The unique object with this content; OPERANDS, FACTORS and TERMS are copied when it is new. */
enum expr_status factor_make(struct exprs *x, enum factor_kind kind, const qty *operands, u32 n, qty *out);
enum expr_status monomial_make(struct exprs *x, const u32 *factors, u32 degree, u32 *out);
enum expr_status polynomial_make(struct exprs *x, const struct term *terms, u32 n, qty *out);

#endif
