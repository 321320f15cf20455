/* Lists, groups and shardings: brackets and commas of the stream to lists in the item's pool. */
#include "parser/decode.h"

#include "ir/attr.h"

static bool is_open(const struct tagged *at, char bracket)
{
    return at->tag == TAG_OPEN && at->value == (u64)bracket;
}

static void put(struct parser *p, u32 word)
{
    *VEC_PUSH(p->scratch, p->n_scratch, p->cap_scratch) = word;
}

static void put_pair(struct parser *p, u64 value)
{
    put(p, (u32)value);
    put(p, (u32)(value >> 32));
}

/* The list collected since the last begin_list. */
static u32 take_list(struct parser *p)
{
    u32 handle = item_list(p->item, p->scratch, p->n_scratch);
    p->n_scratch = 0;
    return handle;
}

/* ---- Lists ---- */

/*
 * Walks `( a, b )`: calls ELEMENT at the start of each element; it reads what it takes and moves *AT on. A comma or the
 * closing bracket must follow.
 */
static bool each(struct parser *p, const struct field *f, const struct tagged **at, char bracket, const char *expected,
                 bool (*element)(struct parser *p, const struct field *f, const struct tagged **at))
{
    if (!is_open(*at, bracket))
        return decode_wrong(p, f, *at, expected);
    p->n_scratch = 0;
    for (++*at; (*at)->tag != TAG_CLOSE;) {
        if (!element(p, f, at))
            return false;
        if ((*at)->tag == TAG_COMMA)
            ++*at;
        else if ((*at)->tag != TAG_CLOSE)
            return decode_wrong(p, f, *at, expected);
    }
    ++*at;
    return true;
}

static bool ref_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    if ((*at)->tag != TAG_SYMBOL && (*at)->tag != TAG_VALUE)
        return decode_wrong(p, f, *at, "@names and %names");
    repeat_slot(p, (*at)->tag == TAG_VALUE ? SLOT_VALUE : SLOT_SYMBOL, (*at)->at, f, p->n_scratch);
    put(p, (*at)->tag == TAG_VALUE ? REF_VALUE((*at)->value) : REF_SYMBOL((*at)->value));
    ++*at;
    return true;
}

static bool read_refs(struct parser *p, const struct field *f, const struct tagged **at, u32 *handle)
{
    p->n_scratch = 0;
    bool ok = is_open(*at, '(') ? each(p, f, at, '(', "a @name or a list `(@a, @b)`", ref_element) : ref_element(p, f, at);
    if (ok)
        *handle = take_list(p);
    return ok;
}

static bool decode_refs(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u32 handle;
    if (!read_refs(p, f, at, &handle))
        return false;
    field_set(p->item, s, f, handle);
    return true;
}

static bool decode_lineage(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u8 kind = LINEAGE_LOWERED;
    if ((*at)->tag == TAG_WORD) {
        int found = decode_word(p, &lineage_enum, *at);
        if (found < 0)
            return false;
        kind = (u8)found;
        ++*at;
    }
    if (!read_refs(p, f, at, &s->lineage))
        return false;
    s->lineage_kind = kind;
    return true;
}

static bool word_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    if (!is_word(*at))
        return decode_wrong(p, f, *at, "words");
    put(p, (u32)(*at)->value);
    ++*at;
    return true;
}

static bool axis_size_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    u64 size;
    if (!is_word(*at) || (*at)[1].tag != TAG_QUANTITY)
        return decode_wrong(p, f, *at, "axes with their sizes, as `[dp = 2, tp = 4]`");
    if (!decode_number(p, f->name, &(*at)[1], &size))
        return false;
    put(p, (u32)(*at)->value);
    put_pair(p, size);
    *at += 2;
    return true;
}

static bool read_rank(struct parser *p, const struct field *f, const struct tagged *at, u32 *out)
{
    u64 n;
    if (!decode_number(p, f->name, at, &n))
        return false;
    if (n >= UINT32_MAX)
        return build_error(p, at->at, "quantity.range", "a rank is at most 4294967294, found %s", build_text(p, at->at));
    *out = (u32)n;
    return true;
}

