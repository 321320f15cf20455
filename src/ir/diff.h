/*
 * What changed between two items of one context: by statement and field, not by line. Statements are the same by name;
 * nameless ones by what they say, then by what their head says. A statement of a new name that says what an old one
 * said is renamed, and then whatever refers to it has not changed. Takes n log n for n statements.
 */
#ifndef IR_DIFF_H
#define IR_DIFF_H

#include "ir/item.h"

/*
 * What became of a statement: A is NULL where it was added, B where it was removed. A result that has a new name is told
 * apart, too; what else changed of it, with its maker.
 */
struct stmt_change {
    const struct stmt *a, *b;
    bool renamed;
    bool moved;             /* it stands before or behind others that both items have */
    bool changed;           /* some field */
};

struct renaming;

struct item_diff {
    const struct item *a, *b;
    struct renaming *renaming;
    struct stmt_change *changes;    /* in the order of B; what was removed stands behind what it stood behind in A */
    u32 n, cap;
    bool header;                    /* another parent, pass, schema or session item */
};

/* True when they differ, names aside. Both must be verified and of one kind; all lies in ARENA. */
bool item_diff(struct item *a, struct item *b, struct arena *arena, struct item_diff *out);

/*
 * Calls VISIT for each field that differs in a statement that both have. FACT is a member of the group F, or NULL. Of a
 * result declared where it arises, the statements are the value's.
 */
typedef void diff_visit(void *state, const struct stmt *a, const struct stmt *b, const struct field *f, const struct field *fact);
void stmt_diff(const struct item_diff *d, const struct stmt *a, const struct stmt *b, diff_visit *visit, void *state);

#endif
