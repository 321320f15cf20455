/*
 * The algebra against Calculon: every configuration that both can describe, every number of its block, of each of its
 * layers and of its stage, exactly. Where we depart from Calculon (docs/deviations.md) the difference is predicted
 * from the oracle's own columns; whatever isn't predicted, to the last unit, is an error.
 */
#include "block_row.h"

#include "transformer/contract.h"

#include <inttypes.h>
#include <stdio.h>

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
    [SKIP_REFUSED] = "refused as it stands and refused on one stage",
};

struct gate {
    const struct oracle *oracle;
    struct tally tally;
    u32 rows, failed, refused, skipped[SKIPS];
    u32 training, forward_only, layers;     /* compared */
    u32 declared[DEVIATIONS];
    const char *ids[DEVIATIONS];            /* of the rows with a declared difference */
};

static enum skip skip_of(const struct configuration *c)
{
    if (!configuration_is(c, "exe_attention_type", "multihead"))
        return SKIP_ATTENTION;
    if (!configuration_is(c, "exe_tensor_par_overlap", "none"))
        return SKIP_OVERLAP;
    if (configuration_number(c, "exe_weight_offload") || configuration_number(c, "exe_activations_offload") ||
        configuration_number(c, "exe_optimizer_offload"))
        return SKIP_OFFLOAD;
    return configuration_is(c, "exe_tensor_par_comm_type", "p2p_rs_ag") ? SKIP_COMMUNICATION : NOT_SKIPPED;
}

/* ---- Rows that the contract refuses ---- */

struct refusals {
    struct row *row;
    bool quiet;
};

/* The remainder that the oracle's own columns give; 0 for a code that no row should have. */
static u64 expected_remainder(const struct configuration *c, const char *code)
{
    if (!strcmp(code, "strategy.pipeline.blocks_not_divisible"))
        return configuration_number(c, "app_num_blocks") % configuration_number(c, "exe_pipeline_par");
    if (!strcmp(code, "strategy.tensor.sequence_not_divisible"))
        return configuration_number(c, "app_seq_size") % configuration_number(c, "exe_tensor_par");
    return 0;
}

static void check_refusal(void *state, const struct contract_finding *f)
{
    struct refusals *seen = state;
    struct row *r = seen->row;
    if (seen->quiet || f->severity != SEVERITY_ERROR)
        return;
    u64 remainder = expected_remainder(&r->c, f->rule->code);
    printf("%s refused: %s\n", r->c.id, f->message);
    if (remainder && remainder == f->remainder)
        return;
    printf("%s: remainder %" PRIu64 " expected\n", r->c.id, remainder);
    r->tally->other++;
}

static bool is_legal(struct row *r, bool quiet)
{
    struct refusals seen = { r, quiet };
    const struct configuration *c = &r->c;
    return contract_check_training(&c->model, &c->workload, &c->strategy, c->oracle->arena, check_refusal, &seen);
}

/* Checks each refusal and its remainder; then tries one stage. False when that is refused too. */
static bool accept_or_flatten(struct gate *g, struct row *r)
{
    r->on_stage = is_legal(r, false);
    if (r->on_stage)
        return true;
    g->refused++;
    r->c.strategy.pipeline = r->c.strategy.virtual_stages = 1;
    r->c.strategy.schedule = SCHEDULE_SINGLE_STAGE;
    r->c.strategy.world = 0;
    return is_legal(r, true);
}

/* ---- The run ---- */

static void compare_row(struct gate *g, struct row *r)
{
    configuration_derive(&r->c, &r->block);
    row_predict(r);
    row_compare_block(r);
    row_compare_layers(r);
    if (r->on_stage)
        row_compare_stage(r);
    g->training += r->c.training;
    g->forward_only += !r->c.training;
    g->layers += r->block.n_layers;
}

static bool is_layer_of(const struct configuration *c, size_t at)
{
    return at < c->oracle->layers.n_rows && !strcmp(tsv_cell(&c->oracle->layers, at, "id"), c->id);
}

/* The block's layers stand in a row. False when there are more or fewer of them. */
static bool find_layers(struct row *r)
{
    size_t at = 0, n = 0;
    while (at < r->c.oracle->layers.n_rows && !is_layer_of(&r->c, at))
        at++;
    while (is_layer_of(&r->c, at + n))
        n++;
    r->layer = at;
    if (n == CALCULON_LAYERS)
        return true;
    printf("%s: %zu layers, not %d\n", r->c.id, n, CALCULON_LAYERS);
    r->tally->other++;
    return false;
}

static void run_row(struct gate *g, size_t at)
{
    struct row r = { .c = configuration_read(g->oracle, at), .tally = &g->tally };
    enum skip why = skip_of(&r.c);
    u32 before = g->tally.other;
    g->skipped[why]++;
    if (why)
        return;
    g->rows++;
    if (!accept_or_flatten(g, &r))
        g->skipped[SKIP_REFUSED]++;
    else if (find_layers(&r))
        compare_row(g, &r);
    g->failed += g->tally.other > before;
    for (size_t d = 1; d < DEVIATIONS; d++)
        if (r.seen[d]) {
            g->declared[d]++;
            g->ids[d] = arena_format(g->oracle->arena, "%s %s", g->ids[d] ? g->ids[d] : "", r.c.id);
        }
}

static void report(const struct gate *g)
{
    const struct tally *t = &g->tally;
    printf("\nrows %zu: in scope %u, of which refused %u and then compared on one stage %u\n",
           g->oracle->totals.n_rows, g->rows, g->refused, g->refused - g->skipped[SKIP_REFUSED]);
    for (size_t i = 1; i < SKIPS; i++)
        if (g->skipped[i])
            printf("  %u not compared: %s\n", g->skipped[i], skip_names[i]);
    printf("rows compared %u: training %u, forward only %u; layer rows %u\n", g->training + g->forward_only, g->training,
           g->forward_only, g->layers);
    printf("cells compared %u: equal %u, declared %u, other %u\n", t->compared, t->equal, t->declared, t->other);
    for (size_t i = 1; i < DEVIATIONS; i++)
        printf("  %u rows: %s:%s\n", g->declared[i], deviation_names[i], g->ids[i] ? g->ids[i] : "");
}

struct verdict block_gate(const struct oracle *o)
{
    struct gate g = { .oracle = o };
    for (size_t at = 0; at < o->totals.n_rows; at++)
        run_row(&g, at);
    report(&g);
    return (struct verdict){ g.rows - g.failed, g.failed };
}
