#include "ir/item.h"

#include "ir/print.h"

#define WORD_TABLE(name, ...) \
    static const struct word name##_words[] = { __VA_ARGS__ }; \
    const struct enumeration name##_enum = { #name, name##_words, COUNT(name##_words) };

WORD_TABLE(lineage,
    { "", "not written" }, { "from", "lowered from" }, { "cloned", "a copy of" }, { "decomposed", "a part of" },
    { "fused", "made of several" }, { "generated", "added because of" }, { "preserved", "unchanged from" })
WORD_TABLE(effect,
    { "read", "" }, { "write", "" }, { "update", "" }, { "allocate", "" }, { "random", "" }, { "io", "" }, { "call", "" })
WORD_TABLE(resource,
    { "compute", "operations" }, { "memory_capacity", "bytes" }, { "memory_bandwidth", "bytes moved" },
    { "network", "bytes sent" }, { "storage", "bytes" }, { "host_control", "calls" }, { "synchronization", "events" })
WORD_TABLE(scope,
    { "per_rank", "each rank needs it" }, { "per_task", "the task needs it once" }, { "shared", "the tasks share it" })
WORD_TABLE(symbol_kind, { "integer", "a positive integer" })
WORD_TABLE(reduction,
    { "none", "" }, { "sum", "" }, { "max", "" }, { "min", "" }, { "product", "" })

/* ---- Items by name: a list of namesakes a name, since a file and what passes make of it stand side by side ---- */

static struct item *newest(const struct context *ctx, atom name)
{
    return name < ctx->n_item_of ? ctx->item_of[name] : NULL;
}

static void enter_name(struct item *it)
{
    struct context *ctx = it->ctx;
    u32 old = ctx->n_item_of, wanted = old ? old : 1024;
    if (!it->name)
        return;
    while (wanted <= it->name)
        wanted *= 2;
    if (wanted > old) {
        ctx->item_of = block_grow(ctx->item_of, old * sizeof *ctx->item_of, wanted * sizeof *ctx->item_of);
        ctx->n_item_of = wanted;
    }
    it->namesake = ctx->item_of[it->name];
    ctx->item_of[it->name] = it;
}

static void leave_name(struct item *it)
{
    if (!it->ctx->item_of || !it->name)
        return;
    struct item **at = &it->ctx->item_of[it->name];
    while (*at != it)
        at = &(*at)->namesake;
    *at = it->namesake;
}

struct item *item_new(struct context *ctx, const struct item_kind *kind, atom name)
{
    struct arena arena;
    arena_init(&arena);
    struct item *it = ARENA_NEW(&arena, struct item);
    *it = (struct item){ .ctx = ctx, .kind = kind, .name = name, .arena = arena, .begin = NO_PLACE };
    it->header.begin = it->header.parent.begin = NO_PLACE;
    it->blank = ARENA_ARRAY(&it->arena, struct stmt *, kind->n_entities);
    *VEC_PUSH(it->pool, it->n_pool, it->cap_pool) = 0;      /* handle 0: the empty list */
    enter_name(it);
    return it;
}

static void symtab_free(struct symtab *t)
{
    if (t->slots)
        block_free(t->slots, (t->mask + (size_t)1) * sizeof *t->slots);
}

void item_free(struct item *it)
{
    leave_name(it);
    symtab_free(&it->symbols);
    symtab_free(&it->values);
    symtab_free(&it->dollars);
    block_free(it->pool, it->cap_pool * sizeof *it->pool);
    if (it->stmts)
        block_free(it->stmts, it->cap_stmts * sizeof *it->stmts);
    struct arena arena = it->arena;
    arena_free(&arena);
}

/* ---- Records of what few statements say ---- */

/* Where the statements of an entity point at it; 0: they have none. */
static u16 more_at(const struct entity *e)
{
    const struct field *f = e->fields;
    while (f->kind != FIELD_END && !f->more)
        f++;
    return f->more;
}

static size_t more_size(const struct entity *e)
{
    size_t size = 0;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        if (f->more && f->offset + f->width > size)
            size = f->offset + f->width;
    return size;
}

static void *more_of(const struct stmt *s, u16 at)
{
    void *more;
    memcpy(&more, (const char *)s + at, sizeof more);
    return more;
}

static void set_more(struct stmt *s, u16 at, void *more, bool owns)
{
    memcpy((char *)s + at, &more, sizeof more);
    s->owns_more = owns;
}

void *stmt_more(struct item *it, struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    u16 at = more_at(e);
    void *shared = more_of(s, at);
    if (s->owns_more)
        return shared;
    void *own = arena_alloc(&it->arena, more_size(e));
    if (shared)
        memcpy(own, shared, more_size(e));
    set_more(s, at, own, true);
    return own;
}

