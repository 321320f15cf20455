#include "edit.h"

#include "ir/attr.h"
#include "ir/sharding.h"

enum { MAX_WORDS = 4096 };

/* A list that is being changed. */
struct words {
    u32 at[MAX_WORDS], n;
};

static void words_read(const struct item *it, u32 handle, struct words *w)
{
    w->n = handle ? list_n(it, handle) : 0;
    if (w->n > MAX_WORDS - 8)
        w->n = 0;
    memcpy(w->at, list_at(it, handle), w->n * sizeof *w->at);
}

static void words_drop(struct words *w, u32 i, u32 n)
{
    memmove(w->at + i, w->at + i + n, (w->n - i - n) * sizeof *w->at);
    w->n -= n;
}

static bool words_swap(struct words *w, u32 i, u32 k)
{
    u32 word = w->at[i];
    w->at[i] = w->at[k];
    w->at[k] = word;
    return w->at[i] != w->at[k];
}

/* ---- Values from elsewhere ---- */

static u32 fresh(const struct item *it)
{
    return intern_string(&it->ctx->names, "mutant");
}

/* The I-th statement's place; the search for another goes on behind it and around. */
static u32 place_of(const struct item *it, const struct stmt *s)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i] == s)
            return i;
    return 0;
}

/* What the same field of another statement of the same entity says, or the same value where all say that. */
static u64 others(const struct item *it, const struct stmt *s, const struct field *f)
{
    u64 mine = field_get(s, f);
    for (u32 i = place_of(it, s) + 1, n = 0; n < it->n_stmts; i++, n++) {
        const struct stmt *o = it->stmts[i % it->n_stmts];
        if (o->entity == s->entity && field_get(o, f) != mine)
            return field_get(o, f);
    }
    return mine;
}

/* A name of another statement of the entity that NAME names; a value's results count. 0: there is none. */
static atom another_name(const struct item *it, atom name, bool value)
{
    const struct stmt *named = value ? item_value(it, name) : item_symbol(it, name);
    const struct symtab *t = value ? &it->values : &it->symbols;
    bool behind = false;
    for (u32 turn = 0; turn < 2; turn++)
        for (u32 i = 0; t->slots && i <= t->mask; i++) {
            const struct stmt *s = t->slots[i];
            if (s && behind && s != named && (!named || s->entity == named->entity))
                return s->name;
            behind = behind || s == named || !named;
        }
    return 0;
}

static u32 another_ref(const struct item *it, u32 ref)
{
    atom name = another_name(it, ref_atom(ref), ref_is_value(ref));
    return !name ? ref : ref_is_value(ref) ? REF_VALUE(name) : REF_SYMBOL(name);
}

/* A task of the item before or behind S, or 0. */
static u32 neighbour(const struct item *it, const struct stmt *s, bool before)
{
    u32 at = place_of(it, s), found = 0;
    for (u32 i = 0; i < it->n_stmts; i++)
        if (stmt_entity(it, it->stmts[i])->flags & ENTITY_TASK && it->stmts[i] != s && (i < at) == before) {
            found = it->stmts[i]->name;
            if (!before)
                break;
        }
    return found;
}

/* ---- Numbers, words ---- */

#define VARIANTS(...) \
    static const char *const variants[] = { __VA_ARGS__ }; \
    if (variant >= COUNT(variants)) \
        return EDIT_END; \
    *name = variants[variant]

static enum edit made(bool yes)
{
    return yes ? EDIT_MADE : EDIT_NONE;
}

static enum edit edit_number(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    struct exprs *x = it->ctx->exprs;
    u64 value = field_get(s, f), before = value;
    bool integer = f->kind == FIELD_INTEGER, absent = value == f->fallback;
    VARIANTS("more", "less", "twice", "zero", "another's");
    if (absent && (variant == 1 || variant == 2))
        return EDIT_NONE;
    switch (variant) {
    case 0:
        if (absent)
            value = f->fallback ? 0 : 1;
        else if (integer)
            value++;
        else if (qty_add(x, value, 1, &value) != EXPR_OK)
            return EDIT_NONE;
        break;
    case 1:
        if (integer ? !value : qty_sub(x, value, 1, &value) != EXPR_OK)
            return EDIT_NONE;
        value -= integer;
        break;
    case 2:
        if (integer)
            value *= 2;
        else if (qty_mul(x, value, 2, &value) != EXPR_OK)
            return EDIT_NONE;
        break;
    case 3: value = 0; break;
    default: value = others(it, s, f);
    }
    field_set(it, s, f, value);
    return made(field_get(s, f) != before && !(integer && value > INT64_MAX && value != f->fallback));
}

