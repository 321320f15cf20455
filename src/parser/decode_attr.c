/* Free values (`note {…}`) and operations' own clauses, from the stream to attr trees. */
#include "parser/decode.h"

#include "ir/attr.h"
#include "support/quantity.h"

#include <stdlib.h>

/* A growing list of words that owns its memory: attr trees nest, so the parser's scratch list won't do. */
struct words {
    u32 *v;
    u32 n, cap;
};

static void push(struct words *w, u32 word)
{
    *VEC_PUSH(w->v, w->n, w->cap) = word;
}

static u32 finish(struct parser *p, struct words *w, enum attr_kind kind, bool ok)
{
    u32 handle = 0;
    if (ok)
        handle = attr_put(p->item, &(struct attr){ .kind = kind, .elements = w->v, .n = kind == ATTR_DICT ? w->n / 2 : w->n });
    if (w->v)
        block_free(w->v, w->cap * sizeof *w->v);
    return handle;
}

static u32 decode_list(struct parser *p, const struct tagged **at)
{
    struct words w = { 0 };
    bool ok = true;
    for (++*at; ok && (*at)->tag != TAG_CLOSE;) {
        u32 element = decode_attr(p, at);
        ok = element != 0;
        push(&w, element);
        if (ok && (*at)->tag == TAG_COMMA)
            ++*at;
        else if (ok && (*at)->tag != TAG_CLOSE)
            ok = build_error(p, (*at)->at, "syntax.value.kind", "expected `,` or `]`, found `%s`", build_text(p, (*at)->at));
    }
    *at += ok;
    return finish(p, &w, ATTR_LIST, ok);
}

static bool decode_entry(struct parser *p, const struct tagged **at, struct words *w)
{
    const struct tagged *key = *at;
    if (key[1].tag != TAG_EQUAL)
        return build_error(p, key->at, "syntax.value.kind", "expected `%s = value`", build_text(p, key->at));
    *at += 2;
    u32 value = decode_attr(p, at);
    push(w, (u32)key->value);
    push(w, value);
    return value != 0;
}

static int by_atom(const void *left, const void *right)
{
    const u32 *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* A key that stands twice in W, or 0. */
static atom doubled_key(const struct words *w)
{
    u32 n = w->n / 2, small[16], *keys = n < COUNT(small) ? small : malloc(n * sizeof *keys);
    atom found = 0;
    if (!keys)
        abort();
    for (u32 i = 0; i < n; i++)
        keys[i] = w->v[2 * i];
    qsort(keys, n, sizeof *keys, by_atom);
    for (u32 i = 1; i < n && !found; i++)
        found = keys[i] == keys[i - 1] ? keys[i] : 0;
    if (keys != small)
        free(keys);
    return found;
}

/* The second place of KEY in the dict that begins at AT. */
static const struct tagged *second_place(const struct tagged *at, atom key)
{
    u32 depth = 0, seen = 0;
    for (;; at++) {
        depth += at->tag == TAG_OPEN;
        depth -= at->tag == TAG_CLOSE;
        if (depth == 1 && at[1].tag == TAG_EQUAL && at->value == key && seen++)
            return at;
    }
}

static u32 decode_dict(struct parser *p, const struct tagged **at)
{
    const struct tagged *begin = *at;
    struct words w = { 0 };
    bool ok = true;
    for (++*at; ok && (*at)->tag != TAG_CLOSE;) {
        ok = decode_entry(p, at, &w);
        if (ok && (*at)->tag == TAG_COMMA)
            ++*at;
    }
    *at += ok;
    atom doubled = ok ? doubled_key(&w) : 0;
    if (doubled) {
        const struct tagged *key = second_place(begin, doubled);
        ok = build_error(p, key->at, "syntax.clause.doubled", "`%s` is written twice", build_text(p, key->at));
    }
    return finish(p, &w, ATTR_DICT, ok);
}

u32 decode_attr(struct parser *p, const struct tagged **at)
{
    static const u8 kinds[] = {
        [TAG_SYMBOL] = ATTR_SYMBOL, [TAG_VALUE] = ATTR_VALUE, [TAG_WORD] = ATTR_WORD, [TAG_STRING] = ATTR_STRING,
        [TAG_QUANTITY] = ATTR_QUANTITY, [TAG_FLOAT] = ATTR_FLOAT, [TAG_TYPE] = ATTR_TYPE, [TAG_ARROW] = ATTR_NONE,
    };
    const struct tagged *v = *at;
    if (v->tag == TAG_OPEN && v->value == '[')
        return decode_list(p, at);
    if (v->tag == TAG_OPEN && v->value == '{')
        return decode_dict(p, at);
    if (!kinds[v->tag]) {
        build_error(p, v->at, "syntax.value.kind", "expected a value, found `%s`", build_text(p, v->at));
        return 0;
    }
    struct attr a = { .kind = kinds[v->tag] };
    if (a.kind == ATTR_QUANTITY)
        a.quantity = v->value;
    else if (a.kind == ATTR_FLOAT)
        memcpy(&a.number, &v->value, sizeof a.number);
    else if (a.kind == ATTR_TYPE)
        a.type = (u32)v->value;
    else
        a.text = (atom)v->value;
    ++*at;
    return attr_put(p->item, &a);
}

static bool is_truth(const struct parser *p, const struct tagged *v)
{
    return v->tag == TAG_WORD && (intern_is(&p->ctx->names, (atom)v->value, "true") || intern_is(&p->ctx->names, (atom)v->value, "false"));
}

/* What an operation's row may ask for; the value is checked before it becomes a free value. */
u32 decode_attribute(struct parser *p, const struct field *f, const struct tagged **at)
{
    const struct tagged *v = *at;
    u128 n;
    if (f->kind == FIELD_ENUM)
        return decode_word(p, f->aux, v) < 0 ? 0 : decode_attr(p, at);
    bool number = v->tag == TAG_QUANTITY && qty_value(p->ctx->exprs, v->value, &n) && n < UINT64_MAX;
    bool good = f->kind == FIELD_INTEGER ? number
                : f->kind == FIELD_QUANTITY ? v->tag == TAG_QUANTITY && !qty_is_negative(p->ctx->exprs, v->value)
                : f->kind == FIELD_INTEGERS ? v->tag == TAG_OPEN && v->value == '['
                : f->kind == FIELD_FLOAT ? v->tag == TAG_FLOAT || number
                : f->kind == FIELD_BOOL ? is_truth(p, v)
                : f->kind == FIELD_WORD ? v->tag == TAG_WORD
                : f->kind == FIELD_TYPE ? v->tag == TAG_TYPE : false;
    if (good && f->kind == FIELD_INTEGERS)
        for (const struct tagged *e = v + 1; good && e->tag != TAG_CLOSE; e++)
            good = e->tag == TAG_COMMA || (e->tag == TAG_QUANTITY && qty_value(p->ctx->exprs, e->value, &n));
    if (!good) {
        build_error(p, v->at, "syntax.value.kind", "`%s` takes %s, found `%s`", f->name,
                    f->kind == FIELD_INTEGERS ? "numbers, as `[1, 0]`" : f->kind == FIELD_INTEGER ? "a whole number"
                    : f->kind == FIELD_BOOL ? "true or false" : f->doc,
                    build_text(p, v->at));
        return 0;
    }
    return decode_attr(p, at);
}
