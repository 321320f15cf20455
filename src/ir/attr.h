/* Free values: a user's `note {…}` and operations' own clauses. Trees in the item's pool. */
#ifndef IR_ATTR_H
#define IR_ATTR_H

#include "ir/item.h"

enum attr_kind {
    ATTR_NONE, ATTR_WORD, ATTR_STRING, ATTR_SYMBOL, ATTR_VALUE, ATTR_QUANTITY, ATTR_FLOAT, ATTR_TYPE, ATTR_LIST, ATTR_DICT,
};

/* One encoded node: what it is, and its payload. */
struct attr {
    enum attr_kind kind;
    atom text;              /* WORD STRING SYMBOL VALUE */
    qty quantity;           /* QUANTITY */
    double number;          /* FLOAT */
    u32 type;               /* TYPE */
    const u32 *elements;    /* LIST: handles. DICT: key atom, handle pairs, sorted by key text */
    u32 n;
};

struct attr attr_get(const struct item *it, u32 handle);
u32 attr_put(struct item *it, const struct attr *a);        /* sorts a dict's pairs; duplicates are the caller's */
u32 attr_quantity(struct item *it, qty q);
u32 attr_word(struct item *it, atom word);

/* The handle under KEY in a dict, or 0. */
u32 attr_find(const struct item *it, u32 dict, atom key);

/* The tree under HANDLE of FROM, in TO, which has the same context: a handle, 0 for 0. */
u32 attr_copy(struct item *to, const struct item *from, u32 handle);

bool attr_equal(const struct item *a, u32 x, const struct item *b, u32 y);

void out_attr(struct out *o, const struct item *it, u32 handle);
void out_float(struct out *o, double value);    /* shortest text that reads back the same bits */

#endif
