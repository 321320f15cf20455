/* Over whole expressions: substitution, evaluation, symbols, text. The pool bounds the depth of every recursion. */
#include "ir/expr_pool.h"
#include "support/quantity.h"

static enum expr_status combine(struct exprs *x, enum factor_kind kind, qty a, qty b, qty *out)
{
    switch (kind) {
    case FACTOR_FLOORDIV: return qty_floordiv(x, a, b, out);
    case FACTOR_CEILDIV: return qty_ceildiv(x, a, b, out);
    case FACTOR_MAX: return qty_max(x, a, b, out);
    default: return qty_min(x, a, b, out);
    }
}

static enum expr_status substitute_factor(struct exprs *x, u32 i, const struct qty_binding *bindings, size_t n,
                                          qty *out)
{
    const struct factor *f = factor_at(x, i);
    if (f->kind == FACTOR_SYMBOL) {
        *out = qty_symbol(x, f->symbol);
        for (size_t b = 0; b < n; b++)
            if (bindings[b].symbol == f->symbol)
                *out = bindings[b].value;
        return EXPR_OK;
    }
    qty result = 0;
    for (u32 k = 0; k < f->n; k++) {
        qty operand;
        enum expr_status status = qty_substitute(x, f->operands[k], bindings, n, &operand);
        if (!status && k)
            status = combine(x, f->kind, result, operand, &result);
        else
            result = operand;
        if (status)
            return status;
    }
    *out = result;
    return EXPR_OK;
}

static enum expr_status substitute_term(struct exprs *x, struct term t, const struct qty_binding *bindings, size_t n,
                                        qty *out)
{
    const struct monomial *m = monomial_at(x, t.monomial);
    enum expr_status status = EXPR_OK;
    qty product = qty_number(x, t.magnitude), factor;
    for (u32 i = 0; i < m->degree && !status; i++) {
        status = substitute_factor(x, m->factors[i], bindings, n, &factor);
        if (!status)
            status = qty_mul(x, product, factor, &product);
    }
    if (!status && t.negative)
        status = qty_sub(x, 0, product, &product);
    if (!status)
        *out = product;
    return status;
}

enum expr_status qty_substitute(struct exprs *x, qty q, const struct qty_binding *bindings, size_t n, qty *out)
{
    if (qty_is_constant(x, q)) {
        *out = q;
        return EXPR_OK;
    }
    const struct polynomial *p = polynomial_at(x, q);
    qty sum = 0, term;
    for (u32 i = 0; i < p->n; i++) {
        enum expr_status status = substitute_term(x, p->terms[i], bindings, n, &term);
        if (!status)
            status = qty_add(x, sum, term, &sum);
        if (status)
            return status;
    }
    *out = sum;
    return EXPR_OK;
}

enum expr_status qty_evaluate(struct exprs *x, qty q, const struct qty_binding *bindings, size_t n, u128 *out)
{
    qty value;
    enum expr_status status = qty_substitute(x, q, bindings, n, &value);
    if (status)
        return status;
    if (qty_value(x, value, out))
        return EXPR_OK;
    return qty_is_constant(x, value) ? EXPR_NEGATIVE : EXPR_UNBOUND;
}

/* A walk that enters each distinct factor once. */
struct walk {
    void (*visit)(void *state, atom symbol);
    void *state;
    bool *seen;             /* one a factor */
};

static void visit_symbols(const struct exprs *x, qty q, struct walk *w)
{
    if (qty_is_constant(x, q))
        return;
    const struct polynomial *p = polynomial_at(x, q);
    for (u32 i = 0; i < p->n; i++) {
        const struct monomial *m = monomial_at(x, p->terms[i].monomial);
        for (u32 j = 0; j < m->degree; j++) {
            const struct factor *f = factor_at(x, m->factors[j]);
            if (w->seen[m->factors[j]])
                continue;
            w->seen[m->factors[j]] = true;
            if (f->kind == FACTOR_SYMBOL)
                w->visit(w->state, f->symbol);
            for (u32 k = 0; k < f->n; k++)
                visit_symbols(x, f->operands[k], w);
        }
    }
}

void qty_symbols(const struct exprs *x, qty q, void (*visit)(void *state, atom symbol), void *state)
{
    if (qty_is_constant(x, q))
        return;
    struct walk w = { visit, state, block_grow(NULL, 0, x->factors.n) };
    visit_symbols(x, q, &w);
    block_free(w.seen, x->factors.n);
}

static void out_symbol(struct out *o, const struct exprs *x, atom name)
{
    const struct interned *s = &x->names->atoms[name];
    out_char(o, '$');
    if (s->form & FORM_NAME)
        out_bytes(o, s->text, s->length);
    else
        out_quoted(o, s->text, s->length);
}

/* An operand of a division: what binds weaker than a call or a lone word is put in parentheses. */
static void out_operand(struct out *o, const struct exprs *x, qty q)
{
    bool tight = qty_is_small(q) || qty_as_factor(x, q, FACTOR_SYMBOL) || qty_as_factor(x, q, FACTOR_MAX) ||
                 qty_as_factor(x, q, FACTOR_MIN) || (qty_is_constant(x, q) && !qty_is_negative(x, q));
    if (!tight)
        out_char(o, '(');
    out_qty(o, x, q);
    if (!tight)
        out_char(o, ')');
}

static void out_division(struct out *o, const struct exprs *x, const struct factor *f)
{
    out_operand(o, x, f->operands[0]);
    out_string(o, f->kind == FACTOR_FLOORDIV ? " floordiv " : " ceildiv ");
    out_operand(o, x, f->operands[1]);
}

static void out_call(struct out *o, const struct exprs *x, const struct factor *f)
{
    out_string(o, f->kind == FACTOR_MAX ? "max(" : "min(");
    for (u32 i = 0; i < f->n; i++) {
        if (i)
            out_string(o, ", ");
        out_qty(o, x, f->operands[i]);
    }
    out_char(o, ')');
}

/* ALONE: nothing is multiplied with it, so a division needs no parentheses. */
static void out_factor(struct out *o, const struct exprs *x, const struct factor *f, bool alone)
{
    if (f->kind == FACTOR_SYMBOL) {
        out_symbol(o, x, f->symbol);
    } else if (f->kind >= FACTOR_MAX) {
        out_call(o, x, f);
    } else {
        if (!alone)
            out_char(o, '(');
        out_division(o, x, f);
        if (!alone)
            out_char(o, ')');
    }
}

static void out_term(struct out *o, const struct exprs *x, struct term t)
{
    const struct monomial *m = monomial_at(x, t.monomial);
    bool number = t.magnitude != 1 || m->degree == 0;
    if (number)
        out_u128(o, t.magnitude);
    for (u32 i = 0; i < m->degree; i++) {
        if (i || number)
            out_char(o, '*');
        out_factor(o, x, factor_at(x, m->factors[i]), !number && m->degree == 1);
    }
}

/* The term to begin with: the first that is not negative, since the language has no sign. N if there is none. */
static u32 first_term(struct terms t)
{
    u32 i = 0;
    while (i < t.n && t.at[i].negative)
        i++;
    return i;
}

void out_qty(struct out *o, const struct exprs *x, qty q)
{
    struct term room;
    struct terms t = qty_terms(x, q, &room);
    u32 first = first_term(t);
    if (first < t.n)
        out_term(o, x, t.at[first]);
    else
        out_char(o, '0');
    for (u32 i = 0; i < t.n; i++) {
        if (i == first)
            continue;
        out_string(o, t.at[i].negative ? " - " : " + ");
        out_term(o, x, t.at[i]);
    }
}
