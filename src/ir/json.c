#include "ir/json.h"

#include "ir/attr.h"
#include "ir/implied.h"
#include "ir/sharding.h"

#include <math.h>

static void text(struct out *o, const char *s)
{
    out_json_string(o, s, strlen(s));
}

/* `,` between the members of an object or list; FIRST is cleared. */
static void separate(struct out *o, bool *first)
{
    if (!*first)
        out_char(o, ',');
    *first = false;
}

static void key(struct out *o, bool *first, const char *name)
{
    separate(o, first);
    text(o, name);
    out_char(o, ':');
}

void json_name(struct out *o, const struct interner *names, char sigil, atom name)
{
    const struct interned *n = &names->atoms[name];
    struct out memory;
    if (!sigil) {
        out_json_string(o, n->text, n->length);
        return;
    }
    out_memory(&memory);
    out_char(&memory, sigil);
    out_bytes(&memory, n->text, n->length);
    out_json_string(o, memory.data, memory.n);
    out_free(&memory);
}

static void ref(struct out *o, const struct interner *names, u32 r)
{
    json_name(o, names, ref_is_value(r) ? '%' : '@', ref_atom(r));
}

static void number(struct out *o, u128 value)
{
    bool safe = value >> JSON_SAFE_BITS == 0;
    out_string(o, safe ? "" : "\"");
    out_u128(o, value);
    out_string(o, safe ? "" : "\"");
}

void json_quantity(struct out *o, const struct exprs *x, qty q)
{
    u128 value;
    if (qty_value(x, q, &value)) {
        number(o, value);
        return;
    }
    struct out memory;
    out_memory(&memory);
    out_qty(&memory, x, q);
    out_json_string(o, memory.data, memory.n);
    out_free(&memory);
}

static void floating(struct out *o, double value)
{
    bool finite = isfinite(value);
    out_string(o, finite ? "" : "\"");
    out_float(o, value);
    out_string(o, finite ? "" : "\"");
}

static void type(struct out *o, const struct item *it, u32 id)
{
    struct out memory;
    out_memory(&memory);
    out_type(&memory, it->ctx->exprs, type_get(it->ctx->types, id));
    out_json_string(o, memory.data, memory.n);
    out_free(&memory);
}

static void digest(struct out *o, struct digest d)
{
    out_char(o, '"');
    out_digest_text(o, d);
    out_char(o, '"');
}

/* ---- Free values ---- */

static void attribute(struct out *o, const struct item *it, u32 handle)
{
    const struct interner *names = &it->ctx->names;
    struct attr a = attr_get(it, handle);
    bool first = true;
    switch (a.kind) {
    case ATTR_NONE: out_string(o, "null"); break;
    case ATTR_WORD:
    case ATTR_STRING: json_name(o, names, 0, a.text); break;
    case ATTR_SYMBOL: json_name(o, names, '@', a.text); break;
    case ATTR_VALUE: json_name(o, names, '%', a.text); break;
    case ATTR_QUANTITY: json_quantity(o, it->ctx->exprs, a.quantity); break;
    case ATTR_FLOAT: floating(o, a.number); break;
    case ATTR_TYPE: type(o, it, a.type); break;
    case ATTR_LIST:
        out_char(o, '[');
        for (u32 i = 0; i < a.n; i++) {
            separate(o, &first);
            attribute(o, it, a.elements[i]);
        }
        out_char(o, ']');
        break;
    case ATTR_DICT:
        out_char(o, '{');
        for (u32 i = 0; i < a.n; i++) {
            separate(o, &first);
            json_name(o, names, 0, a.elements[2 * i]);
            out_char(o, ':');
            attribute(o, it, a.elements[2 * i + 1]);
        }
        out_char(o, '}');
        break;
    }
}

/* ---- Lists ---- */

enum list_of { NAMES, REFS };

static void list(struct out *o, const struct item *it, u32 handle, enum list_of what)
{
    out_char(o, '[');
    for (u32 i = 0; i < list_n(it, handle); i++) {
        out_string(o, i ? "," : "");
        if (what == NAMES)
            json_name(o, &it->ctx->names, 0, list_at(it, handle)[i]);
        else
            ref(o, &it->ctx->names, list_at(it, handle)[i]);
    }
    out_char(o, ']');
}

static void axes(struct out *o, const struct item *it, struct axis_list a)
{
    out_char(o, '[');
    for (u32 i = 0; i < a.n; i++) {
        out_string(o, i ? "," : "");
        json_name(o, &it->ctx->names, 0, a.axes[i]);
    }
    out_char(o, ']');
}

