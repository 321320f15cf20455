/* Small steps that every pass takes when it writes its output. */
#ifndef PASSES_EMIT_H
#define PASSES_EMIT_H

#include "passes/pass.h"

/* An atom in the run's context. */
atom emit_atom(const struct pass_run *r, const char *text);

/* A list of one element. */
u32 emit_one(struct item *it, u32 element);

/* `from` one source, lowered. */
void emit_from(struct item *it, struct stmt *s, u32 ref);

/*
 * For a pass within a layer: every statement of the input again, preserved from it, into an output that is empty. The
 * pass then changes what it is for. Handles of lists stay what they are.
 */
void emit_preserved(struct pass_run *r);

/* Product of a mesh's axis sizes (FIELD_AXIS_SIZES); false when it passes 4294967294. */
bool mesh_size(const struct item *it, u32 axes, u64 *out);

/* Refuses with a diagnostic at a part of the input (see context.locate). Always false. */
bool pass_error(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *field, const char *text,
                const char *code, const char *format, ...) PRINTF_LIKE(7, 8);
void pass_note(const struct pass_run *r, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
