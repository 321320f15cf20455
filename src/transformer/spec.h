/*
 * What the training algebra is asked about: a model, a workload and a strategy, as plain numbers. Whoever fills them
 * in has typed fields behind them; what they may hold together is said by contract.h.
 */
#ifndef TRANSFORMER_SPEC_H
#define TRANSFORMER_SPEC_H

#include "support/base.h"

enum transformer_norm { NORM_LAYER, NORM_RMS };
enum transformer_mlp { MLP_GELU, MLP_SWIGLU };

/* Which pairs of a query and a key are counted: all, or those of a query with itself and the keys before it. */
enum attention_pairs { ATTENTION_DENSE, ATTENTION_CAUSAL };

/* A decoder of equal blocks. heads * head_size, the attention width, may differ from hidden. */
struct transformer_model {
    const char *name;
    u64 hidden;
    u64 feedforward;
    u64 heads;
    u64 kv_heads;           /* heads with keys and values of their own; `heads` where all have */
    u64 head_size;
    u64 sequence;
    u64 blocks;
    u64 vocabulary;         /* 0: not stated; only the conventions of convention.h need it */
    enum transformer_norm norm;
    enum transformer_mlp mlp;
    bool rotary;            /* queries and keys are turned by their position */
    bool bias;              /* the products with weights add one */
    bool dropout;           /* training drops probabilities and what is added to the residual; inference never does */
};

/* Heads of keys and values on one of TENSOR ranks: a share, or one that several ranks hold alike. */
static inline u64 kv_heads_of_rank(const struct transformer_model *m, u64 tensor)
{
    return m->kv_heads > tensor ? m->kv_heads / tensor : 1;
}

/* How many ranks hold the same ones: 1 where each has its own. */
static inline u64 kv_replicas(const struct transformer_model *m, u64 tensor)
{
    return tensor > m->kv_heads ? tensor / m->kv_heads : 1;
}

struct training_workload {
    u64 batch;              /* sequences of one step, over all ranks */
    u64 microbatch;         /* sequences that one rank takes at once */
    u64 element_bytes;      /* of weights and activations: 1, 2 or 4 */
};

enum tensor_communication {
    COMMUNICATION_ALL_REDUCE,                       /* the boundary of a block is replicated */
    COMMUNICATION_REDUCE_SCATTER_ALL_GATHER,        /* the boundary is split along the sequence */
};

enum pipeline_schedule {
    SCHEDULE_SINGLE_STAGE,
    SCHEDULE_GPIPE,
    SCHEDULE_ONE_F_ONE_B,
    SCHEDULE_INTERLEAVED_ONE_F_ONE_B,
    SCHEDULE_FORWARD_ONLY,
};

enum recompute_policy { RECOMPUTE_NONE, RECOMPUTE_ATTENTION, RECOMPUTE_FULL };

struct training_strategy {
    u64 tensor;             /* ranks that share one block */
    enum tensor_communication communication;
    u64 pipeline;           /* stages */
    enum pipeline_schedule schedule;
    u64 virtual_stages;     /* chunks of a stage; 1 where stages aren't interleaved */
    u64 data;               /* replicas */
    bool optimizer_sharding;
    enum recompute_policy recompute;
    bool fused_activation;
    bool input_regather;    /* gathered inputs are dropped and gathered again for the weight gradients */
    u64 world;              /* ranks in all as stated; 0: not stated */
};

/* The words of the text. */
static inline const char *schedule_word(enum pipeline_schedule s)
{
    static const char *const words[] = { "single_stage", "gpipe", "one_f_one_b", "interleaved_one_f_one_b",
                                         "forward_only" };
    return words[s];
}

#endif
