/*
 * The reference executor: runs the fine-grained programs of a file on small tensors, in double precision. A model program
 * runs as it stands; a distributed program runs rank by rank, each with no more than its own parts, and what it makes is
 * compared with the program that it is from. docs/execution.md says what each operation computes, where inputs come from
 * and how large a difference may be.
 */
#ifndef EXECUTE_EXECUTE_H
#define EXECUTE_EXECUTE_H

#include "ir/verify.h"

/* What is refused: more than this. */
enum {
    EXECUTE_ELEMENTS = 1 << 22,     /* of one value */
    EXECUTE_STORED = 1 << 25,       /* of all parts of all values */
    EXECUTE_RANKS = 1024,
};
#define EXECUTE_WORK ((u64)1 << 31) /* multiplications, or elements moved, of all tasks */

struct execute_options {
    u64 seed;
    const struct qty_binding *symbols;  /* values of $symbols */
    u32 n_symbols;
};

struct run;

struct execution {
    struct arena arena;
    struct run **runs;              /* programs that were run, in the order of the file */
    u32 n;
    u64 seed;
    const struct qty_binding *symbols;
    u32 n_symbols;
};

/*
 * Runs the programs of a module whose items are verified, or ONLY (0: all) one of them. A program whose parent stands in
 * the module is compared with it. False: reported, and the execution holds nothing to show. To be freed in any case.
 */
bool execute_module(struct execution *e, const struct module *m, atom only, const struct execute_options *options);
void execution_free(struct execution *e);

/* What was run and compared, as a table or one object of JSON; with VALUES also every element. A newline ends it. */
void execution_text(struct out *o, const struct execution *e, bool values);
void execution_json(struct out *o, const struct execution *e, bool values);

extern const struct rule execute_rules[];
extern const u32 n_execute_rules;

#endif
