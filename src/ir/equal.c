/* Field equality of two items, by the table. Pools differ, contents must not. */
#include "ir/attr.h"
#include "ir/print.h"
#include "ir/verify.h"

static bool same_list(const struct item *a, u32 x, const struct item *b, u32 y)
{
    return !x == !y && list_n(a, x) == list_n(b, y) && !memcmp(list_at(a, x), list_at(b, y), list_n(a, x) * sizeof(u32));
}

/* Lists of words and attr handles, alternating. */
static bool same_attributes(const struct item *a, u32 x, const struct item *b, u32 y)
{
    if (list_n(a, x) != list_n(b, y))
        return false;
    for (u32 i = 0; i < list_n(a, x); i += 2)
        if (list_at(a, x)[i] != list_at(b, y)[i] || !attr_equal(a, list_at(a, x)[i + 1], b, list_at(b, y)[i + 1]))
            return false;
    return true;
}

static bool same_implement(const struct item *a, u32 x, const struct item *b, u32 y)
{
    if (list_n(a, x) != list_n(b, y))
        return false;
    const u32 *p = list_at(a, x), *q = list_at(b, y), *end = p + list_n(a, x);
    for (; p < end; q += IMPLEMENT_SIZE(q), p += IMPLEMENT_SIZE(p))
        if (memcmp(p, q, (2 + p[1]) * sizeof *p) || !attr_equal(a, p[2 + p[1]], b, q[2 + q[1]]))
            return false;
    return true;
}

static bool same_stmt(const struct item *a, const struct stmt *s, const struct item *b, const struct stmt *t);

static bool same_results(const struct item *a, u32 x, const struct item *b, u32 y)
{
    if (!same_list(a, x, b, y))
        return false;
    for (u32 i = 0; i < list_n(a, x); i++) {
        const struct stmt *s = item_value(a, list_at(a, x)[i]), *t = item_value(b, list_at(b, y)[i]);
        if (!s != !t || (s && s->is_result != t->is_result) || (s && s->is_result && !same_stmt(a, s, b, t)))
            return false;
    }
    return true;
}

bool stmt_field_equal(const struct item *a, const struct stmt *s, const struct item *b, const struct stmt *t,
                      const struct field *f)
{
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME:
    case FIELD_VALUE_NAME:
    case FIELD_DOLLAR_NAME:
        return s->name == t->name;
    case FIELD_LINEAGE:
        return s->lineage_kind == t->lineage_kind && same_list(a, s->lineage, b, t->lineage);
    case FIELD_FACTS:
        for (const struct field *g = f->aux; g->kind != FIELD_END; g++)
            if (field_get(s, g) != field_get(t, g))
                return false;
        return true;
    case FIELD_RESULTS:
        return same_results(a, (u32)field_get(s, f), b, (u32)field_get(t, f));
    case FIELD_DICT:
        return attr_equal(a, (u32)field_get(s, f), b, (u32)field_get(t, f));
    case FIELD_ATTRIBUTES:
        return same_attributes(a, (u32)field_get(s, f), b, (u32)field_get(t, f));
    case FIELD_IMPLEMENT:
        return same_implement(a, (u32)field_get(s, f), b, (u32)field_get(t, f));
    case FIELD_SHARDING: case FIELD_AXES: case FIELD_AXIS_SIZES: case FIELD_RANKS: case FIELD_REFS: case FIELD_OPERANDS:
    case FIELD_EFFECTS: case FIELD_REQUIRE: case FIELD_WORDS: case FIELD_INTEGERS:
        return same_list(a, (u32)field_get(s, f), b, (u32)field_get(t, f));
    default:
        return field_get(s, f) == field_get(t, f);
    }
}

static bool same_stmt(const struct item *a, const struct stmt *s, const struct item *b, const struct stmt *t)
{
    if (s->entity != t->entity)
        return false;
    for (const struct field *f = stmt_entity(a, s)->fields; f->kind != FIELD_END; f++)
        if (!stmt_field_equal(a, s, b, t, f))
            return false;
    return true;
}

static bool same_pin(const struct pin *a, const struct pin *b)
{
    return a->item == b->item && digest_equal(a->digest, b->digest);
}

static bool same_header(const struct item *a, const struct item *b)
{
    const struct header *x = &a->header, *y = &b->header;
    bool same = a->kind == b->kind && a->name == b->name && x->major == y->major && x->minor == y->minor &&
                same_pin(&x->parent, &y->parent) && x->pass == y->pass && x->revision == y->revision && x->n_using == y->n_using;
    for (u32 i = 0; same && i < x->n_using; i++)
        same = same_pin(&x->using[i], &y->using[i]);
    return same;
}

bool item_equal(const struct item *a, const struct item *b, const char **what)
{
    assert(a->ctx == b->ctx);
    if (!same_header(a, b)) {
        *what = "the header";
        return false;
    }
    for (u32 i = 0; i < a->n_stmts || i < b->n_stmts; i++)
        if (i >= a->n_stmts || i >= b->n_stmts || !same_stmt(a, a->stmts[i], b, b->stmts[i])) {
            *what = i < a->n_stmts ? stmt_text(a, a->stmts[i]) : stmt_text(b, b->stmts[i]);
            return false;
        }
    return true;
}
