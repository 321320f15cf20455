/* The checker `lowering`, in parts: tasks (lowering.c), values and what a program says once (lowering_values.c), what holds
 * bytes (lowering_bytes.c, lowering_stage.c). */
#ifndef CONFORMANCE_LOWERING_H
#define CONFORMANCE_LOWERING_H

#include "conformance/checker.h"
#include "conformance/view.h"

struct lowering {
    struct check *c;
    const struct item *it, *parent;     /* of neighbouring layers */
    struct view child, source;          /* of plans; a dist program has none here */
};

/* The parent's value or buffer that a buffer or binding stands for, or NULL: none, or not one alone. */
const struct stmt *lowering_origin(const struct lowering *l, const struct stmt *buffer);

void lowering_check_values(struct lowering *l);     /* dist: roles and outputs, against the model's */
/* False: both have a mesh, and of different axes. */
bool lowering_same_mesh(const struct lowering *l);
void lowering_check_program(struct lowering *l);    /* plans: the mesh is the parent's; portable: so is attention */
void lowering_check_buffers(struct lowering *l);    /* portable: sizes, roles and storage, against the program's values */
void lowering_check_stage(struct lowering *l);      /* portable: buffers of the stage, against `memory`, `scale`, strategy */
void lowering_check_binds(struct lowering *l);      /* concrete: against the buffers */

#endif
