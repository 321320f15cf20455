#include "ir/print.h"

#include "ir/attr.h"
#include "ir/implied.h"
#include "ir/print_shape.h"
#include "ir/sharding.h"
#include "support/quantity.h"

/* ---- Names ---- */

static void out_text(struct out *o, const struct interned *name, enum intern_form form)
{
    if (name->form & form)
        out_bytes(o, name->text, name->length);
    else
        out_quoted(o, name->text, name->length);
}

void out_name(struct out *o, const struct interner *names, char sigil, atom name)
{
    const struct interned *n = &names->atoms[name];
    out_char(o, sigil);
    out_text(o, n, FORM_NAME);
}

void out_word(struct out *o, const struct interner *names, atom word)
{
    out_text(o, &names->atoms[word], FORM_WORD);
}

static void out_ref(struct out *o, const struct interner *names, u32 ref)
{
    out_name(o, names, ref_is_value(ref) ? '%' : '@', ref_atom(ref));
}

/* ---- Lists ---- */

static void out_refs(struct out *o, const struct item *it, u32 handle)
{
    u32 n = list_n(it, handle);
    const u32 *at = list_at(it, handle);
    if (n != 1)
        out_char(o, '(');
    for (u32 i = 0; i < n; i++) {
        if (i)
            out_string(o, ", ");
        out_ref(o, &it->ctx->names, at[i]);
    }
    if (n != 1)
        out_char(o, ')');
}

static void out_words(struct out *o, const struct item *it, u32 handle, char open, char close)
{
    out_char(o, open);
    for (u32 i = 0; i < list_n(it, handle); i++) {
        if (i)
            out_string(o, ", ");
        out_word(o, &it->ctx->names, list_at(it, handle)[i]);
    }
    out_char(o, close);
}

static void out_ranks(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    if (!handle) {
        out_string(o, "all");
        return;
    }
    out_char(o, '[');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2)
        if (at[i] == at[i + 1])
            out_printf(o, i ? ", %u" : "%u", at[i]);
        else
            out_printf(o, i ? ", %u..%u" : "%u..%u", at[i], at[i + 1]);
    out_char(o, ']');
}

static void out_axis_sizes(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '[');
    for (u32 i = 0; i + 2 < list_n(it, handle); i += 3) {
        if (i)
            out_string(o, ", ");
        out_word(o, &it->ctx->names, at[i]);
        out_string(o, " = ");
        out_u64(o, pair_get(at + i + 1));
    }
    out_char(o, ']');
}

static void out_integers(struct out *o, const struct item *it, u32 handle)
{
    u32 n = list_n(it, handle);
    const u32 *at = list_at(it, handle);
    if (n != 2)
        out_char(o, '[');
    for (u32 i = 0; i + 1 < n; i += 2) {
        if (i)
            out_string(o, ", ");
        out_u64(o, pair_get(at + i));
    }
    if (n != 2)
        out_char(o, ']');
}

static void out_effects(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '(');
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2) {
        if (i)
            out_string(o, ", ");
        out_string(o, effect_enum.words[at[i]].text);
        out_char(o, ' ');
        out_ref(o, &it->ctx->names, at[i + 1]);
    }
    out_char(o, ')');
}

static void out_require(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    out_char(o, '(');
    for (u32 i = 0; i + 3 < list_n(it, handle); i += 4) {
        if (i)
            out_string(o, ", ");
        out_string(o, resource_enum.words[at[i]].text);
        out_char(o, ' ');
        out_qty(o, it->ctx->exprs, pair_get(at + i + 2));
        if (at[i + 1] != SCOPE_PER_RANK) {
            out_char(o, ' ');
            out_string(o, scope_enum.words[at[i + 1]].text);
        }
    }
    out_char(o, ')');
}

