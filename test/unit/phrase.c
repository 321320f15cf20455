#include "phrase.h"

#include "dialects/registry.h"

/* Operands may be none, but their parentheses stand. */
static bool is_optional(const struct field *f)
{
    return f->presence == OPTIONAL && f->kind != FIELD_ATTRIBUTES && f->kind != FIELD_OPERANDS;
}

u32 phrase_optional(const struct entity *e)
{
    u32 n = 0;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        n += is_optional(f);
    return n;
}

static void out_facts(struct out *o, const struct field *facts)
{
    out_char(o, '(');
    for (const struct field *f = facts; f->kind != FIELD_END; f++)
        out_printf(o, "%s%s %d", f == facts ? "" : ", ", f->name, 100 + (int)(f - facts));
    out_char(o, ')');
}

void out_phrase_value(struct out *o, const struct phrase *p, const struct field *f)
{
    static const char *const samples[] = {
        [FIELD_SYMBOL_NAME] = "@name", [FIELD_VALUE_NAME] = "%name", [FIELD_DOLLAR_NAME] = "$name", [FIELD_BOOL] = "true",
        [FIELD_WORD] = "some-word", [FIELD_STRING] = "\"a string\"", [FIELD_INTEGER] = "7", [FIELD_QUANTITY] = "3*$s + 5", [FIELD_FLOAT] = "2.5",
        [FIELD_TYPE] = "tensor<4x($s)x8xbf16, layout [2, 0, 1]>", [FIELD_SHARDING] = "[{tp, dp}, {}, {pp}]", [FIELD_AXES] = "{tp, dp}",
        [FIELD_AXIS_SIZES] = "[dp = 2, tp = 4]", [FIELD_RANKS] = "[0..3, 7]", [FIELD_REF] = "@there", [FIELD_VALUE_REF] = "%there",
        [FIELD_REFS] = "(@a, @b)", [FIELD_OPERATION] = "model.linear", [FIELD_OPERANDS] = "(%x, %w)", [FIELD_EFFECTS] = "(read %x, write %y, random %s)",
        [FIELD_REQUIRE] = "(compute 5, network $s shared, storage 3 per_task)", [FIELD_IMPLEMENT] = "matrix-multiply [tensor-core, other] {a = 1}",
        [FIELD_WORDS] = "[a, b-c, d.e]", [FIELD_INTEGERS] = "[4, 0, 18446744073709551614]", [FIELD_DICT] = "{a = {b = [1, \"two\", %three, @four, five, 6.5]}}",
    };
    const struct enumeration *e = f->kind == FIELD_ENUM ? f->aux : NULL;
    if (e)
        out_string(o, f->place == PLACE_HEAD && p->entity->flags & ENTITY_ROLE_KEYWORD && f != p->varied ? e->words[0].text : e->words[f == p->varied ? p->word : e->n - 1].text);
    else if (f->kind == FIELD_FACTS)
        out_facts(o, f->aux);
    else if (f->kind == FIELD_BOOL)
        out_string(o, f->fallback ? "false" : "true");
    else if (f->kind == FIELD_RESULTS)
        out_string(o, f->fallback ? "-> (%r1 : tensor<2xf16>, %r2)" : "-> (%r1, %r2)");
    else if (f->kind == FIELD_LINEAGE)
        out_string(o, "fused from (@a, %b)");
    else
        out_string(o, samples[f->kind]);
}

static void out_head(struct out *o, const struct phrase *p, const struct field *f, bool first)
{
    bool sticks = f->kind == FIELD_OPERANDS, typed = f->kind == FIELD_TYPE || (f->kind == FIELD_ENUM && !first && f[-1].kind == FIELD_DOLLAR_NAME);
    out_string(o, sticks ? "" : typed ? " : " : first ? "" : " ");
    out_phrase_value(o, p, f);
}

static void out_clause(struct out *o, const struct phrase *p, const struct field *f)
{
    out_char(o, ' ');
    if (f->kind != FIELD_LINEAGE)
        out_printf(o, "%s ", f->name);
    out_phrase_value(o, p, f);
}

/* Which fields are written; the index of an optional field is its place among the optional ones. */
static bool is_written(const struct phrase *p, const struct field *f)
{
    u32 bit = 0;
    for (const struct field *g = p->entity->fields; g < f; g++)
        bit += is_optional(g);
    return f->presence == REQUIRED || f->kind == FIELD_OPERANDS || (is_optional(f) && p->optional >> bit & 1);
}

static void out_fields(struct out *o, const struct phrase *p)
{
    const struct field *first = p->entity->fields, *end = first;
    for (; end->kind != FIELD_END; end++)
        if (is_written(p, end))
            out_printf(o, "  %s = ", end->name), out_phrase_value(o, p, end), out_char(o, '\n');
}

void out_phrase(struct out *o, const struct phrase *p)
{
    const struct field *first = p->entity->fields, *end = first;
    bool role = p->entity->flags & ENTITY_ROLE_KEYWORD;
    if (role)
        out_phrase_value(o, p, first);
    else
        out_printf(o, "%s ", p->entity->keyword);
    for (; end->kind != FIELD_END; end++)
        if (end->place == PLACE_HEAD && is_written(p, end) && !(role && end == first))
            out_head(o, p, end, end == first);
    for (const struct field *f = first; f < end; f++) {
        const struct field *at = p->reverse ? first + (end - 1 - f) : f;
        if (at->place != PLACE_HEAD && is_written(p, at))
            out_clause(o, p, at);
    }
}

void out_phrase_around(struct out *o, const struct item_kind *kind, const char *statement)
{
    out_printf(o, "%s @item", kind->name);
    if (kind->major)
        out_printf(o, " schema %u.%u", kind->major, kind->minor);
    out_printf(o, kind->major ? " {\n  %s\n}\n" : " {\n%s}\n", statement);
}

void out_phrase_item(struct out *o, const struct phrase *p)
{
    struct out text;
    out_memory(&text);
    if (p->kind->layer == LAYER_SESSION)
        out_fields(&text, p);
    else
        out_phrase(&text, p);
    out_char(&text, '\0');
    out_phrase_around(o, p->kind, text.data);
    out_char(o, '\0');
    out_free(&text);
}

void each_entity(void (*visit)(const struct item_kind *kind, const struct entity *e))
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 k = 0; k < (*d)->n_kinds; k++)
            for (u32 e = 0; e < (*d)->kinds[k].n_entities; e++)
                visit(&(*d)->kinds[k], &(*d)->kinds[k].entities[e]);
}