void stmt_copy(struct item *it, struct stmt *to, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, to);
    u16 at = more_at(e);
    void *shared = at ? more_of(to, at) : NULL;
    memcpy(to, s, e->size);
    if (!at)
        return;
    set_more(to, at, shared, false);
    if (memcmp(more_of(s, at), shared, more_size(e)))
        memcpy(stmt_more(it, to), more_of(s, at), more_size(e));
}

/* ---- Statements ---- */

static void set_fallbacks(struct item *it, struct stmt *s, const struct field *fields)
{
    for (const struct field *f = fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_FACTS)
            set_fallbacks(it, s, f->aux);
        else if (f->fallback && f->kind != FIELD_RESULTS)
            field_set(it, s, f, f->fallback);
}

static struct stmt *new_blank(struct item *it, u32 entity)
{
    const struct entity *e = &it->kind->entities[entity];
    struct stmt *s = arena_alloc(&it->arena, e->size);
    s->entity = (u8)entity;
    s->begin = NO_PLACE;
    if (more_at(e))
        stmt_more(it, s);
    set_fallbacks(it, s, e->fields);
    s->owns_more = false;
    return s;
}

static struct stmt *new_stmt(struct item *it, u32 entity)
{
    const struct entity *e = &it->kind->entities[entity];
    if (!it->blank[entity])
        it->blank[entity] = new_blank(it, entity);
    struct stmt *s = arena_alloc(&it->arena, e->size);
    memcpy(s, it->blank[entity], e->size);
    return s;
}

struct stmt *item_add(struct item *it, u32 entity)
{
    struct stmt *s = new_stmt(it, entity);
    return *VEC_PUSH(it->stmts, it->n_stmts, it->cap_stmts) = s;
}

struct stmt *item_add_copy(struct item *it, const struct stmt *like, size_t size)
{
    struct stmt *s = arena_alloc(&it->arena, size);
    memcpy(s, like, size);
    s->owns_more = false;
    return *VEC_PUSH(it->stmts, it->n_stmts, it->cap_stmts) = s;
}

struct stmt *item_add_result(struct item *it, u32 entity)
{
    struct stmt *s = new_stmt(it, entity);
    s->is_result = true;
    return s;
}

/* ---- Names: atoms of new names are consecutive, so mostly each has its own slot; else open addressing ---- */

static bool is_dense(const struct symtab *t)
{
    return t->last - t->first <= t->mask;
}

static struct stmt **symtab_slot(const struct symtab *t, atom name)
{
    u32 i = name & t->mask;
    while (!is_dense(t) && t->slots[i] && t->slots[i]->name != name)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

/* A dense table's names are told by their slots: the statements lie far apart in memory. */
static void symtab_grow(struct symtab *t)
{
    struct symtab bigger = { .n = t->n, .mask = t->slots ? t->mask * 2 + 1 : 15, .first = t->first, .last = t->last };
    bigger.slots = block_grow(NULL, 0, (bigger.mask + (size_t)1) * sizeof *bigger.slots);
    for (u32 i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i])
            *symtab_slot(&bigger, is_dense(t) ? t->first + ((i - t->first) & t->mask) : t->slots[i]->name) = t->slots[i];
    symtab_free(t);
    *t = bigger;
}

/* Makes room for NAME. */
static void symtab_widen(struct symtab *t, atom name)
{
    atom first = t->n && t->first < name ? t->first : name, last = t->n && t->last > name ? t->last : name;
    while (!t->slots || (t->n > t->mask / 2 && last - first > t->mask))
        symtab_grow(t);
    t->first = first;
    t->last = last;
}

static struct stmt *symtab_find(const struct symtab *t, atom name)
{
    return t->slots && name >= t->first && name <= t->last ? *symtab_slot(t, name) : NULL;
}

static struct symtab *table_of(struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    return e->flags & ENTITY_VALUE ? &it->values : e->fields[0].kind == FIELD_DOLLAR_NAME ? &it->dollars : &it->symbols;
}

struct stmt *item_declare(struct item *it, struct stmt *s)
{
    struct symtab *t = table_of(it, s);
    symtab_widen(t, s->name);
    struct stmt **slot = symtab_slot(t, s->name);
    if (*slot)
        return *slot;
    *slot = s;
    t->n++;
    return NULL;
}

struct stmt *item_symbol(const struct item *it, atom name) { return symtab_find(&it->symbols, name); }
struct stmt *item_value(const struct item *it, atom name) { return symtab_find(&it->values, name); }
struct stmt *item_dollar(const struct item *it, atom name) { return symtab_find(&it->dollars, name); }

