/*
 * The block and the stage against calculon-totals.tsv. Not compared: times; what is resident with offloading (`_min`,
 * tier2); Calculon's recompute counters, which are prefix sums (`calculon_re_`).
 */
#include "block_row.h"

#include "transformer/convention.h"
#include "transformer/stage.h"

#include <stdio.h>

enum { SHOWN = 50 };        /* faults printed */

void row_compare(struct row *r, const char *where, const char *column, const char *expected, struct fraction ours,
                 struct fraction excess, enum deviation why)
{
    struct tally *t = r->tally;
    struct arena *arena = r->c.oracle->arena;
    t->compared++;
    if (!fraction_equal(ours, fraction_add(fraction_read(expected), excess))) {
        if (t->other++ < SHOWN)
            printf("%s %s%s: %s, Calculon %s, declared difference %s\n", r->c.id, where, column,
                   fraction_text(arena, ours), expected, fraction_text(arena, excess));
    } else if (excess.over) {
        t->declared++;
        r->seen[why] = true;
    } else {
        t->equal++;
    }
}

void row_compare_word(struct row *r, const char *where, const char *column, const char *expected, const char *ours)
{
    struct tally *t = r->tally;
    bool same = !strcmp(expected, ours);
    t->compared++;
    t->equal += same;
    t->other += !same;
    if (!same && t->other <= SHOWN)
        printf("%s %s%s: %s, Calculon %s\n", r->c.id, where, column, ours, expected);
}

struct fraction row_exact(const struct row *r, qty q)
{
    return fraction_of_qty(r->c.oracle->exprs, q);
}

struct fraction row_moved(const struct row *r, const struct block_work *w)
{
    return fraction_add(row_exact(r, w->read), row_exact(r, w->write));
}

static void total_deviates(struct row *r, const char *column, struct fraction ours, struct fraction excess,
                           enum deviation why)
{
    row_compare(r, "", column, configuration_cell(&r->c, column), ours, excess, why);
}

static void total(struct row *r, const char *column, struct fraction ours)
{
    total_deviates(r, column, ours, whole(0), NO_DEVIATION);
}

static struct fraction operations(const struct row *r, enum training_phase phase)
{
    return row_exact(r, r->block.phases[phase].operations);
}

static struct fraction accesses(const struct row *r, enum training_phase phase)
{
    return row_moved(r, &r->block.phases[phase]);
}

static struct fraction message(const struct row *r, enum training_phase phase)
{
    return row_exact(r, r->block.phases[phase].message);
}

static void compare_forward(struct row *r)
{
    total(r, "block_fw_flops", operations(r, PHASE_FORWARD));
    total(r, "block_fw_mem_accessed", accesses(r, PHASE_FORWARD));
    total(r, "block_base_fw_tp_size", message(r, PHASE_FORWARD));
    total(r, "block_edge_fw_tp_size", message(r, PHASE_FORWARD));
    total(r, "block_weight_space", row_exact(r, r->block.memory.weights));
    total(r, "block_act_working_space", row_exact(r, r->block.memory.working));
    total(r, "derived_activation_elems", row_exact(r, r->block.layers[3].in));
}

