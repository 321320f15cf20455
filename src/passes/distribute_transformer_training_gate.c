/*
 * Proves a distributed training block against the model and the session: relations entity by entity here, totals against
 * closed forms in training_proof.c.
 */
#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"
#include "passes/training_proof.h"

#include "ir/sharding.h"
#include "support/quantity.h"

#include <stdio.h>

struct find_symbol {
    struct training_proof *p;
    u64 value;
};

static void bind_symbol(void *state, atom symbol)
{
    struct find_symbol *f = state;
    if (f->p->n_symbols < COUNT(f->p->symbols))
        f->p->symbols[f->p->n_symbols++] = (struct qty_binding){ symbol, qty_number(f->p->r->ctx->exprs, f->value) };
}

static bool is_causal(const struct pass_run *r)
{
    const struct step_option *o = step_option(r->step, "attention");
    return o && !strcmp(o->value, "causal");
}

static void fill(struct training_proof *p)
{
    const struct pass_run *r = p->r;
    const struct model_op *op = spec_decoder(r->input, r->pass->operation);
    spec_model(r->input, op, &p->m);
    spec_workload(r->session.items[BIND_WORKLOAD], &p->w);
    spec_strategy(r->session.items[BIND_STRATEGY], &p->s);
    u128 t = p->s.tensor;
    p->split = t > 1 && p->s.communication == COMMUNICATION_REDUCE_SCATTER_ALL_GATHER;
    p->M = (u128)p->w.microbatch * p->m.sequence;
    p->H = p->m.hidden;
    p->K = (u128)p->m.heads * p->m.head_size / t;
    p->replicas = t > p->m.kv_heads ? t / p->m.kv_heads : 1;
    p->J = (u128)(t > p->m.kv_heads ? 1 : p->m.kv_heads / t) * p->m.head_size;
    p->F = p->m.feedforward / t;
    p->dropout = p->m.dropout;
    p->rotary = p->m.rotary;
    p->bias = p->m.bias;
    p->up = p->m.mlp == MLP_SWIGLU ? 2 : 1;
    p->Y = p->replicas > 1 ? 2 * p->J * (p->H + p->bias) : 0;
    p->A = p->M * p->H;
    p->R = p->split ? p->A / t : p->A;
    u128 pairs = is_causal(r) ? (u128)p->m.sequence * (p->m.sequence + 1) / 2 : (u128)p->m.sequence * p->m.sequence;
    p->C = p->w.microbatch * (p->m.heads / t) * pairs;
    p->D = p->w.microbatch * (p->m.heads / t) * ((u128)p->m.sequence * p->m.sequence);
    p->G = p->M * p->F;
    p->X = t > 1 ? p->A : 0;
    p->op = op;
    p->reduce = 2 * (p->A / t) * (t - 1);
    const struct model_value *v = (const struct model_value *)item_value(r->input, list_at(r->input, op->operands)[0]);
    const struct type *type = type_get(r->ctx->types, v->type);
    qty_symbols(r->ctx->exprs, type->dims[0], bind_symbol, &(struct find_symbol){ p, p->w.microbatch });
    qty_symbols(r->ctx->exprs, type->dims[1], bind_symbol, &(struct find_symbol){ p, p->m.sequence });
}

/* ---- Relations ---- */

enum needs { ANY, LAYER_NORM, RMS_NORM, GELU, SWIGLU, ROTARY, BIAS, DROPOUT };

