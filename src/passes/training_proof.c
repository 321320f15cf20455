/*
 * Sources of the closed forms: Narayanan et al. 2021 (arXiv 2104.04473), section 3: a decoder layer's products are
 * 24BSH^2 + 4BS^2H for feed-forward 4H and attention width H; here with F, K = heads * size and J, the width of keys and
 * values, apart from them. Vector operations per element: layer norm 9/14/7, RMSNorm 4/6/3, softmax 5/8, GeLU 8/13, SiLU and
 * product 6/11 (12 where SiLU is made again), rotation 6/6, bias 1/0/1, dropout 1/1, residual 1/2, a fork of u uses u.
 */
#include "passes/training_proof.h"

#include "dialects/dist/dist.h"
#include "passes/cover.h"
#include "support/quantity.h"

bool training_proof_number(const struct training_proof *p, qty q, u128 *out)
{
    struct exprs *x = p->r->ctx->exprs;
    return qty_value(x, q, out) ||
           (qty_substitute(x, q, p->symbols, p->n_symbols, &q) == EXPR_OK && qty_value(x, q, out));
}

/* ---- Totals ---- */

static bool total(const struct training_proof *p, u8 phase, int fact, u128 *out)
{
    const struct item *it = p->r->output;
    *out = 0;
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)it->stmts[i];
        u128 n;
        if (t->s.entity == DIST_TASK && t->phase == phase && (!training_proof_number(p, t->work[fact], &n) || !u128_add(*out, n, out)))
            return false;
    }
    return true;
}

static bool prove_total(const struct training_proof *p, u8 phase, int fact, u128 expected)
{
    static const char *const facts[] = { "operations", "bytes read", "bytes written" };
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    const char *word = dist_phase_enum.words[phase].text;
    u128 found;
    if (!total(p, phase, fact, &found))
        return gate_refuse(p->r, p->r->output, NULL, "the %s of phase %s do not add up to a number", facts[fact], word);
    return found == expected || gate_refuse(p->r, p->r->output, NULL, "phase %s has %s %s, and the closed form %s", word,
                                            u128_text(found, found_text), facts[fact], u128_text(expected, expected_text));
}

static bool prove_phase(const struct training_proof *p, u8 phase, u128 operations, u128 read, u128 write)
{
    return prove_total(p, phase, DIST_OPERATIONS, operations) && prove_total(p, phase, DIST_READ, read) &&
           prove_total(p, phase, DIST_WRITE, write);
}

static bool is_full(const struct training_proof *p)
{
    return p->s.recompute == RECOMPUTE_FULL;
}

/* What two norms hold, and operations an element of one: forward, activation gradient, weight gradient. */
static u128 norm_weights(const struct training_proof *p)
{
    return p->m.norm == NORM_LAYER ? 4 * p->H : 2 * p->H;
}

static u128 norm_operations(const struct training_proof *p, int phase)
{
    static const u8 layer[] = { 9, 14, 7 }, rms[] = { 4, 6, 3 };
    return p->m.norm == NORM_LAYER ? layer[phase] : rms[phase];
}

/* Of query, key and value; of the output; of one or two expansions; of the contraction. */
static u128 bias_weights(const struct training_proof *p)
{
    return p->bias * (p->K + 2 * p->J + 2 * p->H + p->up * p->F);
}

static u128 bias_elements(const struct training_proof *p)
{
    return p->bias * (p->M * (p->K + 2 * p->J + p->up * p->F) + 2 * p->R);
}

/* Weights of a rank: two norms, query, key, value, output, two or three of the MLP, biases. */
static u128 weights(const struct training_proof *p)
{
    return 2 * p->H * (p->K + p->J) + (p->up + 1) * p->H * p->F + norm_weights(p) + bias_weights(p);
}

/* The rank's share of sharded state, rounded up tensor by tensor; query, key and value's biases are one. */
static u128 share(const struct training_proof *p)
{
    u128 d = p->s.optimizer_sharding ? p->s.data : 1, rest = d - 1;
    u128 biases = (p->K + 2 * p->J + rest) / d + (p->up * p->F + rest) / d + 2 * ((p->H + rest) / d);
    return 2 * ((norm_weights(p) / 2 + rest) / d) + 2 * ((p->H * p->K + rest) / d) + 2 * ((p->H * p->J + rest) / d) +
           (p->up + 1) * ((p->H * p->F + rest) / d) + p->bias * biases;
}

