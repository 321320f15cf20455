/*
 * Proves a distributed step of inference against the model and the session: every task by a closed form that is written
 * here and nowhere else, the cache against the model's, and totals and memory against sums over the whole block.
 *
 * Sources: a product of M x N by N x K is 2MNK operations (Narayanan et al. 2021, arXiv 2104.04473); a layer of n new
 * tokens a sequence attends to c: 4bnc(heads x size) of products and 5 a score of softmax; a cache holds 2bc(kv width)
 * elements (Pope et al. 2022, arXiv 2211.05102; with shared heads Ainslie et al. 2023, arXiv 2305.13245).
 */
#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "ir/sharding.h"
#include "support/quantity.h"

#include <stdio.h>

/* What a task of the block must say. */
struct expected {
    const char *layer, *operation;
    u128 facts[DIST_WORK];      /* operations, bytes read, bytes written, message */
};

enum { MOST_TASKS = 20 };

struct proof {
    const struct pass_run *r;
    struct transformer_model m;
    struct training_strategy s;
    struct inference_request request;
    struct inference_step step;
    const struct model_op *op;
    atom input, output, cache;
    u128 e, rows, hidden, width, kv, inner; /* of a rank: attention width, width of keys, feed-forward width */
    u128 pairs, scores;                     /* counted pairs of a rank's heads; space for them */
    struct expected tasks[MOST_TASKS];
    u32 n;
    u128 weights;                           /* bytes */
    atom axes[2];
    u32 n_axes;
};

static bool number(const struct proof *p, qty q, u128 *out)
{
    return qty_value(p->r->ctx->exprs, q, out);
}

/* ---- Expectations ---- */

static void expect(struct proof *p, const char *layer, const char *operation, u128 operations, u128 in, u128 weights, u128 out)
{
    p->tasks[p->n++] = (struct expected){ layer, operation, { operations, p->e * (in + weights), p->e * out, 0 } };
    p->weights += p->e * weights;
}

/* A product of the new tokens, IN wide, to OUT columns. */
static void expect_product(struct proof *p, const char *layer, u128 in, u128 out)
{
    expect(p, layer, "transformer.linear", p->rows * 2 * in * out, p->rows * in, in * out, p->rows * out);
}

/* A bias is added in place to COLUMNS: only it is read. */
static void expect_bias(struct proof *p, const char *layer, u128 columns)
{
    if (p->m.bias)
        expect(p, layer, "transformer.bias_add", p->rows * columns, 0, columns, 0);
}

static void expect_norm(struct proof *p, const char *layer)
{
    bool rms = p->m.norm == NORM_RMS;
    u128 boundary = p->rows * p->hidden;
    expect(p, layer, rms ? "transformer.rms_norm" : "transformer.layer_norm", (rms ? 4 : 5) * boundary, boundary,
           (rms ? 1 : 2) * p->hidden, boundary);
}

/* The sum over the ranks of what they have made of their heads or columns, its bias, and its addition to the input. */
static void expect_end(struct proof *p, const char *sum, const char *bias, const char *residual)
{
    u128 boundary = p->rows * p->hidden;
    if (p->s.tensor > 1)
        p->tasks[p->n++] = (struct expected){ sum, "all_reduce", { 0, 0, 0, p->e * boundary } };
    expect_bias(p, bias, p->hidden);
    expect(p, residual, "transformer.residual_add", boundary, 2 * boundary, 0, boundary);
}

static void expect_attention(struct proof *p)
{
    u128 heads = p->m.heads / p->s.tensor, turned = p->rows * (p->width + p->kv);
    u128 seen = (u128)p->step.batch * p->step.context * p->kv;
    expect_norm(p, "attention.input_norm");
    expect_product(p, "attention.qkv", p->hidden, p->width + 2 * p->kv);
    expect_bias(p, "attention.qkv_bias", p->width + 2 * p->kv);
    if (p->m.rotary)
        expect(p, "attention.rope", "transformer.rope", 6 * turned, turned, 0, turned);
    expect(p, "attention.kv_cache", "transformer.kv_cache_write", 0, 2 * p->rows * p->kv, 0, 2 * p->rows * p->kv);
    expect(p, "attention.core", "transformer.attention", p->step.batch * heads * p->pairs * (4 * (u128)p->m.head_size + 5),
           p->rows * p->width + 2 * seen, 0, p->rows * p->width);
    expect_product(p, "attention.output", p->width, p->hidden);
    expect_end(p, "attention.output", "attention.output_bias", "attention.residual");
}

