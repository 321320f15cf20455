/*
 * Proves a distributed training block against the model and the session: relations entity by entity, and totals
 * against closed forms that are written here and nowhere else.
 *
 * Sources of the closed forms: Narayanan et al. 2021 (arXiv 2104.04473), section 3: a decoder layer's products are
 * 24BSH^2 + 4BS^2H for feed-forward 4H and attention width H; here with F and K = heads * size apart from them. Vector
 * operations per element: norm 9/14/7, softmax 5/8, GeLU 8/13, dropout 1/1, residual 1/2, a fork of u uses u.
 */
#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "ir/sharding.h"
#include "support/quantity.h"

struct proof {
    const struct pass_run *r;
    struct transformer_model m;
    struct training_workload w;
    struct training_strategy s;
    u128 M, H, K, F, A, R, C, G;        /* rows; widths (K, F of one rank); boundary; its share; scores; feed-forward */
    u128 reduce;                        /* operations of the reductions of one pass over the block */
    bool split;
    struct qty_binding symbols[2];      /* microbatch and sequence of the model's boundary, where they are symbols */
    u32 n_symbols;
};

struct find_symbol {
    struct proof *p;
    u64 value;
};

static void bind_symbol(void *state, atom symbol)
{
    struct find_symbol *f = state;
    if (f->p->n_symbols < COUNT(f->p->symbols))
        f->p->symbols[f->p->n_symbols++] = (struct qty_binding){ symbol, qty_number(f->p->r->ctx->exprs, f->value) };
}

/* A fact of the output as a number, under the session's sizes. */
static bool number(const struct proof *p, qty q, u128 *out)
{
    struct exprs *x = p->r->ctx->exprs;
    return qty_value(x, q, out) ||
           (qty_substitute(x, q, p->symbols, p->n_symbols, &q) == EXPR_OK && qty_value(x, q, out));
}

static void fill(struct proof *p)
{
    const struct pass_run *r = p->r;
    spec_model(r->input, spec_decoder(r->input, r->pass->operation), &p->m);
    spec_workload(r->session.items[BIND_WORKLOAD], &p->w);
    spec_strategy(r->session.items[BIND_STRATEGY], &p->s);
    u128 t = p->s.tensor;
    p->split = t > 1 && p->s.communication == COMMUNICATION_REDUCE_SCATTER_ALL_GATHER;
    p->M = (u128)p->w.microbatch * p->m.sequence;
    p->H = p->m.hidden;
    p->K = (u128)p->m.heads * p->m.head_size / t;
    p->F = p->m.feedforward / t;
    p->A = p->M * p->H;
    p->R = p->split ? p->A / t : p->A;
    p->C = (u128)p->w.microbatch * (p->m.heads / t) * p->m.sequence * p->m.sequence;
    p->G = p->M * p->F;
    p->reduce = 2 * (p->A / t) * (t - 1);
    const struct model_op *op = spec_decoder(r->input, r->pass->operation);
    const struct model_value *v = (const struct model_value *)item_value(r->input, list_at(r->input, op->operands)[0]);
    const struct type *type = type_get(r->ctx->types, v->type);
    qty_symbols(r->ctx->exprs, type->dims[0], bind_symbol, &(struct find_symbol){ p, p->w.microbatch });
    qty_symbols(r->ctx->exprs, type->dims[1], bind_symbol, &(struct find_symbol){ p, p->m.sequence });
}

/* ---- Relations ---- */

static u64 axis_size(const struct item *it, const struct dist_mesh *mesh)
{
    return list_n(it, mesh->axes) == 3 ? pair_get(list_at(it, mesh->axes) + 1) : 0;
}