static bool refuse_range(struct parser *p, const struct tagged *from, const struct tagged *to, u32 first, u32 last)
{
    build_error(p, from->at, "syntax.ranks.order", "the range %u..%u runs backwards", first, last);
    build_fix(p, (struct span){ from->at.begin, to->at.end }, arena_format(&p->ctx->diags->arena, "%u..%u", last, first));
    return false;
}

static bool rank_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    u32 first = 0, last;
    const struct tagged *from = *at;
    if (from->tag != TAG_QUANTITY)
        return decode_wrong(p, f, from, "`all` or ranks as `[0..3, 7]`");
    if (!read_rank(p, f, from, &first))
        return false;
    last = first;
    *at += 1;
    if ((*at)->tag == TAG_DOTS) {
        if (!read_rank(p, f, *at + 1, &last))
            return false;
        *at += 2;
    }
    if (last < first)
        return refuse_range(p, from, *at - 1, first, last);
    put(p, first);
    put(p, last);
    return true;
}

static bool decode_ranks(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    if ((*at)->tag == TAG_WORD && intern_is(&p->ctx->names, (atom)(*at)->value, "all")) {
        ++*at;
        return true;
    }
    if (!each(p, f, at, '[', "`all` or ranks as `[0..3, 7]`", rank_element))
        return false;
    field_set(p->item, s, f, take_list(p));
    return true;
}

static bool integer_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    u64 n;
    if (!decode_number(p, f->name, *at, &n))
        return false;
    put_pair(p, n);
    ++*at;
    return true;
}

static bool decode_integers(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    p->n_scratch = 0;
    if (is_open(*at, '[') ? !each(p, f, at, '[', "a number or a list of numbers", integer_element) : !integer_element(p, f, at))
        return false;
    field_set(p->item, s, f, take_list(p));
    return true;
}

static bool effect_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    int kind = decode_word(p, &effect_enum, *at);
    if (kind < 0)
        return false;
    put(p, (u32)kind);
    ++*at;
    return ref_element(p, f, at);
}

static bool require_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    qty q;
    int scope = SCOPE_PER_RANK, kind = decode_word(p, &resource_enum, *at);
    if (kind < 0 || !decode_expr(p, f->name, &(*at)[1], &q))
        return false;
    *at += 2;
    if ((*at)->tag == TAG_WORD) {
        scope = decode_word(p, &scope_enum, *at);
        if (scope < 0)
            return false;
        ++*at;
    }
    put(p, (u32)kind);
    put(p, (u32)scope);
    put_pair(p, q);
    return true;
}

static bool operand_element(struct parser *p, const struct field *f, const struct tagged **at)
{
    if ((*at)->tag != TAG_VALUE)
        return decode_wrong(p, f, *at, "%values");
    repeat_slot(p, SLOT_ATOM, (*at)->at, f, p->n_scratch);
    put(p, (u32)(*at)->value);
    ++*at;
    return true;
}

/* Operands are pushed without commas; results from an arrow to a close. */
static bool decode_values(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    bool any = false;
    p->n_scratch = 0;
    for (++*at; (*at)->tag != TAG_CLOSE; any = true)
        if (!operand_element(p, f, at))
            return false;
    ++*at;
    if (any)
        field_set(p->item, s, f, take_list(p));
    return true;
}

static bool decode_list(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at, char bracket,
                        const char *expected, bool (*element)(struct parser *, const struct field *, const struct tagged **))
{
    if (!each(p, f, at, bracket, expected, element))
        return false;
    field_set(p->item, s, f, take_list(p));
    return true;
}

/* ---- Groups ---- */

/* What messages call a group: in a head, its statement. */
static const char *group_name(const struct parser *p, const struct stmt *s, const struct field *group)
{
    return group->place == PLACE_HEAD ? stmt_entity(p->item, s)->keyword : group->name;
}