/* A decoder block, and what each layer computes; NULL: it communicates (Korthikanti et al. 2022, figures 4, 5). */
static const struct {
    const char *layer, *operation;
    enum needs needs;
} block_layers[] = {
    { "attention.fork", "transformer.fork", ANY },
    { "attention.layer_norm", "transformer.layer_norm", LAYER_NORM },
    { "attention.rms_norm", "transformer.rms_norm", RMS_NORM },
    { "attention.input_collective", NULL, ANY },
    { "attention.qkv_fork", "transformer.fork", ANY },
    { "attention.kv_replicas", NULL, ANY },
    { "attention.query", "transformer.linear", ANY },
    { "attention.key", "transformer.linear", ANY },
    { "attention.value", "transformer.linear", ANY },
    { "attention.qkv_bias", "transformer.bias_add", BIAS },
    { "attention.rope", "transformer.rope", ROTARY },
    { "attention.query_key", "transformer.batch_matmul", ANY },
    { "attention.softmax", "transformer.softmax", ANY },
    { "attention.probability_dropout", "transformer.dropout", DROPOUT },
    { "attention.probability_value", "transformer.batch_matmul", ANY },
    { "attention.output_projection", "transformer.linear", ANY },
    { "attention.output_collective", NULL, ANY },
    { "attention.output_bias", "transformer.bias_add", BIAS },
    { "attention.output_dropout", "transformer.dropout", DROPOUT },
    { "attention.residual", "transformer.residual_add", ANY },
    { "mlp.fork", "transformer.fork", ANY },
    { "mlp.layer_norm", "transformer.layer_norm", LAYER_NORM },
    { "mlp.rms_norm", "transformer.rms_norm", RMS_NORM },
    { "mlp.input_collective", NULL, ANY },
    { "mlp.gate_fork", "transformer.fork", SWIGLU },
    { "mlp.gate", "transformer.linear", SWIGLU },
    { "mlp.expand", "transformer.linear", ANY },
    { "mlp.expand_bias", "transformer.bias_add", BIAS },
    { "mlp.swiglu", "transformer.swiglu", SWIGLU },
    { "mlp.gelu", "transformer.gelu", GELU },
    { "mlp.contract", "transformer.linear", ANY },
    { "mlp.output_collective", NULL, ANY },
    { "mlp.output_bias", "transformer.bias_add", BIAS },
    { "mlp.output_dropout", "transformer.dropout", DROPOUT },
    { "mlp.residual", "transformer.residual_add", ANY },
};

static bool block_has(const struct training_proof *p, enum needs needs)
{
    const bool answers[] = { true, p->m.norm == NORM_LAYER, p->m.norm == NORM_RMS, p->m.mlp == MLP_GELU,
                             p->m.mlp == MLP_SWIGLU, p->m.rotary, p->m.bias, p->m.dropout };
    return answers[needs];
}

/* All ranks along one axis, or those that hold the same keys and values along a second, minor one. */
static bool prove_mesh(struct training_proof *p, const struct dist_mesh *mesh)
{
    const struct item *out = p->r->output;
    const u32 *at = list_at(out, mesh->axes);
    p->n_axes = p->replicas > 1 ? 2 : 1;
    if (list_n(out, mesh->axes) != 3 * p->n_axes || pair_get(at + 1) != p->s.tensor / p->replicas ||
        (p->n_axes == 2 && pair_get(at + 4) != p->replicas))
        return gate_refuse(p->r, out, &mesh->s, "it is not the strategy's tensor group");
    for (u32 i = 0; i < p->n_axes; i++)
        p->axes[i] = at[3 * i];
    return true;
}

static bool prove_attention(const struct training_proof *p, const struct dist_attention *a)
{
    return a->pairs == (is_causal(p->r) ? DIST_CAUSAL : DIST_DENSE) ||
           gate_refuse(p->r, p->r->output, &a->s, "other pairs of a query and a key were asked for");
}

static bool prove_scale(const struct training_proof *p, const struct dist_scale *scale)
{
    u128 blocks = 0, batch = 0, microbatch = 0;
    return (training_proof_number(p, scale->blocks, &blocks) && training_proof_number(p, scale->batch, &batch) && training_proof_number(p, scale->microbatch, &microbatch) &&
            blocks == p->m.blocks && batch == p->w.batch && microbatch == p->w.microbatch && !scale->query && !scale->context) ||
           gate_refuse(p->r, p->r->output, &scale->s, "the scale is not that of the model and the workload");
}

