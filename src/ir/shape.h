/*
 * The shape of a statement: all that it holds but its name, its place, its sources and the numbers of its facts. A long
 * program has few shapes, and what follows from the shape alone is worked out once (verify.c, print_shape.c).
 */
#ifndef IR_SHAPE_H
#define IR_SHAPE_H

#include "ir/item.h"

enum { MOST_FACTS = 8 };

/* Of an entity: bytes FROM to END of its C struct, behind which the facts stand; END 0: it has no shape. */
struct shape {
    u16 from, end, n_facts;
    u64 fallback;               /* what a fact holds that isn't said */
    const struct field *group, *facts;  /* the clause, and its own fields */
    const struct field *phase;          /* the field that the name may imply, or NULL */
    const struct field *after;          /* the field that may name the statement itself, or NULL */
};

/* By entity, in ARENA; NULL: the item is so short that shapes are not worth the trouble. */
struct shape *shapes_of(const struct item *it, struct arena *arena);

u32 shape_hash(const struct shape *f, const struct stmt *s);

static inline bool shape_equal(const struct shape *f, const struct stmt *s, const struct stmt *t)
{
    return !memcmp((const char *)s + f->from, (const char *)t + f->from, (size_t)(f->end - f->from));
}

static inline const u64 *shape_facts(const struct shape *f, const struct stmt *s)
{
    return (const u64 *)((const char *)s + f->end);
}

/* Bit i: the i-th fact is said. *PLAIN: those that are, are numbers and no expressions. */
static inline u32 shape_said(const struct shape *f, const struct stmt *s, bool *plain)
{
    const u64 *value = shape_facts(f, s);
    u32 said = 0;
    u64 all = 0;
    for (u32 i = 0; i < f->n_facts; i++) {
        bool is_said = value[i] != f->fallback;
        all |= is_said ? value[i] : 0;
        said |= (u32)is_said << i;
    }
    *plain = !(all >> 63);
    return said;
}

#endif
