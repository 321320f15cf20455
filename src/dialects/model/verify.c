/* Rules of model that the schema can't say: of symbols and the program; the others are in verify_flow.c and shape*.c. */
#include "dialects/model/verify.h"

struct model_entry *model_entry_of(const struct model_checker *c, u32 ref)
{
    u32 i = ref & c->mask;
    while (c->slots[i].ref && c->slots[i].ref != ref)
        i = (i + 1) & c->mask;
    c->slots[i].ref = ref;
    return &c->slots[i];
}

static void init_entries(struct model_checker *c)
{
    u64 names = (u64)c->it->values.n + c->it->symbols.n, size = 16;
    while (size < 2 * names)
        size *= 2;
    c->slots = ARENA_ARRAY(&c->v->scratch, struct model_entry, size);
    c->mask = (u32)(size - 1);
}

/* ---- Symbols ---- */

static u64 multiple_of(const struct model_symbol *symbol)
{
    return symbol && symbol->multiple_of ? symbol->multiple_of : 1;
}

static void init_facts(struct model_checker *c)
{
    c->facts = ARENA_ARRAY(&c->v->scratch, struct qty_binding, c->it->dollars.n);
    for (u32 i = 0; i < c->it->n_stmts; i++) {
        const struct model_symbol *symbol = (const struct model_symbol *)c->it->stmts[i];
        if (symbol->s.entity != MODEL_SYMBOL || c->n_facts == c->it->dollars.n)
            continue;
        qty name = qty_symbol(c->ctx->exprs, symbol->s.name), value = name;
        qty_mul(c->ctx->exprs, qty_number(c->ctx->exprs, multiple_of(symbol)), name, &value);
        c->facts[c->n_facts++] = (struct qty_binding){ symbol->s.name, value };
    }
}

/* `multiple_of m` says that $s is m times some positive integer, so that $s may be replaced by m*$s. */
static qty with_facts(const struct model_checker *c, qty q)
{
    qty_substitute(c->ctx->exprs, q, c->facts, c->n_facts, &q);
    return q;
}

bool model_same_size(const struct model_checker *c, qty a, qty b)
{
    if (a == b)
        return true;
    return !(qty_is_small(a) && qty_is_small(b)) && with_facts(c, a) == with_facts(c, b);
}

static void keep_symbol(void *state, atom symbol)
{
    *(atom *)state = symbol;
}

bool model_size_fits(const struct model_checker *c, qty q, u128 n)
{
    u128 number;
    atom symbol = 0;
    if (qty_value(c->ctx->exprs, q, &number))
        return number == n;
    qty_symbols(c->ctx->exprs, q, keep_symbol, &symbol);
    if (!symbol || q != qty_symbol(c->ctx->exprs, symbol))
        return true;
    return n % multiple_of((const struct model_symbol *)item_dollar(c->it, symbol)) == 0;
}

u64 model_multiple_of(const struct model_checker *c, qty q)
{
    atom symbol = 0;
    qty_symbols(c->ctx->exprs, q, keep_symbol, &symbol);
    return multiple_of((const struct model_symbol *)item_dollar(c->it, symbol));
}

/* ---- The program ---- */

static bool check_stmt(struct model_checker *c, u32 index)
{
    const struct stmt *s = c->it->stmts[index];
    switch ((enum model_entity)s->entity) {
    case MODEL_SYMBOL: break;
    case MODEL_VALUE: model_flow_value(c, (const struct model_value *)s); break;
    case MODEL_OUTPUT: model_flow_output(c, (const struct model_output *)s, index); break;
    case MODEL_OP:
        model_flow_op(c, (const struct model_op *)s, index);
        model_shape_check(c, (const struct model_op *)s);
        return true;
    case MODEL_ENTITIES: break;
    }
    return false;
}

void model_verify(struct verifier *v)
{
    struct model_checker c = { .v = v, .it = v->item, .ctx = v->ctx };
    bool any = false;
    init_entries(&c);
    init_facts(&c);
    model_flow_gather(&c);
    for (u32 i = 0; i < c.it->n_stmts; i++)
        any = check_stmt(&c, i) || any;
    if (!any && !v->errors)
        verify_error(v, NULL, NULL, NULL, "model.program.empty", "%s has no operation", symbol_text(c.it, c.it->name));
    else if (any)
        model_flow_end(&c);
}
