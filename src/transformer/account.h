/*
 * Where a derived number comes from: its formula, what the formula's names stand for, down to the facts of the model,
 * the workload and the strategy. All of it is read from the tables of layers.def, inference.def and stage.h: a row added
 * there is accounted for.
 */
#ifndef TRANSFORMER_ACCOUNT_H
#define TRANSFORMER_ACCOUNT_H

#include "transformer/inference.h"
#include "transformer/stage.h"

enum account_source { ACCOUNT_MODEL, ACCOUNT_WORKLOAD, ACCOUNT_STRATEGY, ACCOUNT_DIST };

/* A fact that someone wrote: a field of a session item or of the model's operation, or a statement of the dist program. */
enum account_fact {
    FACT_HIDDEN, FACT_FEEDFORWARD, FACT_HEADS, FACT_KV_HEADS, FACT_HEAD_SIZE, FACT_SEQUENCE, FACT_BLOCKS, FACT_NORM, FACT_MLP,
    FACT_ROTARY, FACT_BIAS, FACT_DROPOUT, FACT_BATCH, FACT_MICROBATCH, FACT_DTYPE, FACT_MODE, FACT_CONTEXT, FACT_PROMPT, FACT_CHUNK,
    FACT_TENSOR, FACT_COMMUNICATION,
    FACT_PIPELINE, FACT_SCHEDULE, FACT_VIRTUAL_STAGES, FACT_DATA, FACT_OPTIMIZER_SHARDING, FACT_RECOMPUTE,
    FACT_FUSED_ACTIVATION, FACT_INPUT_REGATHER, FACT_ATTENTION,
    ACCOUNT_FACTS
};

/* A set of facts: bit i is fact i. */
typedef u64 account_facts;
#define ACCOUNT(fact) ((account_facts)1 << (fact))

struct account_fact_row {
    enum account_source source;
    const char *field;          /* as it is written there */
};
extern const struct account_fact_row account_fact_table[ACCOUNT_FACTS];

/* A name of formulas. Without a formula it is a fact, or made of facts as MEANING says. */
struct account_name {
    const char *name, *formula, *meaning;
    qty value;
    account_facts facts;        /* its own, and those that chose the formula; not those of the formula's names */
};

enum { ACCOUNT_NAMES = 64, ACCOUNT_LINES = 2 * BLOCK_LAYERS };

/* One number of a task or of the memory: or a part of it, which LAYER then names. */
struct account_line {
    const char *fact, *layer;
    const char *formula, *source;
    qty value;
    account_facts facts;        /* that say whether there is such a task, or such a part */
    const struct account_name *own;     /* names of its layer, which hide others */
    u32 n_own;
};

struct account {
    struct exprs *x;
    struct arena *arena;
    struct account_name names[ACCOUNT_NAMES];   /* of the block; then those of the layer at work */
    u32 n, n_block;
    struct account_line lines[ACCOUNT_LINES];
    u32 n_lines;
    account_facts left_out;     /* what decided that other lines are not there */
    enum expr_status status;    /* the first fault; lines behind it are not there */
};

/* The names that every formula of the block may use. */
void account_training(struct account *a, struct exprs *x, struct arena *arena, const struct block_sizes *sizes, const struct block_switches *on);

/* The same of inference; QUERY and CONTEXT are the facts that a step's new tokens and visible tokens follow from. */
void account_inference(struct account *a, struct exprs *x, struct arena *arena, const struct inference_sizes *sizes,
                       const struct inference_switches *on, account_facts query, account_facts context);

/* Lines of the work of a layer's task; COLLECTIVE says that it is one. False: the tables have no such task. */
bool account_training_task(struct account *a, const struct block_switches *on, const char *layer, enum training_phase phase, bool collective);
bool account_inference_task(struct account *a, const struct inference_switches *on, const char *layer, bool collective);

/* Lines of a memory fact of the block ("weights"), a part each; a part may be 0. False: there is no such fact. */
bool account_training_memory(struct account *a, const struct block_switches *on, const char *fact);
bool account_inference_memory(struct account *a, const struct inference_switches *on, const char *fact);

/* The line of a value at the block's boundary, after account_training. */
bool account_training_boundary(struct account *a);

/*
 * After account_training: the line of a stage's buffer (stage_buffers) over the block's memory, for a stage of BLOCKS
 * blocks that holds HELD blocks' microbatches in flight. False: no buffer is called so.
 */
bool account_stage(struct account *a, const struct block_switches *on, const struct block_memory *m, u64 blocks, u128 held, const char *buffer);

/* The name as line L may use it, or NULL. */
const struct account_name *account_find(const struct account *a, const struct account_line *l, const char *name, size_t length);

/* All facts that the line depends on: those of its names, of theirs, and those that chose among formulas. */
account_facts account_depends(const struct account *a, const struct account_line *l);

/* FORMULA with the values put in for its names. */
void account_out_numbers(struct out *o, const struct account *a, const struct account_line *l, const char *formula);

/* The length of the name at TEXT, 0 if none begins there; words that are operators are none. */
size_t account_name_at(const char *text);

#endif