static enum edit edit_word(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    u64 before = field_get(s, f);
    bool value = f->kind == FIELD_VALUE_REF;
    VARIANTS("unknown", "another's", "dropped", "another name");
    switch (variant) {
    case 0: field_set(it, s, f, fresh(it)); break;
    case 1: field_set(it, s, f, others(it, s, f)); break;
    case 2: field_set(it, s, f, f->presence == OPTIONAL ? f->fallback : before); break;
    default:
        if (f->kind == FIELD_REF || value)
            field_set(it, s, f, another_name(it, (atom)before, value) ? another_name(it, (atom)before, value) : before);
    }
    return made(field_get(s, f) != before);
}

static enum edit edit_operation(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    static const char *const operations[] = { "model.add", "model.linear", "all_reduce", "all_gather", "reduce_scatter", "all_to_all" };
    u64 before = field_get(s, f);
    if (variant > COUNT(operations))
        return EDIT_END;
    *name = variant ? operations[variant - 1] : "another's";
    field_set(it, s, f, variant ? intern_string(&it->ctx->names, operations[variant - 1]) : others(it, s, f));
    return made(field_get(s, f) != before);
}

static enum edit edit_enum(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    const struct enumeration *e = f->aux;
    u64 before = field_get(s, f);
    if (variant >= e->n)
        return EDIT_END;
    *name = "another word";
    field_set(it, s, f, variant);
    return made(variant != before && *e->words[variant].text);
}

static enum edit edit_name(struct item *it, struct stmt *s, u32 variant, const char **name)
{
    VARIANTS("unknown", "another's");
    atom before = s->name;
    if (!before)
        return EDIT_NONE;
    bool value = stmt_entity(it, s)->flags & ENTITY_VALUE;
    s->name = variant ? another_name(it, before, value) : fresh(it);
    return made(s->name && s->name != before);
}

/* ---- Types and shardings ---- */

static enum edit edit_type(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    struct types *types = it->ctx->types;
    VARIANTS("larger", "smaller", "turned", "of another element", "flatter", "another's");
    u32 before = (u32)field_get(s, f);
    struct type t = *type_get(types, before);
    qty dims[MAX_RANK];
    if (!before || !t.rank)
        return EDIT_NONE;
    memcpy(dims, t.dims, t.rank * sizeof *dims);
    qty *last = &dims[t.rank - 1];
    t.dims = dims;
    switch (variant) {
    case 0:
        if (qty_add(it->ctx->exprs, *last, 1, last) != EXPR_OK)
            return EDIT_NONE;
        break;
    case 1:
        if (qty_floordiv(it->ctx->exprs, *last, 2, last) != EXPR_OK)
            return EDIT_NONE;
        break;
    case 2:
        if (t.rank > 1) {
            qty first = dims[0];
            dims[0] = *last;
            *last = first;
        }
        break;
    case 3: t.element = t.element == ELEMENT_F32 ? ELEMENT_F16 : ELEMENT_F32; break;
    case 4: t.rank--; break;
    default: field_set(it, s, f, others(it, s, f)); return made(field_get(s, f) != before);
    }
    field_set(it, s, f, type_intern(types, &t));
    return made(field_get(s, f) != before);
}

/* The first axis of the item's mesh, or 0. */
static atom any_axis(const struct item *it)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        for (const struct field *f = stmt_entity(it, it->stmts[i])->fields; f->kind != FIELD_END; f++)
            if (f->kind == FIELD_AXIS_SIZES && field_get(it->stmts[i], f))
                return list_at(it, (u32)field_get(it->stmts[i], f))[0];
    return 0;
}