static void sharding(struct out *o, const struct item *it, u32 handle)
{
    struct sharding s;
    sharding_read(it, handle, &s);
    out_string(o, "{\"dimensions\":[");
    for (u32 i = 0; i < s.rank; i++) {
        out_string(o, i ? "," : "");
        axes(o, it, s.dims[i]);
    }
    out_string(o, "],\"partial\":[");
    for (u32 i = 0; i < s.n_partial; i++) {
        out_printf(o, "%s{\"reduction\":\"%s\",\"axes\":", i ? "," : "", reduction_enum.words[s.partial[i].reduction].text);
        axes(o, it, s.partial[i].axes);
        out_char(o, '}');
    }
    out_string(o, "]}");
}

static void ranks(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    if (!handle) {
        out_string(o, "\"all\"");
        return;
    }
    out_char(o, '[');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2)
        out_printf(o, "%s[%u,%u]", i ? "," : "", at[i], at[i + 1]);
    out_char(o, ']');
}

static void axis_sizes(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '[');
    for (u32 i = 0; i + 2 < list_n(it, handle); i += 3) {
        out_string(o, i ? ",{\"axis\":" : "{\"axis\":");
        json_name(o, &it->ctx->names, 0, at[i]);
        out_string(o, ",\"size\":");
        number(o, pair_get(at + i + 1));
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void integers(struct out *o, const struct item *it, u32 handle)
{
    out_char(o, '[');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2) {
        out_string(o, i ? "," : "");
        number(o, pair_get(list_at(it, handle) + i));
    }
    out_char(o, ']');
}