static void expect_mlp(struct proof *p)
{
    u128 inner = p->rows * p->inner;
    bool gated = p->m.mlp == MLP_SWIGLU;
    expect_norm(p, "mlp.input_norm");
    if (gated)
        expect_product(p, "mlp.gate", p->hidden, p->inner);
    expect_product(p, "mlp.up", p->hidden, p->inner);
    expect_bias(p, "mlp.up_bias", (gated ? 2 : 1) * p->inner);
    expect(p, "mlp.activation", gated ? "transformer.swiglu" : "transformer.gelu", (gated ? 6 : 8) * inner, (gated ? 2 : 1) * inner, 0, inner);
    expect_product(p, "mlp.down", p->inner, p->hidden);
    expect_end(p, "mlp.down", "mlp.down_bias", "mlp.residual");
}

static void fill(struct proof *p)
{
    const struct pass_run *r = p->r;
    p->op = spec_decoder(r->input, r->pass->operation);
    spec_model(r->input, p->op, &p->m);
    spec_request(r->session.items[BIND_WORKLOAD], r->step, &p->request);
    spec_inference_strategy(r->session.items[BIND_STRATEGY], &p->s);
    p->input = list_at(r->input, p->op->operands)[0];
    p->cache = list_at(r->input, p->op->operands)[1];
    p->output = list_at(r->input, p->op->results)[0];
}

/* The I-th step of the request: the prompt in chunks, then one token after another. */
static bool find_step(struct proof *p, u64 i)
{
    const struct inference_request *w = &p->request;
    u64 chunk = w->chunk ? w->chunk : w->prompt, chunks = w->prompt ? (w->prompt + (chunk - 1)) / chunk : 0;
    struct inference_step *s = &p->step;
    *s = (struct inference_step){ .decode = i >= chunks, .batch = w->batch, .element_bytes = w->element_bytes, .pairs = w->pairs };
    s->context = s->decode ? w->first_context + (i - chunks) : i + 1 == chunks ? w->prompt : (i + 1) * chunk;
    s->query = s->decode ? 1 : s->context - i * chunk;
    return s->decode ? i - chunks < w->decodes : true;
}

static void fill_step(struct proof *p)
{
    u128 q = p->step.query, c = p->step.context, t = p->s.tensor;
    u128 kv_heads = p->m.kv_heads % t ? 1 : p->m.kv_heads / t;
    p->e = p->step.element_bytes;
    p->rows = p->step.batch * q;
    p->hidden = p->m.hidden;
    p->width = p->m.heads / t * p->m.head_size;
    p->kv = kv_heads * p->m.head_size;
    p->inner = p->m.feedforward / t;
    p->pairs = q * c - (p->step.pairs == ATTENTION_CAUSAL ? q * (q - 1) / 2 : 0);     /* later keys are left out */
    p->scores = p->step.batch * (p->m.heads / t) * q * c;
    expect_attention(p);
    expect_mlp(p);
}

/* ---- Facts of the program ---- */

/* One axis of all ranks, or the ranks that share out the heads of keys and values, and those that hold copies. */
static bool prove_mesh(struct proof *p, const struct dist_mesh *mesh)
{
    const struct item *out = p->r->output;
    u64 t = p->s.tensor, shares = p->m.kv_heads, size = 1;
    bool copies = shares < t;
    const u32 *at = list_at(out, mesh->axes);
    p->n_axes = list_n(out, mesh->axes) / 3;
    for (u32 i = 0; i < p->n_axes && i < COUNT(p->axes); i++) {
        p->axes[i] = at[3 * i];
        size *= pair_get(at + 3 * i + 1);
    }
    return (p->n_axes == (copies ? 2 : 1) && size == t && (!copies || pair_get(at + 1) == shares)) ||
           gate_refuse(p->r, out, &mesh->s, "it is not the strategy's tensor group");
}

static bool prove_scale(const struct proof *p, const struct dist_scale *scale)
{
    u128 blocks = 0, batch = 0, query = 0, context = 0;
    return (number(p, scale->blocks, &blocks) && number(p, scale->batch, &batch) && number(p, scale->query, &query) &&
            number(p, scale->context, &context) && blocks == p->m.blocks && batch == p->step.batch && query == p->step.query &&
            context == p->step.context && !scale->microbatch) ||
           gate_refuse(p->r, p->r->output, &scale->s, "the scale is not that of the model and the step");
}

