/*
 * The algebra against Calculon: every configuration that both can describe, every number of its block, of each of its
 * layers and of its stage, exactly. Where we depart from Calculon (docs/deviations.md) the difference is predicted
 * from the oracle's own columns; whatever isn't predicted, to the last unit, is an error.
 *
 *     block_gate DIRECTORY        with calculon-totals.tsv and calculon-blocks.tsv
 */
#include "transformer/block.h"
#include "transformer/contract.h"
#include "transformer/convention.h"
#include "transformer/stage.h"
#include "tsv.h"

#include "support/quantity.h"

#include <stdio.h>
#include <stdlib.h>

enum deviation { NO_DEVIATION, STORED_INPUTS, SPLIT_CHECKPOINT, SHARES_ROUNDED_UP, IN_FLIGHT_CAPPED, DEVIATIONS };

static const char *const deviation_names[DEVIATIONS] = {
    [STORED_INPUTS] = "inputs that nothing can rebuild are stored",
    [SPLIT_CHECKPOINT] = "a split boundary is a split checkpoint",
    [SHARES_ROUNDED_UP] = "shares of gradients and optimizer are rounded up",
    [IN_FLIGHT_CAPPED] = "microbatches in flight end at the step's",
};

enum skip { NOT_SKIPPED, SKIP_ATTENTION, SKIP_OVERLAP, SKIP_OFFLOAD, SKIP_COMMUNICATION, SKIP_REFUSED, SKIPS };

static const char *const skip_names[SKIPS] = {
    [SKIP_ATTENTION] = "attention is not multihead",
    [SKIP_OVERLAP] = "collectives overlap with products: another list of layers",
    [SKIP_OFFLOAD] = "something is offloaded",
    [SKIP_COMMUNICATION] = "collectives split in edge blocks only (p2p_rs_ag)",
    [SKIP_REFUSED] = "not compared: the contract refuses it on one stage too",
};

struct gate {
    struct arena arena;
    struct tsv totals, layers;
    u32 compared, equal, declared, other;
    u32 rows, rows_failed, rows_declared[DEVIATIONS], rows_skipped[SKIPS], rows_refused;
    const char *rows_of[DEVIATIONS];        /* ids, for the report */
};

/* One configuration under comparison. */
struct row {
    struct gate *gate;
    size_t at, layer;                       /* its row of totals, and the row of layers in work */
    const char *id;
    bool training, on_stage;                /* gradients exist; the stage is comparable */
    bool seen[DEVIATIONS];
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
    struct exprs *exprs;
    struct block block;
    /* what the deviations are predicted from */
    struct fraction unstored, checkpoint, share_gap;    /* bytes; bytes; weights */
    struct fraction held, calculon_held;                /* L*k, ours and Calculon's */
};

/* ---- Reading the oracle ---- */

static const char *cell(const struct row *r, const char *column)
{
    return tsv_cell(&r->gate->totals, r->at, column);
}

static u64 number(const struct row *r, const char *column)
{
    return (u64)fraction_read(cell(r, column)).over;
}

static bool is(const struct row *r, const char *column, const char *word)
{
    return !strcmp(cell(r, column), word);
}

static struct fraction whole(i128 value)
{
    return fraction_of(value, 1);
}

static struct fraction scaled(struct fraction f, i128 factor)
{
    return fraction_mul(f, whole(factor));
}

static struct fraction difference(struct fraction a, struct fraction b)
{
    return fraction_add(a, scaled(b, -1));
}

static enum skip skip_of(const struct row *r)
{
    if (!is(r, "exe_attention_type", "multihead"))
        return SKIP_ATTENTION;
    if (!is(r, "exe_tensor_par_overlap", "none"))
        return SKIP_OVERLAP;
    if (number(r, "exe_weight_offload") || number(r, "exe_activations_offload") || number(r, "exe_optimizer_offload"))
        return SKIP_OFFLOAD;
    return is(r, "exe_tensor_par_comm_type", "p2p_rs_ag") ? SKIP_COMMUNICATION : NOT_SKIPPED;
}

