#include "ir/shape.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FEWEST = 64 };

static struct shape shape_of(const struct entity *e)
{
    struct shape shape = { .from = offsetof(struct stmt, lineage_kind) };
    u32 groups = 0;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++) {
        if (f->implied == IMPLIED_PHASE)
            shape.phase = f;
        if (f->kind == FIELD_REFS && !strcmp(f->name, "after"))
            shape.after = f;
        if (f->kind != FIELD_FACTS)
            continue;
        groups++;
        shape.group = f;
        shape.facts = f->aux;
    }
    if (groups != 1)
        return shape;
    while (shape.facts[shape.n_facts].kind != FIELD_END)
        shape.n_facts++;
    u32 end = shape.facts->offset;
    if (shape.n_facts <= MOST_FACTS && end + shape.n_facts * sizeof(u64) == e->size)
        shape.end = (u16)end;
    shape.fallback = shape.facts->fallback;
    return shape;
}

struct shape *shapes_of(const struct item *it, struct arena *arena)
{
    if (it->n_stmts < FEWEST)
        return NULL;
    struct shape *shapes = ARENA_ARRAY(arena, struct shape, it->kind->n_entities);
    for (u32 e = 0; e < it->kind->n_entities; e++)
        shapes[e] = shape_of(&it->kind->entities[e]);
    return shapes;
}

u32 shape_hash(const struct shape *f, const struct stmt *s)
{
    return (u32)XXH3_64bits((const char *)s + f->from, (size_t)(f->end - f->from));
}
