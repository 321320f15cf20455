/* A binding that does not fit into its devices: what is missing, where the bytes go, and what would be legal. */
#ifndef PASSES_BIND_CAPACITY_H
#define PASSES_BIND_CAPACITY_H

#include "passes/pass.h"

/* R's output has the bindings, which NEED so many bytes on each of its RANKS devices; device RANK has BYTES, and no other
 * has less. Always false. */
bool bind_refuse_capacity(struct pass_run *r, u128 need, u64 bytes, u64 rank, u64 ranks);

#endif