static u64 element_bytes(const char *type)
{
    return !strcmp(type, "float32") ? 4 : !strcmp(type, "float8") ? 1 : 2;
}

static enum recompute_policy recompute_of(const struct row *r)
{
    return is(r, "exe_activation_recompute", "full")   ? RECOMPUTE_FULL
           : is(r, "exe_activation_recompute", "none") ? RECOMPUTE_NONE
                                                       : RECOMPUTE_ATTENTION;
}

static void read_specification(struct row *r)
{
    u64 pipeline = number(r, "exe_pipeline_par"), interleaving = number(r, "exe_pipeline_interleaving");
    r->training = number(r, "exe_training");
    r->model = (struct transformer_model){
        .name = cell(r, "model"), .hidden = number(r, "app_hidden"), .feedforward = number(r, "app_feedforward"),
        .heads = number(r, "app_attn_heads"), .head_size = number(r, "app_attn_size"),
        .sequence = number(r, "app_seq_size"), .blocks = number(r, "app_num_blocks"), .vocabulary = 51200,
    };
    r->workload = (struct training_workload){
        .batch = number(r, "exe_batch_size"), .microbatch = number(r, "exe_microbatch_size"),
        .element_bytes = element_bytes(cell(r, "exe_datatype")),
    };
    r->strategy = (struct training_strategy){
        .tensor = number(r, "exe_tensor_par"), .pipeline = pipeline, .data = number(r, "exe_data_par"),
        .communication = is(r, "exe_tensor_par_comm_type", "ar") ? COMMUNICATION_ALL_REDUCE
                                                                 : COMMUNICATION_REDUCE_SCATTER_ALL_GATHER,
        .schedule = pipeline == 1 ? SCHEDULE_SINGLE_STAGE
                    : interleaving > 1 ? SCHEDULE_INTERLEAVED_ONE_F_ONE_B : SCHEDULE_ONE_F_ONE_B,
        .virtual_stages = interleaving, .optimizer_sharding = r->training && number(r, "exe_optimizer_sharding"),
        .recompute = recompute_of(r), .fused_activation = number(r, "exe_fused_activation"),
        .input_regather = number(r, "exe_seq_par_ag_redo"), .world = number(r, "exe_num_procs"),
    };
}

/* ---- Predictions: what of a difference to Calculon is declared ---- */

/* Calculon's k: min(N, p), times 1 + (p-1)/(il p) where stages are interleaved. */
static struct fraction calculon_in_flight(const struct row *r)
{
    i128 n = (i128)number(r, "derived_num_microbatches"), p = r->strategy.pipeline, il = r->strategy.virtual_stages;
    struct fraction k = whole(n < p ? n : p);
    return il == 1 ? k : fraction_mul(k, fraction_add(whole(1), fraction_of(p - 1, il * p)));
}

/* The schedule's: at most the chunks of a step, m v. */
static struct fraction capped_in_flight(const struct row *r)
{
    i128 m = (i128)number(r, "derived_num_microbatches"), p = r->strategy.pipeline, v = r->strategy.virtual_stages;
    i128 chunks = v == 1 ? p : 2 * (p - 1) + (v - 1) * p + 1;
    return fraction_of(chunks < m * v ? chunks : m * v, v);
}

static bool nothing_regathers(const struct row *r)
{
    return r->strategy.tensor == 1 || r->strategy.communication == COMMUNICATION_ALL_REDUCE;
}

/* Inputs that Calculon drops and nothing rebuilds: that of the projections, that of the first feed-forward product. */
static bool drops_attention_input(const struct row *r)
{
    const struct training_strategy *s = &r->strategy;
    return nothing_regathers(r) && s->recompute != RECOMPUTE_FULL &&
           (s->recompute == RECOMPUTE_ATTENTION || s->input_regather);
}

static bool drops_mlp_input(const struct row *r)
{
    return nothing_regathers(r) && r->strategy.recompute != RECOMPUTE_FULL && r->strategy.input_regather;
}

static struct fraction share_gap(const struct row *r, i128 weights)
{
    i128 d = r->strategy.optimizer_sharding ? (i128)r->strategy.data : 1;
    return difference(whole((weights + d - 1) / d), fraction_of(weights, d));
}

