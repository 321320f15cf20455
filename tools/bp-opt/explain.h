/*
 * --explain=CODE: what a message means, an input that has it, and how that is mended. The inputs are the files
 * docs/diagnostics/CODE.bpir, from which the build makes the table; test/checks/explain.sh runs them all.
 *
 *     // bp-opt OPTIONS              how it is read, where that takes more than the file; FILE stands for the file itself
 *     …                              an input of which just this code is reported (remarks aside, if it is no remark)
 *     // ----- mended
 *     …                              the same, legal; a line of options of its own, if those are mended
 */
#ifndef BP_OPT_EXPLAIN_H
#define BP_OPT_EXPLAIN_H

#include "support/arena.h"
#include "support/out.h"

struct example {
    const char *code, *text;
};

extern const struct example examples[];
extern const unsigned n_examples;

/* CODE may be the dotted beginning of several, which are then listed without examples. False: a usage error was told. */
bool explain(struct out *o, const char *code, struct arena *arena);

#endif
