/* --execute: what its text asks for, and the run of a part. */
#ifndef BP_OPT_EXECUTE_H
#define BP_OPT_EXECUTE_H

#include "execute/execute.h"
#include "options.h"

struct executor {
    struct execute_options options;
    bool *declared;             /* by symbol that has a value: some program has it */
    bool values, json;          /* show elements; as JSON */
};

/* Reads `seed=N $s=N values json`, in any order. False: reported, exit status 2. */
bool executor_choose(struct executor *x, const struct options *o, struct context *ctx);

/* Runs the programs of a verified module, ONLY (0: all) alone; what there is to show goes behind OUT. False: refused. */
bool executor_run(struct executor *x, const struct module *m, atom only, struct out *out);

/* Behind the last part: a symbol that no program declares is a slip. False: reported. */
bool executor_end(const struct executor *x, struct context *ctx);

#endif