static const char *layer_cell(const struct row *r, size_t layer, const char *column)
{
    return tsv_cell(&r->gate->layers, r->layer + layer, column);
}

static void predict(struct row *r)
{
    i128 activation = (i128)number(r, "derived_activation_elems") * (i128)r->workload.element_bytes;
    i128 blocks = (i128)number(r, "derived_blocks_per_proc");
    bool split = !nothing_regathers(r);
    r->unstored = whole(activation * (drops_attention_input(r) + drops_mlp_input(r)));
    r->checkpoint = whole(0);
    if (split && r->strategy.recompute == RECOMPUTE_FULL)
        r->checkpoint = difference(fraction_of(activation, r->strategy.tensor), whole(activation));
    r->share_gap = whole(0);
    for (size_t i = 0; i < LAYERS; i++)
        r->share_gap = fraction_add(r->share_gap, share_gap(r, fraction_read(layer_cell(r, i, "weight_elems")).over));
    r->held = scaled(capped_in_flight(r), blocks);
    r->calculon_held = scaled(calculon_in_flight(r), blocks);
}

static i128 optimizer_bytes(const struct row *r)
{
    return r->workload.element_bytes < 4 ? 12 : 8;
}

/* ---- Comparing ---- */

static void compare(struct row *r, const char *where, const char *column, const char *expected, struct fraction ours,
                    struct fraction excess, enum deviation why)
{
    struct gate *g = r->gate;
    struct fraction theirs = fraction_read(expected);
    bool deviates = excess.over != 0;
    g->compared++;
    if (!fraction_equal(ours, fraction_add(theirs, excess))) {
        g->other++;
        if (g->other <= 50)
            printf("%s %s%s: %s, Calculon %s, declared difference %s\n", r->id, where, column,
                   fraction_text(&g->arena, ours), expected, fraction_text(&g->arena, excess));
    } else if (deviates) {
        g->declared++;
        r->seen[why] = true;
    } else {
        g->equal++;
    }
}

/* Q as a fraction; it may be negative. */
static struct fraction exact(const struct row *r, qty q)
{
    u128 value = 0;
    qty negated;
    if (qty_value(r->exprs, q, &value))
        return whole((i128)value);
    if (qty_sub(r->exprs, 0, q, &negated) || !qty_value(r->exprs, negated, &value))
        abort();
    return whole(-(i128)value);
}

static void total_deviates(struct row *r, const char *column, struct fraction ours, struct fraction excess,
                           enum deviation why)
{
    compare(r, "", column, cell(r, column), ours, excess, why);
}

static void total(struct row *r, const char *column, struct fraction ours)
{
    total_deviates(r, column, ours, whole(0), NO_DEVIATION);
}

static struct fraction operations(const struct row *r, enum training_phase phase)
{
    return exact(r, r->block.phases[phase].operations);
}

static struct fraction accesses(const struct row *r, enum training_phase phase)
{
    const struct block_work *w = &r->block.phases[phase];
    return fraction_add(exact(r, w->read), exact(r, w->write));
}

static struct fraction message(const struct row *r, enum training_phase phase)
{
    return exact(r, r->block.phases[phase].message);
}

static void compare_forward(struct row *r)
{
    total(r, "block_fw_flops", operations(r, PHASE_FORWARD));
    total(r, "block_fw_mem_accessed", accesses(r, PHASE_FORWARD));
    total(r, "block_base_fw_tp_size", message(r, PHASE_FORWARD));
    total(r, "block_edge_fw_tp_size", message(r, PHASE_FORWARD));
    total(r, "block_weight_space", exact(r, r->block.memory.weights));
    total(r, "block_act_working_space", exact(r, r->block.memory.working));
    total(r, "derived_activation_elems", exact(r, r->block.layers[3].in));
}

