/* One change to one field of one statement, by the kind of the field: what a slip of a hand or a pass may write there. */
#ifndef TEST_MUTATION_EDIT_H
#define TEST_MUTATION_EDIT_H

#include "ir/item.h"

enum edit { EDIT_MADE, EDIT_NONE, EDIT_END };

/*
 * Makes the VARIANT-th change (from 0) to FIELD of S. EDIT_NONE: this one says nothing new here; EDIT_END: there are no
 * more. *NAME says which it was: "more", "dropped", "another's".
 */
enum edit edit_field(struct item *it, struct stmt *s, const struct field *f, u32 variant, const char **name);

/* The same to the header: parent, pass, revision, version, `using`. */
enum edit edit_header(struct item *it, u32 variant, const char **name);

/* The same to the statements as a whole: the I-th dropped, or moved. */
enum edit edit_order(struct item *it, u32 i, u32 variant, const char **name);

#endif