static bool prove_value(const struct proof *p, const struct dist_value *v)
{
    const struct item *out = p->r->output;
    const struct model_value *from = (const struct model_value *)item_value(p->r->input, v->s.name);
    const struct type *t = type_get(out->ctx->types, v->type), *u = from ? type_get(out->ctx->types, from->type) : NULL;
    struct sharding s;
    u128 n[3] = { 0 };
    sharding_read(out, v->sharding, &s);
    bool same = u && u->rank == 3 && t->rank == 3 && t->element == u->element;
    for (int i = 0; same && i < 3; i++)
        same = number(p, t->dims[i], &n[i]);
    if (!same || n[0] != p->w.microbatch || n[1] != p->m.sequence || n[2] != p->m.hidden)
        return gate_refuse(p->r, out, &v->s, "its type is not the model value's under this workload");
    bool sharded = s.rank == 3 && s.dims[1].n == 1 && !s.dims[0].n && !s.dims[2].n && !s.n_partial;
    if (p->split ? !sharded : v->sharding != 0)
        return gate_refuse(p->r, out, &v->s, "its sharding is not the boundary's");
    return v->owners == 0 || gate_refuse(p->r, out, &v->s, "not all ranks own it");
}

static bool prove_task(const struct proof *p, const struct dist_task *t)
{
    const struct item *out = p->r->output;
    u128 message = 0;
    if (!number(p, t->work[DIST_MESSAGE], &message))
        return gate_refuse(p->r, out, &t->s, "its message is not a number");
    if (t->body != DIST_LOCAL && t->body != DIST_COLLECTIVE)
        return gate_refuse(p->r, out, &t->s, "it is neither local nor a collective");
    if (t->body == DIST_LOCAL)
        return message == 0 || gate_refuse(p->r, out, &t->s, "a local task sends");
    if (p->s.tensor == 1)
        return gate_refuse(p->r, out, &t->s, "one rank has no collective");
    if (message != p->A * p->w.element_bytes)
        return gate_refuse(p->r, out, &t->s, "its message is not the whole boundary");
    return t->ranks == 0 || gate_refuse(p->r, out, &t->s, "not all ranks take part");
}

/* forward <= recompute, recommunication <= gradients <= optimizer */
static int stage_of(u8 phase)
{
    return phase == DIST_FORWARD ? 0 : phase == DIST_RECOMPUTE || phase == DIST_RECOMMUNICATION ? 1
           : phase == DIST_ACTIVATION_GRADIENT || phase == DIST_WEIGHT_GRADIENT ? 2 : phase == DIST_OPTIMIZER ? 3 : -1;
}

static bool prove_entities(const struct proof *p)
{
    const struct item *out = p->r->output;
    int stage = 0;
    bool good = true, serial = false;
    for (u32 i = 0; good && i < out->n_stmts; i++) {
        const struct stmt *s = out->stmts[i];
        const struct dist_task *t = (const struct dist_task *)s;
        serial = serial || s->entity == DIST_ORDER;
        if (s->entity == DIST_MESH && axis_size(out, (const struct dist_mesh *)s) != p->s.tensor)
            return gate_refuse(p->r, out, s, "the mesh is not the strategy's tensor group");
        if (s->entity == DIST_VALUE)
            good = prove_value(p, (const struct dist_value *)s);
        if (s->entity != DIST_TASK)
            continue;
        if (stage_of(t->phase) < stage)
            return gate_refuse(p->r, out, s, "its phase comes before that of the task above it");
        stage = stage_of(t->phase);
        good = prove_task(p, t);
        for (u32 k = 0; good && k < list_n(out, t->results); k++)
            good = prove_value(p, (const struct dist_value *)item_value(out, list_at(out, t->results)[k]));
    }
    return good && (serial || gate_refuse(p->r, out, NULL, "the chain has no order"));
}

/* ---- Totals ---- */

static bool total(const struct proof *p, u8 phase, int fact, u128 *out)
{
    const struct item *it = p->r->output;
    *out = 0;
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)it->stmts[i];
        u128 n;
        if (t->s.entity == DIST_TASK && t->phase == phase && (!number(p, t->work[fact], &n) || !u128_add(*out, n, out)))
            return false;
    }
    return true;
}

