/*
 * Verification: the schema's own rules for every item (presence, references, quantities, names, lineage, operations),
 * then the dialect's. A verifier reports all that it finds; it never changes the item.
 */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

#include "ir/item.h"

struct verifier {
    const struct item *item;
    struct context *ctx;
    const struct module *module;    /* where parents and `using` items are looked up; may be NULL */
    u32 errors;
    struct arena scratch;           /* freed after the item */
};

/* True when the item is legal. Diagnostics go to the context. */
bool verify_item(struct item *it, const struct module *in);
bool verify_module(const struct module *m);

/*
 * Always false. FIELD is the clause's word (or a head field's name) and TEXT a token in it, for the caret: either may
 * be NULL. S NULL is the header.
 */
bool verify_error(struct verifier *v, const struct stmt *s, const char *field, const char *text, const char *code,
                  const char *format, ...) PRINTF_LIKE(6, 7);
bool verify_warning(struct verifier *v, const struct stmt *s, const char *field, const char *text, const char *code,
                    const char *format, ...) PRINTF_LIKE(6, 7);
void verify_note(struct verifier *v, const struct stmt *at, const char *field, const char *text, const char *format, ...)
    PRINTF_LIKE(5, 6);
void verify_note_legal(struct verifier *v, const char *format, ...) PRINTF_LIKE(2, 3);   /* a note with no place of its own */

/*
 * "did you mean NEAR?": a note, and a fix where the newest diagnostic stands at FOUND. SIGIL is that of the name NEAR, or 0
 * for a word.
 */
void verify_near(struct verifier *v, char sigil, const char *found, const char *near);

/* Takes the second WORD out of the list at the newest diagnostic, with the comma before it. */
void verify_fix_duplicate(struct verifier *v, const char *word);

/* Where the newest diagnostic stands at a value that is declared there, its type should be TYPE. */
void verify_fix_type(struct verifier *v, const char *type);

/* "%x", "@task": the name of a statement for messages, quoted as the printer does. */
const char *stmt_text(const struct item *it, const struct stmt *s);
const char *value_text(const struct item *it, atom name);
const char *symbol_text(const struct item *it, atom name);

/* Name of the nearest declared @symbol / %value to NAME, or NULL. */
const char *nearest_symbol(const struct item *it, atom name);
const char *nearest_value(const struct item *it, atom name);

/* The rules of ir itself (names, references, header, …). */
extern const struct rule ir_rules[];
extern const u32 n_ir_rules;

#endif
