#include "gate.h"

#include "support/quantity.h"

#include <stdio.h>
#include <stdlib.h>

const char *configuration_cell(const struct configuration *c, const char *column)
{
    return tsv_cell(&c->oracle->totals, c->at, column);
}

u64 configuration_number(const struct configuration *c, const char *column)
{
    return (u64)fraction_read(configuration_cell(c, column)).over;
}

bool configuration_is(const struct configuration *c, const char *column, const char *word)
{
    return !strcmp(configuration_cell(c, column), word);
}

static u64 element_bytes(const char *type)
{
    return !strcmp(type, "float32") ? 4 : !strcmp(type, "float8") ? 1 : 2;
}

static enum recompute_policy recompute_of(const struct configuration *c)
{
    return configuration_is(c, "exe_activation_recompute", "full")   ? RECOMPUTE_FULL
           : configuration_is(c, "exe_activation_recompute", "none") ? RECOMPUTE_NONE
                                                                     : RECOMPUTE_ATTENTION;
}

static struct transformer_model model_of(const struct configuration *c)
{
    return (struct transformer_model){
        .name = configuration_cell(c, "model"),
        .hidden = configuration_number(c, "app_hidden"),
        .feedforward = configuration_number(c, "app_feedforward"),
        .heads = configuration_number(c, "app_attn_heads"),
        .kv_heads = configuration_number(c, "app_attn_heads"),
        .head_size = configuration_number(c, "app_attn_size"),
        .sequence = configuration_number(c, "app_seq_size"),
        .blocks = configuration_number(c, "app_num_blocks"),
        .dropout = true,
        .vocabulary = 51200,        /* Calculon's, in its count of parameters */
    };
}

static struct training_strategy strategy_of(const struct configuration *c)
{
    u64 pipeline = configuration_number(c, "exe_pipeline_par");
    u64 interleaving = configuration_number(c, "exe_pipeline_interleaving");
    return (struct training_strategy){
        .tensor = configuration_number(c, "exe_tensor_par"),
        .pipeline = pipeline,
        .data = configuration_number(c, "exe_data_par"),
        .communication = configuration_is(c, "exe_tensor_par_comm_type", "ar")
                             ? COMMUNICATION_ALL_REDUCE
                             : COMMUNICATION_REDUCE_SCATTER_ALL_GATHER,
        .schedule = pipeline == 1      ? SCHEDULE_SINGLE_STAGE
                    : interleaving > 1 ? SCHEDULE_INTERLEAVED_ONE_F_ONE_B
                                       : SCHEDULE_ONE_F_ONE_B,
        .virtual_stages = interleaving,
        .optimizer_sharding = c->training && configuration_number(c, "exe_optimizer_sharding"),
        .recompute = recompute_of(c),
        .fused_activation = configuration_number(c, "exe_fused_activation"),
        .input_regather = configuration_number(c, "exe_seq_par_ag_redo"),
        .world = configuration_number(c, "exe_num_procs"),
    };
}

struct configuration configuration_read(const struct oracle *o, size_t at)
{
    struct configuration c = { .oracle = o, .at = at, .id = tsv_cell(&o->totals, at, "id") };
    c.training = configuration_number(&c, "exe_training");
    c.model = model_of(&c);
    c.workload = (struct training_workload){
        .batch = configuration_number(&c, "exe_batch_size"),
        .microbatch = configuration_number(&c, "exe_microbatch_size"),
        .element_bytes = element_bytes(configuration_cell(&c, "exe_datatype")),
    };
    c.strategy = strategy_of(&c);
    return c;
}

void configuration_derive(const struct configuration *c, struct block *out)
{
    struct block_sizes sizes = block_sizes_of(c->oracle->exprs, &c->model, &c->workload, &c->strategy);
    struct block_switches switches = block_switches_of(&c->model, &c->strategy, ATTENTION_DENSE);
    struct block_fault fault;
    if (block_derive(c->oracle->exprs, c->oracle->arena, &sizes, &switches, out, &fault))
        return;
    fprintf(stderr, "%s: %s of %s %s\n", c->id, fault.term, fault.layer, expr_status_text(fault.status));
    exit(2);
}

struct fraction fraction_of_qty(struct exprs *x, qty q)
{
    u128 value = 0;
    qty negated;
    if (qty_value(x, q, &value))
        return whole((i128)value);
    if (qty_sub(x, 0, q, &negated) || !qty_value(x, negated, &value))
        abort();
    return whole(-(i128)value);
}
