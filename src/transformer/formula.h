/*
 * Formulas as readable text: names, numbers, `+ - * / floordiv ceildiv` and parentheses. A formula is evaluated with
 * what its names stand for, numbers or symbolic expressions alike. `/` is exact: a remainder is a fault, never a rounding.
 */
#ifndef TRANSFORMER_FORMULA_H
#define TRANSFORMER_FORMULA_H

#include "ir/expr.h"

struct formula_name {
    const char *name;       /* letters and `_` */
    qty value;
};

struct formula_scope {
    const struct formula_name *names;
    size_t n;
    const struct formula_scope *outer;      /* or NULL */
};

/* A name that is not in scope and a text that is no formula are faults of the table that holds it: asserts. */
enum expr_status formula_evaluate(struct exprs *x, const char *text, const struct formula_scope *scope, qty *out);

#endif
