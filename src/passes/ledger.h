/*
 * The collective ledger of a distributed program: its collectives by kind and mesh axes. Logical bytes are the program's
 * facts; wire bytes are an analysis, labelled so, of what each rank sends under the ring algorithm.
 */
#ifndef PASSES_LEDGER_H
#define PASSES_LEDGER_H

#include "ir/item.h"

/* A table, each line behind two blanks; nothing when the program has no collective or is no dist program. */
void ledger_text(struct out *o, const struct item *dist);

/* `,"collectives":[…]`, an empty list when there is none. */
void ledger_json(struct out *o, const struct item *dist);

#endif
