/*
 * The terms of a decoder's block: which a block has and what they come to (work_terms.c), its tasks against them
 * (work_tasks.c), and what they add up to (work_sums.c).
 */
#ifndef CONFORMANCE_WORK_TERMS_H
#define CONFORMANCE_WORK_TERMS_H

#include "conformance/work.h"

enum phase { FORWARD, ACTIVATION_GRADIENT, WEIGHT_GRADIENT, INFERENCE, OPTIMIZER, PHASES };

/* In what the tasks of a term are: itself, its repetition, or the optimizer's step of its weights. */
enum use { FIRST, AGAIN, STEP_OF, USES };

enum { FACTS = 3 };         /* operations, read, write */

/* What a block must be to have a term: all bits of its mask. */
enum when {
    TRAINING = 1, STEP = 2, IS_SPLIT = 4, PARALLEL = 8, LAYER_NORM = 16, RMS_NORM = 32, GELU = 64, SWIGLU = 128, ROTARY = 256, BIAS = 512,
    DROPOUT = 1024, REPLICATED = 2048, FUSED = 4096, KEPT = 8192,

    SPLIT = TRAINING | IS_SPLIT, TRAINING_PARALLEL = TRAINING | PARALLEL, TRAINING_LAYER_NORM = TRAINING | LAYER_NORM,
    TRAINING_RMS_NORM = TRAINING | RMS_NORM, TRAINING_GELU = TRAINING | GELU, TRAINING_SWIGLU = TRAINING | SWIGLU,
    TRAINING_ROTARY = TRAINING | ROTARY, TRAINING_BIAS = TRAINING | BIAS, TRAINING_BIAS_GELU = TRAINING_BIAS | GELU,
    TRAINING_BIAS_SWIGLU = TRAINING_BIAS | SWIGLU, TRAINING_DROPOUT = TRAINING | DROPOUT, TRAINING_REPLICATED = TRAINING | REPLICATED,
    SWIGLU_KEPT = TRAINING_SWIGLU | KEPT, SWIGLU_FUSED = TRAINING_SWIGLU | FUSED,

    STEP_PARALLEL = STEP | PARALLEL, STEP_LAYER_NORM = STEP | LAYER_NORM, STEP_RMS_NORM = STEP | RMS_NORM, STEP_GELU = STEP | GELU,
    STEP_SWIGLU = STEP | SWIGLU, STEP_ROTARY = STEP | ROTARY, STEP_BIAS = STEP | BIAS, STEP_BIAS_GELU = STEP_BIAS | GELU,
    STEP_BIAS_SWIGLU = STEP_BIAS | SWIGLU,
};

struct term {
    const char *layer;
    enum phase phase;
    bool sends;
    u32 when;
    const char *facts[FACTS];
};

enum { TERMS = 0
#define LETTER(...)
#define TERM(...) +1
#include "conformance/block_terms.def"
};

extern const struct term work_terms[TERMS];
extern const char *const work_fact_words[FACTS];

/* What is known of a term's tasks in one use. */
struct tally {
    bool wanted;                /* a block has such a task */
    bool open;                  /* it may, or not: what decides is not in the file */
    u32 count;
    struct amount facts[FACTS];
};

struct terms {
    struct block *b;
    u32 holds;                  /* mask of enum when */
    struct tally tally[TERMS][USES];
    u32 n_first;
    u16 *first, next[TERMS];     /* by atom, below n_first, of a layer: term + 1; the next of that layer */
    u32 blocks;                 /* as often as the most frequent task is there */
    qty products[PHASES];        /* operations of products over all ranks */
    const struct dist_task *product_at[PHASES];
    qty done[DIST_DECODE + 1][FACTS];   /* over all ranks, by the task's phase */
    u32 n_tasks, unshared;
};

/* Fills what is due; false: reported. */
bool terms_fill(struct terms *t);
bool term_holds(const struct terms *t, const struct term *term);

/* Notes that say what the letters of a sum are. */
void terms_note_letters(struct terms *t, const char *sum);

bool terms_check_task(struct terms *t, const struct dist_task *task);

bool terms_check_counts(struct terms *t);       /* each term as often as the others, nothing done again but what is due */
bool terms_check_products(struct terms *t);
bool terms_tell(struct terms *t);               /* what each phase adds up to */

#endif
