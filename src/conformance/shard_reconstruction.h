/* What the files of the checker shard-reconstruction share. */
#ifndef CONFORMANCE_SHARD_RECONSTRUCTION_H
#define CONFORMANCE_SHARD_RECONSTRUCTION_H

#include "conformance/program.h"

/* shard_pieces.c: the pieces that a local task makes are those that its results are said to be in. */
void shard_pieces_check(struct program *p, const struct dist_task *t, const struct task_meaning *x);

/* shard_partial.c: sums that are still to come. Returns how many partial values the task takes. */
u32 shard_partial_check(struct program *p, const struct dist_task *t, const struct task_meaning *x);

/* shard_source.c: types and operands against the model's; how many types are the same, which are open, and operands. */
u32 shard_types_check(struct program *p, const struct item *model, u32 *open, u32 *reads);

#endif