/* `cap [a, b] {…} implement cap2 [c]`: the clause word in front of the first is already written. */
static void out_implement(struct out *o, const struct item *it, u32 handle)
{
    const struct interner *names = &it->ctx->names;
    const u32 *at = list_at(it, handle), *end = at + list_n(it, handle);
    for (const u32 *r = at; r < end; r += IMPLEMENT_SIZE(r)) {
        if (r > at)
            out_string(o, " implement ");
        out_word(o, names, r[0]);
        if (r[1])
            out_string(o, " [");
        for (u32 i = 0; i < r[1]; i++) {
            if (i)
                out_string(o, ", ");
            out_word(o, names, r[2 + i]);
        }
        if (r[1])
            out_char(o, ']');
        if (r[2 + r[1]]) {
            out_char(o, ' ');
            out_attr(o, it, r[2 + r[1]]);
        }
    }
}

static void out_lineage(struct out *o, const struct item *it, const struct stmt *s)
{
    if (s->lineage_kind != LINEAGE_LOWERED) {
        out_string(o, lineage_enum.words[s->lineage_kind].text);
        out_char(o, ' ');
    }
    out_string(o, "from ");
    out_refs(o, it, s->lineage);
}

static void out_facts(struct out *o, const struct item *it, const struct stmt *s, const struct field *facts)
{
    bool first = true;
    out_char(o, '(');
    for (const struct field *f = facts; f->kind != FIELD_END; f++) {
        u64 value = field_get(s, f);
        if (value == f->fallback)
            continue;
        if (!first)
            out_string(o, ", ");
        first = false;
        out_bytes(o, f->name, f->length);
        out_char(o, ' ');
        if (f->kind == FIELD_INTEGER || qty_is_small(value))
            out_u64(o, value);
        else
            out_qty(o, it->ctx->exprs, value);
    }
    out_char(o, ')');
}

/* ---- Statements ---- */

static void out_fields(struct out *o, const struct item *it, const struct stmt *s, const struct field *from);

/* A result declared here: ` : type sharding …`, the value's clauses that may stand in a result. */
static void out_result(struct out *o, const struct item *it, atom name, bool declared)
{
    out_name(o, &it->ctx->names, '%', name);
    const struct stmt *v = declared ? item_value(it, name) : NULL;
    if (!v || !v->is_result)
        return;
    const struct field *f = stmt_entity(it, v)->fields;
    while (f->kind != FIELD_TYPE)
        f++;
    out_string(o, " : ");
    out_type(o, it->ctx->exprs, type_get(it->ctx->types, (u32)field_get(v, f)));
    out_fields(o, it, v, f + 1);
}

static void out_results(struct out *o, const struct item *it, const struct field *f, u32 handle)
{
    u32 n = list_n(it, handle);
    bool declared = f->fallback != 0;
    out_string(o, n == 1 ? "-> " : "-> (");
    for (u32 i = 0; i < n; i++) {
        if (i)
            out_string(o, ", ");
        out_result(o, it, list_at(it, handle)[i], declared);
    }
    if (n != 1)
        out_char(o, ')');
}

static void out_operands(struct out *o, const struct item *it, u32 handle)
{
    out_char(o, '(');
    for (u32 i = 0; i < list_n(it, handle); i++) {
        if (i)
            out_string(o, ", ");
        out_name(o, &it->ctx->names, '%', list_at(it, handle)[i]);
    }
    out_char(o, ')');
}

static void out_attributes(struct out *o, const struct item *it, u32 handle)
{
    const u32 *at = list_at(it, handle);
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2) {
        if (i)
            out_char(o, ' ');
        out_word(o, &it->ctx->names, at[i]);
        out_char(o, ' ');
        out_attr(o, it, at[i + 1]);
    }
}