static bool prove_fact(const struct proof *p, const struct dist_memory *m, const char *name, qty fact, u128 expected)
{
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    u128 found = 0;
    if (number(p, fact, &found) && found == expected)
        return true;
    return gate_refuse(p->r, p->r->output, &m->s, "`%s` is %s, and the closed form %s", name, u128_text(found, found_text),
                       u128_text(expected, expected_text));
}

static u128 larger(u128 a, u128 b)
{
    return a > b ? a : b;
}

static bool prove_memory(const struct proof *p, const struct dist_memory *m)
{
    u128 boundary = p->rows * p->hidden, inner = p->rows * p->inner * (p->m.mlp == MLP_SWIGLU ? 2 : 1);
    u128 largest = larger(larger(p->rows * (p->width + 2 * p->kv), p->scores), inner);
    return prove_fact(p, m, "weights", m->weights, p->weights) &&
           prove_fact(p, m, "kv_cache", m->kv_cache, 2 * p->e * p->step.batch * p->step.context * p->kv) &&
           prove_fact(p, m, "workspace", m->workspace, p->e * (boundary + largest)) &&
           prove_fact(p, m, "boundary", m->boundary, p->e * boundary) &&
           (!(m->working || m->stored || m->checkpoint || m->gradients || m->gradients_unsharded || m->activation_gradients || m->optimizer) ||
            gate_refuse(p->r, p->r->output, &m->s, "it has memory of training")) &&
           gate_is_from(p->r, &m->s, LINEAGE_LOWERED, REF_SYMBOL(p->op->s.name)) &&
           gate_says_only(p->r, p->r->output, &m->s, " name facts from ");
}

/* ---- Values ---- */

static bool has_sizes(const struct proof *p, u32 type, u8 element, const u128 *sizes, u32 rank)
{
    const struct type *t = type_get(p->r->ctx->types, type);
    bool same = t->rank == rank && t->element == element;
    for (u32 i = 0; same && i < rank; i++) {
        u128 n = 0;
        same = number(p, t->dims[i], &n) && n == sizes[i];
    }
    return same;
}

static u8 element_of(const struct proof *p, atom name)
{
    return type_get(p->r->ctx->types, ((const struct model_value *)item_value(p->r->input, name))->type)->element;
}

static bool prove_boundary(const struct proof *p, const struct dist_value *v, atom name, u8 role)
{
    const u128 sizes[] = { p->step.batch, p->step.query, p->m.hidden };
    if (!v || v->s.name != name || v->role != role || !has_sizes(p, v->type, element_of(p, name), sizes, 3) || v->sharding)
        return gate_refuse(p->r, p->r->output, v ? &v->s : NULL, "it is not the model's boundary in this step, whole on every rank");
    return gate_says_only(p->r, p->r->output, &v->s, " role name type from ");
}

/* The model's cache without its blocks, as far as the context goes; heads of keys and values are dealt out. */
static bool prove_cache(const struct proof *p, const struct dist_value *v)
{
    const struct item *out = p->r->output;
    const struct model_value *from = (const struct model_value *)item_value(p->r->input, p->cache);
    const struct type *whole = type_get(p->r->ctx->types, from->type);
    const u128 sizes[] = { 2, p->step.batch, p->step.context, (u128)p->m.kv_heads * p->m.head_size };
    struct sharding s;
    u128 width = 0, sequence = p->step.context;
    if (v->s.name != p->cache || from->role != MODEL_KV_CACHE || !has_sizes(p, v->type, whole->element, sizes, 4))
        return gate_refuse(p->r, out, &v->s, "it is not one block of the model's cache");
    if ((number(p, whole->dims[4], &width) && width != sizes[3]) || (number(p, whole->dims[3], &sequence) && sequence < p->step.context))
        return gate_refuse(p->r, out, &v->s, "the model's cache does not hold it");
    sharding_read(out, v->sharding, &s);
    bool dealt = p->s.tensor > 1 && p->m.kv_heads > 1;
    bool split = s.rank == 4 && s.dims[3].n == 1 && s.dims[3].axes[0] == p->axes[0] && !s.dims[0].n && !s.dims[1].n && !s.dims[2].n && !s.n_partial;
    if (dealt ? !split : v->sharding != 0)
        return gate_refuse(p->r, out, &v->s, "its sharding does not deal out the heads of keys and values");
    return gate_says_only(p->r, out, &v->s, " role name type sharding from ");
}

