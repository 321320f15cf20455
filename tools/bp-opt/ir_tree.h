/* --print-ir-tree-dir: a file for each print, in a folder for each item that passes ran on. */
#ifndef BP_OPT_IR_TREE_H
#define BP_OPT_IR_TREE_H

#include "ir/item.h"
#include "output.h"

/*
 * Makes the folders on the way to DIR/dist_program_gpt3.block/3_plan-transformer-training.bpir and returns that name, in
 * ARENA: IT is what the pass ran on, N counts the files of a run, KIND is "", ".before" or ".failed". NULL: *FAULT says
 * why.
 */
const char *ir_tree_path(const char *dir, const struct item *it, u32 n, const char *pass, const char *kind, struct arena *arena,
                         const char **fault);

#endif
