#include "passes/training_report.h"

#include "ir/json.h"
#include "passes/spec.h"
#include "support/quantity.h"
#include "transformer/convention.h"

static const struct item *pinned(const struct item *dist, const struct module *m, const char *kind)
{
    for (u32 i = 0; i < dist->header.n_using; i++) {
        const struct item *it = module_find(m, dist->header.using[i].item);
        if (it && !strcmp(it->kind->name, kind))
            return it;
    }
    return NULL;
}

static bool kept_bytes(const struct training_report *r, const struct block *b, u128 *out)
{
    return qty_value(r->ctx->exprs, b->memory.checkpoint ? b->memory.checkpoint : b->memory.stored, out);
}

/* Korthikanti et al. 2022, figure 7, compare with tensor parallelism alone: all_reduce, everything stored. */
static bool derive_baseline(struct training_report *r)
{
    struct training_strategy s = r->strategy;
    struct block *b = ARENA_NEW(&r->ctx->arena, struct block);
    struct block_fault fault;
    s.communication = COMMUNICATION_ALL_REDUCE;
    s.recompute = RECOMPUTE_NONE;
    s.input_regather = s.fused_activation = false;
    struct block_sizes sizes = block_sizes_of(r->ctx->exprs, &r->model, &r->workload, &s);
    struct block_switches switches = block_switches_of(&r->model, &s, r->pairs);
    return block_derive(r->ctx->exprs, &r->ctx->arena, &sizes, &switches, b, &fault) && kept_bytes(r, r->block, &r->kept) &&
           kept_bytes(r, b, &r->kept_baseline);
}

bool training_report_of(struct training_report *out, const struct item *model, const struct item *dist, const struct module *m)
{
    const struct item *workload = pinned(dist, m, "session.workload"), *strategy = pinned(dist, m, "session.strategy");
    const struct model_op *op = model->kind->layer == LAYER_MODEL ? spec_decoder(model, "transformer.decoder_training") : NULL;
    struct block_fault fault;
    if (!op || !workload || !strategy || !dist->header.pass ||
        !intern_is(&dist->ctx->names, dist->header.pass, "distribute-transformer-training"))
        return false;
    *out = (struct training_report){ .ctx = dist->ctx };
    spec_model(model, op, &out->model);
    spec_workload(workload, &out->workload);
    spec_strategy(strategy, &out->strategy);
    out->pairs = spec_pairs(dist);
    out->block = ARENA_NEW(&dist->ctx->arena, struct block);
    struct block_sizes sizes = block_sizes_of(dist->ctx->exprs, &out->model, &out->workload, &out->strategy);
    struct block_switches switches = block_switches_of(&out->model, &out->strategy, out->pairs);
    out->microbatches = stage_microbatches(&out->workload, &out->strategy);
    out->blocks = stage_blocks(&out->model, &out->strategy);
    return block_derive(dist->ctx->exprs, &dist->ctx->arena, &sizes, &switches, out->block, &fault) &&
           stage_derive_memory(dist->ctx->exprs, &out->model, &out->workload, &out->strategy, &out->block->memory, &out->memory, &fault) &&
           derive_baseline(out);
}

/* ---- Derived numbers ---- */

/* Bytes that a chunk hands to the next stage for one microbatch: the boundary of a block on one rank. */
static qty pipeline_message(const struct training_report *r)
{
    return r->strategy.pipeline > 1 ? r->block->boundary : 0;
}

/* Bytes of a block's gradients between the replicas: they travel in the weights' type. */
static qty data_message(const struct training_report *r)
{
    return r->strategy.data > 1 ? r->block->memory.weights : 0;
}

/* Operations of PHASE on one rank in one iteration: the optimizer runs once, all else for every microbatch. */
static bool iteration_operations(const struct training_report *r, int phase, u128 *out)
{
    u128 n = 0;
    return qty_value(r->ctx->exprs, r->block->phases[phase].operations, &n) && u128_mul(n, r->blocks, &n) &&
           u128_mul(n, phase == PHASE_OPTIMIZER ? 1 : r->microbatches, out);
}

/* Of all ranks: every block of the model on each of its tensor-parallel ranks, for each microbatch of each replica. */
static bool world_operations(const struct training_report *r, u128 *out)
{
    u128 sum = 0, n;
    for (int p = 0; p < PHASES; p++)
        if (!iteration_operations(r, p, &n) || !u128_add(sum, n, &sum))
            return false;
    return u128_mul(sum, (u128)r->strategy.tensor * r->strategy.pipeline * r->strategy.data, out);
}

static void out_ratio(struct out *o, struct ratio q)
{
    out_u128(o, q.over);
    if (q.under != 1) {
        out_char(o, '/');
        out_u128(o, q.under);
    }
}

