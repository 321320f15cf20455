/*
 * A dist program as the checkers of values see it: who makes each value, and which ranks come to hold it.
 */
#ifndef CONFORMANCE_PROGRAM_H
#define CONFORMANCE_PROGRAM_H

#include "conformance/checker.h"
#include "conformance/grid.h"
#include "conformance/meaning.h"

struct value_facts {
    const struct dist_value *value;
    const struct dist_task *maker;      /* NULL: exists before the program */
    u32 holders;                        /* a number of grid.sets */
};

struct program {
    struct check *check;
    const struct item *it;
    struct grid grid;
    struct meanings meanings;
    struct qty_binding *facts;          /* symbols as multiples of what they are said to be, so that divisions are exact */
    u32 n_facts;
    const struct dist_task **tasks;     /* in the order of the text, which is one in which they can run */
    u32 n_tasks;
    struct numbering names;
    struct value_facts *values;         /* by number: those that exist before, then results as they are made */
};

/* ITEM is verified; it need not be the one that is checked. Everything lies in the scratch arena. */
void program_read(struct program *p, struct check *c, const struct item *it);

/* NULL: it is no value that is declared or made. */
const struct value_facts *program_value(const struct program *p, atom name);
const struct value_facts *program_operand(const struct program *p, const struct dist_task *t, u32 i);
const struct value_facts *program_result(const struct program *p, const struct dist_task *t, u32 i);

static inline u32 task_operands(const struct program *p, const struct dist_task *t) { return list_n(p->it, t->operands); }
static inline u32 task_results(const struct program *p, const struct dist_task *t) { return list_n(p->it, t->results); }
static inline void value_piece(const struct program *p, const struct value_facts *v, struct piece *out)
{
    piece_read(&p->grid, v->value->type, v->value->sharding, out);
}

/* ---- The program that an item was derived from ---- */

/* The parent of IT where the module has it and it is of LAYER; or NULL. */
const struct item *source_item(const struct check *c, const struct item *it, enum layer layer);

/*
 * The one value (buffer, binding) of PARENT that S, of IT, holds: what its lineage says, else its namesake; NULL: none, several,
 * or only a part of it.
 */
const struct stmt *source_value(const struct item *it, const struct stmt *s, const struct item *parent);

/* The one task of PARENT that S, of IT, is: lowered, cloned or preserved; NULL: none, several, or only a part of it. */
const struct stmt *source_task(const struct item *it, const struct stmt *s, const struct item *parent);

/* A note at a statement of another item. */
void check_note_at(struct check *c, const struct item *it, const struct stmt *s, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
