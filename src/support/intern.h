/* Interned strings: one table a context, dense 32-bit atoms, compared as numbers. */
#ifndef SUPPORT_INTERN_H
#define SUPPORT_INTERN_H

#include "support/arena.h"

/*
 * How a string can stand in text without quotes: behind a sigil (a name), or alone (a word). Bits. Both are parts with
 * dots between, none empty. A name's parts are letters, digits and `_`; a word's start with a letter or `_`, and may hold
 * `-` between others. (The lexer's rules `name` and `word`.)
 */
enum intern_form { FORM_NAME = 1, FORM_WORD = 2, FORM_DOTTED = 4 };

/* Where the longest run of bytes that such strings are made of ends, END at the latest, and the forms that it has. */
const char *form_scan(const char *text, const char *end, u32 *form);

/* Where the run of letters, digits and `_` from TEXT on ends, END at the latest. */
const char *form_part(const char *text, const char *end);

struct interned {
    const char *text;       /* not NUL-terminated */
    u32 length;
    u32 hash : 30, form : 2;
};

struct interner {
    struct arena *arena;    /* owner of the copied texts */
    struct interned *atoms; /* [0] is the empty "no string" */
    u32 n, cap;
    u32 *slots;             /* an atom in the bits of MASK, above them the string's hash; 0: none */
    u32 mask;
};

void interner_init(struct interner *t, struct arena *arena);
void interner_free(struct interner *t);

/* Makes room for N strings in all, so that the table need not grow to it step by step. */
void interner_expect(struct interner *t, u32 n);

/* The atom of a string; a new string is copied into the arena. LENGTH 0 gives an atom too (not 0). */
atom intern(struct interner *t, const char *text, size_t length);

/* As intern, but a new string is not copied: TEXT must live as long as the table. */
atom intern_borrowed(struct interner *t, const char *text, size_t length);

/*
 * The same in two steps, with other work between, so that the place where the string would be can come from memory:
 * first its hash, then its atom. FORM is what form_scan found.
 */
struct interned intern_ahead(const struct interner *t, const char *text, size_t length, u32 form);
atom intern_now(struct interner *t, const struct interned *ahead, bool copy);

/* The atom if the string is known, else 0. */
atom intern_find(const struct interner *t, const char *text, size_t length);

static inline atom intern_string(struct interner *t, const char *text)
{
    return intern(t, text, strlen(text));
}

/* A NUL-terminated copy in ARENA, for messages. */
char *intern_text(const struct interner *t, atom a, struct arena *arena);

static inline bool intern_is(const struct interner *t, atom a, const char *text)
{
    return t->atoms[a].length == strlen(text) && !memcmp(t->atoms[a].text, text, t->atoms[a].length);
}

#endif