/* A symbol is the model's. That a split sequence is a multiple of tensor is all that is known besides. */
static bool prove_symbol(const struct training_proof *p, const struct dist_symbol *s)
{
    const struct model_symbol *from = (const struct model_symbol *)item_dollar(p->r->input, s->s.name);
    const struct model_value *v = (const struct model_value *)item_value(p->r->input, list_at(p->r->input, p->op->operands)[0]);
    qty symbol = qty_symbol(p->r->ctx->exprs, s->s.name);
    if (!from || s->kind != from->kind)
        return gate_refuse(p->r, p->r->output, &s->s, "it is not a symbol of the model");
    u128 known = from->multiple_of;
    if (p->split && type_get(p->r->ctx->types, v->type)->dims[1] == symbol)
        known = known ? known / u128_gcd(known, p->s.tensor) * p->s.tensor : p->s.tensor;
    return s->multiple_of == known || gate_refuse(p->r, p->r->output, &s->s, "it is not known to be such a multiple");
}

struct uses {
    const struct item *it;
    u32 n;
    bool declared;
};

static void see_symbol(void *state, atom symbol)
{
    struct uses *u = state;
    const struct stmt *s = item_dollar(u->it, symbol);
    u->n++;
    u->declared = u->declared && s && s->name == symbol;
}

/* Each symbol of the boundary is declared, and no other. */
static bool prove_symbols(const struct training_proof *p, u32 declared)
{
    const struct item *out = p->r->output;
    const struct dist_value *v = (const struct dist_value *)item_value(out, list_at(p->r->input, p->op->operands)[0]);
    const struct type *t = type_get(out->ctx->types, v->type);
    struct uses u = { out, 0, true };
    qty both;
    if (qty_mul(out->ctx->exprs, t->dims[0], t->dims[1], &both) == EXPR_OK)
        qty_symbols(out->ctx->exprs, both, see_symbol, &u);
    return (u.declared && u.n == declared) || gate_refuse(p->r, out, NULL, "its symbols are not those of its boundary");
}

/* The boundary's value NAME of the model, split along the sequence or whole. */
static bool prove_value(const struct training_proof *p, const struct dist_value *v, atom name, u8 role)
{
    const struct item *out = p->r->output;
    const struct model_value *from = (const struct model_value *)item_value(p->r->input, name);
    const struct type *t = type_get(out->ctx->types, v->type), *u = type_get(out->ctx->types, from->type);
    struct sharding s;
    u128 n[3] = { 0 };
    sharding_read(out, v->sharding, &s);
    bool same = v->s.name == name && v->role == role && u->rank == 3 && t->rank == 3 && t->element == u->element;
    for (int i = 0; same && i < 3; i++)
        same = training_proof_number(p, t->dims[i], &n[i]);
    if (!same || n[0] != p->w.microbatch || n[1] != p->m.sequence || n[2] != p->m.hidden)
        return gate_refuse(p->r, out, &v->s, "its name, role or type is not the model value's under this workload");
    bool sharded = s.rank == 3 && s.dims[1].n == p->n_axes &&
                   !memcmp(s.dims[1].axes, p->axes, p->n_axes * sizeof *p->axes) && !s.dims[0].n && !s.dims[2].n && !s.n_partial;
    if (p->split ? !sharded : v->sharding != 0)
        return gate_refuse(p->r, out, &v->s, "its sharding is not the boundary's");
    return gate_says_only(p->r, out, &v->s, " role name type sharding from ");
}

static bool prove_boundary(const struct training_proof *p, const struct stmt *s)
{
    atom input = list_at(p->r->input, p->op->operands)[0], output = list_at(p->r->input, p->op->results)[0];
    if (s->entity == DIST_OUTPUT)
        return ((const struct dist_output *)s)->value == output || gate_refuse(p->r, p->r->output, s, "it is not the model's output");
    return prove_value(p, (const struct dist_value *)s, input, DIST_INPUT) &&
           gate_is_from(p->r, s, LINEAGE_LOWERED, REF_VALUE(input));
}

/* Gathers ahead of split products, scatters behind them; their gradients the other way round. */
static const char *collective_of(const struct training_proof *p, bool is_input, u8 phase)
{
    bool forward = phase != DIST_ACTIVATION_GRADIENT;
    if (p->s.tensor == 1 || phase == DIST_OPTIMIZER)
        return NULL;
    if (!p->split)
        return forward == is_input ? NULL : "all_reduce";
    return forward == is_input ? "all_gather" : "reduce_scatter";
}

