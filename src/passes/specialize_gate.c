/* Proves a specialized program: statement by statement the same, every quantity its source's value at the numbers. */
#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "passes/passes.h"

#include "ir/attr.h"
#include "support/quantity.h"

static u32 read_numbers(const struct pass_run *r, struct qty_binding *bindings)
{
    u32 n = 0;
    u128 value;
    for (u32 i = 0; i < r->step->n_options && n < MAX_OPTIONS; i++)
        if (u128_parse(r->step->options[i].value, strlen(r->step->options[i].value), &value))
            bindings[n++] = (struct qty_binding){ intern_string(&r->ctx->names, r->step->options[i].name), qty_number(r->ctx->exprs, value) };
    return n;
}

static bool same_value(const struct pass_run *r, qty from, qty to)
{
    struct qty_binding bindings[MAX_OPTIONS];
    u32 n = read_numbers(r, bindings);
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

/* Values of notes and of operations' own clauses. */
static bool same_attr(const struct pass_run *r, u32 from, u32 to)
{
    if (!from || !to)
        return from == to;
    struct attr a = attr_get(r->input, from), b = attr_get(r->output, to);
    u32 step = a.kind == ATTR_DICT ? 2 : 1;
    bool same = a.kind == b.kind;
    if (same && a.kind == ATTR_QUANTITY)
        return same_value(r, a.quantity, b.quantity);
    if (same && a.kind == ATTR_TYPE)
        return same_type(r, a.type, b.type);
    if (!same || (a.kind != ATTR_LIST && a.kind != ATTR_DICT))
        return same && attr_equal(r->input, from, r->output, to);
    same = a.n == b.n;
    for (u32 i = 0; same && i < a.n * step; i++)
        same = step == 2 && i % 2 == 0 ? a.elements[i] == b.elements[i] : same_attr(r, a.elements[i], b.elements[i]);
    return same;
}

static bool same_attributes(const struct pass_run *r, u32 from, u32 to)
{
    bool same = !from == !to && list_n(r->input, from) == list_n(r->output, to);
    for (u32 i = 0; same && i < list_n(r->input, from); i++) {
        u32 x = list_at(r->input, from)[i], y = list_at(r->output, to)[i];
        same = i % 2 ? same_attr(r, x, y) : x == y;
    }
    return same;
}

static bool same_field(const struct pass_run *r, const struct stmt *s, const struct stmt *t, const struct field *f)
{
    bool same = true;
    switch ((enum field_kind)f->kind) {
    case FIELD_LINEAGE: return true;
    case FIELD_DICT: return same_attr(r, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_ATTRIBUTES: return same_attributes(r, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_FACTS:
        for (const struct field *g = f->aux; same && g->kind != FIELD_END; g++)
            same = same_field(r, s, t, g);
        return same;
    case FIELD_QUANTITY: return same_value(r, field_get(s, f), field_get(t, f));
    case FIELD_TYPE: return same_type(r, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_SYMBOL_NAME: case FIELD_VALUE_NAME: case FIELD_DOLLAR_NAME: return s->name == t->name;
    case FIELD_SHARDING: case FIELD_AXES: case FIELD_AXIS_SIZES: case FIELD_RANKS: case FIELD_REFS: case FIELD_OPERANDS:
    case FIELD_EFFECTS: case FIELD_RESULTS: case FIELD_WORDS: case FIELD_INTEGERS:
        return same_list(r, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_REQUIRE: case FIELD_IMPLEMENT:       /* of layers below */
        return !field_get(s, f) && !field_get(t, f);
    default: return field_get(s, f) == field_get(t, f);
    }
}

/* What has a source above has its namesake here as its source. */
static bool prove_lineage(const struct pass_run *r, const struct stmt *s, const struct stmt *t)
{
    u8 flags = stmt_entity(r->input, s)->flags;
    if (s->is_result || !(flags & ENTITY_LINEAGE || s->lineage_kind))
        return t->lineage_kind == LINEAGE_NONE || gate_refuse(r, r->output, t, "it needs no source");
    return gate_is_from(r, t, LINEAGE_PRESERVED, flags & ENTITY_VALUE ? REF_VALUE(s->name) : REF_SYMBOL(s->name));
}

static bool prove_stmt(const struct pass_run *r, const struct stmt *s, const struct stmt *t)
{
    if (s->entity != t->entity)
        return gate_refuse(r, r->output, t, "it is another kind of statement than its source");
    if (!prove_lineage(r, s, t))
        return false;
    for (const struct field *f = stmt_entity(r->input, s)->fields; f->kind != FIELD_END; f++) {
        if (!same_field(r, s, t, f))
            return gate_refuse(r, r->output, t, "its `%s` is not its source's at these numbers", f->name);
        for (u32 i = 0; f->kind == FIELD_RESULTS && i < list_n(r->input, (u32)field_get(s, f)); i++) {
            atom name = list_at(r->input, (u32)field_get(s, f))[i];
            const struct stmt *from = item_value(r->input, name), *to = item_value(r->output, name);
            if (from->is_result && (!to || !prove_stmt(r, from, to)))
                return to ? false : gate_refuse(r, r->output, t, "a result is not declared");
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
        if (s->entity == DIST_ORIGIN || (s->entity == DIST_SYMBOL && is_bound(r, s->name)))
            continue;
        if (k == r->output->n_stmts)
            return gate_refuse(r, r->output, NULL, "a statement is lost");
        if (!prove_stmt(r, s, r->output->stmts[k++]))
            return false;
    }
    return k == r->output->n_stmts || gate_refuse(r, r->output, NULL, "it has statements that its source lacks");
}
