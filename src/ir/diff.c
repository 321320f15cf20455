#include "ir/diff.h"

#include "ir/implied.h"
#include "ir/print.h"

#define NOBODY UINT32_MAX

/* New names of what the first item declares, by atom; 0: as it was. */
struct renaming {
    u32 n;
    atom *symbols, *values;
};

/* One item under comparison: which statement of the other is the same. */
struct side {
    const struct item *it;
    u32 *partner;
    u64 *keys;              /* of the round; 0: does not take part */
};

struct matching {
    struct side a, b;
    struct renaming *renaming;
    struct arena *arena;
};

/* ---- Rounds: statements of one key are the same, in their order ---- */

static u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static u32 power_above(u32 n)
{
    u32 size = 16;
    while (size < n)
        size *= 2;
    return size;
}

static void pair_up(struct matching *m)
{
    u32 na = m->a.it->n_stmts, nb = m->b.it->n_stmts, mask = power_above(2 * nb) - 1;
    struct arena scratch;
    arena_init(&scratch);
    u32 *first = ARENA_ARRAY(&scratch, u32, mask + 1u), *next = ARENA_ARRAY(&scratch, u32, nb + 1u);
    for (u32 i = nb; i-- > 0;) {
        u64 key = m->b.keys[i];
        if (!key || m->b.partner[i] != NOBODY)
            continue;
        u32 slot = (u32)(key >> 32 ^ key) & mask;
        while (first[slot] && m->b.keys[first[slot] - 1] != key)
            slot = (slot + 1) & mask;
        next[i] = first[slot];
        first[slot] = i + 1;
    }
    for (u32 i = 0; i < na; i++) {
        u64 key = m->a.keys[i];
        if (!key || m->a.partner[i] != NOBODY)
            continue;
        u32 slot = (u32)(key >> 32 ^ key) & mask;
        while (first[slot] && m->b.keys[first[slot] - 1] != key)
            slot = (slot + 1) & mask;
        u32 hit = first[slot];
        if (!hit || m->b.partner[hit - 1] != NOBODY)
            continue;
        m->a.partner[i] = hit - 1;
        m->b.partner[hit - 1] = i;
        if (next[hit - 1])      /* the last one stays, so that the slots behind it are still found */
            first[slot] = next[hit - 1];
    }
    arena_free(&scratch);
}

typedef u64 key_of(const struct matching *m, const struct side *side, const struct stmt *s);

static void play_round(struct matching *m, key_of *key)
{
    for (struct side *s = &m->a;; s = &m->b) {
        for (u32 i = 0; i < s->it->n_stmts; i++)
            s->keys[i] = s->partner[i] == NOBODY ? key(m, s, s->it->stmts[i]) : 0;
        if (s == &m->b)
            break;
    }
    pair_up(m);
}

static u64 named_key(const struct matching *m, const struct side *side, const struct stmt *s)
{
    (void)m, (void)side;
    return s->name ? (u64)(s->entity + 1) << 32 | s->name : 0;
}

static u64 once_key(const struct matching *m, const struct side *side, const struct stmt *s)
{
    (void)m;
    return stmt_entity(side->it, s)->flags & ENTITY_ONCE || side->it->kind->layer == LAYER_SESSION ? s->entity + 1u : 0;
}

static u64 hash_text(u64 hash, const struct out *o)
{
    for (size_t i = 0; i < o->n; i++)
        hash = mix(hash, (u8)o->data[i]);
    return hash;
}

/* A name that only this side has stands for any other such name. */
static u64 hash_ref(const struct matching *m, u64 hash, u32 ref)
{
    bool both = (item_ref(m->a.it, ref) == NULL) == (item_ref(m->b.it, ref) == NULL);
    return mix(hash, both ? ref + 1ull : 0);
}

static u64 hash_refs(const struct matching *m, const struct side *side, u64 hash, u32 handle, bool values)
{
    for (u32 i = 0; i < list_n(side->it, handle); i++) {
        u32 word = list_at(side->it, handle)[i];
        hash = hash_ref(m, hash, values ? REF_VALUE(word) : word);
    }
    return mix(hash, list_n(side->it, handle));
}

