/* What of a difference to Calculon is declared: formulas over the oracle's own columns, none of our numbers. */
#include "block_row.h"

static i128 microbatches(const struct row *r)
{
    return (i128)configuration_number(&r->c, "derived_num_microbatches");
}

/* Calculon's k: min(N, p), times 1 + (p-1)/(il p) where stages are interleaved. */
static struct fraction calculon_in_flight(const struct row *r)
{
    i128 n = microbatches(r), p = r->c.strategy.pipeline, il = r->c.strategy.virtual_stages;
    struct fraction k = whole(n < p ? n : p);
    return il == 1 ? k : fraction_mul(k, fraction_add(whole(1), fraction_of(p - 1, il * p)));
}

/* The schedule's: at most the chunks of a step, m v. */
static struct fraction capped_in_flight(const struct row *r)
{
    i128 m = microbatches(r), p = r->c.strategy.pipeline, v = r->c.strategy.virtual_stages;
    i128 chunks = v == 1 ? p : 2 * (p - 1) + (v - 1) * p + 1;
    return fraction_of(chunks < m * v ? chunks : m * v, v);
}

static bool nothing_regathers(const struct row *r)
{
    return r->c.strategy.tensor == 1 || r->c.strategy.communication == COMMUNICATION_ALL_REDUCE;
}

/* Inputs that Calculon drops and nothing rebuilds: that of the projections, that of the first feed-forward product. */
bool row_drops_attention_input(const struct row *r)
{
    const struct training_strategy *s = &r->c.strategy;
    return nothing_regathers(r) && s->recompute != RECOMPUTE_FULL &&
           (s->recompute == RECOMPUTE_ATTENTION || s->input_regather);
}

bool row_drops_mlp_input(const struct row *r)
{
    return nothing_regathers(r) && r->c.strategy.recompute != RECOMPUTE_FULL && r->c.strategy.input_regather;
}

struct fraction row_share_gap(const struct row *r, i128 weights)
{
    i128 d = r->c.strategy.optimizer_sharding ? (i128)r->c.strategy.data : 1;
    return difference(whole((weights + d - 1) / d), fraction_of(weights, d));
}

const char *row_layer_cell(const struct row *r, size_t layer, const char *column)
{
    return tsv_cell(&r->c.oracle->layers, r->layer + layer, column);
}

void row_predict(struct row *r)
{
    i128 elements = (i128)configuration_number(&r->c, "derived_activation_elems");
    i128 activation = elements * (i128)r->c.workload.element_bytes;
    i128 blocks = (i128)configuration_number(&r->c, "derived_blocks_per_proc");
    bool split = !nothing_regathers(r);
    r->unstored = whole(activation * (row_drops_attention_input(r) + row_drops_mlp_input(r)));
    r->checkpoint = whole(0);
    if (split && r->c.strategy.recompute == RECOMPUTE_FULL)
        r->checkpoint = difference(fraction_of(activation, r->c.strategy.tensor), whole(activation));
    r->share_gap = whole(0);
    for (size_t i = 0; i < r->block.n_layers; i++) {
        i128 weights = fraction_read(row_layer_cell(r, i, "weight_elems")).over;
        r->share_gap = fraction_add(r->share_gap, row_share_gap(r, weights));
    }
    r->held = scaled(capped_in_flight(r), blocks);
    r->calculon_held = scaled(calculon_in_flight(r), blocks);
}

i128 row_optimizer_bytes(const struct row *r)
{
    return r->c.workload.element_bytes < 4 ? 12 : 8;
}