static bool fact_element(struct parser *p, struct stmt *s, const struct field *group, const struct tagged **at, u32 *seen)
{
    const struct field *facts = group->aux, *f = NULL;
    const char *names[16];
    size_t n = 0;
    const struct interned *text = &p->ctx->names.atoms[(*at)->value];
    if (is_word(*at))
        f = field_find(facts, text->text, text->length);
    for (const struct field *x = facts; x->kind != FIELD_END && n < COUNT(names); x++)
        names[n++] = x->name;
    if (!f) {
        const char *near = nearest_name(build_text(p, (*at)->at), names, n);
        build_error(p, (*at)->at, "syntax.fact.unknown", "`%s` has no fact `%s`", group_name(p, s, group), build_text(p, (*at)->at));
        if (near)
            build_near(p, (*at)->at, near);
        return false;
    }
    if (*seen >> (f - facts) & 1)
        return build_error(p, (*at)->at, "syntax.clause.doubled", "`%s` is written twice", f->name);
    *seen |= 1u << (f - facts);
    ++*at;
    if (f->kind == FIELD_INTEGER)
        return decode_integer(p, s, f, at);
    return decode_quantity(p, s, f, at);
}

static bool decode_facts(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u32 seen = 0;
    const struct field *first = f->aux;
    if (!is_open(*at, '('))
        return decode_wrong(p, &(struct field){ .name = group_name(p, s, f) }, *at,
                     arena_format(&p->ctx->diags->arena, "facts in parentheses, as `(%s 1, %s 2)`", first[0].name, first[1].name));
    for (++*at; (*at)->tag != TAG_CLOSE;) {
        if (!fact_element(p, s, f, at, &seen))
            return false;
        if ((*at)->tag == TAG_COMMA)
            ++*at;
        else if ((*at)->tag != TAG_CLOSE)
            return decode_wrong(p, f, *at, "one number for each fact");
    }
    ++*at;
    return true;
}

/* `implement cap [a, b] {…}`: appended to what the statement has. */
static bool decode_implement(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    u32 old = (u32)field_get(s, f), n_at, dict = 0;
    p->n_scratch = 0;
    for (u32 i = 0; i < list_n(p->item, old); i++)
        put(p, list_at(p->item, old)[i]);
    if (!is_word(*at))
        return decode_wrong(p, f, *at, "a capability");
    put(p, (u32)(*at)->value);
    ++*at;
    n_at = p->n_scratch;
    put(p, 0);
    if (is_open(*at, '['))
        for (++*at; (*at)->tag != TAG_CLOSE || (++*at, false);) {
            if (!word_element(p, f, at))
                return false;
            p->scratch[n_at]++;
            if ((*at)->tag == TAG_COMMA)
                ++*at;
            else if ((*at)->tag != TAG_CLOSE)
                return decode_wrong(p, f, *at, "words");
        }
    if (is_open(*at, '{')) {
        u32 kept = p->n_scratch;
        dict = decode_attr(p, at);
        p->n_scratch = kept;
        if (!dict)
            return false;
    }
    put(p, dict);
    field_set(p->item, s, f, take_list(p));
    return true;
}

/* ---- Shardings: kept pending until the value ends, since `partial` follows as a clause of its own ---- */

static bool read_axis_set(struct parser *p, const struct field *f, const struct tagged **at, struct axis_list *out)
{
    if (!is_open(*at, '{'))
        return decode_wrong(p, f, *at, "sets of mesh axes, as `{tp}`");
    out->axes = p->axes + p->n_axes;
    out->n = 0;
    for (++*at; (*at)->tag != TAG_CLOSE;) {
        if (!is_word(*at))
            return decode_wrong(p, f, *at, "mesh axes");
        if (p->n_axes == COUNT(p->axes))
            return build_error(p, (*at)->at, "syntax.value.extra", "a sharding names at most %zu axes", COUNT(p->axes));
        p->axes[p->n_axes++] = (u32)(*at)->value;
        out->n++;
        ++*at;
        if ((*at)->tag == TAG_COMMA)
            ++*at;
        else if ((*at)->tag != TAG_CLOSE)
            return decode_wrong(p, f, *at, "mesh axes with commas between");
    }
    ++*at;
    return true;
}

