/* specialize: numbers for symbols. The same program, every type and fact evaluated; nothing else changes. */
#include "dialects/dist/dist.h"
#include "passes/emit.h"
#include "passes/passes.h"

#include "ir/attr.h"
#include "ir/verify.h"
#include "support/quantity.h"

struct derivation {
    struct pass_run *r;
    struct qty_binding bindings[MAX_OPTIONS];
    u32 n;
    bool good;
};

static bool refuse(struct derivation *d, const struct step_option *o, const char *format, const char *what)
{
    d->good = false;
    return diag_error(d->r->ctx->diags, what ? o->value_at : o->name_at, "pass.option.symbol", format, o->name, what);
}

static void list_symbols(struct derivation *d)
{
    const struct item *in = d->r->input;
    for (u32 i = 0; i < in->n_stmts; i++)
        if (in->stmts[i]->entity == DIST_SYMBOL)
            pass_note(d->r, "%s has %s", symbol_text(in, in->name), stmt_text(in, in->stmts[i]));
}

static bool bind(struct derivation *d, const struct step_option *o)
{
    const struct item *in = d->r->input;
    atom name = intern_find(&d->r->ctx->names, o->name, strlen(o->name));
    const struct dist_symbol *s = name ? (const struct dist_symbol *)item_dollar(in, name) : NULL;
    u128 n;
    if (!s) {
        refuse(d, o, "the program has no symbol $%s", NULL);
        list_symbols(d);
        return false;
    }
    if (!u128_parse(o->value, strlen(o->value), &n) || !n)
        return refuse(d, o, "$%s takes a positive number, not `%s`", o->value);
    if (s->multiple_of && n % s->multiple_of) {
        refuse(d, o, "$%s can't be %s", o->value);
        pass_note(d->r, "it is a multiple of %llu", (unsigned long long)s->multiple_of);
        return false;
    }
    d->bindings[d->n++] = (struct qty_binding){ name, qty_number(d->r->ctx->exprs, n) };
    return true;
}

static qty evaluate(struct derivation *d, const struct stmt *s, qty q)
{
    qty out = q;
    enum expr_status status = qty_is_small(q) ? EXPR_OK : qty_substitute(d->r->ctx->exprs, q, d->bindings, d->n, &out);
    if (status != EXPR_OK)
        d->good = pass_error(d->r, d->r->input, s, NULL, NULL, "pass.quantity", "%s of %s %s", qty_text(d->r->ctx, q),
                             stmt_text(d->r->input, s), expr_status_text(status));
    return out;
}

static u32 evaluate_type(struct derivation *d, const struct stmt *s, u32 id)
{
    struct type t = *type_get(d->r->ctx->types, id);
    qty dims[MAX_RANK];
    for (u32 i = 0; i < t.rank; i++)
        dims[i] = evaluate(d, s, t.dims[i]);
    t.dims = dims;
    return type_intern(d->r->ctx->types, &t);
}

/* Free values move between pools; sizes in them are evaluated, too. */
static u32 copy_attr(struct derivation *d, const struct stmt *s, u32 handle)
{
    struct attr a = attr_get(d->r->input, handle);
    u32 step = a.kind == ATTR_DICT ? 2 : 1;
    if (a.kind == ATTR_QUANTITY)
        a.quantity = evaluate(d, s, a.quantity);
    if (a.kind == ATTR_TYPE)
        a.type = evaluate_type(d, s, a.type);
    if (!handle || (a.kind != ATTR_LIST && a.kind != ATTR_DICT))
        return handle ? attr_put(d->r->output, &a) : 0;
    u32 *elements = ARENA_ARRAY(&d->r->output->arena, u32, a.n * step + 1);
    for (u32 i = 0; i < a.n * step; i++)
        elements[i] = step == 2 && i % 2 == 0 ? a.elements[i] : copy_attr(d, s, attr_get(d->r->input, handle).elements[i]);
    a.elements = elements;
    return attr_put(d->r->output, &a);
}

static u32 copy_attributes(struct derivation *d, const struct stmt *s, u32 handle)
{
    u32 n = list_n(d->r->input, handle), *words = ARENA_ARRAY(&d->r->output->arena, u32, n + 1);
    for (u32 i = 0; i < n; i++)
        words[i] = i % 2 ? copy_attr(d, s, list_at(d->r->input, handle)[i]) : list_at(d->r->input, handle)[i];
    return handle ? item_list(d->r->output, words, n) : 0;
}

static struct stmt *copy_stmt(struct derivation *d, const struct stmt *s);

static void copy_results(struct derivation *d, u32 handle)
{
    for (u32 i = 0; i < list_n(d->r->input, handle); i++) {
        const struct stmt *v = item_value(d->r->input, list_at(d->r->input, handle)[i]);
        if (v && v->is_result)
            copy_stmt(d, v);
    }
}

