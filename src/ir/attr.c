#include "ir/attr.h"

#include "ir/print.h"
#include "support/quantity.h"

#include <stdio.h>
#include <stdlib.h>

/* A node is a list in the pool: kind, then its payload. */
struct attr attr_get(const struct item *it, u32 handle)
{
    struct attr a = { .kind = ATTR_NONE };
    if (!handle)
        return a;
    const u32 *at = list_at(it, handle);
    u64 bits;
    a.kind = (enum attr_kind)at[0];
    switch (a.kind) {
    case ATTR_WORD:
    case ATTR_STRING:
    case ATTR_SYMBOL:
    case ATTR_VALUE:
        a.text = at[1];
        break;
    case ATTR_QUANTITY:
        a.quantity = pair_get(at + 1);
        break;
    case ATTR_FLOAT:
        bits = pair_get(at + 1);
        memcpy(&a.number, &bits, sizeof bits);
        break;
    case ATTR_TYPE:
        a.type = at[1];
        break;
    case ATTR_LIST:
    case ATTR_DICT:
        a.n = (list_n(it, handle) - 1) / (a.kind == ATTR_DICT ? 2 : 1);
        a.elements = at + 1;
        break;
    default:
        break;
    }
    return a;
}

static int compare_names(const struct interner *names, atom a, atom b)
{
    const struct interned *x = &names->atoms[a], *y = &names->atoms[b];
    u32 n = x->length < y->length ? x->length : y->length;
    int c = memcmp(x->text, y->text, n);
    return c ? c : (x->length > y->length) - (x->length < y->length);
}

/* Merge sort of key, value pairs; what is in order already costs a comparison each. */
static void sort_pairs(const struct interner *names, u32 (*pairs)[2], u32 (*scratch)[2], u32 n)
{
    u32 half = n / 2, i = 0, j = half, k = 0;
    if (n < 2)
        return;
    sort_pairs(names, pairs, scratch, half);
    sort_pairs(names, pairs + half, scratch, n - half);
    if (compare_names(names, pairs[half - 1][0], pairs[half][0]) <= 0)
        return;
    while (i < half || j < n) {
        u32 *next = j == n || (i < half && compare_names(names, pairs[i][0], pairs[j][0]) <= 0) ? pairs[i++] : pairs[j++];
        memcpy(scratch[k++], next, sizeof *scratch);
    }
    memcpy(pairs, scratch, n * sizeof *pairs);
}

/* The list KIND, WORDS…; a dict's pairs sorted. */
static u32 put_words(struct item *it, u32 kind, const u32 *words, u32 n)
{
    u32 small[16], *copy = 2 * n < COUNT(small) ? small : malloc((2 * (size_t)n + 1) * sizeof *copy);
    if (!copy)
        abort();
    copy[0] = kind;
    if (n)
        memcpy(copy + 1, words, n * sizeof *copy);
    if (kind == ATTR_DICT)
        sort_pairs(&it->ctx->names, (u32 (*)[2])(copy + 1), (u32 (*)[2])(copy + 1 + n), n / 2);
    u32 handle = item_list(it, copy, n + 1);
    if (copy != small)
        free(copy);
    return handle;
}

u32 attr_put(struct item *it, const struct attr *a)
{
    u32 words[2];
    u64 bits;
    switch (a->kind) {
    case ATTR_QUANTITY:
        pair_put(words, a->quantity);
        return put_words(it, ATTR_QUANTITY, words, 2);
    case ATTR_FLOAT:
        memcpy(&bits, &a->number, sizeof bits);
        pair_put(words, bits);
        return put_words(it, ATTR_FLOAT, words, 2);
    case ATTR_TYPE:
        return put_words(it, ATTR_TYPE, &a->type, 1);
    case ATTR_LIST:
        return put_words(it, ATTR_LIST, a->elements, a->n);
    case ATTR_DICT:
        return put_words(it, ATTR_DICT, a->elements, a->n * 2);
    default:
        return put_words(it, a->kind, &a->text, 1);
    }
}