/* Gradients of keys' and values' weights that ranks hold alike are summed over those ranks, ahead of the optimizer. */
static bool prove_collective(const struct training_proof *p, const struct dist_task *t, const char *layer)
{
    const struct item *out = p->r->output;
    bool replicas = !strcmp(layer, "attention.kv_replicas");
    const char *kind = replicas ? (p->replicas > 1 && t->phase == DIST_OPTIMIZER ? "all_reduce" : NULL)
                                : collective_of(p, strstr(layer, "input_collective") != NULL, t->phase);
    bool reduces = kind && strcmp(kind, "all_gather") != 0;
    const atom *over = p->axes + replicas;
    u32 n = p->n_axes - replicas;
    u128 message = 0;
    if (!kind || t->body != DIST_COLLECTIVE || !intern_is(&out->ctx->names, t->operation, kind))
        return gate_refuse(p->r, out, &t->s, "its layer has no such collective in this phase");
    if (list_n(out, t->over) != n || memcmp(list_at(out, t->over), over, n * sizeof *over) != 0 ||
        t->reduction != (reduces ? REDUCTION_SUM : REDUCTION_NONE))
        return gate_refuse(p->r, out, &t->s, "it does not sum over its group of ranks, or not gather in it");
    return (training_proof_number(p, t->work[DIST_MESSAGE], &message) && message == (replicas ? p->Y : p->A) * p->w.element_bytes) ||
           gate_refuse(p->r, out, &t->s, "its message is not the whole boundary, or not all that its ranks hold alike");
}

static bool prove_local(const struct training_proof *p, const struct dist_task *t, const char *operation)
{
    const struct item *out = p->r->output;
    if (t->body != DIST_LOCAL || !intern_is(&out->ctx->names, t->operation, operation))
        return gate_refuse(p->r, out, &t->s, "its layer computes something else");
    if (t->over || t->reduction)
        return gate_refuse(p->r, out, &t->s, "a local task has no group");
    return t->work[DIST_MESSAGE] == 0 || gate_refuse(p->r, out, &t->s, "a local task sends");
}

/* `<layer>.<phase>`, of a collective `.<kind>` behind it. */
static bool is_named(const struct training_proof *p, const struct dist_task *t)
{
    char name[256];
    const struct context *ctx = p->r->ctx;
    snprintf(name, sizeof name, "%s.%s%s%s", context_text(ctx, dist_layer(p->r->output, t)), dist_phase_enum.words[t->phase].text,
             t->body == DIST_COLLECTIVE ? "." : "", t->body == DIST_COLLECTIVE ? context_text(ctx, t->operation) : "");
    return intern_is(&ctx->names, t->s.name, name);
}

static bool prove_task(const struct training_proof *p, const struct dist_task *t)
{
    const struct item *out = p->r->output;
    atom layer = dist_layer(out, t);
    size_t i = 0;
    while (i < COUNT(block_layers) && !(block_has(p, block_layers[i].needs) && intern_is(&out->ctx->names, layer, block_layers[i].layer)))
        i++;
    if (i == COUNT(block_layers))
        return gate_refuse(p->r, out, &t->s, "no layer of this block is called so");
    const char *operation = block_layers[i].operation;
    if (!(operation ? prove_local(p, t, operation) : prove_collective(p, t, block_layers[i].layer)))
        return false;
    if (!is_named(p, t))
        return gate_refuse(p->r, out, &t->s, "its name is not its layer and phase");
    return gate_is_from(p->r, &t->s, LINEAGE_LOWERED, REF_SYMBOL(p->op->s.name)) &&
           gate_says_only(p->r, out, &t->s, " name body operation operands results over reduction phase layer work from ");
}

/* forward <= recompute, recommunication <= gradients <= optimizer */
static int stage_of(u8 phase)
{
    return phase == DIST_FORWARD ? 0 : phase == DIST_RECOMPUTE || phase == DIST_RECOMMUNICATION ? 1
           : phase == DIST_ACTIVATION_GRADIENT || phase == DIST_WEIGHT_GRADIENT ? 2 : phase == DIST_OPTIMIZER ? 3 : -1;
}

