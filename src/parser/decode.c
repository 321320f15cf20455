/* From the flat stream of pushed values to a typed field, by the field's kind. */
#include "parser/decode.h"

#include "support/quantity.h"

static const char *const tag_names[] = {
    [TAG_END] = "nothing", [TAG_NONE] = "nothing", [TAG_SYMBOL] = "a @symbol", [TAG_VALUE] = "a %value",
    [TAG_DOLLAR] = "a $symbol", [TAG_WORD] = "a word", [TAG_STRING] = "a string", [TAG_QUANTITY] = "a number",
    [TAG_FLOAT] = "a decimal number", [TAG_TYPE] = "a type", [TAG_OPEN] = "a bracket", [TAG_CLOSE] = "a bracket",
    [TAG_COMMA] = "nothing", [TAG_EQUAL] = "'='", [TAG_DOTS] = "'..'", [TAG_ARROW] = "'->'",
};

bool decode_wrong(struct parser *p, const struct field *f, const struct tagged *at, const char *expected)
{
    if (at->tag == TAG_END || at->tag == TAG_COMMA)
        return build_error(p, at->at, "syntax.value.kind", "`%s` takes %s", f->name, expected);
    return build_error(p, at->at, "syntax.value.kind", "`%s` takes %s, found %s `%s`", f->name, expected,
                       tag_names[at->tag], build_text(p, at->at));
}

/* ---- Single values ---- */

static int lookup_word(struct parser *p, const struct enumeration *e, const struct tagged *at)
{
    if (!is_word(at))
        return -1;
    const struct interned *text = &p->ctx->names.atoms[at->value];
    struct word_cache *c = at->value < p->n_known ? &p->words[at->value] : NULL;
    if (c && c->in == e)
        return c->index;
    int found = enumeration_find(e, text->text, text->length);
    if (c)
        *c = (struct word_cache){ e, found };
    return found;
}

int decode_word(struct parser *p, const struct enumeration *e, const struct tagged *at)
{
    const char *names[32];
    int found = lookup_word(p, e, at);
    if (found >= 0)
        return found;
    for (u32 i = 0; i < e->n && i < COUNT(names); i++)
        names[i] = e->words[i].text;
    u32 n = e->n < COUNT(names) ? e->n : COUNT(names);
    const char *near = nearest_name(build_text(p, at->at), names, n);
    struct out o;
    out_memory(&o);
    for (u32 i = 0; i < n; i++)
        if (names[i][0])
            out_printf(&o, o.n ? ", %s" : "%s", names[i]);
    out_char(&o, '\0');
    build_error(p, at->at, "syntax.value.word", "`%s` is not one of %s", at->tag == TAG_END ? "" : build_text(p, at->at), o.data);
    if (near)
        build_near(p, at->at, near);
    out_free(&o);
    return -1;
}

static bool decode_enum(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    int found = decode_word(p, f->aux, *at);
    if (found < 0)
        return false;
    field_set(p->item, s, f, (u64)found);
    ++*at;
    return true;
}

static bool refuse_bool(struct parser *p, const struct field *f, const struct tagged *at)
{
    static const char *const words[] = { "true", "false" };
    const char *near = is_word(at) ? nearest_name(build_text(p, at->at), words, COUNT(words)) : NULL;
    decode_wrong(p, f, at, "true or false");
    if (near)
        build_near(p, at->at, near);
    return false;
}

static bool decode_bool(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    bool yes = (*at)->tag == TAG_WORD && intern_is(&p->ctx->names, (atom)(*at)->value, "true");
    if (!yes && !((*at)->tag == TAG_WORD && intern_is(&p->ctx->names, (atom)(*at)->value, "false")))
        return refuse_bool(p, f, *at);
    field_set(p->item, s, f, yes);
    ++*at;
    return true;
}

/* A number below 2^64. */
bool decode_number(struct parser *p, const char *name, const struct tagged *at, u64 *out)
{
    u128 n;
    if (at->tag == TAG_FLOAT)
        return build_error(p, at->at, "syntax.value.kind", "`%s` takes a whole number, and %s is not one", name, build_text(p, at->at));
    if (at->tag != TAG_QUANTITY || !qty_value(p->ctx->exprs, at->value, &n)) {
        bool negative = at->tag == TAG_QUANTITY && qty_is_negative(p->ctx->exprs, at->value);
        return build_error(p, at->at, negative ? "quantity.negative" : "syntax.value.kind", "`%s` takes a whole number%s, found `%s`", name,
                           negative ? " that is not negative" : "", build_text(p, at->at));
    }
    if (n > UINT64_MAX - 1)
        return build_error(p, at->at, "quantity.range", "`%s` is at most 18446744073709551614, found %s", name, build_text(p, at->at));
    *out = (u64)n;
    return true;
}

