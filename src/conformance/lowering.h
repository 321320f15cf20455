/* The checker `lowering`, in parts: tasks (lowering.c), what holds bytes (lowering_bytes.c, lowering_stage.c). */
#ifndef CONFORMANCE_LOWERING_H
#define CONFORMANCE_LOWERING_H

#include "conformance/checker.h"
#include "conformance/view.h"

struct lowering {
    struct check *c;
    const struct item *it, *parent;     /* a portable plan and its program, or a concrete plan and its portable plan */
    struct view child, source;
};

/* The parent's value or buffer that a buffer or binding stands for, or NULL: none, or not one alone. */
const struct stmt *lowering_origin(const struct lowering *l, const struct stmt *buffer);

void lowering_check_buffers(struct lowering *l);    /* portable: sizes, roles and storage, against the program's values */
void lowering_check_stage(struct lowering *l);      /* portable: buffers of the stage, against `memory`, `scale`, strategy */
void lowering_check_binds(struct lowering *l);      /* concrete: against the buffers */

#endif