struct stmt *item_ref(const struct item *it, u32 ref)
{
    return symtab_find(ref_is_value(ref) ? &it->values : &it->symbols, ref_atom(ref));
}

u32 item_count(const struct item *it, u32 entity)
{
    u32 n = 0;
    for (u32 i = 0; i < it->n_stmts; i++)
        n += it->stmts[i]->entity == entity;
    return n;
}

const struct stmt *item_once(const struct item *it, u32 entity)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == entity)
            return it->stmts[i];
    return NULL;
}

/* ---- Lists ---- */

u32 item_list(struct item *it, const u32 *elements, u32 n)
{
    u32 last = it->last_list;
    if (last && it->pool[last] == n && (!n || !memcmp(&it->pool[last + 1], elements, n * sizeof *elements)))
        return last;
    u32 handle = it->n_pool;
    *VEC_PUSH(it->pool, it->n_pool, it->cap_pool) = n;
    for (u32 i = 0; i < n; i++)
        *VEC_PUSH(it->pool, it->n_pool, it->cap_pool) = elements[i];
    return it->last_list = handle;
}

bool ranks_contain(const struct item *it, u32 handle, u32 rank)
{
    const u32 *at = list_at(it, handle);
    for (u32 i = 0; i + 1 < list_n(it, handle); i += 2)
        if (rank >= at[i] && rank <= at[i + 1])
            return true;
    return !handle;
}

/* ---- Fields by row ---- */

void field_set(struct item *it, struct stmt *s, const struct field *f, u64 value)
{
    if (f->more && field_get(s, f) == value)
        return;
    void *at = field_place(it, s, f);
    switch (f->kind) {
    case FIELD_ENUM:
    case FIELD_BOOL:
        *(u8 *)at = (u8)value;
        break;
    case FIELD_INTEGER:
    case FIELD_QUANTITY:
    case FIELD_FLOAT:
        *(u64 *)at = value;
        break;
    default:
        *(u32 *)at = (u32)value;
    }
}

bool group_is_default(const struct stmt *s, const struct field *facts)
{
    for (const struct field *f = facts; f->kind != FIELD_END; f++)
        if (field_get(s, f) != f->fallback)
            return false;
    return true;
}

u32 item_attribute(const struct item *it, u32 attributes, atom name)
{
    const u32 *at = list_at(it, attributes);
    for (u32 i = 0; i + 1 < list_n(it, attributes); i += 2)
        if (at[i] == name)
            return at[i + 1];
    return 0;
}

u64 item_text_size(const struct item *it)
{
    struct out o;
    out_memory(&o);
    print_item(&o, it);
    u64 n = o.n;
    out_free(&o);
    return n;
}

struct digest item_digest_now(const struct item *it)
{
    struct out o;
    out_digest(&o);
    print_item(&o, it);
    return digest_finish(&o);
}

struct digest item_digest(struct item *it)
{
    if (digest_is_none(it->digest))
        it->digest = item_digest_now(it);
    return it->digest;
}

/* ---- Files ---- */

void module_init(struct module *m, struct context *ctx, const struct source *src)
{
    *m = (struct module){ .ctx = ctx, .src = src };
}

void module_free(struct module *m)
{
    for (u32 i = 0; i < m->n; i++)
        item_free(m->items[i]);
    if (m->items)
        block_free(m->items, m->cap * sizeof *m->items);
    if (m->trivia)
        block_free(m->trivia, m->cap_trivia * sizeof *m->trivia);
    *m = (struct module){ .ctx = m->ctx };
}

void module_add(struct module *m, struct item *it)
{
    it->index = m->n;
    *VEC_PUSH(m->items, m->n, m->cap) = it;
}

void module_insert(struct module *m, u32 at, struct item *it)
{
    module_add(m, it);
    memmove(m->items + at + 1, m->items + at, (m->n - 1 - at) * sizeof *m->items);
    m->items[at] = it;
    for (u32 i = at; i < m->n; i++)
        m->items[i]->index = i;
}

/* Lists of items are also cut and joined by hand, so an index is only believed where it proves right. */
struct item *module_find(const struct module *m, atom name)
{
    struct item *candidates = newest(m->ctx, name), *found = NULL;
    for (struct item *it = candidates; it; it = it->namesake)
        if (it->index < m->n && m->items[it->index] == it && (!found || it->index < found->index))
            found = it;
    for (u32 i = 0; candidates && !found && i < m->n; i++)
        if (m->items[i]->name == name)
            found = m->items[i];
    return found;
}
