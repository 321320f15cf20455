#include "passes/inference_report.h"

#include "dialects/dist/dist.h"
#include "ir/json.h"
#include "ir/print.h"
#include "passes/emit.h"
#include "passes/spec.h"
#include "support/quantity.h"

enum { ALIGN = 16 };

typedef unsigned long long number;      /* as printf's %llu takes it */

/* ---- The step of a program ---- */

static const struct item *pinned(const struct item *dist, const struct module *m, const char *kind)
{
    for (u32 i = 0; i < dist->header.n_using; i++) {
        const struct item *it = module_find(m, dist->header.using[i].item);
        if (it && !strcmp(it->kind->name, kind))
            return it;
    }
    return NULL;
}

static bool read_number(const struct item *it, qty q, u64 *out)
{
    u128 n = 0;
    bool good = qty_value(it->ctx->exprs, q, &n) && n && n <= UINT64_MAX;
    *out = (u64)n;
    return good;
}

static bool read_step(const struct item *dist, const struct item *workload, struct inference_step *out)
{
    const struct dist_scale *scale = (const struct dist_scale *)item_once(dist, DIST_SCALE);
    const struct dist_attention *attention = (const struct dist_attention *)item_once(dist, DIST_ATTENTION);
    *out = (struct inference_step){ .element_bytes = spec_dtype_bytes(spec_workload_of(workload)->dtype) };
    out->pairs = attention && attention->pairs == DIST_CAUSAL ? ATTENTION_CAUSAL : ATTENTION_DENSE;
    for (u32 i = 0; i < dist->n_stmts; i++)
        if (dist->stmts[i]->entity == DIST_TASK)
            out->decode = ((const struct dist_task *)dist->stmts[i])->phase == DIST_DECODE;
    return scale && read_number(dist, scale->batch, &out->batch) && read_number(dist, scale->query, &out->query) &&
           read_number(dist, scale->context, &out->context);
}

static bool derive(const struct inference_report *r, const struct inference_step *step, struct inference_block *out)
{
    struct inference_sizes sizes = inference_sizes_of(r->ctx->exprs, &r->model, step, &r->strategy);
    struct inference_switches switches = inference_switches_of(&r->model, step, &r->strategy);
    struct block_fault fault;
    return inference_derive(r->ctx->exprs, &r->ctx->arena, &sizes, &switches, step->decode ? "decode" : "prefill", out, &fault);
}

bool inference_report_of(struct inference_report *out, const struct item *model, const struct item *dist, const struct module *m)
{
    const struct item *workload = pinned(dist, m, "session.workload"), *strategy = pinned(dist, m, "session.strategy");
    const struct model_op *op = model->kind->layer == LAYER_MODEL ? spec_decoder(model, "transformer.decoder_inference") : NULL;
    if (!op || !workload || !strategy || !dist->header.pass ||
        !intern_is(&dist->ctx->names, dist->header.pass, "distribute-transformer-inference"))
        return false;
    *out = (struct inference_report){ .ctx = dist->ctx };
    spec_model(model, op, &out->model);
    spec_inference_strategy(strategy, &out->strategy);
    if (!read_step(dist, workload, &out->step) || !out->strategy.pipeline)
        return false;
    spec_request(workload, NULL, &out->request);
    out->request.pairs = out->step.pairs;
    out->block = ARENA_NEW(&dist->ctx->arena, struct inference_block);
    out->blocks = out->model.blocks / out->strategy.pipeline;
    return derive(out, &out->step, out->block);
}

/* ---- Bytes ---- */

/* What a rank keeps: its weights and cache over all blocks of the stage, one workspace, the boundary in and out. */
struct stage {
    u128 weights, kv_cache, workspace, boundary, total;
};

static bool stage_of(const struct inference_report *r, const struct inference_block *b, struct stage *out)
{
    const struct exprs *x = r->ctx->exprs;
    u128 weights, kv;
    if (!qty_value(x, b->memory.weights, &weights) || !qty_value(x, b->memory.kv_cache, &kv) ||
        !qty_value(x, b->memory.workspace, &out->workspace) || !qty_value(x, b->memory.boundary, &out->boundary))
        return false;
    return u128_mul(weights, r->blocks, &out->weights) && u128_mul(kv, r->blocks, &out->kv_cache) &&
           u128_add(out->weights, out->kv_cache, &out->total) && u128_add(out->total, out->workspace, &out->total) &&
           u128_add(out->total, 2 * out->boundary, &out->total);
}