/* The first task reads the input, the last forward task makes the output; nothing else has values. */
static bool prove_values(const struct training_proof *p, const struct dist_task *t, bool first, bool last)
{
    const struct item *in = p->r->input, *out = p->r->output;
    atom input = list_at(in, p->op->operands)[0], output = list_at(in, p->op->results)[0];
    bool reads = list_n(out, t->operands) == 1 && list_at(out, t->operands)[0] == input;
    bool makes = list_n(out, t->results) == 1 && list_at(out, t->results)[0] == output;
    if ((first ? !reads : list_n(out, t->operands) != 0) || (last ? !makes : list_n(out, t->results) != 0))
        return gate_refuse(p->r, out, &t->s, "it reads or makes other values than the block's boundary there");
    const struct dist_value *v = last ? (const struct dist_value *)item_value(out, output) : NULL;
    return !last || (v && prove_value(p, v, output, DIST_ACTIVATION)) || gate_refuse(p->r, out, &t->s, "its result is not the boundary");
}

static bool prove_tasks(const struct training_proof *p)
{
    const struct item *out = p->r->output;
    const struct dist_task *first = NULL, *last = NULL;
    int stage = 0;
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)out->stmts[i];
        if (t->s.entity != DIST_TASK)
            continue;
        if (stage_of(t->phase) < stage)
            return gate_refuse(p->r, out, &t->s, "its phase comes before that of the task above it");
        stage = stage_of(t->phase);
        first = first ? first : t;
        last = stage == 0 ? t : last;
    }
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)out->stmts[i];
        if (t->s.entity == DIST_TASK && (!prove_task(p, t) || !prove_values(p, t, t == first, t == last)))
            return false;
    }
    return true;
}

static bool prove_entities(struct training_proof *p)
{
    const struct item *out = p->r->output;
    u32 seen[256] = { 0 };
    bool good = true;
    for (u32 i = 0; good && i < out->n_stmts; i++) {
        const struct stmt *s = out->stmts[i];
        seen[s->entity]++;
        switch ((enum dist_entity)s->entity) {
        case DIST_SYMBOL: good = prove_symbol(p, (const struct dist_symbol *)s); break;
        case DIST_MESH: good = prove_mesh(p, (const struct dist_mesh *)s); break;
        case DIST_ORDER: good = ((const struct dist_order *)s)->order == DIST_SERIAL || gate_refuse(p->r, out, s, "it is not serial"); break;
        case DIST_ORIGIN: good = gate_is_origin(p->r, s, ((const struct dist_origin *)s)->source, p->op->s.name); break;
        case DIST_ATTENTION: good = prove_attention(p, (const struct dist_attention *)s); break;
        case DIST_SCALE: good = prove_scale(p, (const struct dist_scale *)s); break;
        case DIST_MEMORY: good = gate_is_from(p->r, s, LINEAGE_LOWERED, REF_SYMBOL(p->op->s.name)); break;
        case DIST_VALUE: case DIST_OUTPUT: good = prove_boundary(p, s); break;
        case DIST_TASK: case DIST_ENTITIES: break;
        }
    }
    if (good && (seen[DIST_MESH] != 1 || seen[DIST_ORDER] != 1 || seen[DIST_ORIGIN] != 1 || seen[DIST_ATTENTION] != 1 || seen[DIST_SCALE] != 1 || seen[DIST_MEMORY] != 1 ||
                 seen[DIST_VALUE] != 1 || seen[DIST_OUTPUT] != 1))
        return gate_refuse(p->r, out, NULL, "its mesh, order, origin, attention, scale, memory, input and output are not one each");
    return good && prove_symbols(p, seen[DIST_SYMBOL]) && prove_tasks(p);
}

bool distribute_transformer_training_gate(const struct pass_run *r)
{
    struct training_proof p = { .r = r };
    fill(&p);
    return prove_entities(&p) && training_proof_totals(&p) && training_proof_memory(&p);
}
