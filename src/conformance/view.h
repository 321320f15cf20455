/* The tasks of a dist program, a portable plan or a concrete plan, read alike: what a checker compares across layers. */
#ifndef CONFORMANCE_VIEW_H
#define CONFORMANCE_VIEW_H

#include "ir/item.h"
#include "ir/order.h"

enum step_kind { STEP_COMPUTE, STEP_COLLECTIVE, STEP_TRANSFER, STEP_ORDER, STEP_HOST, STEP_RESHARD };

enum { STEP_WORK = 4 };     /* operations, read, write, message */

struct step {
    const struct stmt *s;
    enum step_kind kind;
    const char *phase;      /* "forward"; NULL: the layer says none */
    atom operation, layer;
    u32 operands, results, ranks, after;    /* handles of the item */
    u32 over;               /* axes whose ranks form a group of a collective; 0: all ranks */
    u64 source, destination;                /* of a transfer, as ranks; UINT64_MAX: not said */
    const qty *work;        /* STEP_WORK of them, or NULL */
};

struct view {
    const struct item *it;
    struct arena *arena;
    struct step *steps;     /* in the order of the text */
    u32 n;
    u32 *number;            /* by atom of the name: number + 1, or 0 */
    u32 *maker;             /* by atom of a value: the number + 1 of the step that has it among its results */
    const struct stmt *mesh;        /* NULL: the item has none */
    u32 axes;               /* its axes, a FIELD_AXIS_SIZES handle */
    bool serial;
    u32 n_values;           /* operands and results in all */
};

extern const char *const step_work_words[STEP_WORK];
extern const char *const step_kind_words[];

/* Everything lies in ARENA. The item must be verified. */
void view_read(struct view *v, const struct item *it, struct arena *arena);

/* The step of that @name; false: there is none. */
bool view_find(const struct view *v, atom name, u32 *step);

/* Whether the groups of OVER, of a step, are along AXIS, too. */
bool view_over(const struct view *v, u32 over, atom axis);
const char *view_over_text(const struct view *v, u32 over);     /* "{tp, kv}", or "all"; in the view's arena */

/*
 * What must happen before what: `order serial`, `after`, a result before its readers; in a concrete plan `after`, tokens,
 * ordered queues and slots instead. False: there is a cycle.
 */
bool view_order(const struct view *v, struct order *o);

/* Calls VISIT with each direct dependency of the text: BEFORE must end before AFTER starts. */
void view_dependencies(const struct view *v, void (*visit)(void *state, u32 before, u32 after), void *state);

#endif