/* Field by field, by the table: quantities and types are evaluated, lists change pools. */
static void copy_field(struct derivation *d, const struct stmt *s, struct stmt *to, const struct field *f)
{
    u64 value = f->kind == FIELD_FACTS || f->kind == FIELD_LINEAGE ? 0 : field_get(s, f);
    switch ((enum field_kind)f->kind) {
    case FIELD_FACTS:
        for (const struct field *g = f->aux; g->kind != FIELD_END; g++)
            copy_field(d, s, to, g);
        break;
    case FIELD_LINEAGE: break;
    case FIELD_QUANTITY: field_set(d->r->output, to, f, evaluate(d, s, value)); break;
    case FIELD_TYPE: field_set(d->r->output, to, f, evaluate_type(d, s, (u32)value)); break;
    case FIELD_DICT: field_set(d->r->output, to, f, copy_attr(d, s, (u32)value)); break;
    case FIELD_ATTRIBUTES: field_set(d->r->output, to, f, copy_attributes(d, s, (u32)value)); break;
    case FIELD_RESULTS: copy_results(d, (u32)value); /* fall through */
    case FIELD_SHARDING: case FIELD_AXES: case FIELD_AXIS_SIZES: case FIELD_RANKS: case FIELD_REFS: case FIELD_OPERANDS:
    case FIELD_EFFECTS: case FIELD_REQUIRE: case FIELD_IMPLEMENT: case FIELD_WORDS: case FIELD_INTEGERS:
        field_set(d->r->output, to, f, value ? item_list(d->r->output, list_at(d->r->input, (u32)value), list_n(d->r->input, (u32)value)) : 0);
        break;
    default: field_set(d->r->output, to, f, value); break;
    }
}

static struct stmt *copy_stmt(struct derivation *d, const struct stmt *s)
{
    struct item *out = d->r->output;
    const struct entity *e = stmt_entity(d->r->input, s);
    struct stmt *to = s->is_result ? item_add_result(out, s->entity) : item_add(out, s->entity);
    to->name = s->name;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        copy_field(d, s, to, f);
    if (s->name)
        item_declare(out, to);
    if ((e->flags & ENTITY_LINEAGE || s->lineage_kind) && !s->is_result) {
        to->lineage_kind = LINEAGE_PRESERVED;
        to->lineage = emit_one(out, e->flags & ENTITY_VALUE ? REF_VALUE(s->name) : REF_SYMBOL(s->name));
    }
    return to;
}

static bool is_bound(const struct derivation *d, atom symbol)
{
    for (u32 i = 0; i < d->n; i++)
        if (d->bindings[i].symbol == symbol)
            return true;
    return false;
}

static bool run(struct pass_run *r)
{
    struct derivation d = { .r = r, .good = true };
    struct header *h = &r->output->header;
    for (u32 i = 0; i < r->step->n_options; i++)
        bind(&d, &r->step->options[i]);
    for (u32 i = 0; d.good && i < r->input->n_stmts; i++)
        if (r->input->stmts[i]->entity != DIST_ORIGIN &&      /* that is of another parent */
            (r->input->stmts[i]->entity != DIST_SYMBOL || !is_bound(&d, r->input->stmts[i]->name)))
            copy_stmt(&d, r->input->stmts[i]);
    /* The items that the program was derived with are still what it rests on. */
    h->using = ARENA_ARRAY(&r->output->arena, struct pin, r->input->header.n_using);
    h->n_using = r->input->header.n_using;
    if (h->n_using)
        memcpy(h->using, r->input->header.using, h->n_using * sizeof *h->using);
    /* At these numbers a rule may be broken that no symbol breaks: the fault is the numbers'. */
    return d.good && verify_item(r->output, r->module);
}

static const struct pass_option options[] = {
    { "*", "a symbol of the program and its number: microbatch=1 sequence=2048" },
    { NULL, NULL },
};

static const struct relation relations[] = {
    { "task", "task", LINEAGE_PRESERVED, "every field, with numbers for symbols" },
    { "value", "value", LINEAGE_PRESERVED, "every field, with numbers for symbols" },
    { "memory", "memory", LINEAGE_PRESERVED, "every fact, with numbers for symbols" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const preserves[] = { &engine_counts, NULL };

const struct pass specialize = {
    .name = "specialize", .revision = 1, .from = LAYER_DIST, .to = LAYER_DIST, .suffix = "at", .options = options,
    .relations = relations, .preserves = preserves,
    .run = run, .gate = specialize_gate,
    .doc = "Numbers for the symbols of a distributed program; every fact is evaluated exactly.",
};
