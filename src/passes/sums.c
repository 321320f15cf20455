#include "passes/sums.h"

/* Where the fields of one entity lie. */
struct grouping {
    u32 entity;
    const struct field *first, *second;
};

static const struct field *named(const struct entity *e, const char *name)
{
    return field_find(e->fields, name, strlen(name));
}

static const struct enumeration *words_of(const struct field *f)
{
    return f->aux;
}

/* The entity with two enumerations of these names and with FACT, a quantity or a group of them. */
static bool find_grouping(const struct item_kind *k, const char *first, const char *second, const char *fact,
                          struct grouping *g, struct sums *s)
{
    for (u32 i = 0; i < k->n_entities; i++) {
        const struct entity *e = &k->entities[i];
        const struct field *f = named(e, fact);
        *g = (struct grouping){ i, named(e, first), named(e, second) };
        if (!f || !g->first || !g->second)
            continue;
        if (f->kind == FIELD_QUANTITY)
            s->facts[s->n_facts++] = f;
        else
            for (const struct field *x = f->aux; x->kind != FIELD_END && s->n_facts < MAX_FACTS; x++)
                s->facts[s->n_facts++] = x;
        return true;
    }
    return false;
}

/* G: the sum is of one group, that of T; NULL: of all. */
static bool overflows(const struct item *it, const struct stmt *t, const struct field *f, const struct grouping *g)
{
    struct context *ctx = it->ctx;
    struct loc at = it->src && t->begin != NO_PLACE ? ctx->locate(it, t, f->name, NULL) : (struct loc){ 0 };
    const char *keyword = stmt_entity(it, t)->keyword;
    if (g)
        return diag_error(ctx->diags, at, "pass.sum", "the sum of %s in @%s over each %s with the %s `%s` and the %s `%s` leaves 128 bits", f->name,
                          context_text(ctx, it->name), keyword, g->first->name, words_of(g->first)->words[field_get(t, g->first)].text,
                          g->second->name, words_of(g->second)->words[field_get(t, g->second)].text);
    return diag_error(ctx->diags, at, "pass.sum", "the sum of %s in @%s over every %s leaves 128 bits", f->name, context_text(ctx, it->name), keyword);
}

static bool add(const struct sums *s, struct sum *sum, const struct item *it, const struct stmt *t, const struct grouping *g)
{
    sum->count++;
    for (u32 i = 0; i < s->n_facts; i++)
        if (qty_add(it->ctx->exprs, sum->facts[i], field_get(t, s->facts[i]), &sum->facts[i]) != EXPR_OK)
            return overflows(it, t, s->facts[i], g);
    return true;
}

static void drop_empty(struct sums *s, const struct grouping *g, u32 groups)
{
    u32 seconds = words_of(g->second)->n;
    for (u32 i = 0; i < groups; i++) {
        struct sum sum = s->list[i];
        if (!sum.count)
            continue;
        sum.first = words_of(g->first)->words[i / seconds].text;
        sum.second = words_of(g->second)->words[i % seconds].text;
        s->list[s->n++] = sum;
    }
}

static bool group(struct sums *s, const struct item *it, const struct grouping *g, struct arena *arena)
{
    u32 seconds = words_of(g->second)->n, groups = words_of(g->first)->n * seconds;
    s->list = ARENA_ARRAY(arena, struct sum, groups);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *t = it->stmts[i];
        if (t->entity != g->entity)
            continue;
        u64 at = field_get(t, g->first) * seconds + field_get(t, g->second);
        if (!add(s, &s->list[at], it, t, g) || !add(s, &s->total, it, t, NULL))
            return false;
    }
    drop_empty(s, g, groups);
    return true;
}

bool sums_of_tasks(struct sums *s, const struct item *it, struct arena *arena)
{
    struct grouping g;
    *s = (struct sums){ 0 };
    return !find_grouping(it->kind, "phase", "body", "work", &g, s) || group(s, it, &g, arena);
}

bool sums_of_buffers(struct sums *s, const struct item *it, struct arena *arena)
{
    struct grouping g;
    *s = (struct sums){ 0 };
    return !find_grouping(it->kind, "role", "storage", "size", &g, s) || group(s, it, &g, arena);
}
