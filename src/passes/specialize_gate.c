/* Proves a specialized program: statement by statement the same, every quantity its source's value at the numbers. */
#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "passes/passes.h"

#include "support/quantity.h"

static u32 read_numbers(const struct pass_run *r, struct qty_binding *bindings, u32 most)
{
    u32 n = 0;
    u128 value;
    for (u32 i = 0; i < r->step->n_options && n < most; i++)
        if (u128_parse(r->step->options[i].value, strlen(r->step->options[i].value), &value))
            bindings[n++] = (struct qty_binding){ intern_string(&r->ctx->names, r->step->options[i].name), qty_number(r->ctx->exprs, value) };
    return n;
}

static bool same_value(const struct pass_run *r, qty from, qty to)
{
    struct qty_binding bindings[MAX_OPTIONS];
    u32 n = read_numbers(r, bindings, COUNT(bindings));
    return qty_substitute(r->ctx->exprs, from, bindings, n, &from) == EXPR_OK && from == to;
}

static bool same_type(const struct pass_run *r, u32 from, u32 to)
{
    const struct type *t = type_get(r->ctx->types, from), *u = type_get(r->ctx->types, to);
    bool same = t->element == u->element && t->rank == u->rank;
    for (u32 i = 0; same && i < t->rank; i++)
        same = same_value(r, t->dims[i], u->dims[i]);
    return same;
}

static bool same_list(const struct pass_run *r, u32 x, u32 y)
{
    return list_n(r->input, x) == list_n(r->output, y) &&
           !memcmp(list_at(r->input, x), list_at(r->output, y), list_n(r->input, x) * sizeof(u32));
}

static bool same_field(const struct pass_run *r, const struct stmt *s, const struct stmt *t, const struct field *f)
{
    bool same = true;
    switch ((enum field_kind)f->kind) {
    case FIELD_LINEAGE: case FIELD_DICT: case FIELD_ATTRIBUTES: case FIELD_IMPLEMENT:
        return true;
    case FIELD_FACTS:
        for (const struct field *g = f->aux; same && g->kind != FIELD_END; g++)
            same = same_field(r, s, t, g);
        return same;
    case FIELD_QUANTITY: return same_value(r, field_get(s, f), field_get(t, f));
    case FIELD_TYPE: return same_type(r, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_SYMBOL_NAME: case FIELD_VALUE_NAME: case FIELD_DOLLAR_NAME: return s->name == t->name;
    case FIELD_SHARDING: case FIELD_AXES: case FIELD_AXIS_SIZES: case FIELD_RANKS: case FIELD_REFS: case FIELD_OPERANDS:
    case FIELD_EFFECTS: case FIELD_RESULTS:
        return same_list(r, (u32)field_get(s, f), (u32)field_get(t, f));
    default: return field_get(s, f) == field_get(t, f);
    }
}

static bool prove_stmt(const struct pass_run *r, const struct stmt *s, const struct stmt *t)
{
    if (s->entity != t->entity)
        return gate_refuse(r, r->output, t, "it is another kind of statement than its source");
    for (const struct field *f = stmt_entity(r->input, s)->fields; f->kind != FIELD_END; f++) {
        if (!same_field(r, s, t, f))
            return gate_refuse(r, r->output, t, "its `%s` is not its source's at these numbers", f->name);
        for (u32 i = 0; f->kind == FIELD_RESULTS && i < list_n(r->input, (u32)field_get(s, f)); i++) {
            atom name = list_at(r->input, (u32)field_get(s, f))[i];
            if (!prove_stmt(r, item_value(r->input, name), item_value(r->output, name)))
                return false;
        }
    }
    return true;
}

static bool is_bound(const struct pass_run *r, atom symbol)
{
    return step_option(r->step, context_text(r->ctx, symbol)) != NULL;
}

bool specialize_gate(const struct pass_run *r)
{
    u32 k = 0;
    for (u32 i = 0; i < r->input->n_stmts; i++) {
        const struct stmt *s = r->input->stmts[i];
        if (s->entity == DIST_SYMBOL && is_bound(r, s->name))
            continue;
        if (k == r->output->n_stmts || !prove_stmt(r, s, r->output->stmts[k++]))
            return k < r->output->n_stmts ? false : gate_refuse(r, r->output, NULL, "a statement is lost");
    }
    return k == r->output->n_stmts || gate_refuse(r, r->output, NULL, "it has statements that its source lacks");
}