/* Bytes on each rank of a stage: as the first, but for what is kept for the microbatches in flight. */
static qty stage_bytes(const struct training_report *r, u64 rank)
{
    struct exprs *x = r->ctx->exprs;
    const struct block_memory *b = &r->block->memory;
    u128 blocks = (u128)(r->blocks / r->strategy.virtual_stages) * stage_peak_chunks(&r->strategy, r->microbatches, rank);
    qty rest = r->memory.total, kept = 0;
    bool full = b->checkpoint != 0;
    bool good = qty_sub(x, rest, full ? r->memory.checkpoint : r->memory.stored, &rest) == EXPR_OK &&
                qty_mul(x, full ? b->checkpoint : b->stored, qty_number(x, blocks - !full), &kept) == EXPR_OK &&
                qty_add(x, rest, kept, &rest) == EXPR_OK;
    return good ? rest : 0;
}

/* ---- Text ---- */

static void row(struct out *o, const struct training_report *r, const char *name, qty value, const char *unit)
{
    if (value)
        out_printf(o, "    %-22s %20s %s\n", name, qty_text(r->ctx, value), unit);
}

static void text_stage(struct out *o, const struct training_report *r)
{
    out_printf(o, "  stage 0 of %llu, the heaviest: %llu blocks a rank, ", (unsigned long long)r->strategy.pipeline, (unsigned long long)r->blocks);
    out_ratio(o, stage_in_flight(&r->strategy, r->microbatches, 0));
    out_printf(o, " microbatches in flight of %llu\n", (unsigned long long)r->microbatches);
    row(o, r, "weights", r->memory.weights, "bytes");
    row(o, r, "gradients", r->memory.gradients, "bytes");
    row(o, r, "activation_gradients", r->memory.activation_gradients, "bytes");
    row(o, r, "optimizer", r->memory.optimizer, "bytes");
    row(o, r, "working", r->memory.working, "bytes");
    row(o, r, "stored", r->memory.stored, "bytes");
    row(o, r, "checkpoint", r->memory.checkpoint, "bytes");
    row(o, r, "total", r->memory.total, "bytes on each rank");
}

static void text_pipeline(struct out *o, const struct training_report *r)
{
    if (r->strategy.pipeline == 1)
        return;
    out_printf(o, "  pipeline %s: warm-up and peak chunks by stage (a chunk is 1/%llu of a stage)\n   ", schedule_word(r->strategy.schedule),
               (unsigned long long)r->strategy.virtual_stages);
    for (u64 rank = 0; rank < r->strategy.pipeline; rank++) {
        out_char(o, ' ');
        out_u128(o, stage_warmup_chunks(&r->strategy, r->microbatches, rank));
        out_char(o, ':');
        out_u128(o, stage_peak_chunks(&r->strategy, r->microbatches, rank));
    }
    out_string(o, "\n  bytes on each rank of a stage\n   ");
    for (u64 rank = 0; rank < r->strategy.pipeline; rank++)
        out_printf(o, " %s", qty_text(r->ctx, stage_bytes(r, rank)));
    out_string(o, "\n  bubble over ideal time ");
    out_ratio(o, stage_bubble_over_ideal(&r->strategy, r->microbatches));
    out_string(o, ", over total time ");
    out_ratio(o, stage_bubble_over_total(&r->strategy, r->microbatches));
    out_char(o, '\n');
}

static void text_messages(struct out *o, const struct training_report *r)
{
    if (!pipeline_message(r) && !data_message(r))
        return;
    out_string(o, "  messages between groups\n");
    row(o, r, "pipeline", pipeline_message(r), "bytes a chunk, microbatch and direction");
    row(o, r, "data", data_message(r), r->strategy.optimizer_sharding ? "bytes a block: reduce_scatter, then all_gather" : "bytes a block: all_reduce");
}

static void text_convention(struct out *o, const struct training_report *r, bool recompute)
{
    qty n;
    enum convention_status status = narayanan_operations(r->ctx->exprs, &r->model, &r->workload, recompute, &n);
    out_printf(o, "    %-16s %-26s ", CONVENTION_NARAYANAN_2021, recompute ? "with full recompute" : "without recompute");
    if (status == CONVENTION_OK)
        out_printf(o, "%40s\n", qty_text(r->ctx, n));
    else
        out_printf(o, "does not apply: %s\n", convention_status_text(status));
}

static void text_iteration(struct out *o, const struct training_report *r)
{
    char digits[U128_DIGITS];
    u128 n;
    out_string(o, "  operations of one iteration, all ranks, by convention\n");
    if (world_operations(r, &n))
        out_printf(o, "    %-16s %-26s %40s\n", "this plan", "blocks, vector, recompute", u128_text(n, digits));
    text_convention(o, r, false);
    text_convention(o, r, true);
}

