/*
 * Quantities: exact numbers and symbolic expressions in one 64-bit word.
 *
 * A `qty` below 2^63 is that number. Otherwise it names a hash-consed expression (or a number outside [0, 2^63))
 * in the context's pool, so that equal quantities are equal words. Expressions are canonical polynomials with
 * integer coefficients (a sign and 128 bits, checked) whose atoms are symbols and floordiv / ceildiv / max / min terms.
 *
 * Canonical means: a division of numbers, or by a number that divides every coefficient, is carried out; max and min
 * are flat, sorted, distinct and hold at most one number. Sizes are bounded (terms, degree, nesting), so that hostile
 * text can neither exhaust memory nor the stack: what exceeds them is EXPR_LARGE.
 */
#ifndef IR_EXPR_H
#define IR_EXPR_H

#include "support/arena.h"
#include "support/intern.h"
#include "support/out.h"

typedef u64 qty;

enum expr_status {
    EXPR_OK,
    EXPR_OVERFLOW,          /* a coefficient or a number leaves 128 bits */
    EXPR_LARGE,             /* an expression has more terms, factors or levels than are kept */
    EXPR_NEGATIVE,          /* a number is below zero where a quantity is wanted */
    EXPR_INEXACT,           /* a division that must be exact leaves a remainder, or can't be proved exact */
    EXPR_DIVISION_BY_ZERO,
    EXPR_UNBOUND,           /* a symbol has no value */
};

struct exprs;               /* the pool */

/* The pool lies in ARENA and takes its symbols' names from NAMES; both must outlive it. */
struct exprs *exprs_new(struct arena *arena, struct interner *names);

#define QTY_EXPR ((qty)1 << 63)

static inline bool qty_is_small(qty q)
{
    return !(q & QTY_EXPR);
}

qty qty_number(struct exprs *x, u128 value);
qty qty_symbol(struct exprs *x, atom name);

/* True, and the number in *out, when Q is a number >= 0. A negative number is "constant" but not a number. */
bool qty_value(const struct exprs *x, qty q, u128 *out);
bool qty_is_negative(const struct exprs *x, qty q);     /* a constant below zero */
/* Q is less than LIMIT whatever its symbols are, each of which is at least 1. False: it may be more, or no proof is known. */
bool qty_is_below(const struct exprs *x, qty q, u32 limit);
bool qty_is_constant(const struct exprs *x, qty q);

/* Each writes *out and returns EXPR_OK, or returns why not and leaves *out alone. Differences may be negative. */
enum expr_status qty_add(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_sub(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_mul(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_floordiv(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_ceildiv(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_max(struct exprs *x, qty a, qty b, qty *out);
enum expr_status qty_min(struct exprs *x, qty a, qty b, qty *out);

/*
 * a / b where b divides a: numbers, or a polynomial each of whose terms is divisible by the one term b (`4*$t`),
 * which is taken to be no zero. EXPR_INEXACT where it can't be proved.
 */
enum expr_status qty_div_exact(struct exprs *x, qty a, qty b, qty *out);

struct qty_binding {
    atom symbol;
    qty value;
};

/* Q with the symbols replaced, all at once; symbols without a binding stay. */
enum expr_status qty_substitute(struct exprs *x, qty q, const struct qty_binding *bindings, size_t n, qty *out);

/* The number that Q is under the bindings; EXPR_UNBOUND or EXPR_NEGATIVE where it is none. */
enum expr_status qty_evaluate(struct exprs *x, qty q, const struct qty_binding *bindings, size_t n, u128 *out);

/* Calls VISIT once for each distinct symbol in Q. */
void qty_symbols(const struct exprs *x, qty q, void (*visit)(void *state, atom symbol), void *state);

/*
 * Canonical text: `2*$b*$s + 1`. Terms by degree, then by name, the constant last; the coefficient first; a square is
 * `$b*$b`. The language has no sign: the first positive term leads (`1 - $s`), or a 0 (`0 - $s`). A division that is
 * not alone stands in parentheses. The text parses to the same qty in any context and does not depend on the order
 * in which things were made. In a PRODUCT place (a tensor dimension) the printer adds the parentheses.
 */
void out_qty(struct out *o, const struct exprs *x, qty q);

/* "overflows 128 bits", "is negative", … for messages. */
const char *expr_status_text(enum expr_status status);

#endif
