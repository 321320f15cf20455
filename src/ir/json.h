/*
 * Items as JSON, from the dialects' tables: field names are those of the text, fields left out there are left out here.
 * Numbers past 2^53 and expressions are strings; references keep their sigil (`"@task"`, `"%value"`).
 *
 *     {"kind":"dist.program","name":"mlp.dist","schema":"1.0","parent":{"item":"mlp","digest":"xxh128:…"},
 *      "by":{"pass":"…","revision":1,"using":[…]},"digest":"xxh128:…","statements":[{"entity":"mesh",…},…]}
 *
 * A session item has "fields" instead of "statements".
 */
#ifndef IR_JSON_H
#define IR_JSON_H

#include "ir/item.h"

enum { JSON_SAFE_BITS = 53 };   /* whole numbers that every reader of JSON keeps */

/* One object, no newline behind it. Computes the item's digest. */
void json_item(struct out *o, struct item *it);

/* A quantity as above. */
void json_quantity(struct out *o, const struct exprs *x, qty q);

/* A name as a JSON string, behind a sigil when SIGIL is not 0. */
void json_name(struct out *o, const struct interner *names, char sigil, atom name);

#endif