/* Figures 1 and 7 of the paper, for this strategy: the first stage on one rank. */
static void text_korthikanti(struct out *o, const struct training_report *r)
{
    struct ratio parameters, activations;
    if (korthikanti_parameter_bytes(&r->model, &r->strategy, &parameters) != CONVENTION_OK ||
        korthikanti_activation_bytes(&r->model, &r->strategy, r->kept, &activations) != CONVENTION_OK)
        return;
    out_printf(o, "  bytes of the first stage under %s: parameters and optimizer ", CONVENTION_KORTHIKANTI_2022);
    out_ratio(o, parameters);
    out_string(o, ", activations ");
    out_ratio(o, activations);
    out_string(o, "\n    activations of a block over those of tensor parallelism alone: ");
    out_ratio(o, ratio_of(r->kept, r->kept_baseline));
    out_char(o, '\n');
}

void training_report_text(struct out *o, const struct training_report *r)
{
    text_stage(o, r);
    text_pipeline(o, r);
    text_messages(o, r);
    text_iteration(o, r);
    text_korthikanti(o, r);
    out_printf(o, "  not in these numbers: embedding, final norm, logits, loss%s; attention is the %s\n"
                  "  strategy facts that change nothing here: none\n",
               r->model.bias ? "" : ", biases", r->pairs == ATTENTION_CAUSAL ? "causal triangle" : "dense rectangle");
}

/* ---- JSON ---- */

static void member(struct out *o, const struct training_report *r, const char *name, qty value, bool first)
{
    out_printf(o, "%s\"%s\":", first ? "" : ",", name);
    json_quantity(o, r->ctx->exprs, value);
}

static void json_ratio(struct out *o, const char *name, struct ratio q)
{
    out_printf(o, ",\"%s\":\"", name);
    out_ratio(o, q);
    out_char(o, '"');
}

static void json_u128(struct out *o, const struct training_report *r, u128 value)
{
    json_quantity(o, r->ctx->exprs, qty_number(r->ctx->exprs, value));
}

static void json_stage(struct out *o, const struct training_report *r)
{
    const struct stage_memory *m = &r->memory;
    out_printf(o, ",\"stage\":{\"rank\":0,\"blocks\":%llu,\"microbatches\":%llu", (unsigned long long)r->blocks, (unsigned long long)r->microbatches);
    json_ratio(o, "in_flight", stage_in_flight(&r->strategy, r->microbatches, 0));
    member(o, r, "weights", m->weights, false);
    member(o, r, "gradients", m->gradients, false);
    member(o, r, "activation_gradients", m->activation_gradients, false);
    member(o, r, "optimizer", m->optimizer, false);
    member(o, r, "working", m->working, false);
    member(o, r, "stored", m->stored, false);
    member(o, r, "checkpoint", m->checkpoint, false);
    member(o, r, "total", m->total, false);
    member(o, r, "pipeline_forward_message", pipeline_message(r), false);
    member(o, r, "pipeline_backward_message", pipeline_message(r), false);
    member(o, r, "data_message", data_message(r), false);
    out_char(o, '}');
}

static void json_pipeline(struct out *o, const struct training_report *r)
{
    out_printf(o, ",\"pipeline\":{\"schedule\":\"%s\",\"stages\":[", schedule_word(r->strategy.schedule));
    for (u64 rank = 0; rank < r->strategy.pipeline; rank++) {
        out_printf(o, "%s{\"warmup_chunks\":", rank ? "," : "");
        json_u128(o, r, stage_warmup_chunks(&r->strategy, r->microbatches, rank));
        out_string(o, ",\"peak_chunks\":");
        json_u128(o, r, stage_peak_chunks(&r->strategy, r->microbatches, rank));
        json_ratio(o, "in_flight", stage_in_flight(&r->strategy, r->microbatches, rank));
        member(o, r, "bytes", stage_bytes(r, rank), false);
        out_char(o, '}');
    }
    out_char(o, ']');
    json_ratio(o, "bubble_over_ideal", stage_bubble_over_ideal(&r->strategy, r->microbatches));
    json_ratio(o, "bubble_over_total", stage_bubble_over_total(&r->strategy, r->microbatches));
    out_char(o, '}');
}

static void json_work(struct out *o, const struct training_report *r, const char *name, const struct block_work *w)
{
    out_printf(o, ",\"%s\":{", name);
    member(o, r, "operations", w->operations, true);
    member(o, r, "read", w->read, false);
    member(o, r, "write", w->write, false);
    member(o, r, "message", w->message, false);
    out_char(o, '}');
}

