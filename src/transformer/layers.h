/* The tables of layers.def as data. */
#ifndef TRANSFORMER_LAYERS_H
#define TRANSFORMER_LAYERS_H

#include "support/base.h"

enum block_engine { ENGINE_MATRIX, ENGINE_VECTOR, ENGINE_COLLECTIVE };

enum block_collective { COLLECTIVE_NONE, COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER };

/* When a cell of the tables holds: a condition on the strategy, or on the model. */
enum layer_when {
    WHEN_NEVER,
    WHEN_ALWAYS,
    WHEN_PARALLEL,                  /* tensor > 1 */
    WHEN_SPLIT,                     /* tensor > 1 and the boundary is split along the sequence */
    WHEN_FUSED,
    WHEN_FULL,                      /* recompute full */
    WHEN_ATTENTION,                 /* recompute attention or full */
    WHEN_ATTENTION_INPUT,           /* recompute attention or full, or inputs are gathered again */
    WHEN_MLP_INPUT,                 /* recompute full, or inputs are gathered again */
    WHEN_ATTENTION_INPUT_REBUILT,   /* as above, and something can rebuild it: all is, or the gather is repeated */
    WHEN_MLP_INPUT_REBUILT,
    WHEN_ATTENTION_DROPOUT,         /* recompute attention or full, and the probabilities are dropped out */
    WHEN_CAUSAL,                    /* only pairs of a query with itself and the keys before it are counted */
    WHEN_LAYER_NORM,
    WHEN_RMS_NORM,
    WHEN_GELU,
    WHEN_SWIGLU,
    WHEN_ROTARY,
    WHEN_BIAS,
    WHEN_DROPOUT,
    WHEN_REPLICATED,                /* fewer heads of keys and values than ranks: several ranks hold the same */
    WHENS
};

enum block_primitive {
#define PRIMITIVE(id, ...) PRIMITIVE_##id,
#include "transformer/layers.def"
#undef PRIMITIVE
    PRIMITIVES
};

enum layer_space { SPACE_OWN, SPACE_SHARED };

struct quantity_row {
    const char *name, *formula;
    enum layer_when when;
    const char *otherwise;
    const char *meaning;
};

/* Bytes read and bytes written, as formulas. */
struct traffic_row {
    const char *read, *write;
};

struct primitive_row {
    const char *name;
    enum block_engine engine;
    enum block_collective forward_kind, gradient_kind, optimizer_kind;
    const char *act_bytes, *grad_bytes;
    struct traffic_row forward, activation_gradient, weight_gradient;
};

struct layer_row {
    const char *name;
    enum layer_when present;
    enum block_primitive primitive;     /* of a collective: the row for whole boundaries; the split one is two on */
    const char *forward, *activation_gradient, *weight_gradient;    /* operations */
    const char *in, *out, *act, *grad, *weights;                    /* elements */
    enum layer_when recomputed, repeated;
    enum layer_space space;
    enum layer_when act_dropped, out_dropped;
    const char *source;
};

enum {
#define LAYER(...) + 1
    BLOCK_LAYERS = 0
#include "transformer/layers.def"
#undef LAYER
    ,
#define QUANTITY(...) + 1
    QUANTITIES = 0
#include "transformer/layers.def"
#undef QUANTITY
};

extern const struct quantity_row quantity_table[QUANTITIES];
extern const struct primitive_row primitive_table[PRIMITIVES];
extern const struct layer_row layer_table[BLOCK_LAYERS];

const char *block_collective_name(enum block_collective kind);  /* "all_reduce"; "none" */
const char *block_engine_name(enum block_engine engine);

#endif