static u64 hash_field(const struct matching *m, const struct side *side, u64 hash, const struct stmt *s, const struct field *f)
{
    struct out o;
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME: case FIELD_VALUE_NAME: case FIELD_DOLLAR_NAME:
        return hash;
    case FIELD_REF:
        return hash_ref(m, hash, REF_SYMBOL((u32)field_get(s, f)));
    case FIELD_VALUE_REF:
        return hash_ref(m, hash, REF_VALUE((u32)field_get(s, f)));
    case FIELD_REFS:
        return hash_refs(m, side, hash, (u32)field_get(s, f), false);
    case FIELD_OPERANDS: case FIELD_RESULTS:
        return hash_refs(m, side, hash, (u32)field_get(s, f), true);
    default:
        out_memory(&o);
        print_field(&o, side->it, s, f);
        hash = hash_text(hash, &o);
        out_free(&o);
        return hash;
    }
}

static u64 content_key(const struct matching *m, const struct side *side, const struct stmt *s)
{
    u64 hash = s->entity + 1u, i = 0;
    for (const struct field *f = stmt_entity(side->it, s)->fields; f->kind != FIELD_END; f++, i++)
        if (f->presence == REQUIRED || !field_is_default(side->it, s, f))
            hash = hash_field(m, side, mix(hash, i), s, f);
    return hash ? hash : 1;
}

static u64 nameless_key(const struct matching *m, const struct side *side, const struct stmt *s)
{
    return s->name ? 0 : content_key(m, side, s);
}

/* What a nameless statement is about: its first head field, as `output %y`, `issue @queue`. */
static u64 head_key(const struct matching *m, const struct side *side, const struct stmt *s)
{
    const struct field *f = stmt_entity(side->it, s)->fields;
    return s->name || f->kind == FIELD_END ? 0 : hash_field(m, side, s->entity + 1u, s, f) | 1;
}

/* ---- Renamings ---- */

static void rename_to(struct matching *m, bool value, atom from, atom to)
{
    u32 n = m->a.it->ctx->names.n;
    if (!m->renaming)
        m->renaming = ARENA_NEW(m->arena, struct renaming);
    atom **map = value ? &m->renaming->values : &m->renaming->symbols;
    m->renaming->n = n;
    if (!*map)
        *map = ARENA_ARRAY(m->arena, atom, n);
    (*map)[from] = to;
}

static atom renamed(const struct renaming *r, bool value, atom name)
{
    const atom *map = !r ? NULL : value ? r->values : r->symbols;
    return map && map[name] ? map[name] : name;
}

/* Results that stand at one place of one task, and whose names the other item does not know. */
static void rename_results(struct matching *m, const struct stmt *s, const struct stmt *t)
{
    for (const struct field *f = stmt_entity(m->a.it, s)->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_RESULTS || !f->fallback)
            continue;
        u32 x = (u32)field_get(s, f), y = (u32)field_get(t, f);
        for (u32 i = 0; x && y && i < list_n(m->a.it, x) && i < list_n(m->b.it, y); i++) {
            atom from = list_at(m->a.it, x)[i], to = list_at(m->b.it, y)[i];
            if (from != to && !item_value(m->b.it, from) && !item_value(m->a.it, to))
                rename_to(m, true, from, to);
        }
    }
}

static void note_renamings(struct matching *m)
{
    for (u32 i = 0; i < m->a.it->n_stmts; i++) {
        const struct stmt *s = m->a.it->stmts[i], *t;
        if (m->a.partner[i] == NOBODY)
            continue;
        t = m->b.it->stmts[m->a.partner[i]];
        bool dollar = stmt_entity(m->a.it, s)->fields[0].kind == FIELD_DOLLAR_NAME;
        if (s->name && t->name && s->name != t->name && !dollar)
            rename_to(m, stmt_entity(m->a.it, s)->flags & ENTITY_VALUE, s->name, t->name);
        rename_results(m, s, t);
    }
}

static u32 count_free(const struct side *s)
{
    u32 n = 0;
    for (u32 i = 0; i < s->it->n_stmts; i++)
        n += s->partner[i] == NOBODY;
    return n;
}

static void match(struct matching *m)
{
    static key_of *const rounds[] = { named_key, nameless_key, head_key, once_key, content_key };
    for (u32 i = 0; i < COUNT(rounds) && count_free(&m->a) && count_free(&m->b); i++)
        play_round(m, rounds[i]);
    note_renamings(m);
}

/* ---- Fields ---- */