static bool prove_declared(const struct proof *p, const struct stmt *s)
{
    const struct dist_value *v = (const struct dist_value *)s;
    bool cache = v->role == DIST_KV_CACHE;
    return (cache ? prove_cache(p, v) : prove_boundary(p, v, p->input, DIST_INPUT)) &&
           gate_is_from(p->r, s, LINEAGE_LOWERED, REF_VALUE(cache ? p->cache : p->input));
}

/* ---- Tasks ---- */

static bool is_only(const struct item *it, u32 list, atom value)
{
    return value ? list_n(it, list) == 1 && list_at(it, list)[0] == value : list_n(it, list) == 0;
}

/* The first task reads the input, the last makes the output; one task writes the cache in place, and one reads it. */
static bool prove_flow(const struct proof *p, const struct dist_task *t, u32 i)
{
    const struct item *out = p->r->output;
    bool writes = !strcmp(p->tasks[i].layer, "attention.kv_cache"), reads = !strcmp(p->tasks[i].layer, "attention.core");
    bool last = i + 1 == p->n;
    const u32 *effects = list_at(out, t->more->effects);
    if (!is_only(out, t->operands, i == 0 ? p->input : writes || reads ? p->cache : 0) || !is_only(out, t->results, last ? p->output : 0))
        return gate_refuse(p->r, out, &t->s, "it reads or makes other values than its place in the block has");
    if (writes || reads ? list_n(out, t->more->effects) != 2 || effects[0] != (writes ? EFFECT_WRITE : EFFECT_READ) || effects[1] != REF_VALUE(p->cache)
                        : t->more->effects != 0)
        return gate_refuse(p->r, out, &t->s, "its effects are not those on the cache");
    return !last || prove_boundary(p, (const struct dist_value *)item_value(out, p->output), p->output, DIST_ACTIVATION);
}

static bool prove_work(const struct proof *p, const struct dist_task *t, const struct expected *x)
{
    static const char *const names[DIST_WORK] = { "operations", "bytes read", "bytes written", "bytes sent" };
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    for (int f = 0; f < DIST_WORK; f++) {
        u128 found = 0;
        if (!number(p, t->work[f], &found) || found != x->facts[f])
            return gate_refuse(p->r, p->r->output, &t->s, "it has %s %s, and the closed form %s", u128_text(found, found_text), names[f],
                               u128_text(x->facts[f], expected_text));
    }
    return true;
}

static bool prove_body(const struct proof *p, const struct dist_task *t, bool collective)
{
    const struct item *out = p->r->output;
    if (t->body != (collective ? DIST_COLLECTIVE : DIST_LOCAL) || t->reduction != (collective ? REDUCTION_SUM : REDUCTION_NONE))
        return gate_refuse(p->r, out, &t->s, "its body is another than its layer has");
    bool all = list_n(out, t->over) == p->n_axes && !memcmp(list_at(out, t->over), p->axes, p->n_axes * sizeof *p->axes);
    return (collective ? all : t->over == 0) || gate_refuse(p->r, out, &t->s, "it is not over the whole tensor group");
}

static bool prove_task(const struct proof *p, const struct dist_task *t, u32 i)
{
    const struct item *out = p->r->output;
    const struct interner *names = &p->r->ctx->names;
    if (i == p->n)
        return gate_refuse(p->r, out, &t->s, "the block has no such task at its end");
    const struct expected *x = &p->tasks[i];
    bool collective = !strcmp(x->operation, "all_reduce");
    const char *phase = p->step.decode ? "decode" : "prefill";
    char name[128];
    snprintf(name, sizeof name, "%s.%s%s", x->layer, phase, collective ? ".all_reduce" : "");
    if (!intern_is(names, t->s.name, name) || !intern_is(names, dist_layer(out, t), x->layer) || !intern_is(names, t->operation, x->operation) ||
        t->phase != (p->step.decode ? DIST_DECODE : DIST_PREFILL))
        return gate_refuse(p->r, out, &t->s, "the block has @%s at its place", name);
    return prove_body(p, t, collective) && prove_work(p, t, x) && prove_flow(p, t, i) &&
           gate_is_from(p->r, &t->s, LINEAGE_LOWERED, REF_SYMBOL(p->op->s.name)) &&
           gate_says_only(p->r, out, &t->s, " name body operation operands results over reduction phase layer effects work from ");
}