u32 attr_quantity(struct item *it, qty q)
{
    return attr_put(it, &(struct attr){ .kind = ATTR_QUANTITY, .quantity = q });
}

u32 attr_word(struct item *it, atom word)
{
    return attr_put(it, &(struct attr){ .kind = ATTR_WORD, .text = word });
}

u32 attr_find(const struct item *it, u32 dict, atom key)
{
    struct attr a = attr_get(it, dict);
    for (u32 i = 0; a.kind == ATTR_DICT && i < a.n; i++)
        if (a.elements[2 * i] == key)
            return a.elements[2 * i + 1];
    return 0;
}

u32 attr_copy(struct item *to, const struct item *from, u32 handle)
{
    struct attr a = attr_get(from, handle);
    u32 step = a.kind == ATTR_DICT ? 2 : 1, *elements;
    if (!handle || (a.kind != ATTR_LIST && a.kind != ATTR_DICT))
        return handle ? attr_put(to, &a) : 0;
    elements = ARENA_ARRAY(&to->arena, u32, (size_t)a.n * step + 1);
    for (u32 i = 0; i < a.n * step; i++)
        elements[i] = step == 2 && i % 2 == 0 ? a.elements[i] : attr_copy(to, from, a.elements[i]);
    a.elements = elements;
    return attr_put(to, &a);
}

bool attr_equal(const struct item *a, u32 x, const struct item *b, u32 y)
{
    struct attr p = attr_get(a, x), q = attr_get(b, y);
    if (p.kind != q.kind || p.text != q.text || p.quantity != q.quantity || p.type != q.type || p.n != q.n ||
        memcmp(&p.number, &q.number, sizeof p.number))
        return false;
    u32 step = p.kind == ATTR_DICT ? 2 : 1;
    for (u32 i = 0; i < p.n; i++) {
        if (step == 2 && p.elements[2 * i] != q.elements[2 * i])
            return false;
        if (!attr_equal(a, p.elements[step * i + step - 1], b, q.elements[step * i + step - 1]))
            return false;
    }
    return true;
}

/* The fewest digits that read back the same bits: with a point from 0.0001 to below 1000000, else as `1.5e20`. */
void out_float(struct out *o, double value)
{
    char text[32];
    int digits = 0;
    do
        snprintf(text, sizeof text, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < 17);
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1);
    if (exponent >= -4 && exponent < 6) {
        out_printf(o, "%.*f", digits > exponent ? digits - exponent : 1, value);
        return;
    }
    out_bytes(o, text, (size_t)(e - text));
    out_printf(o, "e%d", exponent);
}

static void out_elements(struct out *o, const struct item *it, const struct attr *a)
{
    bool dict = a->kind == ATTR_DICT;
    out_char(o, dict ? '{' : '[');
    for (u32 i = 0; i < a->n; i++) {
        if (i)
            out_string(o, ", ");
        if (dict) {
            out_word(o, &it->ctx->names, a->elements[2 * i]);
            out_string(o, " = ");
        }
        out_attr(o, it, a->elements[dict ? 2 * i + 1 : i]);
    }
    out_char(o, dict ? '}' : ']');
}

void out_attr(struct out *o, const struct item *it, u32 handle)
{
    const struct interner *names = &it->ctx->names;
    struct attr a = attr_get(it, handle);
    switch (a.kind) {
    case ATTR_NONE:
        break;
    case ATTR_WORD:
        out_word(o, names, a.text);
        break;
    case ATTR_STRING:
        out_quoted(o, names->atoms[a.text].text, names->atoms[a.text].length);
        break;
    case ATTR_SYMBOL:
        out_name(o, names, '@', a.text);
        break;
    case ATTR_VALUE:
        out_name(o, names, '%', a.text);
        break;
    case ATTR_QUANTITY:
        out_qty(o, it->ctx->exprs, a.quantity);
        break;
    case ATTR_FLOAT:
        out_float(o, a.number);
        break;
    case ATTR_TYPE:
        out_type(o, it->ctx->exprs, type_get(it->ctx->types, a.type));
        break;
    case ATTR_LIST:
    case ATTR_DICT:
        out_elements(o, it, &a);
        break;
    }
}