static bool same_names(const struct item_diff *d, u32 x, u32 y, bool refs)
{
    if (!x != !y || list_n(d->a, x) != list_n(d->b, y))
        return false;
    for (u32 i = 0; i < list_n(d->a, x); i++) {
        u32 p = list_at(d->a, x)[i], q = list_at(d->b, y)[i];
        bool value = refs ? ref_is_value(p) : true;
        atom name = renamed(d->renaming, value, refs ? ref_atom(p) : p);
        if ((refs ? value ? REF_VALUE(name) : REF_SYMBOL(name) : name) != q)
            return false;
    }
    return true;
}

static bool same_effects(const struct item_diff *d, u32 x, u32 y)
{
    if (!x != !y || list_n(d->a, x) != list_n(d->b, y))
        return false;
    for (u32 i = 0; i + 1 < list_n(d->a, x); i += 2) {
        const u32 *p = list_at(d->a, x) + i, *q = list_at(d->b, y) + i;
        if (p[0] != q[0] || ref_is_value(p[1]) != ref_is_value(q[1]) ||
            renamed(d->renaming, ref_is_value(p[1]), ref_atom(p[1])) != ref_atom(q[1]))
            return false;
    }
    return true;
}

/* Lineage names things of the parent: it is compared as it stands. */
static bool same_field(const struct item_diff *d, const struct stmt *s, const struct stmt *t, const struct field *f)
{
    switch ((enum field_kind)f->kind) {
    case FIELD_SYMBOL_NAME: case FIELD_VALUE_NAME: case FIELD_DOLLAR_NAME:
        return true;
    case FIELD_REF:
        return renamed(d->renaming, false, (atom)field_get(s, f)) == field_get(t, f);
    case FIELD_VALUE_REF:
        return renamed(d->renaming, true, (atom)field_get(s, f)) == field_get(t, f);
    case FIELD_REFS:
        return same_names(d, (u32)field_get(s, f), (u32)field_get(t, f), true);
    case FIELD_OPERANDS: case FIELD_RESULTS:
        return same_names(d, (u32)field_get(s, f), (u32)field_get(t, f), false);
    case FIELD_EFFECTS:
        return same_effects(d, (u32)field_get(s, f), (u32)field_get(t, f));
    case FIELD_WORD:
        return field_said(d->a, s, f) == field_said(d->b, t, f);
    default:
        return stmt_field_equal(d->a, s, d->b, t, f);
    }
}

static void diff_facts(const struct stmt *s, const struct stmt *t, const struct field *f, diff_visit *visit, void *state)
{
    for (const struct field *g = f->aux; g->kind != FIELD_END; g++)
        if (field_get(s, g) != field_get(t, g))
            visit(state, s, t, f, g);
}

static void diff_results(const struct item_diff *d, const struct stmt *s, const struct stmt *t, const struct field *f,
                         diff_visit *visit, void *state)
{
    u32 x = (u32)field_get(s, f), y = (u32)field_get(t, f);
    if (!same_names(d, x, y, false)) {
        visit(state, s, t, f, NULL);
        return;
    }
    for (u32 i = 0; f->fallback && i < list_n(d->a, x); i++) {
        const struct stmt *v = item_value(d->a, list_at(d->a, x)[i]), *w = item_value(d->b, list_at(d->b, y)[i]);
        if (v && w && v->is_result && w->is_result)
            stmt_diff(d, v, w, visit, state);
    }
}

void stmt_diff(const struct item_diff *d, const struct stmt *a, const struct stmt *b, diff_visit *visit, void *state)
{
    for (const struct field *f = stmt_entity(d->a, a)->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_FACTS)
            diff_facts(a, b, f, visit, state);
        else if (f->kind == FIELD_RESULTS)
            diff_results(d, a, b, f, visit, state);
        else if (!same_field(d, a, b, f))
            visit(state, a, b, f, NULL);
}

static void note_change(void *state, const struct stmt *a, const struct stmt *b, const struct field *f, const struct field *fact)
{
    (void)a, (void)b, (void)f, (void)fact;
    *(bool *)state = true;
}

/* ---- Order: all but a longest run of statements that keep their order have moved ---- */

/* Marks in STAYS, by statement of B. */
static void find_stays(const struct matching *m, bool *stays)
{
    u32 nb = m->b.it->n_stmts, n = 0;
    struct arena scratch;
    arena_init(&scratch);
    u32 *tail = ARENA_ARRAY(&scratch, u32, nb + 1u), *before = ARENA_ARRAY(&scratch, u32, nb + 1u);
    for (u32 i = 0; i < nb; i++) {
        u32 low = 0, high = n, key = m->b.partner[i];
        if (key == NOBODY)
            continue;
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (m->b.partner[tail[middle]] < key)
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low ? tail[low - 1] : NOBODY;
        tail[low] = i;
        n += low == n;
    }
    for (u32 i = n ? tail[n - 1] : NOBODY; i != NOBODY; i = before[i])
        stays[i] = true;
    arena_free(&scratch);
}