static u128 state_bytes(const struct training_proof *p)
{
    return (p->w.element_bytes < 4 ? 12 : 8) * share(p);
}

/* Masks of dropout are of one byte an element: one of the scores, two of the boundary. */
static u128 masks(const struct training_proof *p)
{
    return p->dropout * (p->D + 2 * p->R);
}

/* Queries and keys, as they are turned. */
static u128 turned(const struct training_proof *p)
{
    return p->rotary * p->M * (p->K + p->J);
}

/* Operands and results of each layer, e bytes an element; a collective reads and writes what it exchanges. */
static bool prove_forward(const struct training_proof *p, u128 forward)
{
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J, collectives = (p->split ? 4 : 2) * p->X * e;
    u128 read = e * ((6 + 2 * p->dropout) * p->R + (3 + p->up) * p->A + 2 * MK + 2 * MJ + (2 + p->dropout) * p->D +
                     (p->up + 1) * p->G + turned(p) + weights(p));
    u128 write = e * ((4 + 2 * p->dropout) * p->R + 2 * p->A + 2 * MK + 2 * MJ + (2 + p->dropout) * p->D + (p->up + 1) * p->G +
                      turned(p)) + masks(p);
    u128 repeated = (p->split ? (p->s.recompute != RECOMPUTE_NONE || p->s.input_regather) + (is_full(p) || p->s.input_regather) : 0) +
                    (is_full(p) ? 2 : 0);
    u128 again = is_full(p) ? forward - p->reduce : 0, again_read = is_full(p) ? read : 0, again_write = is_full(p) ? write : 0;
    if (p->s.recompute == RECOMPUTE_ATTENTION) {
        again = 2 * p->C * p->m.head_size + (5 + p->dropout) * p->C;
        again_read = e * (MK + MJ + (1 + p->dropout) * p->D);
        again_write = e * (2 + p->dropout) * p->D + p->dropout * p->D;
    }
    return prove_phase(p, DIST_FORWARD, forward, read + collectives, write + collectives) &&
           prove_phase(p, DIST_RECOMPUTE, again, again_read, again_write) &&
           prove_phase(p, DIST_RECOMMUNICATION, is_full(p) ? p->reduce : 0, repeated * p->X * e, repeated * p->X * e);
}

/* Of the activation function, forward and its gradient: GeLU, or SiLU and product, in the gradient made again if fused. */
static u128 activation_operations(const struct training_proof *p, bool gradient)
{
    if (p->m.mlp == MLP_GELU)
        return (gradient ? 13 : 8) * p->G;
    return (gradient ? 11 + p->s.fused_activation : 6) * p->G;
}

/* As docs/deviations.md keeps them: what a gradient reads is not always all that it needs. RMSNorm and SiLU read it all. */
static bool prove_gradient(const struct training_proof *p, u128 products, u128 scores)
{
    bool gated = p->m.mlp == MLP_SWIGLU;
    u128 gradient = products + 4 * scores + (8 + p->dropout) * p->C + (8 + 2 * p->dropout + 2 * norm_operations(p, 1)) * p->R +
                    (gated ? 5 : 3) * p->A + 6 * turned(p) + activation_operations(p, true) + p->reduce;
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J, collectives = (p->split ? 4 : 2) * p->X * e;
    u128 kept = gated ? 2 * p->G + (p->s.fused_activation ? 0 : p->G) : 0, norms = p->m.norm == NORM_RMS ? 2 * p->R : 0;
    u128 read = e * ((8 + 2 * p->dropout) * p->R + norms + (gated ? 7 : 5) * p->A + 3 * MK + 4 * MJ + (3 + p->dropout) * p->D +
                     (p->up + 1) * p->G + kept + turned(p) + weights(p) - bias_weights(p)) + masks(p);
    u128 write = e * ((8 + 2 * p->dropout) * p->R + (gated ? 7 : 5) * p->A + MK + (1 + p->dropout) * p->D + (p->up + 1) * p->G + turned(p));
    return prove_phase(p, DIST_ACTIVATION_GRADIENT, gradient, read + collectives, write + collectives);
}

