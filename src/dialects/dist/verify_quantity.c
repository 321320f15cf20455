/*
 * Proofs about symbolic sizes. A fact `multiple_of m` says that $s is m times some positive integer, so $s may be replaced
 * by m*$s. A polynomial q has the remainder of k by n when q - k divides by n, for any constant k: k is taken where all
 * symbols are 0. Two quantities that differ anywhere are not equal: a binding at which they do is a proof.
 */
#include "dialects/dist/verify.h"

static u64 multiple_of(const struct dist_checker *c, atom symbol)
{
    const struct dist_symbol *s = (const struct dist_symbol *)item_dollar(c->it, symbol);
    return s && s->multiple_of ? s->multiple_of : 1;
}

void dist_facts_init(struct dist_checker *c)
{
    u32 n = c->it->dollars.n;
    c->facts = ARENA_ARRAY(&c->v->scratch, struct qty_binding, n);
    for (u32 i = 0; c->n_facts < n && i < c->it->n_stmts; i++) {
        const struct stmt *s = c->it->stmts[i];
        qty value = 0;
        if (s->entity != DIST_SYMBOL)
            continue;
        qty symbol = qty_symbol(c->ctx->exprs, s->name);
        if (qty_mul(c->ctx->exprs, qty_number(c->ctx->exprs, multiple_of(c, s->name)), symbol, &value) != EXPR_OK)
            value = symbol;
        c->facts[c->n_facts++] = (struct qty_binding){ s->name, value };
    }
}

bool dist_apply_facts(struct dist_checker *c, qty q, qty *out)
{
    *out = q;
    return qty_is_small(q) || qty_substitute(c->ctx->exprs, q, c->facts, c->n_facts, out) == EXPR_OK;
}

/* Q, to which the facts are applied, when every symbol is TIMES its multiple_of. */
static bool value_at(struct dist_checker *c, qty q, u64 times, u128 *out)
{
    struct qty_binding *at = ARENA_ARRAY(&c->v->scratch, struct qty_binding, c->n_facts);
    for (u32 i = 0; i < c->n_facts; i++)
        at[i] = (struct qty_binding){ c->facts[i].symbol, times };
    return qty_evaluate(c->ctx->exprs, q, at, c->n_facts, out) == EXPR_OK;
}

enum dist_proof dist_divides(struct dist_checker *c, qty q, u64 n, u64 *remainder)
{
    struct exprs *x = c->ctx->exprs;
    qty by = qty_number(x, n), rest;
    u128 value;
    if (qty_value(x, q, &value)) {
        *remainder = (u64)(value % n);
        return *remainder ? DIST_WRONG : DIST_PROVED;
    }
    if (!dist_apply_facts(c, q, &q))
        return DIST_UNPROVED;
    if (qty_div_exact(x, q, by, &rest) == EXPR_OK)
        return DIST_PROVED;
    if (!value_at(c, q, 0, &value) || qty_sub(x, q, qty_number(x, value), &rest) != EXPR_OK ||
        qty_div_exact(x, rest, by, &rest) != EXPR_OK)
        return DIST_UNPROVED;
    *remainder = (u64)(value % n);
    return *remainder ? DIST_WRONG : DIST_PROVED;
}

enum dist_proof dist_equal(struct dist_checker *c, qty a, qty b, u64 *times, u128 *a_value, u128 *b_value)
{
    if (a == b)
        return DIST_PROVED;
    for (*times = 1; *times <= 3; ++*times)
        if (value_at(c, a, *times, a_value) && value_at(c, b, *times, b_value) && *a_value != *b_value)
            return DIST_WRONG;
    return DIST_UNPROVED;
}