static void effects(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '[');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2) {
        out_printf(o, "%s{\"effect\":\"%s\",\"on\":", i ? "," : "", effect_enum.words[at[i]].text);
        ref(o, &it->ctx->names, at[i + 1]);
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void require(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '[');
    for (u32 i = 0; i + 3 < list_n(it, handle); i += 4) {
        out_printf(o, "%s{\"resource\":\"%s\",\"scope\":\"%s\",\"amount\":", i ? "," : "", resource_enum.words[at[i]].text,
                   scope_enum.words[at[i + 1]].text);
        json_quantity(o, it->ctx->exprs, pair_get(at + i + 2));
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void implement(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle), *end = at + list_n(it, handle);
    out_char(o, '[');
    for (const u32 *r = at; r < end; r += IMPLEMENT_SIZE(r)) {
        out_string(o, r > at ? ",{\"capability\":" : "{\"capability\":");
        json_name(o, &it->ctx->names, 0, r[0]);
        out_string(o, ",\"alternatives\":[");
        for (u32 i = 0; i < r[1]; i++) {
            out_string(o, i ? "," : "");
            json_name(o, &it->ctx->names, 0, r[2 + i]);
        }
        out_char(o, ']');
        if (r[2 + r[1]]) {
            out_string(o, ",\"with\":");
            attribute(o, it, r[2 + r[1]]);
        }
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void lineage(struct out *o, const struct item *it, const struct stmt *s)
{
    out_printf(o, "{\"kind\":\"%s\",\"sources\":",
               s->lineage_kind == LINEAGE_LOWERED ? "lowered" : lineage_enum.words[s->lineage_kind].text);
    list(o, it, s->lineage, REFS);
    out_char(o, '}');
}

static void attributes(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    bool first = true;
    out_char(o, '{');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2) {
        separate(o, &first);
        json_name(o, &it->ctx->names, 0, at[i]);
        out_char(o, ':');
        attribute(o, it, at[i + 1]);
    }
    out_char(o, '}');
}

/* ---- Statements ---- */

static void fields(struct out *o, const struct item *it, const struct stmt *s, const struct field *from, bool *first);

static void facts(struct out *o, const struct item *it, const struct stmt *s, const struct field *group)
{
    bool first = true;
    out_char(o, '{');
    for (const struct field *f = group; f->kind != FIELD_END; f++) {
        u64 value = field_get(s, f);
        if (value == f->fallback)
            continue;
        key(o, &first, f->name);
        if (f->kind == FIELD_INTEGER)
            number(o, value);
        else
            json_quantity(o, it->ctx->exprs, value);
    }
    out_char(o, '}');
}

static void results(struct out *o, const struct item *it, const struct field *f, u32 handle)
{
    out_char(o, '[');
    for (u32 i = 0; i < list_n(it, handle); i++) {
        atom name = list_at(it, handle)[i];
        const struct stmt *v = f->fallback ? item_value(it, name) : NULL;
        bool first = false;
        out_string(o, i ? ",{\"name\":" : "{\"name\":");
        json_name(o, &it->ctx->names, 0, name);
        if (v && v->is_result)
            for (const struct field *g = stmt_entity(it, v)->fields; g->kind != FIELD_END; g++)
                if (g->kind == FIELD_TYPE) {
                    fields(o, it, v, g, &first);
                    break;
                }
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f)
{
    const struct interner *names = &it->ctx->names;
    u64 value = f->kind == FIELD_FACTS || f->kind == FIELD_LINEAGE ? 0 : field_said(it, s, f);
    double real;
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME:
    case FIELD_VALUE_NAME:
    case FIELD_DOLLAR_NAME: json_name(o, names, 0, s->name); break;
    case FIELD_ENUM: text(o, ((const struct enumeration *)f->aux)->words[value].text); break;
    case FIELD_BOOL: out_string(o, value ? "true" : "false"); break;
    case FIELD_WORD:
    case FIELD_STRING:
    case FIELD_OPERATION: json_name(o, names, 0, (atom)value); break;
    case FIELD_INTEGER: number(o, value); break;
    case FIELD_QUANTITY: json_quantity(o, it->ctx->exprs, value); break;
    case FIELD_FLOAT:
        memcpy(&real, &value, sizeof real);
        floating(o, real);
        break;
    case FIELD_TYPE: type(o, it, (u32)value); break;
    case FIELD_SHARDING: sharding(o, it, (u32)value); break;
    case FIELD_AXES:
    case FIELD_OPERANDS:
    case FIELD_WORDS: list(o, it, (u32)value, NAMES); break;
    case FIELD_AXIS_SIZES: axis_sizes(o, it, (u32)value); break;
    case FIELD_RANKS: ranks(o, it, (u32)value); break;
    case FIELD_REF: json_name(o, names, '@', (atom)value); break;
    case FIELD_VALUE_REF: json_name(o, names, '%', (atom)value); break;
    case FIELD_REFS: list(o, it, (u32)value, REFS); break;
    case FIELD_LINEAGE: lineage(o, it, s); break;
    case FIELD_RESULTS: results(o, it, f, (u32)value); break;
    case FIELD_FACTS: facts(o, it, s, f->aux); break;
    case FIELD_EFFECTS: effects(o, it, (u32)value); break;
    case FIELD_REQUIRE: require(o, it, (u32)value); break;
    case FIELD_IMPLEMENT: implement(o, it, (u32)value); break;
    case FIELD_INTEGERS: integers(o, it, (u32)value); break;
    case FIELD_DICT: attribute(o, it, (u32)value); break;
    case FIELD_ATTRIBUTES: attributes(o, it, (u32)value); break;
    case FIELD_END: break;
    }
}

static void fields(struct out *o, const struct item *it, const struct stmt *s, const struct field *from, bool *first)
{
    for (const struct field *f = from; f->kind != FIELD_END; f++) {
        if (f->presence == OPTIONAL && field_is_unsaid(it, s, f))
            continue;
        key(o, first, f->name);
        field(o, it, s, f);
    }
}

static void statement(struct out *o, const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    bool first = false;
    out_string(o, "{\"entity\":");
    text(o, e->flags & ENTITY_ROLE_KEYWORD ? "value" : e->keyword);
    fields(o, it, s, e->fields, &first);
    out_char(o, '}');
}

/* ---- Items ---- */

static void pin(struct out *o, const struct interner *names, const struct pin *p)
{
    out_string(o, "{\"item\":");
    json_name(o, names, 0, p->item);
    if (!digest_is_none(p->digest)) {
        out_string(o, ",\"digest\":");
        digest(o, p->digest);
    }
    out_char(o, '}');
}

static void header(struct out *o, const struct item *it)
{
    const struct interner *names = &it->ctx->names;
    const struct header *h = &it->header;
    if (it->kind->major)
        out_printf(o, ",\"schema\":\"%u.%u\"", h->major, h->minor);
    if (h->parent.item) {
        out_string(o, ",\"parent\":");
        pin(o, names, &h->parent);
    }
    if (!h->pass)
        return;
    out_string(o, ",\"by\":{\"pass\":");
    json_name(o, names, 0, h->pass);
    out_printf(o, ",\"revision\":%u,\"using\":[", h->revision);
    for (u32 i = 0; i < h->n_using; i++) {
        out_string(o, i ? "," : "");
        pin(o, names, &h->using[i]);
    }
    out_string(o, "]}");
}

void json_item(struct out *o, struct item *it)
{
    out_printf(o, "{\"kind\":\"%s\",\"name\":", it->kind->name);
    json_name(o, &it->ctx->names, 0, it->name);
    header(o, it);
    out_string(o, ",\"digest\":");
    digest(o, item_digest(it));
    bool session = it->kind->layer == LAYER_SESSION, first = true;
    out_string(o, session ? ",\"fields\":{" : ",\"statements\":[");
    for (u32 i = 0; i < it->n_stmts; i++) {
        if (session) {
            fields(o, it, it->stmts[i], stmt_entity(it, it->stmts[i])->fields, &first);
            continue;
        }
        out_string(o, i ? ",\n" : "\n");
        statement(o, it, it->stmts[i]);
    }
    out_string(o, session ? "}}" : "]}");
}