static void compare_training(struct row *r)
{
    struct fraction optimizer_gap = scaled(r->share_gap, optimizer_bytes(r));
    total(r, "block_agrad_flops", operations(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_agrad_mem_accessed", accesses(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_wgrad_flops", operations(r, PHASE_WEIGHT_GRADIENT));
    total(r, "block_wgrad_mem_accessed", accesses(r, PHASE_WEIGHT_GRADIENT));
    total(r, "block_re_flops", operations(r, PHASE_RECOMPUTE));
    total(r, "block_re_mem_accessed", accesses(r, PHASE_RECOMPUTE));
    total_deviates(r, "block_optim_flops", operations(r, PHASE_OPTIMIZER), scaled(r->share_gap, 11), SHARES_ROUNDED_UP);
    total_deviates(r, "block_optim_mem_accessed", accesses(r, PHASE_OPTIMIZER), optimizer_gap, SHARES_ROUNDED_UP);
    total(r, "block_base_bw_tp_size", message(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_edge_bw_tp_size", message(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_base_recomm_size", message(r, PHASE_RECOMMUNICATION));
    total(r, "block_edge_recomm_size", message(r, PHASE_RECOMMUNICATION));
    total_deviates(r, "block_act_storage_space", exact(r, r->block.memory.stored), r->unstored, STORED_INPUTS);
    total_deviates(r, "block_act_checkpoint_size", exact(r, r->block.memory.checkpoint), r->checkpoint,
                   SPLIT_CHECKPOINT);
    total_deviates(r, "block_weight_grad_space", exact(r, r->block.memory.gradients),
                   scaled(r->share_gap, r->workload.element_bytes), SHARES_ROUNDED_UP);
    total(r, "block_weight_grad_space_no_sharding", exact(r, r->block.memory.gradients_unsharded));
    total(r, "block_act_grad_space", exact(r, r->block.memory.activation_gradients));
    total_deviates(r, "block_optimizer_space", exact(r, r->block.memory.optimizer), optimizer_gap, SHARES_ROUNDED_UP);
}

/* Recommunication has no column: it is the forward row of every collective that is repeated. */
static void compare_recommunication(struct row *r)
{
    struct fraction flops = whole(0), mem = whole(0);
    for (size_t i = 0; i < LAYERS; i++) {
        if (!strcmp(layer_cell(r, i, "base_re_comm_kind"), "none"))
            continue;
        flops = fraction_add(flops, fraction_read(layer_cell(r, i, "fw_flops")));
        mem = fraction_add(mem, fraction_read(layer_cell(r, i, "fw_mem")));
    }
    compare(r, "repeated ", "fw_flops", fraction_text(&r->gate->arena, flops), operations(r, PHASE_RECOMMUNICATION),
            whole(0), NO_DEVIATION);
    compare(r, "repeated ", "fw_mem", fraction_text(&r->gate->arena, mem), accesses(r, PHASE_RECOMMUNICATION), whole(0),
            NO_DEVIATION);
}

/* A step of the stage: L blocks, N microbatches; the optimizer once. */
static void compare_step(struct row *r)
{
    i128 blocks = (i128)stage_blocks(&r->model, &r->strategy);
    i128 all = blocks * (i128)stage_microbatches(&r->workload, &r->strategy);
    total(r, "derived_num_microbatches", whole((i128)stage_microbatches(&r->workload, &r->strategy)));
    total(r, "derived_blocks_per_proc", whole(blocks));
    total(r, "block_fw_pp_size", r->strategy.pipeline > 1 ? exact(r, r->block.boundary) : whole(0));
    total(r, "whole_fw_flops", scaled(operations(r, PHASE_FORWARD), all));
    total(r, "whole_fw_mem_accessed", scaled(accesses(r, PHASE_FORWARD), all));
    if (!r->training)
        return;
    total(r, "block_bw_pp_size", r->strategy.pipeline > 1 ? exact(r, r->block.boundary) : whole(0));
    total(r, "block_dp_size", r->strategy.data > 1 ? exact(r, r->block.memory.weights) : whole(0));
    total(r, "whole_agrad_flops", scaled(operations(r, PHASE_ACTIVATION_GRADIENT), all));
    total(r, "whole_agrad_mem_accessed", scaled(accesses(r, PHASE_ACTIVATION_GRADIENT), all));
    total(r, "whole_wgrad_flops", scaled(operations(r, PHASE_WEIGHT_GRADIENT), all));
    total(r, "whole_wgrad_mem_accessed", scaled(accesses(r, PHASE_WEIGHT_GRADIENT), all));
    total_deviates(r, "whole_optim_flops", scaled(operations(r, PHASE_OPTIMIZER), blocks),
                   scaled(r->share_gap, 11 * blocks), SHARES_ROUNDED_UP);
    total_deviates(r, "whole_optim_mem_accessed", scaled(accesses(r, PHASE_OPTIMIZER), blocks),
                   scaled(r->share_gap, optimizer_bytes(r) * blocks), SHARES_ROUNDED_UP);
}

/* With Calculon's formula for the difference: what a block keeps, times the blocks kept; and what both terms gain. */
static void compare_memory(struct row *r)
{
    struct stage_memory m;
    struct block_fault fault;
    i128 blocks = (i128)stage_blocks(&r->model, &r->strategy);
    if (!stage_derive_memory(r->exprs, &r->model, &r->workload, &r->strategy, &r->block.memory, &m, &fault)) {
        printf("%s: %s of the %s %s\n", r->id, fault.term, fault.layer, expr_status_text(fault.status));
        r->gate->other++;
        return;
    }
    struct fraction in_flight = difference(r->held, r->calculon_held);
    struct fraction stored = fraction_add(
        fraction_mul(r->unstored, difference(r->held, whole(1))),
        fraction_mul(in_flight, fraction_read(cell(r, "block_act_storage_space"))));
    struct fraction checkpoint = fraction_add(
        fraction_mul(r->checkpoint, r->held), fraction_mul(in_flight, fraction_read(cell(r, "block_act_checkpoint_size"))));
    struct fraction gradients = scaled(r->share_gap, (i128)r->workload.element_bytes * (blocks - 1));
    struct fraction optimizer = scaled(r->share_gap, optimizer_bytes(r) * blocks);
    struct fraction all = fraction_add(fraction_add(stored, checkpoint), fraction_add(gradients, optimizer));
    bool full = r->strategy.recompute == RECOMPUTE_FULL;
    enum deviation why = in_flight.over ? IN_FLIGHT_CAPPED : full ? SPLIT_CHECKPOINT : STORED_INPUTS;
    total(r, "memory_weight_space", exact(r, m.weights));
    total_deviates(r, "memory_act_space", fraction_add(exact(r, m.working), exact(r, m.stored)), stored, why);
    total_deviates(r, "memory_act_checkpoint_size", exact(r, m.checkpoint), checkpoint, why);
    total(r, "memory_act_grad_space", exact(r, m.activation_gradients));
    total_deviates(r, "memory_weight_grad_space", exact(r, m.gradients), gradients, SHARES_ROUNDED_UP);
    total_deviates(r, "memory_optimizer_space", exact(r, m.optimizer), optimizer, SHARES_ROUNDED_UP);
    total_deviates(r, "memory_tier1", exact(r, m.total), all, stored.over || checkpoint.over ? why : SHARES_ROUNDED_UP);
}

/* ---- Layers ---- */

struct layer_comparison {
    struct row *row;
    size_t at;
    const struct block_layer *l;
    const char *where;
};

static void layer_deviates(struct layer_comparison *c, const char *column, struct fraction ours, struct fraction excess,
                           enum deviation why)
{
    compare(c->row, c->where, column, layer_cell(c->row, c->at, column), ours, excess, why);
}

static void layer(struct layer_comparison *c, const char *column, struct fraction ours)
{
    layer_deviates(c, column, ours, whole(0), NO_DEVIATION);
}

static void layer_word(struct layer_comparison *c, const char *column, const char *ours)
{
    struct gate *g = c->row->gate;
    const char *theirs = layer_cell(c->row, c->at, column);
    bool same = !strcmp(theirs, ours);
    g->compared++;
    g->equal += same;
    g->other += !same;
    if (!same && g->other <= 50)
        printf("%s %s%s: %s, Calculon %s\n", c->row->id, c->where, column, ours, theirs);
}

static struct fraction moved(const struct row *r, const struct block_work *w)
{
    return fraction_add(exact(r, w->read), exact(r, w->write));
}

/* Calculon's names of the layers, in our order. */
static const char *const calculon_layers[LAYERS] = {
    "AttnBlock_Fork", "AttnBlock_LayerNorm", "AttnBlock_F", "AttnBlock_Multihead_Fork", "AttnBlock_Query",
    "AttnBlock_Key", "AttnBlock_Value", "AttnBlock_Multihead_Key_Query", "AttnBlock_Multihead_SoftMax",
    "AttnBlock_Multihead_DropOut", "AttnBlock_Multihead_Attn", "AttnBlock_MLP", "AttnBlock_G", "AttnBlock_DropOut",
    "AttnBlock_Residual", "MlpBlock_Fork", "MlpBlock_LayerNorm", "MlpBlock_F", "MlpBlock_Mlp1", "MlpBlock_GeLU",
    "MlpBlock_Mlp2", "MlpBlock_G", "MlpBlock_DropOut", "MlpBlock_Residual",
};

enum { QKV_FORK = 3, MLP_EXPAND = 18 };     /* whose inputs Calculon drops */

static const char *calculon_type(const char *primitive)
{
    static const char *const types[][2] = {
        { "fork", "Fork" }, { "layer_norm", "LayerNorm" }, { "linear", "Linear" }, { "batch_matmul", "BatchMatMul" },
        { "softmax", "SoftMax" }, { "dropout", "DropOut" }, { "residual_add", "ElementWise" }, { "gelu", "GeLU" },
        { "tensor_parallel_collective", "TPComm" },
    };
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(types[i][0], primitive))
            return types[i][1];
    return "none";
}

static void compare_layer_forward(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    const struct primitive_row *p = &primitive_table[layer_table[c->at].primitive];
    layer_word(c, "name", calculon_layers[c->at]);
    layer_word(c, "type", calculon_type(p->name));
    layer_word(c, "engine", p->engine == ENGINE_MATRIX ? "matrix" : "vector");
    layer(c, "in_elems", exact(r, l->in));
    layer(c, "out_elems", exact(r, l->out));
    layer(c, "act_elems", exact(r, l->act));
    layer(c, "weight_elems", exact(r, l->weights));
    layer(c, "fw_flops", exact(r, l->forward.operations));
    layer(c, "fw_mem", moved(r, &l->forward));
    layer(c, "weight_bytes", exact(r, l->weight_bytes));
    layer(c, "act_bytes", exact(r, l->act_bytes));
    layer(c, "out_bytes", exact(r, l->out_bytes));
    layer(c, "act_reused", whole(l->act_shared));
    layer(c, "act_working_add", exact(r, l->working));
    layer_word(c, "base_fw_comm_kind", block_collective_name(l->forward_kind));
    layer_word(c, "edge_fw_comm_kind", block_collective_name(l->forward_kind));
    layer(c, "base_fw_comm_bytes", exact(r, l->forward.message));
    layer(c, "edge_fw_comm_bytes", exact(r, l->forward.message));
}

static void compare_layer_gradients(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    struct fraction weights = exact(r, l->weights), gap = share_gap(r, weights.over);
    layer(c, "act_grad_elems", exact(r, l->grad));
    layer(c, "weight_grad_elems", weights);
    layer(c, "optim_elems", scaled(weights, 2));
    layer(c, "agrad_flops", exact(r, l->activation_gradient.operations));
    layer(c, "agrad_mem", moved(r, &l->activation_gradient));
    layer(c, "wgrad_flops", exact(r, l->weight_gradient.operations));
    layer(c, "wgrad_mem", moved(r, &l->weight_gradient));
    layer_deviates(c, "optim_flops", exact(r, l->optimizer.operations), scaled(gap, 11), SHARES_ROUNDED_UP);
    layer_deviates(c, "optim_mem", moved(r, &l->optimizer), scaled(gap, optimizer_bytes(r)), SHARES_ROUNDED_UP);
    layer(c, "act_grad_bytes", exact(r, l->activation_gradient_bytes));
    layer_deviates(c, "weight_grad_bytes", exact(r, l->gradient_bytes), scaled(gap, r->workload.element_bytes),
                   SHARES_ROUNDED_UP);
    layer(c, "weight_grad_bytes_fp32", exact(r, l->gradient_bytes_unsharded));
    layer_deviates(c, "optim_bytes", exact(r, l->optimizer_bytes), scaled(gap, optimizer_bytes(r)), SHARES_ROUNDED_UP);
    layer_word(c, "base_bw_comm_kind", block_collective_name(l->gradient_kind));
    layer_word(c, "edge_bw_comm_kind", block_collective_name(l->gradient_kind));
    layer(c, "base_bw_comm_bytes", exact(r, l->activation_gradient.message));
    layer(c, "edge_bw_comm_bytes", exact(r, l->activation_gradient.message));
}

static void compare_layer_storage(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    bool unstored = (c->at == QKV_FORK && drops_attention_input(r)) || (c->at == MLP_EXPAND && drops_mlp_input(r));
    struct fraction bytes = unstored ? fraction_read(layer_cell(r, c->at, "act_bytes")) : whole(0);
    struct fraction repeated = l->repeat_kind ? exact(r, l->forward.message) : whole(0);
    layer(c, "recompute", whole(l->recomputed));
    layer(c, "recomm", whole(l->repeated));
    layer_deviates(c, "act_stored", whole(l->act_stored), whole(unstored), STORED_INPUTS);
    layer(c, "out_stored", whole(l->out_stored));
    layer_deviates(c, "act_storage_add", exact(r, l->stored), bytes, STORED_INPUTS);
    layer(c, "re_flops", l->recomputed ? exact(r, l->forward.operations) : whole(0));
    layer(c, "re_mem", l->recomputed ? moved(r, &l->forward) : whole(0));
    layer_word(c, "base_re_comm_kind", block_collective_name(l->repeat_kind));
    layer_word(c, "edge_re_comm_kind", block_collective_name(l->repeat_kind));
    layer(c, "base_re_comm_bytes", repeated);
    layer(c, "edge_re_comm_bytes", repeated);
}

static void compare_layers(struct row *r)
{
    for (size_t i = 0; i < LAYERS; i++) {
        struct layer_comparison c = {
            r, i, &r->block.layers[i], arena_format(&r->gate->arena, "%s ", layer_table[i].name),
        };
        compare_layer_forward(&c);
        if (r->training) {
            compare_layer_gradients(&c);
            compare_layer_storage(&c);
        }
    }
}

/* ---- Rows that the contract refuses ---- */

struct refusals {
    u32 errors;
    struct contract_finding last;
};

static void note_refusal(void *state, const struct contract_finding *f)
{
    struct refusals *seen = state;
    if (f->severity != SEVERITY_ERROR)
        return;
    seen->errors++;
    seen->last = *f;
}

/* The remainder that the oracle's own columns give, for the one reason that the row has. */
static u64 expected_remainder(const struct row *r, const char *code)
{
    u64 blocks = number(r, "app_num_blocks"), pipeline = number(r, "exe_pipeline_par");
    if (!strcmp(code, "strategy.pipeline.blocks_not_divisible"))
        return blocks % pipeline;
    if (!strcmp(code, "strategy.tensor.sequence_not_divisible"))
        return number(r, "app_seq_size") % number(r, "exe_tensor_par");
    return 0;
}

static bool accepted(struct row *r, struct refusals *seen)
{
    *seen = (struct refusals){ 0 };
    return contract_check_training(&r->model, &r->workload, &r->strategy, &r->gate->arena, note_refusal, seen);
}

/* Asserts each refusal and its remainder; then tries one stage. False when that is refused too. */
static bool accept_or_flatten(struct row *r)
{
    struct refusals seen;
    r->on_stage = true;
    if (accepted(r, &seen))
        return true;
    r->on_stage = false;
    r->gate->rows_refused++;
    u64 remainder = expected_remainder(r, seen.last.rule->code);
    printf("%s refused: %s\n", r->id, seen.last.message);
    if (!remainder || remainder != seen.last.remainder) {
        printf("%s: remainder %llu expected\n", r->id, (unsigned long long)remainder);
        r->gate->other++;
    }
    r->strategy.pipeline = r->strategy.virtual_stages = 1;
    r->strategy.schedule = SCHEDULE_SINGLE_STAGE;
    r->strategy.world = 0;
    return accepted(r, &seen);
}

/* ---- The run ---- */

static void skip(struct row *r, enum skip why)
{
    r->gate->rows_skipped[why]++;
}

static void compare_row(struct row *r)
{
    struct block_sizes sizes = block_sizes_of(&r->model, &r->workload, &r->strategy);
    struct block_switches switches = block_switches_of(&r->strategy);
    struct block_fault fault;
    if (!block_derive(r->exprs, &r->gate->arena, &sizes, &switches, &r->block, &fault)) {
        printf("%s: %s of %s %s\n", r->id, fault.term, fault.layer, expr_status_text(fault.status));
        r->gate->other++;
        return;
    }
    predict(r);
    compare_forward(r);
    compare_layers(r);
    if (r->training) {
        compare_training(r);
        compare_recommunication(r);
    }
    if (r->on_stage) {
        compare_step(r);
        if (r->training)
            compare_memory(r);
    }
    qty parameters;
    if (narayanan_parameters(r->exprs, &r->model, &parameters) == CONVENTION_OK)
        total(r, "whole_num_parameters", exact(r, parameters));
}

static void run_row(struct gate *g, size_t at, struct exprs *exprs)
{
    struct row r = { .gate = g, .at = at, .id = tsv_cell(&g->totals, at, "id"), .exprs = exprs };
    while (r.layer < g->layers.n_rows && strcmp(tsv_cell(&g->layers, r.layer, "id"), r.id))
        r.layer++;
    enum skip why = skip_of(&r);
    if (why) {
        skip(&r, why);
        return;
    }
    read_specification(&r);
    u32 before = g->other;
    bool legal = accept_or_flatten(&r);
    g->rows++;
    if (legal)
        compare_row(&r);
    else
        skip(&r, SKIP_REFUSED);
    g->rows_failed += g->other > before;
    for (size_t d = 1; d < DEVIATIONS; d++)
        if (r.seen[d]) {
            g->rows_declared[d]++;
            g->rows_of[d] = arena_format(&g->arena, "%s %s", g->rows_of[d] ? g->rows_of[d] : "", r.id);
        }
}

static void report(const struct gate *g)
{
    printf("\nrows %zu: in scope %u, of which refused as they stand %u and compared on one stage %u\n", g->totals.n_rows,
           g->rows, g->rows_refused, g->rows_refused - g->rows_skipped[SKIP_REFUSED]);
    for (size_t i = 1; i < SKIPS; i++)
        if (g->rows_skipped[i])
            printf("  %u out: %s\n", g->rows_skipped[i], skip_names[i]);
    printf("cells compared %u: equal %u, declared %u, other %u\n", g->compared, g->equal, g->declared, g->other);
    for (size_t i = 1; i < DEVIATIONS; i++)
        printf("  %u rows: %s:%s\n", g->rows_declared[i], deviation_names[i], g->rows_of[i] ? g->rows_of[i] : "");
    printf("%u passed, %u failed\n", g->rows - g->rows_failed, g->rows_failed);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    struct gate g = { 0 };
    struct interner names;
    arena_init(&g.arena);
    interner_init(&names, &g.arena);
    g.totals = tsv_read(&g.arena, arena_format(&g.arena, "%s/calculon-totals.tsv", argv[1]));
    g.layers = tsv_read(&g.arena, arena_format(&g.arena, "%s/calculon-blocks.tsv", argv[1]));
    struct exprs *exprs = exprs_new(&g.arena, &names);
    for (size_t at = 0; at < g.totals.n_rows; at++)
        run_row(&g, at, exprs);
    report(&g);
    interner_free(&names);
    int status = g.other || !g.compared;
    arena_free(&g.arena);
    return status;
}
