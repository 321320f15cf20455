#include "conformance/work_terms.h"

const struct term work_terms[TERMS] = {
#define LETTER(...)
#define TERM(layer_, phase_, sends_, when_, operations_, read_, write_) { layer_, phase_, sends_, when_, { operations_, read_, write_ } },
#include "conformance/block_terms.def"
};

const char *const work_fact_words[FACTS] = { "operations", "read", "write" };

static u32 conditions(const struct block *b)
{
    bool fused = b->strategy && b->strategy->fused_activation;
    return (b->training ? TRAINING : STEP) | (b->split ? IS_SPLIT : 0) | (b->ranks > 1 ? PARALLEL : 0) | (b->rms_norm ? RMS_NORM : LAYER_NORM) |
           (b->swiglu ? SWIGLU : GELU) | (b->rotary ? ROTARY : 0) | (b->bias ? BIAS : 0) | (b->dropout ? DROPOUT : 0) |
           (b->dealt > 1 ? REPLICATED : 0) | (fused ? FUSED : KEPT);
}

bool term_holds(const struct terms *t, const struct term *term)
{
    return (term->when & ~t->holds) == 0;
}

/* ---- What must be there ---- */

static bool is_layer(const struct term *term, const char *layer)
{
    return !strcmp(term->layer, layer);
}

/* What the strategy does again in the backward pass [Korthikanti et al. 2022, section 5; Calculon]. */
static bool is_repeated(const struct block *b, const struct term *term)
{
    const struct session_strategy *s = b->strategy;
    bool full = s->recompute == SESSION_RECOMPUTE_FULL, attention = s->recompute == SESSION_RECOMPUTE_ATTENTION;
    if (full || term->phase != FORWARD)
        return term->phase == FORWARD;
    if (is_layer(term, "attention.input_collective"))
        return attention || s->input_regather;
    if (is_layer(term, "mlp.input_collective"))
        return s->input_regather;
    return attention && (is_layer(term, "attention.query_key") || is_layer(term, "attention.softmax") || is_layer(term, "attention.probability_dropout"));
}

/* Bytes of a value: e an element, but masks, one. */
static bool bytes(struct terms *t, const char *sum, struct amount *out)
{
    char plain[64], masks[64];
    size_t n = 0, k = 0;
    struct amount a, m;
    for (const char *at = sum; *at;) {
        size_t length = strcspn(at, "+");
        bool mask = at[length - 1] == 'd' || at[length - 1] == 'y';
        char *to = mask ? masks + k : plain + n;
        memcpy(to, at, length);
        to[length] = '+';
        *(mask ? &k : &n) += length + 1;
        at += length + (at[length] == '+');
    }
    plain[n ? n - 1 : 0] = masks[k ? k - 1 : 0] = '\0';
    return block_sum(t->b, plain, &a) && block_sum(t->b, masks, &m) && work_times(t->b->c, NULL, a.all, t->b->element_bytes, &a.all) &&
           work_times(t->b->c, NULL, a.once, t->b->element_bytes, &a.once) && work_add(t->b->c, NULL, a.all, m.all, &out->all) &&
           work_add(t->b->c, NULL, a.once, m.once, &out->once);
}

/*
 * Adam's step of a term's weights: 11 operations a weight, and 12 bytes of state (8, where weights are of 4 bytes), read
 * once. Where the state is sharded, each rank takes its share rounded up.
 */
static bool fill_step(struct terms *t, const struct term *term, struct tally *out)
{
    struct block *b = t->b;
    struct exprs *x = b->it->ctx->exprs;
    u64 replicas = b->ranks * b->data, state = b->element_bytes < 4 ? 12 : 8;
    struct amount w;
    qty share;
    if (!block_sum(b, term->facts[2], &w) || qty_ceildiv(x, w.all, replicas, &share) != EXPR_OK)
        return false;
    return work_times(b->c, NULL, share, replicas, &w.all) &&
           work_times(b->c, NULL, w.all, 11, &out->facts[0].all) && work_times(b->c, NULL, w.once, 11, &out->facts[0].once) &&
           work_times(b->c, NULL, w.all, state, &out->facts[1].all) && work_times(b->c, NULL, w.once, state, &out->facts[1].once);
}

static bool fill_term(struct terms *t, u32 i)
{
    const struct term *term = &work_terms[i];
    struct tally *first = &t->tally[i][FIRST], *again = &t->tally[i][AGAIN], *step = &t->tally[i][STEP_OF];
    first->wanted = term_holds(t, term);
    if (!first->wanted)
        return true;
    for (u32 k = 0; k < FACTS; k++)
        if (!(k ? bytes(t, term->facts[k], &first->facts[k]) : block_sum(t->b, term->facts[0], &first->facts[0])))
            return false;
    memcpy(again->facts, first->facts, sizeof first->facts);
    again->open = !t->b->strategy;
    again->wanted = t->b->strategy && is_repeated(t->b, term);
    bool weights = term->phase == WEIGHT_GRADIENT && !term->sends;
    step->wanted = weights && t->b->strategy;
    step->open = weights && !t->b->strategy;
    return !weights || fill_step(t, term, step);
}

bool terms_fill(struct terms *t)
{
    struct interner *names = &t->b->it->ctx->names;
    t->holds = conditions(t->b);
    for (u32 i = 0; i < TERMS; i++)
        intern_string(names, work_terms[i].layer);
    t->n_first = names->n;
    t->first = ARENA_ARRAY(&t->b->c->v.scratch, u16, t->n_first);
    for (u32 i = TERMS; i--;) {
        atom layer = intern_string(names, work_terms[i].layer);
        if (!fill_term(t, i))
            return false;
        t->next[i] = t->first[layer];
        t->first[layer] = (u16)(i + 1);
    }
    return true;
}
