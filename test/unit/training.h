/* What the suites of the training algebra start from. */
#ifndef TEST_UNIT_TRAINING_H
#define TEST_UNIT_TRAINING_H

#include "transformer/block.h"

#include <check.h>

static struct arena arena;
static struct interner names;
static struct exprs *pool;
static struct block block;
static struct block_fault fault;

static void setup(void)
{
    arena_init(&arena);
    interner_init(&names, &arena);
    pool = exprs_new(&arena, &names);
}

static void teardown(void)
{
    interner_free(&names);
    arena_free(&arena);
}

static char *text(qty q)
{
    struct out o;
    out_memory(&o);
    out_qty(&o, pool, q);
    char *copy = arena_copy(&arena, o.data, o.n);
    out_free(&o);
    return copy;
}

static struct transformer_model decoder(u64 hidden, u64 heads, u64 blocks)
{
    return (struct transformer_model){ .hidden = hidden, .feedforward = 4 * hidden, .heads = heads, .kv_heads = heads,
                                       .head_size = hidden / heads, .sequence = 2048, .blocks = blocks, .dropout = true,
                                       .vocabulary = 51200 };
}

#define AR COMMUNICATION_ALL_REDUCE
#define RS_AG COMMUNICATION_REDUCE_SCATTER_ALL_GATHER

static struct training_strategy parallel(u64 tensor, enum tensor_communication c, enum recompute_policy recompute,
                                         bool regather)
{
    return (struct training_strategy){ .tensor = tensor, .communication = c, .pipeline = 1, .virtual_stages = 1,
                                       .data = 1, .recompute = recompute, .input_regather = regather };
}

static void derive(struct transformer_model m, u64 microbatch, struct training_strategy s)
{
    struct training_workload w = { .batch = microbatch * s.data, .microbatch = microbatch, .element_bytes = 2 };
    struct block_sizes sizes = block_sizes_of(pool, &m, &w, &s);
    struct block_switches switches = block_switches_of(&m, &s, ATTENTION_DENSE);
    ck_assert(block_derive(pool, &arena, &sizes, &switches, &block, &fault));
}

#endif