static u32 rank_of(const struct item *it, const struct stmt *s)
{
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_TYPE && field_get(s, f))
            return type_get(it->ctx->types, (u32)field_get(s, f))->rank;
    return 0;
}

static enum edit edit_sharding(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    VARIANTS("replicated", "on another dimension", "split", "partial", "another's");
    u32 before = (u32)field_get(s, f), rank = rank_of(it, s);
    atom axis = any_axis(it);
    struct sharding sharding;
    sharding_read(it, before, &sharding);
    if (variant == 4 || !rank) {
        field_set(it, s, f, others(it, s, f));
        return made(variant == 4 && field_get(s, f) != before);
    }
    sharding.rank = rank;
    struct axis_list first = sharding.dims[0];
    switch (variant) {
    case 0: sharding = (struct sharding){ .rank = rank }; break;
    case 1:
        memmove(sharding.dims, sharding.dims + 1, (rank - 1) * sizeof *sharding.dims);
        sharding.dims[rank - 1] = first;
        break;
    case 2: sharding.dims[0] = (struct axis_list){ &axis, axis != 0 }; break;
    default:
        if (sharding.n_partial || !axis)
            return EDIT_NONE;
        sharding.n_partial = 1;
        sharding.partial[0].reduction = REDUCTION_SUM;
        sharding.partial[0].axes = (struct axis_list){ &axis, 1 };
    }
    struct words was, is;
    u32 now = sharding_write(it, &sharding, rank);
    words_read(it, before, &was);
    words_read(it, now, &is);
    field_set(it, s, f, now);
    return made(was.n != is.n || memcmp(was.at, is.at, is.n * sizeof *is.at) != 0);
}

/* ---- Lists ---- */

/* Changes of a list of records of SIZE words; ANOTHER gives another first word. False: nothing new. */
static bool change_list(struct words *w, u32 variant, u32 size, u32 another)
{
    switch (variant) {
    case 0:
        if (w->n < size)
            return false;
        words_drop(w, 0, size);
        return true;
    case 1:
        if (w->n < 2 * size)
            return false;
        words_drop(w, w->n - size, size);
        return true;
    case 2:
        if (w->n < 2 * size)
            return false;
        bool swapped = false;
        for (u32 i = 0; i < size; i++)
            swapped = words_swap(w, i, size + i) || swapped;
        return swapped;
    case 3:
        if (w->n < size || w->at[0] == another)
            return false;
        w->at[0] = another;
        return true;
    default:
        if (w->n < size)
            return false;
        memcpy(w->at + w->n, w->at, size * sizeof *w->at);
        w->n += size;
        return true;
    }
}

#define LIST_VARIANTS "first dropped", "last dropped", "swapped", "first another", "first twice"

static enum edit edit_list(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    static const char *const variants[] = { LIST_VARIANTS, "one added", "all dropped" };
    u32 handle = (u32)field_get(s, f), size = 1, other = 0, added = 0;
    struct words w;
    words_read(it, handle, &w);
    switch ((enum field_kind)f->kind) {
    case FIELD_AXES: case FIELD_WORDS: other = added = fresh(it); break;
    case FIELD_OPERANDS: case FIELD_RESULTS: other = w.n ? another_name(it, w.at[0], true) : 0; added = other; break;
    case FIELD_REFS:
        other = w.n ? another_ref(it, w.at[0]) : 0;
        added = REF_SYMBOL(neighbour(it, s, true));
        break;
    case FIELD_AXIS_SIZES: size = 3; other = fresh(it); break;
    case FIELD_INTEGERS: size = 2; other = w.n ? w.at[0] + 1 : 0; break;
    case FIELD_RANKS: size = 2; break;
    case FIELD_EFFECTS: size = 2; break;
    case FIELD_REQUIRE: size = 4; break;
    default: return EDIT_END;
    }
    if (variant >= COUNT(variants))
        return EDIT_END;
    *name = variants[variant];
    bool good;
    if (variant < 5)
        good = (variant != 3 || other) && change_list(&w, variant, size, other);
    else if (variant == 5) {
        good = added && ref_atom(added) && size == 1;
        w.at[w.n++] = added;
    } else {
        good = w.n > size && f->presence == OPTIONAL;
        w.n = 0;
    }
    if (good)
        field_set(it, s, f, w.n ? item_list(it, w.at, w.n) : f->kind == FIELD_OPERANDS ? item_list(it, NULL, 0) : 0);
    return made(good);
}

