/*
 * One transformer block in inference, on one rank: what a step computes, moves, sends and keeps. All of it follows from
 * the tables of inference.def, exactly, with numbers or with symbols alike.
 */
#ifndef TRANSFORMER_INFERENCE_H
#define TRANSFORMER_INFERENCE_H

#include "transformer/block.h"
#include "transformer/request.h"

/* When a row of the tables holds: a condition on the model, the strategy or the workload. */
enum inference_when {
    INFERENCE_ALWAYS,
    INFERENCE_PARALLEL,         /* tensor > 1 */
    INFERENCE_LAYER_NORM,
    INFERENCE_RMS_NORM,
    INFERENCE_GELU,
    INFERENCE_SWIGLU,
    INFERENCE_ROTARY,
    INFERENCE_BIAS,
    INFERENCE_CAUSAL,
    INFERENCE_WHENS
};

struct inference_quantity_row {
    const char *name, *formula;
    enum inference_when when;
    const char *otherwise;
    const char *meaning;
};

struct inference_task_row {
    const char *layer, *operation;
    enum block_engine engine;
    enum inference_when when;
    const char *operations;
    const char *in, *out, *weights;     /* elements */
    const char *source;
};

struct inference_workspace_row {
    const char *what;
    enum inference_when when;
    const char *elements;
};

enum {
#define QUANTITY(...) + 1
    INFERENCE_QUANTITIES = 0
#include "transformer/inference.def"
#undef QUANTITY
    ,
#define TASK(...) + 1
    INFERENCE_TASKS = 0
#include "transformer/inference.def"
#undef TASK
    ,
#define WORKSPACE(...) + 1
    INFERENCE_WORKSPACES = 0
#include "transformer/inference.def"
#undef WORKSPACE
};

extern const struct inference_quantity_row inference_quantity_table[INFERENCE_QUANTITIES];
extern const struct inference_task_row inference_task_table[INFERENCE_TASKS];
extern const struct inference_workspace_row inference_workspace_table[INFERENCE_WORKSPACES];

/* What the formulas start from. */
struct inference_sizes {
    qty b, q, c;    /* sequences, new tokens of each, tokens that they attend to */
    qty H, F;       /* hidden and feed-forward width */
    qty h, g, s;    /* heads; heads of keys and values on a rank; their size */
    qty t;          /* ranks that share the block */
    qty e;          /* bytes of an element */
};

/* What the rows depend on. */
struct inference_switches {
    bool on[INFERENCE_WHENS];
};

struct inference_call {
    u32 row;                    /* of inference_task_table */
    const char *name;           /* "attention.core.prefill", "mlp.down.decode.all_reduce" */
    struct block_work work;
    qty weights;                /* elements that it reads; 0: it has none */
};

/* Bytes of one block on one rank. */
struct inference_memory {
    qty weights;
    qty kv_cache;               /* keys and values of all c tokens */
    qty workspace;              /* a bound on what no task needs more of at a time */
    qty boundary;               /* its input, and its output */
};

struct inference_block {
    struct inference_call calls[INFERENCE_TASKS];   /* in the order of execution */
    u32 n;
    struct inference_memory memory;
    struct block_work total;
    qty pairs;                  /* of a query and a key, of one head and one sequence */
    qty values[INFERENCE_QUANTITIES];
};

struct inference_sizes inference_sizes_of(struct exprs *x, const struct transformer_model *m, const struct inference_step *w,
                                          const struct training_strategy *s);
struct inference_switches inference_switches_of(const struct transformer_model *m, const struct inference_step *w,
                                                const struct training_strategy *s);

/*
 * Fills *OUT. Names of calls lie in ARENA and end in the phase, "prefill" or "decode". False, and *FAULT says what, when a
 * number leaves 128 bits or a division is not exact; what contract.h accepts has only exact ones.
 */
bool inference_derive(struct exprs *x, struct arena *arena, const struct inference_sizes *sizes,
                      const struct inference_switches *switches, const char *phase, struct inference_block *out,
                      struct block_fault *fault);

#endif