static void compare_training(struct row *r)
{
    struct fraction optimizer_gap = scaled(r->share_gap, row_optimizer_bytes(r));
    total(r, "block_agrad_flops", operations(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_agrad_mem_accessed", accesses(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_wgrad_flops", operations(r, PHASE_WEIGHT_GRADIENT));
    total(r, "block_wgrad_mem_accessed", accesses(r, PHASE_WEIGHT_GRADIENT));
    total(r, "block_re_flops", operations(r, PHASE_RECOMPUTE));
    total(r, "block_re_mem_accessed", accesses(r, PHASE_RECOMPUTE));
    total_deviates(r, "block_optim_flops", operations(r, PHASE_OPTIMIZER), scaled(r->share_gap, 11), SHARES_ROUNDED_UP);
    total_deviates(r, "block_optim_mem_accessed", accesses(r, PHASE_OPTIMIZER), optimizer_gap, SHARES_ROUNDED_UP);
    struct fraction useful = fraction_add(
        fraction_add(operations(r, PHASE_FORWARD), operations(r, PHASE_ACTIVATION_GRADIENT)),
        fraction_add(operations(r, PHASE_WEIGHT_GRADIENT), operations(r, PHASE_OPTIMIZER)));
    total_deviates(r, "whole_useful_flops", useful, scaled(r->share_gap, 11), SHARES_ROUNDED_UP);
    total(r, "block_base_bw_tp_size", message(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_edge_bw_tp_size", message(r, PHASE_ACTIVATION_GRADIENT));
    total(r, "block_base_recomm_size", message(r, PHASE_RECOMMUNICATION));
    total(r, "block_edge_recomm_size", message(r, PHASE_RECOMMUNICATION));
    total_deviates(r, "block_act_storage_space", row_exact(r, r->block.memory.stored), r->unstored, STORED_INPUTS);
    total_deviates(r, "block_act_checkpoint_size", row_exact(r, r->block.memory.checkpoint), r->checkpoint,
                   SPLIT_CHECKPOINT);
    total_deviates(r, "block_weight_grad_space", row_exact(r, r->block.memory.gradients),
                   scaled(r->share_gap, r->c.workload.element_bytes), SHARES_ROUNDED_UP);
    total(r, "block_weight_grad_space_no_sharding", row_exact(r, r->block.memory.gradients_unsharded));
    total(r, "block_act_grad_space", row_exact(r, r->block.memory.activation_gradients));
    total_deviates(r, "block_optimizer_space", row_exact(r, r->block.memory.optimizer), optimizer_gap,
                   SHARES_ROUNDED_UP);
}

/* Recommunication has no column: it is the forward row of every collective that is repeated. */
static void compare_recommunication(struct row *r)
{
    struct fraction flops = whole(0), mem = whole(0);
    for (size_t i = 0; i < r->block.n_layers; i++) {
        if (!strcmp(row_layer_cell(r, i, "base_re_comm_kind"), "none"))
            continue;
        flops = fraction_add(flops, fraction_read(row_layer_cell(r, i, "fw_flops")));
        mem = fraction_add(mem, fraction_read(row_layer_cell(r, i, "fw_mem")));
    }
    row_compare(r, "repeated ", "fw_flops", fraction_text(r->c.oracle->arena, flops),
                operations(r, PHASE_RECOMMUNICATION), whole(0), NO_DEVIATION);
    row_compare(r, "repeated ", "fw_mem", fraction_text(r->c.oracle->arena, mem),
                accesses(r, PHASE_RECOMMUNICATION), whole(0), NO_DEVIATION);
}

/* A step of the stage: L blocks, N microbatches; the optimizer once. */
static void compare_step(struct row *r)
{
    i128 blocks = (i128)stage_blocks(&r->c.model, &r->c.strategy);
    i128 all = blocks * (i128)stage_microbatches(&r->c.workload, &r->c.strategy);
    total(r, "derived_num_microbatches", whole((i128)stage_microbatches(&r->c.workload, &r->c.strategy)));
    total(r, "derived_blocks_per_proc", whole(blocks));
    total(r, "block_fw_pp_size", r->c.strategy.pipeline > 1 ? row_exact(r, r->block.boundary) : whole(0));
    total(r, "whole_fw_flops", scaled(operations(r, PHASE_FORWARD), all));
    total(r, "whole_fw_mem_accessed", scaled(accesses(r, PHASE_FORWARD), all));
    if (!r->c.training)
        return;
    total(r, "block_bw_pp_size", r->c.strategy.pipeline > 1 ? row_exact(r, r->block.boundary) : whole(0));
    total(r, "block_dp_size", r->c.strategy.data > 1 ? row_exact(r, r->block.memory.weights) : whole(0));
    total(r, "whole_agrad_flops", scaled(operations(r, PHASE_ACTIVATION_GRADIENT), all));
    total(r, "whole_agrad_mem_accessed", scaled(accesses(r, PHASE_ACTIVATION_GRADIENT), all));
    total(r, "whole_wgrad_flops", scaled(operations(r, PHASE_WEIGHT_GRADIENT), all));
    total(r, "whole_wgrad_mem_accessed", scaled(accesses(r, PHASE_WEIGHT_GRADIENT), all));
    total_deviates(r, "whole_optim_flops", scaled(operations(r, PHASE_OPTIMIZER), blocks),
                   scaled(r->share_gap, 11 * blocks), SHARES_ROUNDED_UP);
    total_deviates(r, "whole_optim_mem_accessed", scaled(accesses(r, PHASE_OPTIMIZER), blocks),
                   scaled(r->share_gap, row_optimizer_bytes(r) * blocks), SHARES_ROUNDED_UP);
}

/*
 * What a stage holds departs with the block (bytes that it keeps more, times the microbatch-blocks that are kept) and
 * with the schedule (Calculon's bytes, times the microbatch-blocks that it holds too many).
 */
static struct fraction held_excess(const struct row *r, struct fraction more, struct fraction ours, const char *theirs)
{
    struct fraction in_flight = difference(r->held, r->calculon_held);
    return fraction_add(fraction_mul(more, ours),
                        fraction_mul(in_flight, fraction_read(configuration_cell(&r->c, theirs))));
}

static void compare_memory(struct row *r)
{
    const struct configuration *c = &r->c;
    struct stage_memory m;
    struct block_fault fault;
    if (!stage_derive_memory(c->oracle->exprs, &c->model, &c->workload, &c->strategy, &r->block.memory, &m, &fault)) {
        printf("%s: %s of the %s %s\n", c->id, fault.term, fault.layer, expr_status_text(fault.status));
        r->tally->other++;
        return;
    }
    i128 blocks = (i128)stage_blocks(&c->model, &c->strategy), e = (i128)c->workload.element_bytes;
    struct fraction kept = difference(r->held, whole(1));
    struct fraction stored = held_excess(r, r->unstored, kept, "block_act_storage_space");
    struct fraction checkpoint = held_excess(r, r->checkpoint, r->held, "block_act_checkpoint_size");
    struct fraction gradients = scaled(r->share_gap, e * (blocks - 1));
    struct fraction optimizer = scaled(r->share_gap, row_optimizer_bytes(r) * blocks);
    struct fraction activations = fraction_add(stored, checkpoint), shares = fraction_add(gradients, optimizer);
    enum deviation why = !fraction_equal(r->held, r->calculon_held)    ? IN_FLIGHT_CAPPED
                         : c->strategy.recompute == RECOMPUTE_FULL ? SPLIT_CHECKPOINT
                                                                   : STORED_INPUTS;
    total(r, "memory_weight_space", row_exact(r, m.weights));
    total_deviates(r, "memory_act_space", fraction_add(row_exact(r, m.working), row_exact(r, m.stored)), stored, why);
    total_deviates(r, "memory_act_checkpoint_size", row_exact(r, m.checkpoint), checkpoint, why);
    total(r, "memory_act_grad_space", row_exact(r, m.activation_gradients));
    total_deviates(r, "memory_weight_grad_space", row_exact(r, m.gradients), gradients, SHARES_ROUNDED_UP);
    total_deviates(r, "memory_optimizer_space", row_exact(r, m.optimizer), optimizer, SHARES_ROUNDED_UP);
    total_deviates(r, "memory_tier1", row_exact(r, m.total), fraction_add(activations, shares),
                   activations.over ? why : SHARES_ROUNDED_UP);
}

void row_compare_block(struct row *r)
{
    qty parameters;
    compare_forward(r);
    if (r->c.training) {
        compare_training(r);
        compare_recommunication(r);
    }
    if (narayanan_parameters(r->c.oracle->exprs, &r->c.model, &parameters) == CONVENTION_OK)
        total(r, "whole_num_parameters", row_exact(r, parameters));
}

void row_compare_stage(struct row *r)
{
    compare_step(r);
    if (r->c.training)
        compare_memory(r);
}
