/* What a rank reads is on it: the check of a plan before it is bound, device by device. */
#ifndef PASSES_BIND_RANKS_H
#define PASSES_BIND_RANKS_H

#include "passes/pass.h"

/* Each operand that some task makes is made on every one of the RANKS that read it. False: reported. */
bool bind_check_ranks(struct pass_run *r, u64 ranks);

#endif
