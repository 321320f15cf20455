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
    return (u32)XXH3_64bits(text, length) >> 2;
}

/* ---- Forms ---- */

enum byte_class { OTHER, DOT, DASH, DIGIT, LETTER };

static const u8 class_of[256] = {
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT,
    ['8'] = DIGIT, ['9'] = DIGIT, ['.'] = DOT, ['-'] = DASH, ['_'] = LETTER,
#define BOTH(c, C) [c] = LETTER, [C] = LETTER
    BOTH('a', 'A'), BOTH('b', 'B'), BOTH('c', 'C'), BOTH('d', 'D'), BOTH('e', 'E'), BOTH('f', 'F'), BOTH('g', 'G'),
    BOTH('h', 'H'), BOTH('i', 'I'), BOTH('j', 'J'), BOTH('k', 'K'), BOTH('l', 'L'), BOTH('m', 'M'), BOTH('n', 'N'),
    BOTH('o', 'O'), BOTH('p', 'P'), BOTH('q', 'Q'), BOTH('r', 'R'), BOTH('s', 'S'), BOTH('t', 'T'), BOTH('u', 'U'),
    BOTH('v', 'V'), BOTH('w', 'W'), BOTH('x', 'X'), BOTH('y', 'Y'), BOTH('z', 'Z'),
#undef BOTH
};

static enum byte_class class_at(const char *text)
{
    return (enum byte_class)class_of[(unsigned char)*text];
}

/* Four bytes a turn, written out, since all names of a text come by here. */
const char *form_part(const char *text, const char *end)
{
    for (; end - text >= 4; text += 4) {
        if (class_at(text) < DIGIT)
            return text;
        if (class_at(text + 1) < DIGIT)
            return text + 1;
        if (class_at(text + 2) < DIGIT)
            return text + 2;
        if (class_at(text + 3) < DIGIT)
            return text + 3;
    }
    while (text < end && class_at(text) >= DIGIT)
        text++;
    return text;
}

const char *form_scan(const char *text, const char *end, u32 *form)
{
    enum byte_class before = DOT;
    *form = FORM_NAME | FORM_WORD;
    for (;; text++) {
        const char *part = text;
        text = form_part(part, end);
        if (text == part)
            *form = 0;
        else if (before == DOT && class_at(part) == DIGIT)
            *form &= ~(u32)FORM_WORD;
        before = text < end ? class_at(text) : OTHER;
        if (!*form || before == OTHER)
            return text;
        *form = before == DOT ? *form | FORM_DOTTED : *form & ~(u32)FORM_NAME;
    }
}

static u32 form_of(const char *text, size_t length)
{
    u32 form;
    const char *end = form_scan(text, text + length, &form);
    return end == text + length ? form & (FORM_NAME | FORM_WORD) : 0;
}

/* ---- The table ---- */

static bool is_string(const struct interned *at, const char *text, size_t length, u32 hash)
{
    return at->hash == hash && at->length == length && !memcmp(at->text, text, length);
}

/* The atoms are only looked at where a slot's bits of the hash are right: each look comes from far away in memory. */
static u32 *find_slot(const struct interner *t, const char *text, size_t length, u32 hash)
{
    for (u32 i = hash & t->mask;; i = (i + 1) & t->mask) {
        u32 *slot = &t->slots[i];
        if (!*slot || (!((*slot ^ hash) & ~t->mask) && is_string(&t->atoms[*slot & t->mask], text, length, hash)))
            return slot;
    }
}

static u32 slot_of(const struct interner *t, atom a, u32 hash)
{
    return a | (hash & ~t->mask);
}

/* Atoms come in the order of their making, slots in none: they are fetched ahead. */
static void rehash(struct interner *t, u32 mask)
{
    enum { AHEAD = 16 };
    block_free(t->slots, (t->mask + (size_t)1) * sizeof *t->slots);
    t->mask = mask;
    t->slots = block_grow(NULL, 0, (mask + (size_t)1) * sizeof *t->slots);
    for (u32 a = 1; a < t->n; a++) {
        u32 hash = t->atoms[a].hash, i = hash & t->mask;
        if (a + AHEAD < t->n)
            __builtin_prefetch(&t->slots[t->atoms[a + AHEAD].hash & t->mask], 1);
        while (t->slots[i])
            i = (i + 1) & t->mask;
        t->slots[i] = slot_of(t, a, hash);
    }
}

/* Puts a new string into its slot. */
static atom add(struct interner *t, u32 *slot, struct interned new, bool copy)
{
    atom a = t->n;
    if (copy)
        new.text = arena_pack(t->arena, new.text, new.length);
    *VEC_PUSH(t->atoms, t->n, t->cap) = new;
    *slot = slot_of(t, a, new.hash);
    if (t->n > (t->mask >> 1))
        rehash(t, t->mask * 2 + 1);
    return a;
}

void interner_expect(struct interner *t, u32 n)
{
    u32 mask = t->mask;
    while (n > (mask >> 1))
        mask = mask * 2 + 1;
    if (mask > t->mask)
        rehash(t, mask);
}

struct interned intern_ahead(const struct interner *t, const char *text, size_t length, u32 form)
{
    u32 hash = hash_of(text, length);
    __builtin_prefetch(&t->slots[hash & t->mask], 1);
    return (struct interned){ text, (u32)length, hash, form & (FORM_NAME | FORM_WORD) };
}

atom intern_now(struct interner *t, const struct interned *ahead, bool copy)
{
    u32 *slot = find_slot(t, ahead->text, ahead->length, ahead->hash);
    return *slot ? *slot & t->mask : add(t, slot, *ahead, copy);
}

static atom find_or_add(struct interner *t, const char *text, size_t length, bool copy)
{
    u32 hash = hash_of(text, length), *slot = find_slot(t, text, length, hash);
    return *slot ? *slot & t->mask : add(t, slot, (struct interned){ text, (u32)length, hash, form_of(text, length) }, copy);
}

atom intern(struct interner *t, const char *text, size_t length)
{
    return find_or_add(t, text, length, true);
}

atom intern_borrowed(struct interner *t, const char *text, size_t length)
{
    return find_or_add(t, text, length, false);
}

atom intern_find(const struct interner *t, const char *text, size_t length)
{
    return *find_slot(t, text, length, hash_of(text, length)) & t->mask;
}

char *intern_text(const struct interner *t, atom a, struct arena *arena)
{
    return arena_copy(arena, t->atoms[a].text, t->atoms[a].length);
}