/* VALUE is the field's, 0 for facts and lineage. */
static void out_value(struct out *o, const struct item *it, const struct stmt *s, const struct field *f, u64 value)
{
    const struct interner *names = &it->ctx->names;
    double number;
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME: out_name(o, names, '@', s->name); break;
    case FIELD_VALUE_NAME: out_name(o, names, '%', s->name); break;
    case FIELD_DOLLAR_NAME: out_name(o, names, '$', s->name); break;
    case FIELD_ENUM: out_string(o, ((const struct enumeration *)f->aux)->words[value].text); break;
    case FIELD_BOOL: out_string(o, value ? "true" : "false"); break;
    case FIELD_WORD:
    case FIELD_OPERATION: out_word(o, names, (atom)value); break;
    case FIELD_STRING: out_quoted(o, names->atoms[value].text, names->atoms[value].length); break;
    case FIELD_INTEGER: out_u64(o, value); break;
    case FIELD_QUANTITY: out_qty(o, it->ctx->exprs, value); break;
    case FIELD_FLOAT:
        memcpy(&number, &value, sizeof number);
        out_float(o, number);
        break;
    case FIELD_TYPE: out_type(o, it->ctx->exprs, type_get(it->ctx->types, (u32)value)); break;
    case FIELD_SHARDING: out_sharding(o, it, (u32)value); break;
    case FIELD_AXES: out_words(o, it, (u32)value, '{', '}'); break;
    case FIELD_AXIS_SIZES: out_axis_sizes(o, it, (u32)value); break;
    case FIELD_RANKS: out_ranks(o, it, (u32)value); break;
    case FIELD_REF: out_name(o, names, '@', (atom)value); break;
    case FIELD_VALUE_REF: out_name(o, names, '%', (atom)value); break;
    case FIELD_REFS: out_refs(o, it, (u32)value); break;
    case FIELD_LINEAGE: out_lineage(o, it, s); break;
    case FIELD_OPERANDS: out_operands(o, it, (u32)value); break;
    case FIELD_RESULTS: out_results(o, it, f, (u32)value); break;
    case FIELD_FACTS: out_facts(o, it, s, f->aux); break;
    case FIELD_EFFECTS: out_effects(o, it, (u32)value); break;
    case FIELD_REQUIRE: out_require(o, it, (u32)value); break;
    case FIELD_IMPLEMENT: out_implement(o, it, (u32)value); break;
    case FIELD_WORDS: out_words(o, it, (u32)value, '[', ']'); break;
    case FIELD_INTEGERS: out_integers(o, it, (u32)value); break;
    case FIELD_DICT: out_attr(o, it, (u32)value); break;
    case FIELD_ATTRIBUTES: out_attributes(o, it, (u32)value); break;
    case FIELD_END: break;
    }
}

static u64 value_of(const struct stmt *s, const struct field *f)
{
    return f->kind == FIELD_FACTS || f->kind == FIELD_LINEAGE ? 0 : field_get(s, f);
}

static void out_field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f)
{
    out_value(o, it, s, f, value_of(s, f));
}

/* Punctuation in front of a head field, behind one of kind BEFORE. Operands stick to the operation; a type, or what a
 * symbol stands for, follows a colon. */
static void out_before_head(struct out *o, const struct field *f, u8 before)
{
    if (f->kind == FIELD_TYPE || (f->kind == FIELD_ENUM && before == FIELD_DOLLAR_NAME))
        out_bytes(o, " : ", 3);
    else if (f->kind != FIELD_OPERANDS)
        out_char(o, ' ');
}

/* Clauses whose text brings its own words. */
static bool has_own_words(const struct field *f)
{
    return f->kind == FIELD_LINEAGE || f->kind == FIELD_SHARDING || f->kind == FIELD_ATTRIBUTES;
}

/* Whether there is an operation, and its word is not taken for a clause where no () follows. */
static bool stands_alone(const struct item *it, const struct stmt *s, const struct field *operation)
{
    atom word = (atom)field_get(s, operation);
    const struct interned *text = &it->ctx->names.atoms[word];
    return word && !is_clause(stmt_entity(it, s), text->text, text->length);
}

/* Whether the text leaves the field out: most statements say few of their entity's fields. */
static bool is_left_out(const struct item *it, const struct stmt *s, const struct field *f, u64 value)
{
    if (f->presence == REQUIRED)
        return false;
    switch ((enum field_kind)f->kind) {
    case FIELD_OPERANDS: return !list_n(it, (u32)value) && f[-1].kind == FIELD_OPERATION && stands_alone(it, s, f - 1);
    case FIELD_LINEAGE: return lineage_is_implied(it, s);
    case FIELD_FACTS: return group_is_default(s, f->aux);
    case FIELD_RESULTS: return !value;
    default: return f->implied == IMPLIED_PHASE ? phase_is_said(&it->ctx->names.atoms[s->name], f->aux, (u32)value) : value == f->fallback;
    }
}

