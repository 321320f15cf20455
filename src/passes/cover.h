/* The part of the commit gate that needs no formula: lineage is what the contract declares, and covers every source. */
#ifndef PASSES_COVER_H
#define PASSES_COVER_H

#include "passes/pass.h"

/*
 * Every entity of the output that needs lineage has sources that exist in the input, of one kind, in a relation that the
 * contract declares; and every value and task of the input is the source of something. Counts in r->proven. False:
 * reported as a fault of the pass.
 */
bool cover_check(const struct pass_run *r);

/* Rows of the contract's relations. */
u32 relation_count(const struct pass *p);

/* A gate's refusal: names the pass, the entity and what does not hold. Always false. */
bool gate_refuse(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *format, ...) PRINTF_LIKE(4, 5);

/* Every field of S whose name is not among ALLOWED (" name body ", blanks around each) says nothing. Else refuses. */
bool gate_says_only(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *allowed);

/* S, the program's `origin`, says SAID, and SOURCE is what its tasks are from. Else refuses. */
bool gate_is_origin(const struct pass_run *r, const struct stmt *s, atom said, atom source);

/* S is from the one source REF of the input, as KIND. Else refuses. */
bool gate_is_from(const struct pass_run *r, const struct stmt *s, u8 kind, u32 ref);

#endif