bool training_proof_totals(const struct training_proof *p)
{
    u128 products = 4 * p->M * p->H * (p->K + p->J) + 2 * (p->up + 1) * p->M * p->H * p->F, scores = 2 * p->C * p->m.head_size;
    u128 forward = products + 2 * scores + (5 + p->dropout) * p->C + (2 * norm_operations(p, 0) + 2 * p->dropout + 2) * p->R +
                   6 * turned(p) + activation_operations(p, false) + bias_elements(p) + p->reduce;
    u128 e = p->w.element_bytes, MK = p->M * p->K, MJ = p->M * p->J;
    u128 read = e * (4 * p->R + (5 + p->up) * p->A + 2 * MK + 2 * MJ + (p->up + 1) * p->G + bias_elements(p));
    u128 alike = (p->Y + p->replicas - 1) / p->replicas * (p->replicas - 1);
    return prove_forward(p, forward) && prove_gradient(p, products, scores) &&
           prove_phase(p, DIST_WEIGHT_GRADIENT, products + 2 * norm_operations(p, 2) * p->R + bias_elements(p), read, e * weights(p)) &&
           prove_phase(p, DIST_OPTIMIZER, 11 * share(p) + alike, state_bytes(p) + e * p->Y, e * p->Y);
}

/* ---- Memory ---- */

static bool prove_fact(const struct training_proof *p, const struct dist_memory *m, const char *name, qty fact, u128 expected)
{
    char found_text[U128_DIGITS], expected_text[U128_DIGITS];
    u128 found = 0;
    if (training_proof_number(p, fact, &found) && found == expected)
        return true;
    return gate_refuse(p->r, p->r->output, &m->s, "`%s` is %s, and the closed form %s", name, u128_text(found, found_text),
                       u128_text(expected, expected_text));
}

/* Korthikanti et al. 2022, section 4: what a layer keeps; a boundary or collective that is split keeps its share. */
static u128 stored(const struct training_proof *p, u128 inner)
{
    bool attention = p->s.recompute == RECOMPUTE_ATTENTION, regather = p->split && p->s.input_regather;
    u128 e = p->w.element_bytes, bytes = e * (2 * p->R + 2 * p->A + inner) + masks(p);
    if (is_full(p))
        return 0;
    if (p->split)
        bytes += e * 2 * p->R;
    if (attention)
        bytes -= e * (1 + p->dropout) * p->D + p->dropout * p->D;
    if (p->split && (attention || regather))
        bytes -= e * p->A;
    return regather ? bytes - e * p->A : bytes;
}

bool training_proof_memory(const struct training_proof *p)
{
    const struct item *out = p->r->output;
    const struct dist_memory *m = NULL;
    for (u32 i = 0; i < out->n_stmts; i++)
        m = out->stmts[i]->entity == DIST_MEMORY ? (const struct dist_memory *)out->stmts[i] : m;
    u128 e = p->w.element_bytes, unfused = p->s.fused_activation ? 0 : p->G;
    bool gated = p->m.mlp == MLP_SWIGLU;
    u128 widths = 2 * p->M * (p->K + p->J), collectives = p->split ? 4 * p->R : 2 * p->X;
    u128 inner = widths + (1 + p->dropout) * p->D + (gated ? 3 : 1) * p->G + unfused;
    u128 gradients = widths + 2 * p->D + (gated ? 3 * p->G : p->G + unfused);
    return prove_fact(p, m, "weights", m->weights, e * weights(p)) &&
           prove_fact(p, m, "working", m->working, e * (2 * p->R + 2 * p->A + inner + collectives) + masks(p)) &&
           prove_fact(p, m, "stored", m->stored, stored(p, inner)) &&
           prove_fact(p, m, "checkpoint", m->checkpoint, is_full(p) ? p->R * e : 0) &&
           prove_fact(p, m, "gradients", m->gradients, e * share(p)) &&
           prove_fact(p, m, "gradients_unsharded", m->gradients_unsharded, 4 * weights(p)) &&
           prove_fact(p, m, "activation_gradients", m->activation_gradients,
                      e * (4 * p->R + 2 * p->A + gradients + collectives) + masks(p)) &&
           prove_fact(p, m, "optimizer", m->optimizer, state_bytes(p)) && prove_fact(p, m, "kv_cache", m->kv_cache, 0) &&
           prove_fact(p, m, "workspace", m->workspace, 0) && prove_fact(p, m, "boundary", m->boundary, 0);
}