/* ---- The whole ---- */

static struct side side_of(struct arena *arena, const struct item *it)
{
    struct side s = { it, ARENA_ARRAY(arena, u32, it->n_stmts + 1u), ARENA_ARRAY(arena, u64, it->n_stmts + 1u) };
    memset(s.partner, 0xff, (it->n_stmts + 1u) * sizeof *s.partner);
    return s;
}

static bool same_pin(const struct pin *a, const struct pin *b)
{
    return a->item == b->item && digest_equal(a->digest, b->digest);
}

static bool same_header(const struct header *x, const struct header *y)
{
    bool same = x->major == y->major && x->minor == y->minor && same_pin(&x->parent, &y->parent) && x->pass == y->pass &&
                x->revision == y->revision && x->n_using == y->n_using;
    for (u32 i = 0; same && i < x->n_using; i++)
        same = same_pin(&x->using[i], &y->using[i]);
    return same;
}

static void add_change(struct item_diff *d, struct arena *arena, struct stmt_change c)
{
    if (d->n == d->cap) {
        struct stmt_change *more = ARENA_ARRAY(arena, struct stmt_change, 2 * d->cap + 64);
        if (d->n)
            memcpy(more, d->changes, d->n * sizeof *more);
        d->changes = more;
        d->cap = 2 * d->cap + 64;
    }
    d->changes[d->n++] = c;
}

/* Values that the statement declares and that are called otherwise now. */
static void list_renamed_results(struct item_diff *d, struct arena *arena, const struct stmt *s)
{
    if (!d->renaming || !d->renaming->values)
        return;
    for (const struct field *f = stmt_entity(d->a, s)->fields; f->kind != FIELD_END; f++)
        for (u32 i = 0, x = f->kind == FIELD_RESULTS ? (u32)field_get(s, f) : 0; x && i < list_n(d->a, x); i++) {
            const struct stmt *v = item_value(d->a, list_at(d->a, x)[i]);
            const struct stmt *w = v && v->is_result ? item_value(d->b, renamed(d->renaming, true, v->name)) : NULL;
            if (w && w->name != v->name)
                add_change(d, arena, (struct stmt_change){ .a = v, .b = w, .renamed = true });
        }
}

static void list_removed(struct item_diff *d, const struct matching *m, u32 *at, u32 until)
{
    for (; *at < until; ++*at)
        if (m->a.partner[*at] == NOBODY)
            add_change(d, m->arena, (struct stmt_change){ .a = d->a->stmts[*at] });
}

static void list_changes(struct item_diff *d, const struct matching *m)
{
    bool *stays = ARENA_ARRAY(m->arena, bool, d->b->n_stmts + 1u);
    u32 removed = 0;
    find_stays(m, stays);
    for (u32 i = 0; i < d->b->n_stmts; i++) {
        u32 k = m->b.partner[i];
        struct stmt_change c = { .a = k == NOBODY ? NULL : d->a->stmts[k], .b = d->b->stmts[i] };
        if (k == NOBODY) {
            add_change(d, m->arena, c);
            continue;
        }
        if (stays[i])
            list_removed(d, m, &removed, k);
        c.renamed = c.a->name != c.b->name;
        c.moved = !stays[i];
        stmt_diff(d, c.a, c.b, note_change, &c.changed);
        if (c.renamed || c.moved || c.changed)
            add_change(d, m->arena, c);
        list_renamed_results(d, m->arena, c.a);
    }
    list_removed(d, m, &removed, d->a->n_stmts);
}

bool item_diff(struct item *a, struct item *b, struct arena *arena, struct item_diff *out)
{
    assert(a->ctx == b->ctx && a->kind == b->kind);
    *out = (struct item_diff){ .a = a, .b = b, .header = !same_header(&a->header, &b->header) };
    if (a->name == b->name && digest_equal(item_digest(a), item_digest(b)))
        return false;
    struct matching m = { side_of(arena, a), side_of(arena, b), NULL, arena };
    match(&m);
    out->renaming = m.renaming;
    list_changes(out, &m);
    return out->header || out->n;
}
