#include "support/intern.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 1024 };

void interner_init(struct interner *t, struct arena *arena)
{
    *t = (struct interner){ .arena = arena, .mask = FIRST_SLOTS - 1 };
    t->slots = block_grow(NULL, 0, FIRST_SLOTS * sizeof *t->slots);
    *VEC_PUSH(t->atoms, t->n, t->cap) = (struct interned){ .text = "" };
}

void interner_free(struct interner *t)
{
    block_free(t->slots, (t->mask + (size_t)1) * sizeof *t->slots);
    block_free(t->atoms, t->cap * sizeof *t->atoms);
}

static u32 hash_of(const char *text, size_t length)
{
    return (u32)XXH3_64bits(text, length);
}

static u32 *find_slot(const struct interner *t, const char *text, size_t length, u32 hash)
{
    for (u32 i = hash & t->mask;; i = (i + 1) & t->mask) {
        const struct interned *at = &t->atoms[t->slots[i]];
        if (!t->slots[i] ||
            (at->hash == hash && at->length == length && !memcmp(at->text, text, length)))
            return &t->slots[i];
    }
}

static void rehash(struct interner *t)
{
    size_t old = t->mask + (size_t)1;
    block_free(t->slots, old * sizeof *t->slots);
    t->mask = (u32)(old * 2 - 1);
    t->slots = block_grow(NULL, 0, old * 2 * sizeof *t->slots);
    for (u32 a = 1; a < t->n; a++) {
        u32 i = t->atoms[a].hash & t->mask;
        while (t->slots[i])
            i = (i + 1) & t->mask;
        t->slots[i] = a;
    }
}

static atom add(struct interner *t, const char *text, size_t length, bool copy)
{
    u32 hash = hash_of(text, length);
    u32 *slot = find_slot(t, text, length, hash);
    if (*slot)
        return *slot;
    atom a = t->n;
    if (copy)
        text = arena_copy(t->arena, text, length);
    *VEC_PUSH(t->atoms, t->n, t->cap) = (struct interned){ text, (u32)length, hash };
    *slot = a;
    if (t->n > (t->mask >> 1))
        rehash(t);
    return a;
}

atom intern(struct interner *t, const char *text, size_t length)
{
    return add(t, text, length, true);
}

atom intern_borrowed(struct interner *t, const char *text, size_t length)
{
    return add(t, text, length, false);
}

atom intern_find(const struct interner *t, const char *text, size_t length)
{
    return *find_slot(t, text, length, hash_of(text, length));
}

char *intern_text(const struct interner *t, atom a, struct arena *arena)
{
    return arena_copy(arena, t->atoms[a].text, t->atoms[a].length);
}