static void begin_sharding(struct parser *p)
{
    if (!p->has_sharding) {
        memset(&p->sharding, 0, sizeof p->sharding);
        p->n_axes = 0;
    }
    p->has_sharding = true;
}

static bool decode_partial(struct parser *p, const struct field *f, const struct tagged **at)
{
    int reduction = decode_word(p, &reduction_enum, *at);
    begin_sharding(p);
    if (reduction < 0)
        return false;
    if (p->sharding.n_partial == COUNT(p->sharding.partial))
        return build_error(p, (*at)->at, "syntax.value.extra", "a value is partial under at most %zu reductions", COUNT(p->sharding.partial));
    ++*at;
    p->sharding.partial[p->sharding.n_partial].reduction = (enum reduction)reduction;
    return read_axis_set(p, f, at, &p->sharding.partial[p->sharding.n_partial++].axes);
}

static bool decode_sharding(struct parser *p, const struct field *f, const struct tagged **at)
{
    if (p->partial)
        return decode_partial(p, f, at);
    begin_sharding(p);
    if (!is_open(*at, '['))
        return decode_wrong(p, f, *at, "a set of axes for each dimension, as `[{tp}, {}]`");
    for (++*at; (*at)->tag != TAG_CLOSE;) {
        if (p->sharding.rank == MAX_RANK)
            return build_error(p, (*at)->at, "type.rank", "a tensor has at most %d dimensions", MAX_RANK);
        if (!read_axis_set(p, f, at, &p->sharding.dims[p->sharding.rank]))
            return false;
        p->sharding.rank++;
        if ((*at)->tag == TAG_COMMA)
            ++*at;
        else if ((*at)->tag != TAG_CLOSE)
            return decode_wrong(p, f, *at, "a set of axes for each dimension");
    }
    ++*at;
    return true;
}

static bool decode_dict(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    if (!is_open(*at, '{'))
        return decode_wrong(p, f, *at, "a dictionary, as `{key = value}`");
    u32 handle = decode_attr(p, at);
    field_set(p->item, s, f, handle);
    return handle != 0;
}

bool decode_compound(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at)
{
    switch ((enum field_kind)f->kind) {
    case FIELD_SHARDING: return decode_sharding(p, f, at);
    case FIELD_AXES: return decode_list(p, s, f, at, '{', "mesh axes, as `{tp}`", word_element);
    case FIELD_AXIS_SIZES: return decode_list(p, s, f, at, '[', "axes with their sizes, as `[tp = 8]`", axis_size_element);
    case FIELD_RANKS: return decode_ranks(p, s, f, at);
    case FIELD_REFS: return decode_refs(p, s, f, at);
    case FIELD_LINEAGE: return decode_lineage(p, s, f, at);
    case FIELD_OPERANDS:
    case FIELD_RESULTS: return decode_values(p, s, f, at);
    case FIELD_FACTS: return decode_facts(p, s, f, at);
    case FIELD_EFFECTS: return decode_list(p, s, f, at, '(', "effects, as `(read %x, write %y)`", effect_element);
    case FIELD_REQUIRE: return decode_list(p, s, f, at, '(', "resources, as `(compute 512, network 64 shared)`", require_element);
    case FIELD_IMPLEMENT: return decode_implement(p, s, f, at);
    case FIELD_WORDS: return decode_list(p, s, f, at, '[', "words, as `[a, b]`", word_element);
    case FIELD_INTEGERS: return decode_integers(p, s, f, at);
    case FIELD_DICT: return decode_dict(p, s, f, at);
    default: return false;
    }
}