/* Numbers inside of records: sizes of axes, ranks, effects' kinds and values, needs. */
static enum edit edit_inside(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    VARIANTS("first larger", "last larger", "of another value");
    u32 handle = (u32)field_get(s, f);
    struct words w;
    words_read(it, handle, &w);
    if (f->kind == FIELD_RANKS && !w.n && !variant) {
        u32 one[2] = { 0, 0 };
        *name = "one only";
        field_set(it, s, f, item_list(it, one, 2));
        return EDIT_MADE;
    }
    u32 size = f->kind == FIELD_AXIS_SIZES ? 3 : f->kind == FIELD_REQUIRE ? 4 : 2;
    if (w.n < size)
        return EDIT_NONE;
    u32 *record = variant == 1 ? w.at + w.n - size : w.at;
    switch ((enum field_kind)f->kind) {
    case FIELD_AXIS_SIZES: record[1]++; break;
    case FIELD_RANKS: record[1]++; break;
    case FIELD_EFFECTS:
        if (variant == 2)
            record[1] = another_ref(it, record[1]);
        else
            record[0] = (record[0] + 1) % 4;
        break;
    case FIELD_REQUIRE: record[2]++; break;
    default: return EDIT_END;
    }
    if (variant == 2 && f->kind != FIELD_EFFECTS)
        return EDIT_NONE;
    if (w.n == list_n(it, handle) && !memcmp(w.at, list_at(it, handle), w.n * sizeof *w.at))
        return EDIT_NONE;
    field_set(it, s, f, item_list(it, w.at, w.n));
    return EDIT_MADE;
}

static enum edit edit_lineage(struct item *it, struct stmt *s, u32 variant, const char **name)
{
    VARIANTS(LIST_VARIANTS, "unknown", "dropped", "of another kind", "another's");
    struct words w;
    words_read(it, s->lineage, &w);
    if (s->lineage_kind == LINEAGE_NONE)
        return EDIT_NONE;
    switch (variant) {
    case 5: w.n = 0; w.at[w.n++] = REF_SYMBOL(fresh(it)); break;
    case 6: s->lineage_kind = LINEAGE_NONE; return EDIT_MADE;
    case 7: s->lineage_kind = s->lineage_kind == LINEAGE_CLONED ? LINEAGE_DECOMPOSED : LINEAGE_CLONED; return EDIT_MADE;
    case 8:
        for (u32 i = 0; i < it->n_stmts; i++)
            if (it->stmts[i]->lineage && it->stmts[i]->lineage != s->lineage) {
                s->lineage = it->stmts[i]->lineage;
                return EDIT_MADE;
            }
        return EDIT_NONE;
    default:
        if (variant == 3 || !change_list(&w, variant, 1, 0))
            return EDIT_NONE;
    }
    s->lineage = item_list(it, w.at, w.n);
    return EDIT_MADE;
}

/* The first record: capability, n, alternatives, dictionary. */
static enum edit edit_implement(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    VARIANTS("unknown", "without its first alternative", "with another alternative", "dropped", "another's");
    struct words w;
    words_read(it, (u32)field_get(s, f), &w);
    if (!w.n)
        return EDIT_NONE;
    switch (variant) {
    case 0: w.at[0] = fresh(it); break;
    case 1:
        if (!w.at[1])
            return EDIT_NONE;
        words_drop(&w, 2, 1);
        w.at[1]--;
        break;
    case 2:
        if (!w.at[1])
            return EDIT_NONE;
        w.at[2] = fresh(it);
        break;
    case 3: w.n = 0; break;
    default: {
        u64 before = field_get(s, f);
        field_set(it, s, f, others(it, s, f));
        return made(field_get(s, f) != before);
    }
    }
    field_set(it, s, f, w.n ? item_list(it, w.at, w.n) : 0);
    return EDIT_MADE;
}