/* Storage of one layer may be negative: it gives back what another layer counts. */
static void signed_member(struct out *o, const struct training_report *r, const char *name, qty value)
{
    qty magnitude;
    if (!qty_is_negative(r->ctx->exprs, value) || qty_sub(r->ctx->exprs, 0, value, &magnitude) != EXPR_OK) {
        member(o, r, name, value, false);
        return;
    }
    const char *quote = magnitude >> JSON_SAFE_BITS ? "\"" : "";
    out_printf(o, ",\"%s\":%s-%s%s", name, quote, qty_text(r->ctx, magnitude), quote);
}

static void json_layer(struct out *o, const struct training_report *r, u32 i)
{
    const struct block_layer *l = &r->block->layers[i];
    out_printf(o, "%s{\"name\":\"%s\",\"recomputed\":%s,\"repeated\":%s", i ? "," : "", layer_table[l->row].name, l->recomputed ? "true" : "false",
               l->repeated ? "true" : "false");
    json_work(o, r, "forward", &l->forward);
    json_work(o, r, "activation_gradient", &l->activation_gradient);
    json_work(o, r, "weight_gradient", &l->weight_gradient);
    json_work(o, r, "optimizer", &l->optimizer);
    out_printf(o, ",\"forward_collective\":\"%s\",\"gradient_collective\":\"%s\",\"repeated_collective\":\"%s\"",
               block_collective_name(l->forward_kind), block_collective_name(l->gradient_kind), block_collective_name(l->repeat_kind));
    member(o, r, "weight_bytes", l->weight_bytes, false);
    member(o, r, "activation_bytes", l->act_bytes, false);
    member(o, r, "output_bytes", l->out_bytes, false);
    member(o, r, "activation_gradient_bytes", l->activation_gradient_bytes, false);
    member(o, r, "gradient_bytes", l->gradient_bytes, false);
    member(o, r, "gradient_bytes_unsharded", l->gradient_bytes_unsharded, false);
    member(o, r, "optimizer_bytes", l->optimizer_bytes, false);
    member(o, r, "working", l->working, false);
    signed_member(o, r, "stored", l->stored);
    out_char(o, '}');
}

static void json_conventions(struct out *o, const struct training_report *r)
{
    qty n;
    u128 own;
    out_string(o, ",\"iteration_operations\":{\"covers\":\"all ranks, one iteration\"");
    if (world_operations(r, &own)) {
        out_string(o, ",\"plan\":");
        json_u128(o, r, own);
    }
    for (int recompute = 0; recompute < 2; recompute++)
        if (narayanan_operations(r->ctx->exprs, &r->model, &r->workload, recompute, &n) == CONVENTION_OK) {
            out_printf(o, ",\"%s%s\":", CONVENTION_NARAYANAN_2021, recompute ? ", full recompute" : "");
            json_quantity(o, r->ctx->exprs, n);
        }
    if (narayanan_parameters(r->ctx->exprs, &r->model, &n) == CONVENTION_OK) {
        out_printf(o, "},\"parameters\":{\"%s\":", CONVENTION_NARAYANAN_2021);
        json_quantity(o, r->ctx->exprs, n);
    }
    out_char(o, '}');
}

static void json_korthikanti(struct out *o, const struct training_report *r)
{
    struct ratio parameters, activations;
    out_printf(o, ",\"%s\":{\"covers\":\"the first stage, one rank\"", CONVENTION_KORTHIKANTI_2022);
    if (korthikanti_parameter_bytes(&r->model, &r->strategy, &parameters) == CONVENTION_OK)
        json_ratio(o, "parameter_bytes", parameters);
    if (korthikanti_activation_bytes(&r->model, &r->strategy, r->kept, &activations) == CONVENTION_OK)
        json_ratio(o, "activation_bytes", activations);
    json_ratio(o, "activations_over_tensor_parallel", ratio_of(r->kept, r->kept_baseline));
    out_char(o, '}');
}

void training_report_json(struct out *o, const struct training_report *r)
{
    json_stage(o, r);
    json_pipeline(o, r);
    out_string(o, ",\"layers\":[");
    for (u32 i = 0; i < r->block->n_layers; i++)
        json_layer(o, r, i);
    out_char(o, ']');
    json_conventions(o, r);
    json_korthikanti(o, r);
}

/* ---- As an analysis ---- */

static void print_report(struct out *o, const struct context *ctx, const void *value)
{
    const struct training_report *r = value;
    (void)ctx;
    if (r->block)
        training_report_json(o, r);
    out_char(o, '\n');
}

const struct analysis training_totals = {
    .name = "training.totals", .bindings = NEEDS(BIND_WORKLOAD) | NEEDS(BIND_STRATEGY), .print = print_report,
    .doc = "What a training block means for a pipeline stage and an iteration; from the model and the session.",
};

void training_report_publish(struct pass_run *r)
{
    struct training_report *report = ARENA_NEW(r->arena, struct training_report);
    if (!training_report_of(report, r->input, r->output, r->module))
        report->block = NULL;
    pass_publish(r, &training_totals, report);
}