bool decode_integer(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u64 n;
    if (!decode_number(p, f->name, *at, &n))
        return false;
    repeat_slot(p, SLOT_NUMBER, (*at)->at, f, 0);
    field_set(p->item, s, f, n);
    ++*at;
    return true;
}

bool decode_expr(struct parser *p, const char *name, const struct tagged *at, qty *out)
{
    if (at->tag != TAG_QUANTITY)
        return build_error(p, at->at, "syntax.value.kind", "`%s` takes a whole number or an expression, found %s", name, tag_names[at->tag]);
    if (qty_is_negative(p->ctx->exprs, at->value))
        return build_error(p, at->at, "quantity.negative", "`%s` can't be negative, found %s", name, build_text(p, at->at));
    *out = at->value;
    return true;
}

bool decode_quantity(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    qty q = 0;
    if (!decode_expr(p, f->name, *at, &q))
        return false;
    repeat_slot(p, SLOT_NUMBER, (*at)->at, f, 0);
    field_set(p->item, s, f, q);
    ++*at;
    return true;
}

static bool decode_float(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u64 bits = (*at)->value;
    u128 n;
    if ((*at)->tag == TAG_QUANTITY && qty_value(p->ctx->exprs, bits, &n)) {
        double value = (double)n;
        memcpy(&bits, &value, sizeof bits);
    } else if ((*at)->tag != TAG_FLOAT) {
        return decode_wrong(p, f, *at, "a decimal number");
    }
    if (bits >> 63)
        return build_error(p, (*at)->at, "quantity.negative", "`%s` can't be negative, found %s", f->name, build_text(p, (*at)->at));
    field_set(p->item, s, f, bits);
    ++*at;
    return true;
}

static bool decode_simple(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at, bool good,
                          const char *expected)
{
    if (!good)
        return decode_wrong(p, f, *at, expected);
    field_set(p->item, s, f, (*at)->value);
    ++*at;
    return true;
}

static bool decode_ref(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at, enum tag tag,
                       const char *expected)
{
    if ((*at)->tag == tag)
        repeat_slot(p, SLOT_NAME, (*at)->at, f, 0);
    return decode_simple(p, s, f, at, (*at)->tag == tag, expected);
}

static bool decode_name(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at, enum tag tag)
{
    if ((*at)->tag != tag)
        return decode_wrong(p, f, *at, tag_names[tag]);
    s->name = (atom)(*at)->value;
    p->repeatable.name = (*at)->at;
    ++*at;
    return true;
}

bool decode_field(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    enum tag tag = (enum tag)(*at)->tag;
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME: return decode_name(p, s, f, at, TAG_SYMBOL);
    case FIELD_VALUE_NAME: return decode_name(p, s, f, at, TAG_VALUE);
    case FIELD_DOLLAR_NAME: return decode_name(p, s, f, at, TAG_DOLLAR);
    case FIELD_ENUM: return decode_enum(p, s, f, at);
    case FIELD_BOOL: return decode_bool(p, s, f, at);
    case FIELD_WORD:
    case FIELD_OPERATION: return decode_simple(p, s, f, at, is_word(*at), "a word");
    case FIELD_STRING: return decode_simple(p, s, f, at, tag == TAG_STRING, "a \"string\"");
    case FIELD_INTEGER: return decode_integer(p, s, f, at);
    case FIELD_QUANTITY: return decode_quantity(p, s, f, at);
    case FIELD_FLOAT: return decode_float(p, s, f, at);
    case FIELD_TYPE: return decode_simple(p, s, f, at, tag == TAG_TYPE, "a type, as `tensor<4x8xf16>`");
    case FIELD_REF: return decode_ref(p, s, f, at, TAG_SYMBOL, "a @name");
    case FIELD_VALUE_REF: return decode_ref(p, s, f, at, TAG_VALUE, "a %value");
    default: return decode_compound(p, s, f, at);
    }
}
