/*
 * One transformer block in training, on one rank and for one microbatch: what is computed, moved, sent and kept.
 * Everything is exact; all of it follows from the tables of layers.def, with numbers or with symbols alike.
 */
#ifndef TRANSFORMER_BLOCK_H
#define TRANSFORMER_BLOCK_H

#include "ir/expr.h"
#include "transformer/formula.h"
#include "transformer/layers.h"
#include "transformer/spec.h"

/* What the formulas start from. Numbers from a specification, or symbols for a closed form. */
struct block_sizes {
    qty b, S;       /* sequences of a microbatch, positions of a sequence */
    qty H, F;       /* hidden and feed-forward width */
    qty h, s;       /* heads and their size */
    qty k;          /* heads of keys and values on a rank */
    qty t;          /* ranks that share the block */
    qty r;          /* of them, those that hold the same keys and values: t / kv heads where that is above 1 */
    qty e;          /* bytes of an element */
    qty o;          /* bytes of optimizer state a weight */
    qty d;          /* ranks that share gradients and optimizer state: 1 unless they are sharded */
};

/* The switches behind `enum layer_when`. */
struct block_switches {
    bool parallel;      /* t > 1 */
    bool split;         /* parallel, and the boundary is split along the sequence */
    bool fused_activation;
    bool input_regather;
    enum recompute_policy recompute;
    bool causal;
    enum transformer_norm norm;
    enum transformer_mlp mlp;
    bool rotary, bias, dropout;
    bool replicated;    /* r > 1 */
};

enum training_phase {
    PHASE_FORWARD,
    PHASE_RECOMPUTE,
    PHASE_RECOMMUNICATION,
    PHASE_ACTIVATION_GRADIENT,
    PHASE_WEIGHT_GRADIENT,
    PHASE_OPTIMIZER,
    PHASES
};

/* Operations; bytes read, written and sent (the payload of the whole group, not of a rank's links). */
struct block_work {
    qty operations, read, write, message;
};

struct block_invocation {
    u32 layer;                          /* row of layer_table */
    enum training_phase phase;
    enum block_engine engine;           /* the optimizer's is always the vector engine */
    enum block_collective collective;
    const char *name;                   /* "attention.query.forward", "mlp.output_collective.forward.all_reduce" */
    const char *primitive;
    struct block_work work;
};

/* A row of layer_table under given sizes and switches. Spaces in bytes. */
struct block_layer {
    u32 row;
    qty in, out, act, grad, weights;                /* elements */
    struct block_work forward, activation_gradient, weight_gradient, optimizer;
    enum block_collective forward_kind, gradient_kind, repeat_kind, optimizer_kind;
    bool recomputed, repeated;                      /* the forward, the collective */
    bool act_shared, act_stored, out_stored;
    qty weight_bytes, act_bytes, out_bytes, activation_gradient_bytes;
    qty gradient_bytes;                             /* the largest rank's share where they are sharded */
    qty gradient_bytes_unsharded;                   /* four bytes a weight, whatever e is */
    qty optimizer_bytes;
    qty working, stored;                            /* what it adds to the block's; a stored share may be negative */
};

/* Bytes of one block on one rank. */
struct block_memory {
    qty weights;
    qty working;                /* activations of a block in work */
    qty stored;                 /* activations kept of a microbatch until its gradient; 0 under full recompute */
    qty checkpoint;             /* the block's input, kept instead under full recompute; else 0 */
    qty gradients;
    qty gradients_unsharded;
    qty activation_gradients;
    qty optimizer;
};

enum { MAX_INVOCATIONS = 8 * BLOCK_LAYERS };

struct block {
    struct block_layer layers[BLOCK_LAYERS];                /* those that the model has, in the order of the table */
    u32 n_layers;
    struct block_invocation invocations[MAX_INVOCATIONS];   /* in the order of execution */
    u32 n;
    struct block_memory memory;
    qty boundary;                                           /* bytes of the block's input, and of its output, on a rank */
    struct block_work phases[PHASES];                       /* sums over the invocations */
    u32 phase_counts[PHASES];
};

/* What could not be computed: "mlp.expand", "2*M*H*N", EXPR_OVERFLOW. */
struct block_fault {
    const char *layer;          /* or "block", of a quantity or a sum */
    const char *term;           /* its formula, or the name of the sum */
    enum expr_status status;
};

struct block_sizes block_sizes_of(struct exprs *x, const struct transformer_model *m, const struct training_workload *w,
                                  const struct training_strategy *s);
struct block_switches block_switches_of(const struct transformer_model *m, const struct training_strategy *s,
                                        enum attention_pairs pairs);

/* What the formulas may name: the sizes, then the quantities of layers.def, each computed from those before it. */
enum { BLOCK_SIZES = 12, BLOCK_NAMES = BLOCK_SIZES + QUANTITIES };

/* Fills NAMES. Else false, and *FAULT says which quantity is not a number. */
bool block_names(struct exprs *x, const struct block_sizes *sizes, const struct block_switches *on,
                 struct formula_name names[BLOCK_NAMES], struct block_fault *fault);

bool block_switch_holds(const struct block_switches *on, enum layer_when when);

/*
 * Fills *OUT. Names of invocations lie in ARENA. False, and *FAULT says what, when a number leaves 128 bits or a
 * division is not exact; a specification that contract.h accepts has only exact ones.
 */
bool block_derive(struct exprs *x, struct arena *arena, const struct block_sizes *sizes,
                  const struct block_switches *switches, struct block *out, struct block_fault *fault);

const char *training_phase_name(enum training_phase phase);     /* "activation_gradient" */

#endif