/* An operation's own clauses: name, value pairs; two variants each. */
static enum edit edit_attributes(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    struct words w;
    words_read(it, (u32)field_get(s, f), &w);
    u32 i = variant / 2 * 2;
    if (i + 1 >= w.n)
        return EDIT_END;
    struct attr a = attr_get(it, w.at[i + 1]);
    *name = variant % 2 ? "dropped" : "more";
    if (variant % 2)
        words_drop(&w, i, 2);
    else if (a.kind == ATTR_QUANTITY && qty_add(it->ctx->exprs, a.quantity, 1, &a.quantity) == EXPR_OK)
        w.at[i + 1] = attr_quantity(it, a.quantity);
    else if (a.kind == ATTR_WORD) {
        *name = "unknown";
        w.at[i + 1] = attr_word(it, fresh(it));
    } else
        return EDIT_NONE;
    field_set(it, s, f, w.n ? item_list(it, w.at, w.n) : 0);
    return EDIT_MADE;
}

/* ---- All ---- */

enum edit edit_field(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name)
{
    enum { LIST = 7 };
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME: case FIELD_VALUE_NAME: case FIELD_DOLLAR_NAME: return edit_name(it, s, variant, name);
    case FIELD_ENUM: return edit_enum(it, s, f, variant, name);
    case FIELD_BOOL:
        *name = "turned";
        field_set(it, s, f, !field_get(s, f));
        return variant ? EDIT_END : EDIT_MADE;
    case FIELD_WORD: case FIELD_STRING: case FIELD_REF: case FIELD_VALUE_REF: return edit_word(it, s, f, variant, name);
    case FIELD_INTEGER: case FIELD_QUANTITY: return edit_number(it, s, f, variant, name);
    case FIELD_TYPE: return edit_type(it, s, f, variant, name);
    case FIELD_SHARDING: return edit_sharding(it, s, f, variant, name);
    case FIELD_LINEAGE: return edit_lineage(it, s, variant, name);
    case FIELD_OPERATION: return edit_operation(it, s, f, variant, name);
    case FIELD_IMPLEMENT: return edit_implement(it, s, f, variant, name);
    case FIELD_ATTRIBUTES: return edit_attributes(it, s, f, variant, name);
    case FIELD_FLOAT: case FIELD_DICT: case FIELD_FACTS: case FIELD_END: return EDIT_END;
    default: return variant < LIST ? edit_list(it, s, f, variant, name) : edit_inside(it, s, f, variant - LIST, name);
    }
}

enum edit edit_header(struct item *it, u32 variant, const char **name)
{
    VARIANTS("parent dropped", "parent unknown", "parent not pinned", "parent's digest", "pass unknown", "revision", "minor version",
             "major version", "using dropped", "using not pinned", "using's digest");
    struct header *h = &it->header;
    switch (variant) {
    case 0: h->parent.item = 0; return made(h->pass || h->n_using);
    case 1: h->parent.item = h->parent.item ? fresh(it) : 0; return made(h->parent.item);
    case 2: h->parent.digest = (struct digest){ 0, 0 }; return made(h->parent.item);
    case 3: h->parent.digest.low ^= 1; return made(h->parent.item);
    case 4: h->pass = h->pass ? fresh(it) : 0; return made(h->pass);
    case 5: h->revision++; return made(h->pass);
    case 6: h->minor++; return EDIT_MADE;
    case 7: h->major++; return EDIT_MADE;
    case 8: return made(h->n_using && h->n_using--);
    case 9: return made(h->n_using && (h->using[0].digest = (struct digest){ 0, 0 }, true));
    default: return made(h->n_using && (h->using[0].digest.low ^= 1, true));
    }
}

enum edit edit_order(struct item *it, u32 i, u32 variant, const char **name)
{
    VARIANTS("dropped", "behind the next", "last");
    struct stmt *s = it->stmts[i];
    if (i + 1 == it->n_stmts && variant)
        return EDIT_NONE;
    u32 to = variant == 1 ? i + 1 : it->n_stmts - 1;
    memmove(it->stmts + i, it->stmts + i + 1, (to - i) * sizeof *it->stmts);
    if (variant)
        it->stmts[to] = s;
    else
        it->n_stmts--;
    return made(!variant || it->stmts[i] != s);
}