static void out_fields(struct out *o, const struct item *it, const struct stmt *s, const struct field *from)
{
    bool broken = false;
    for (const struct field *f = from; f->kind != FIELD_END; f++) {
        u64 value = value_of(s, f);
        if (is_left_out(it, s, f, value))
            continue;
        if (f->place == PLACE_HEAD) {
            out_before_head(o, f, f > from ? f[-1].kind : FIELD_END);
        } else if (f->kind != FIELD_SHARDING) {
            if (f->place == PLACE_LINE && !broken)
                out_bytes(o, "\n    ", 5);
            else
                out_char(o, ' ');
            broken = broken || f->place == PLACE_LINE;
        }
        if (f->place != PLACE_HEAD && !has_own_words(f)) {
            out_bytes(o, f->name, f->length);
            out_char(o, ' ');
        }
        out_value(o, it, s, f, value);
    }
}

void print_field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f)
{
    out_value(o, it, s, f, f->implied ? field_said(it, s, f) : value_of(s, f));
}

void print_session_field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f)
{
    out_string(o, "  ");
    out_bytes(o, f->name, f->length);
    out_string(o, " = ");
    out_field(o, it, s, f);
}

static void out_session_fields(struct out *o, const struct item *it, const struct stmt *s)
{
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++) {
        if (f->presence == OPTIONAL && field_is_default(it, s, f))
            continue;
        print_session_field(o, it, s, f);
        out_char(o, '\n');
    }
}

void print_stmt(struct out *o, const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    if (it->kind->layer == LAYER_SESSION) {
        out_session_fields(o, it, s);
        return;
    }
    const struct field *from = e->fields;
    if (e->flags & ENTITY_ROLE_KEYWORD)
        out_field(o, it, s, from++);
    else
        out_string(o, e->keyword);
    out_fields(o, it, s, from);
}

/* ---- Items ---- */

static void out_pin(struct out *o, const struct interner *names, const struct pin *p)
{
    out_name(o, names, '@', p->item);
    if (!digest_is_none(p->digest)) {
        out_char(o, ' ');
        out_digest_text(o, p->digest);
    }
}

/* One line when only the parent is named; with `by`, a line each. */
void print_header(struct out *o, const struct item *it)
{
    const struct interner *names = &it->ctx->names;
    const struct header *h = &it->header;
    out_string(o, it->kind->name);
    out_char(o, ' ');
    out_name(o, names, '@', it->name);
    if (it->kind->major) {
        out_string(o, " schema ");
        out_u64(o, h->major);
        out_char(o, '.');
        out_u64(o, h->minor);
    }
    if (h->parent.item) {
        out_string(o, h->pass ? "\n  from " : " from ");
        out_pin(o, names, &h->parent);
    }
    if (h->pass) {
        out_string(o, "\n  by ");
        out_word(o, names, h->pass);
        out_printf(o, " revision %u", h->revision);
    }
    if (h->n_using)
        out_string(o, " using (");
    for (u32 i = 0; i < h->n_using; i++) {
        if (i)
            out_string(o, ", ");
        out_pin(o, names, &h->using[i]);
    }
    out_string(o, h->n_using ? ") {" : " {");
}

void print_item(struct out *o, const struct item *it)
{
    struct shape_printer *p = shape_printer_new(it);
    print_header(o, it);
    out_char(o, '\n');
    for (u32 i = 0; i < it->n_stmts; i++) {
        bool session = it->kind->layer == LAYER_SESSION;
        if (!session)
            out_string(o, "  ");
        print_shaped(o, p, it, it->stmts[i]);
        if (!session)
            out_char(o, '\n');
    }
    shape_printer_free(p);
    out_string(o, "}\n");
}
