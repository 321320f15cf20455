/* Text made from the dialects' tables: statements with any choice of their clauses, in any order. */
#ifndef TEST_UNIT_PHRASE_H
#define TEST_UNIT_PHRASE_H

#include "ir/item.h"

/* Which of an entity's optional fields to write, bit by bit, and whether clauses stand in reverse order. */
struct phrase {
    const struct item_kind *kind;
    const struct entity *entity;
    u32 optional;
    bool reverse;
    const struct field *varied;     /* an enumeration: write its WORD-th word; the others have their last */
    u32 word;
};

/* How many fields of the entity are optional. */
u32 phrase_optional(const struct entity *e);

/* A value for the field, as a clause or a head has it, without the field's name: none that is left out by default. */
void out_phrase_value(struct out *o, const struct phrase *p, const struct field *f);

/* The statement alone, and in an item of its kind. */
void out_phrase(struct out *o, const struct phrase *p);
void out_phrase_item(struct out *o, const struct phrase *p);

/* `kind @item schema 1.0 {`, the statement's text, `}`. */
void out_phrase_around(struct out *o, const struct item_kind *kind, const char *statement);

/* Calls VISIT with each kind and entity of the tables. */
void each_entity(void (*visit)(const struct item_kind *kind, const struct entity *e));

#endif
