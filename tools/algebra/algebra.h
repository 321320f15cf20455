/* What writes the tables of docs/algebra.md and docs/inference.md: the example's numbers, and cells of tables. */
#ifndef ALGEBRA_ALGEBRA_H
#define ALGEBRA_ALGEBRA_H

#include "passes/spec.h"
#include "transformer/formula.h"
#include "transformer/inference.h"
#include "transformer/stage.h"

struct writer {
    struct out out;
    struct context ctx;
    struct transformer_model model;
    struct training_strategy strategy;
    /* of training */
    struct training_workload workload;
    struct block block;
    struct formula_name names[BLOCK_NAMES];
    struct stage_memory stage;
    /* of inference: the first prefill and the last decode of the request */
    struct inference_request request;
    struct inference_step steps[2];
    struct inference_block step_blocks[2];
};

/* A table stands between `<!-- NAME -->` and `<!-- end -->`. */
struct table {
    const char *name;           /* NULL closes the list */
    void (*write)(struct writer *w);
};

extern const struct table training_tables[], inference_tables[];

void number(struct writer *w, qty q);
void cell(struct writer *w, qty q);

/* `9*Q` = 28311552; `9*Q` of a layer that the example lacks; nothing for a formula that is 0. */
void formula(struct writer *w, const char *text, const qty *value);

void head(struct writer *w, const char *columns);       /* "name | formula" */
void end_row(struct writer *w);

#endif