/* As a plan lays it out: input, cache, weights, workspace, output, then weights and caches of the other blocks. */
static bool layout(const struct inference_report *r, const struct inference_block *b, u128 *end)
{
    struct stage s;
    if (!stage_of(r, b, &s))
        return false;
    u128 weights = s.weights / r->blocks, kv = s.kv_cache / r->blocks;
    const u128 sizes[] = { s.boundary, kv, weights, s.workspace, s.boundary, s.weights - weights, s.kv_cache - kv };
    *end = 0;
    for (u32 i = 0; i < COUNT(sizes); i++) {
        u128 gap = *end % ALIGN ? ALIGN - *end % ALIGN : 0;
        if (sizes[i] && (!u128_add(*end, gap, end) || !u128_add(*end, sizes[i], end)))
            return false;
    }
    return true;
}

static bool fits(const struct inference_report *r, u64 context, u64 bytes)
{
    struct inference_block b;
    struct inference_step step = r->step;
    u128 end;
    step.context = context;
    return derive(r, &step, &b) && layout(r, &b, &end) && end <= bytes;
}

/* Every token takes a byte at least, and more context never takes less: the last that fits is found by halving. */
u64 inference_report_fit(const struct inference_report *r, u64 bytes)
{
    u64 low = r->step.query, high = bytes;
    if (high < low || !fits(r, low, bytes))
        return 0;
    while (low < high) {
        u64 middle = low + (high - low) / 2 + 1;
        if (fits(r, middle, bytes))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Bytes of one token's keys and values over the model: each head once; on one rank of a stage; on all ranks, copies too. */
struct token {
    u128 model, rank, all;
};

static struct token token_of(const struct inference_report *r)
{
    u128 head = 2 * (u128)r->model.head_size * r->step.element_bytes;
    u128 rank = head * r->blocks * kv_heads_of_rank(&r->model, r->strategy.tensor);
    return (struct token){ head * r->model.blocks * r->model.kv_heads, rank, rank * r->strategy.tensor * r->strategy.pipeline };
}

static u64 ranks_of(const struct inference_report *r)
{
    return r->strategy.tensor * r->strategy.pipeline;
}

/* The least of a deployment's devices that the ranks take; false: it doesn't say. */
static bool device_bytes(const struct item *deployment, u64 ranks, u64 *bytes)
{
    u32 list = spec_deployment_of(deployment)->memory, n = list_n(deployment, list) / 2;
    const u32 *at = list_at(deployment, list);
    for (u32 i = 0; i < n && (i == 0 || i < ranks); i++)
        if (i == 0 || pair_get(at + 2 * i) < *bytes)
            *bytes = pair_get(at + 2 * i);
    return n > 0;
}

/* The next one from position *AT on, NULL at the end; an item of a session file that was used stands in the file, too. */
static const struct item *next_deployment(const struct deployments *d, u32 *at)
{
    u32 n = d->file->n + (d->session ? d->session->n : 0);
    while (*at < n) {
        bool own = *at < d->file->n;
        const struct item *it = own ? d->file->items[*at] : d->session->items[*at - d->file->n];
        ++*at;
        if (!strcmp(it->kind->name, "session.deployment") && (own || module_find(d->file, it->name) != it))
            return it;
    }
    return NULL;
}

/* ---- The whole request ---- */

/* Its steps added up: pairs of one head and sequence over the prompt, operations of all ranks, the cache at the end. */
struct request_sums {
    u64 prefills, decodes;
    u128 prefill_pairs, operations, kv_cache;
};

static bool add_step(const struct inference_report *r, const struct inference_step *step, struct request_sums *out)
{
    struct inference_block b;
    u128 n, kv;
    bool good = derive(r, step, &b) && qty_value(r->ctx->exprs, b.total.operations, &n) && u128_mul(n, r->model.blocks, &n) &&
                u128_mul(n, r->strategy.tensor, &n) && u128_add(out->operations, n, &out->operations) &&
                qty_value(r->ctx->exprs, b.memory.kv_cache, &kv) && u128_mul(kv, r->blocks, &out->kv_cache);
    if (step->decode)
        out->decodes++;
    else
        out->prefills++;
    return good && (step->decode || u128_add(out->prefill_pairs, request_pairs(step), &out->prefill_pairs));
}

/* With the first of several steps the request is summed up; false: it isn't due here. */
static bool sum_request(const struct inference_report *r, struct request_sums *out)
{
    struct inference_step step;
    *out = (struct request_sums){ 0 };
    if (request_steps(&r->request) < 2 || !request_step(&r->request, 0, &step) || step.decode != r->step.decode || step.context != r->step.context)
        return false;
    for (u64 i = 0; request_step(&r->request, i, &step); i++)
        if (!add_step(r, &step, out))
            return false;
    return true;
}

/* ---- Text ---- */

static void row(struct out *o, const char *name, u128 value, const char *unit)
{
    char digits[U128_DIGITS];
    out_printf(o, "    %-22s %26s %s\n", name, u128_text(value, digits), unit);
}

static void text_stage(struct out *o, const struct inference_report *r, const struct stage *s)
{
    out_printf(o, "  a stage of %llu blocks, on each of its %llu ranks\n", (number)r->blocks, (number)r->strategy.tensor);
    row(o, "weights", s->weights, "bytes");
    row(o, "kv_cache", s->kv_cache, "bytes");
    row(o, "workspace", s->workspace, "bytes, of the block at work");
    row(o, "boundary", 2 * s->boundary, "bytes, in and out");
    row(o, "total", s->total, "bytes on each rank");
}

static void text_model(struct out *o, const struct inference_report *r, const struct stage *s)
{
    u128 operations = 0, n;
    out_printf(o, "  all %llu blocks, on all %llu ranks", (number)r->model.blocks, (number)ranks_of(r));
    if (r->strategy.data > 1)
        out_printf(o, " of one of %llu replicas, each of which serves requests of its own", (number)r->strategy.data);
    out_char(o, '\n');
    if (u128_mul(s->weights, ranks_of(r), &n))
        row(o, "weights", n, "bytes, what ranks hold alike counted on each");
    if (u128_mul(s->kv_cache, ranks_of(r), &n))
        row(o, "kv_cache", n, "bytes, copies too");
    if (qty_value(r->ctx->exprs, r->block->total.operations, &operations) && u128_mul(operations, r->model.blocks, &n) &&
        u128_mul(n, r->strategy.tensor, &n))
        row(o, "operations", n, "in this step");
    row(o, "pairs", request_pairs(&r->step), "of a query and a key in this step, a head and sequence");
    if (r->strategy.pipeline > 1)
        row(o, "pipeline message", s->boundary, "bytes from each rank of a stage to the next stage");
}

static void text_request(struct out *o, const struct inference_report *r)
{
    struct request_sums s;
    if (!sum_request(r, &s))
        return;
    out_printf(o, "  the whole request: %llu step%s of prefill, %llu of decode\n", (number)s.prefills,
               s.prefills == 1 ? "" : "s", (number)s.decodes);
    if (s.prefill_pairs)
        row(o, "pairs", s.prefill_pairs, "of a query and a key of the prompt, a head and sequence");
    row(o, "operations", s.operations, "of all ranks");
    row(o, "kv_cache", s.kv_cache, "bytes on each rank at its end");
}

static void text_fit(struct out *o, const struct inference_report *r, const struct item *deployment)
{
    u64 bytes = 0;
    if (!device_bytes(deployment, ranks_of(r), &bytes))
        return;
    u64 tokens = inference_report_fit(r, bytes);
    out_printf(o, "  context that fits with %llu new token%s at a time into the %llu bytes of a device of ", (number)r->step.query,
               r->step.query == 1 ? "" : "s", (number)bytes);
    out_name(o, &r->ctx->names, '@', deployment->name);
    if (tokens)
        out_printf(o, "\n    %-22s %26llu tokens of each sequence; the model's sequence is %llu\n", "", (number)tokens, (number)r->model.sequence);
    else
        out_string(o, "\n    none: weights, workspace and boundary leave no room\n");
}

void inference_report_text(struct out *o, const struct inference_report *r, const struct deployments *deployments)
{
    struct token token = token_of(r);
    struct stage s;
    if (!stage_of(r, r->block, &s))
        return;
    text_stage(o, r, &s);
    text_model(o, r, &s);
    out_string(o, "  KV cache of one token of one sequence, all blocks\n");
    row(o, "model", token.model, "bytes, each head once");
    row(o, "rank", token.rank, "bytes on each rank");
    row(o, "all ranks", token.all, "bytes, copies too");
    text_request(o, r);
    u32 at = 0;
    for (const struct item *it; (it = next_deployment(deployments, &at));)
        text_fit(o, r, it);
    out_printf(o, "  counted: %s\n", r->step.pairs == ATTENTION_CAUSAL ? "pairs of a query with itself and the keys before it"
                                                                       : "all pairs of a query and a key, the dense rectangle");
    out_printf(o, "  a context that fits: with a stage's weights, workspace and boundary, each buffer from a multiple of %d\n", ALIGN);
    out_string(o, "  not in these numbers: embedding, final norm, logits, sampling\n");
}

/* ---- JSON ---- */

static void member(struct out *o, const struct inference_report *r, const char *name, u128 value, bool first)
{
    out_printf(o, "%s\"%s\":", first ? "" : ",", name);
    json_quantity(o, r->ctx->exprs, qty_number(r->ctx->exprs, value));
}

static void json_fits(struct out *o, const struct inference_report *r, const struct deployments *deployments)
{
    u32 n = 0, at = 0;
    out_string(o, ",\"context_that_fits\":[");
    for (const struct item *it; (it = next_deployment(deployments, &at));) {
        u64 bytes = 0;
        if (!device_bytes(it, ranks_of(r), &bytes))
            continue;
        out_string(o, n++ ? ",{\"deployment\":" : "{\"deployment\":");
        json_name(o, &r->ctx->names, 0, it->name);
        member(o, r, "bytes", bytes, false);
        member(o, r, "new_tokens", r->step.query, false);
        member(o, r, "tokens", inference_report_fit(r, bytes), false);
        out_char(o, '}');
    }
    out_char(o, ']');
}

void inference_report_json(struct out *o, const struct inference_report *r, const struct deployments *deployments)
{
    struct token token = token_of(r);
    struct request_sums sums;
    struct stage s;
    if (!stage_of(r, r->block, &s))
        return;
    out_printf(o, ",\"attention\":\"%s\",\"stage\":{", r->step.pairs == ATTENTION_CAUSAL ? "causal" : "dense");
    member(o, r, "blocks", r->blocks, true);
    member(o, r, "weights", s.weights, false);
    member(o, r, "kv_cache", s.kv_cache, false);
    member(o, r, "workspace", s.workspace, false);
    member(o, r, "boundary", 2 * s.boundary, false);
    member(o, r, "total", s.total, false);
    out_string(o, "},\"kv_cache_of_a_token\":{");
    member(o, r, "model", token.model, true);
    member(o, r, "rank", token.rank, false);
    member(o, r, "all_ranks", token.all, false);
    out_char(o, '}');
    member(o, r, "pairs", request_pairs(&r->step), false);
    member(o, r, "replicas", r->strategy.data, false);
    member(o, r, "pipeline_message", r->strategy.pipeline > 1 ? s.boundary : 0, false);
    if (sum_request(r, &sums)) {
        out_string(o, ",\"request\":{");
        member(o, r, "prefill_steps", sums.prefills, true);
        member(o, r, "decode_steps", sums.decodes, false);
        member(o, r, "prefill_pairs", sums.prefill_pairs, false);
        member(o, r, "operations", sums.operations, false);
        member(o, r, "kv_cache", sums.kv_cache, false);
        out_char(o, '}');
    }
    if (deployments)
        json_fits(o, r, deployments);
}

/* ---- As an analysis ---- */

static void print_report(struct out *o, const struct context *ctx, const void *value)
{
    const struct inference_report *r = value;
    (void)ctx;
    if (r->block)
        inference_report_json(o, r, NULL);
    out_char(o, '\n');
}

const struct analysis inference_totals = {
    .name = "inference.totals", .bindings = NEEDS(BIND_WORKLOAD) | NEEDS(BIND_STRATEGY), .print = print_report,
    .doc = "What a step of inference means for a pipeline stage and the model; from the model and the session.",
};

void inference_report_publish(struct pass_run *r)
{
    struct inference_report *report = ARENA_NEW(r->arena, struct inference_report);
    if (!inference_report_of(report, r->input, r->output, r->module))
        report->block = NULL;
    pass_publish(r, &inference_totals, report);
}