static bool prove_total(const struct proof *p, u8 phase, u128 expected)
{
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    u128 found;
    if (!total(p, phase, DIST_OPERATIONS, &found))
        return gate_refuse(p->r, p->r->output, NULL, "the operations of phase %s do not add up to a number", dist_phase_enum.words[phase].text);
    return found == expected || gate_refuse(p->r, p->r->output, NULL, "phase %s has %s operations, and the closed form %s", dist_phase_enum.words[phase].text,
                                            u128_text(found, found_text), u128_text(expected, expected_text));
}

/* Operations of each phase; optimizer state that is sharded is rounded up per tensor, and bounded instead. */
static bool prove_totals(const struct proof *p)
{
    u128 products = 8 * p->M * p->H * p->K + 4 * p->M * p->H * p->F, scores = 2 * p->C * p->m.head_size;
    u128 weights = 4 * p->H * p->K + 2 * p->H * p->F + 4 * p->H;
    u128 forward = products + 2 * scores + 6 * p->C + (18 + 2 + 2) * p->R + 8 * p->G + p->reduce;
    u128 gradient = products + 4 * scores + 9 * p->C + (4 + 28 + 2 + 4) * p->R + 3 * p->A + 13 * p->G + p->reduce;
    u128 again = p->s.recompute == RECOMPUTE_FULL ? forward - p->reduce : p->s.recompute == RECOMPUTE_ATTENTION ? scores + 6 * p->C : 0;
    u128 repeated = p->s.recompute == RECOMPUTE_FULL && p->s.tensor > 1 ? p->reduce : 0, optimizer, d = p->s.optimizer_sharding ? p->s.data : 1;
    if (!prove_total(p, DIST_FORWARD, forward) || !prove_total(p, DIST_ACTIVATION_GRADIENT, gradient) ||
        !prove_total(p, DIST_WEIGHT_GRADIENT, products + 14 * p->R) || !prove_total(p, DIST_RECOMPUTE, again) ||
        !prove_total(p, DIST_RECOMMUNICATION, repeated))
        return false;
    if (!total(p, DIST_OPTIMIZER, DIST_OPERATIONS, &optimizer))
        return gate_refuse(p->r, p->r->output, NULL, "the optimizer's operations do not add up to a number");
    enum { TENSORS = 8 };       /* two norms, query, key, value, output, two of the MLP */
    return (optimizer * d >= 11 * weights && optimizer * d <= 11 * (weights + TENSORS * (d - 1))) ||
           gate_refuse(p->r, p->r->output, NULL, "the optimizer's operations are not 11 a weight");
}

static bool prove_memory(const struct proof *p)
{
    const struct item *out = p->r->output;
    u128 weights = p->w.element_bytes * (4 * p->H * p->K + 2 * p->H * p->F + 4 * p->H), found, unsharded, stored, checkpoint;
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct dist_memory *m = (const struct dist_memory *)out->stmts[i];
        if (m->s.entity != DIST_MEMORY)
            continue;
        if (!number(p, m->weights, &found) || found != weights)
            return gate_refuse(p->r, out, &m->s, "the weights are not those of the model");
        if (!number(p, m->gradients_unsharded, &unsharded) || unsharded * p->w.element_bytes != 4 * weights)
            return gate_refuse(p->r, out, &m->s, "unsharded gradients are not four bytes a weight");
        if (!number(p, m->stored, &stored) || !number(p, m->checkpoint, &checkpoint) ||
            (p->s.recompute == RECOMPUTE_FULL ? stored != 0 || checkpoint != p->R * p->w.element_bytes : checkpoint != 0))
            return gate_refuse(p->r, out, &m->s, "what is kept for the backward pass is not what the recompute policy says");
        return true;
    }
    return gate_refuse(p->r, out, NULL, "there are no memory facts");
}

bool distribute_transformer_training_gate(const struct pass_run *r)
{
    struct proof p = { .r = r };
    fill(&p);
    return prove_entities(&p) && prove_totals(&p) && prove_memory(&p);
}