static bool prove_pairs(const struct proof *p, const struct dist_attention *a)
{
    return a->pairs == (p->step.pairs == ATTENTION_CAUSAL ? DIST_CAUSAL : DIST_DENSE) ||
           gate_refuse(p->r, p->r->output, &a->s, "these are not the pairs that are counted");
}

static bool prove_entities(struct proof *p)
{
    const struct item *out = p->r->output;
    u32 seen[DIST_ENTITIES] = { 0 };
    bool good = true;
    for (u32 i = 0; good && i < out->n_stmts; i++) {
        const struct stmt *s = out->stmts[i];
        u32 before = seen[s->entity]++;
        switch ((enum dist_entity)s->entity) {
        case DIST_MESH: good = prove_mesh(p, (const struct dist_mesh *)s); break;
        case DIST_ORDER: good = ((const struct dist_order *)s)->order == DIST_SERIAL || gate_refuse(p->r, out, s, "it is not serial"); break;
        case DIST_ORIGIN: good = gate_is_origin(p->r, s, ((const struct dist_origin *)s)->source, p->op->s.name); break;
        case DIST_ATTENTION: good = prove_pairs(p, (const struct dist_attention *)s); break;
        case DIST_SCALE: good = prove_scale(p, (const struct dist_scale *)s); break;
        case DIST_MEMORY: good = prove_memory(p, (const struct dist_memory *)s); break;
        case DIST_VALUE: good = prove_declared(p, s); break;
        case DIST_TASK: good = prove_task(p, (const struct dist_task *)s, before); break;
        case DIST_OUTPUT:
            good = ((const struct dist_output *)s)->value == p->output || gate_refuse(p->r, out, s, "it is not what the model makes");
            break;
        case DIST_SYMBOL: case DIST_ENTITIES: good = gate_refuse(p->r, out, s, "a step has no symbols"); break;
        }
    }
    if (good && (seen[DIST_MESH] != 1 || seen[DIST_ORDER] != 1 || seen[DIST_ORIGIN] != 1 || seen[DIST_ATTENTION] != 1 || seen[DIST_SCALE] != 1 || seen[DIST_MEMORY] != 1 ||
                 seen[DIST_VALUE] != 2 || seen[DIST_OUTPUT] != 1 || seen[DIST_TASK] != p->n))
        return gate_refuse(p->r, out, NULL, "its mesh, order, origin, attention, scale, memory, values, tasks and outputs are not those of a step");
    return good;
}

/* Over the whole block: its products, each weight read once, each value of the boundary passed on. */
static bool prove_totals(const struct proof *p)
{
    const struct item *out = p->r->output;
    u128 heads = p->step.batch * (p->m.heads / p->s.tensor), boundary = p->rows * p->hidden, operations = 0;
    u128 products = 2 * p->rows * p->hidden * (2 * p->width + 2 * p->kv + (p->m.mlp == MLP_SWIGLU ? 3 : 2) * p->inner) +
                    4 * heads * p->pairs * p->m.head_size;
    u128 vector = 5 * heads * p->pairs + (p->m.norm == NORM_RMS ? 10 : 12) * boundary + (p->m.mlp == MLP_SWIGLU ? 6 : 8) * p->rows * p->inner +
                  (p->m.rotary ? 6 * p->rows * (p->width + p->kv) : 0);
    u128 biases = p->m.bias ? p->rows * (p->width + 2 * p->kv + 2 * p->hidden + (p->m.mlp == MLP_SWIGLU ? 2 : 1) * p->inner) : 0;
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    for (u32 i = 0; i < out->n_stmts; i++) {
        u128 n = 0;
        if (out->stmts[i]->entity == DIST_TASK && number(p, ((const struct dist_task *)out->stmts[i])->work[DIST_OPERATIONS], &n))
            operations += n;
    }
    return operations == products + vector + biases ||
           gate_refuse(p->r, out, NULL, "it has %s operations, and the closed form of a block %s", u128_text(operations, found_text),
                       u128_text(products + vector + biases, expected_text));
}

bool distribute_transformer_inference_gate(const struct pass_run *r)
{
    struct proof p = { .r = r };
    fill(&p);
    if (!find_step(&p, r->part))
        return gate_refuse(r, r->output, NULL, "the request has no such step");
    fill_step(&p);
    return prove_entities(&p) && prove_totals(&p);
}
