/*
 * What a block says besides its tasks: how often it runs, and the memory of a rank. Closed forms over all ranks, as for the
 * tasks: weights, gradients and state by the parameters; activations after Korthikanti et al. 2022, section 4, with the
 * kept copies that docs/algebra.md lists.
 */
#include "conformance/work.h"

struct facts {
    struct block *b;
    u32 checked, open;
};

/* ---- Scale ---- */

static bool refuse_scale(struct block *b, const struct stmt *s, const char *field, const char *what, qty is, const char *source, qty should)
{
    const char *text = qty_text(b->it->ctx, is);
    return verify_error(&b->c->v, s, NULL, field, "check.work_conservation.scale", "%s is %s, and %s %s", what, text, source, qty_text(b->it->ctx, should));
}

static bool check_scale_fact(struct facts *f, const char *field, qty is, const char *source, qty should)
{
    u128 a, b;
    if (!qty_value(f->b->it->ctx->exprs, is, &a) || !qty_value(f->b->it->ctx->exprs, should, &b)) {
        f->open++;              /* a symbol stands for it */
        return true;
    }
    f->checked++;
    return a == b || refuse_scale(f->b, &f->b->scale->s, field, field, is, source, should);
}

static bool check_scale(struct facts *f)
{
    struct block *b = f->b;
    const struct dist_scale *s = b->scale;
    const struct type *t = type_get(b->it->ctx->types, b->boundary->type);
    const struct session_workload *w = b->workload;
    bool good = true;
    u128 hidden;
    if (!qty_value(b->it->ctx->exprs, t->dims[2], &hidden) || hidden != b->hidden)
        good = refuse_scale(b, &b->boundary->s, NULL, "the width of the boundary", t->dims[2], "the model's hidden size is", b->hidden);
    if (b->training && qty_is_small(b->s) && b->s != b->sequence)
        good = refuse_scale(b, &b->boundary->s, NULL, "the length of the boundary", b->s, "the model's sequence is", b->sequence);
    if (!s)
        return good;
    good = check_scale_fact(f, "blocks", s->blocks, "the model has", b->blocks) && good;
    if (b->training)
        good = check_scale_fact(f, "microbatch", s->microbatch, "the boundary has", b->b) && good;
    else
        good = check_scale_fact(f, "batch", s->batch, "the boundary has", b->b) && check_scale_fact(f, "query", s->query, "the boundary has", b->s) && good;
    if (w && b->training)
        good = check_scale_fact(f, "batch", s->batch, "the workload asks for", qty_number(b->it->ctx->exprs, w->batch)) &&
               check_scale_fact(f, "microbatch", s->microbatch, "the workload asks for", qty_number(b->it->ctx->exprs, w->microbatch)) && good;
    return good;
}

/* ---- Memory ---- */

/* SUM over all ranks, TIMES bytes each, added to *out. */
static bool add_sum(struct block *b, bool holds, const char *sum, u64 times, qty *out)
{
    struct amount a;
    return !holds || (block_sum(b, sum, &a) && work_times(b->c, NULL, a.all, times, &a.all) && work_add(b->c, NULL, *out, a.all, out));
}

static bool refuse_memory(struct facts *f, const char *fact, qty have, const char *form, qty want)
{
    struct block *b = f->b;
    const char *text = qty_text(b->it->ctx, have);
    return verify_error(&b->c->v, &b->memory->s, NULL, fact, "check.work_conservation.memory", "`%s` over %llu ranks is %s, and %s is %s", fact,
                        (unsigned long long)b->ranks, text, form, qty_text(b->it->ctx, want));
}

/* A fact of one rank against WANT, which is of all of them. */
static bool check_memory_fact(struct facts *f, const char *fact, qty one, const char *form, qty want)
{
    qty have;
    if (!work_times(f->b->c, &f->b->memory->s, one, f->b->ranks, &have))
        return false;
    f->checked++;
    return work_same(f->b->it, f->b->ranks, have, want) || refuse_memory(f, fact, have, form, want);
}

static bool parameters(struct block *b, qty *out)
{
    *out = 0;
    return add_sum(b, true, "2w+2v+2u", 1, out) && add_sum(b, b->swiglu, "u", 1, out) && add_sum(b, true, b->rms_norm ? "2n" : "4n", 1, out) &&
           add_sum(b, b->bias, "I+2J+G+2O", 1, out) && add_sum(b, b->bias && b->swiglu, "G", 1, out);
}

/* A rank's share of what replicas divide, each tensor rounded up. */
static bool shares(struct block *b, qty *out)
{
    const struct {
        const char *tensor;
        u64 times;
    } tensors[] = {
        { "w", 2 }, { "v", 2 }, { "u", b->swiglu ? 3 : 2 }, { b->rms_norm ? "n" : "2n", 2 }, { "I+2J", 1 }, { b->swiglu ? "2G" : "G", 1 }, { "O", 2 },
    };
    *out = 0;
    for (u32 i = 0; i < COUNT(tensors); i++) {
        struct amount a;
        qty each;
        if (!block_sum(b, tensors[i].tensor, &a) || qty_ceildiv(b->it->ctx->exprs, a.all, b->ranks * b->data, &each) != EXPR_OK ||
            !work_times(b->c, NULL, each, b->ranks * tensors[i].times, &each) || !work_add(b->c, NULL, *out, each, out))
            return false;
    }
    return true;
}

static bool check_weights(struct facts *f)
{
    struct block *b = f->b;
    qty all, bytes, four;
    return parameters(b, &all) && work_times(b->c, NULL, all, b->element_bytes, &bytes) && work_times(b->c, NULL, all, 4, &four) &&
           check_memory_fact(f, "weights", b->memory->weights, "the parameters in bytes", bytes) &&
           (!b->training || check_memory_fact(f, "gradients_unsharded", b->memory->gradients_unsharded, "4 bytes a parameter", four));
}

static bool check_state(struct facts *f)
{
    struct block *b = f->b;
    qty share, bytes, state;
    return shares(b, &share) && work_times(b->c, NULL, share, b->element_bytes, &bytes) &&
           work_times(b->c, NULL, share, b->element_bytes < 4 ? 12 : 8, &state) &&
           check_memory_fact(f, "gradients", b->memory->gradients, "the replica's share of the gradients", bytes) &&
           check_memory_fact(f, "optimizer", b->memory->optimizer, "the replica's share of the state", state);
}

/* Between the block's inputs: attention's widths, scores behind their products, softmax and dropout, and the MLP's. */
static bool inner(struct block *b, bool scores, qty *out)
{
    u64 e = b->element_bytes;
    return add_sum(b, true, "2Z+2U", e, out) && add_sum(b, scores, "E", e, out) && add_sum(b, scores && b->dropout, "E", e, out) &&
           add_sum(b, true, b->swiglu ? "3V" : "V", e, out) && add_sum(b, !b->strategy->fused_activation, "V", e, out) &&
           add_sum(b, scores && b->dropout, "d", 1, out) && add_sum(b, b->dropout, "2y", 1, out);
}

/* What is alive in a block: inputs of its layers, the collectives' own copies, masks. Elements are of e bytes. */
static bool activations(struct block *b, qty *out)
{
    u64 e = b->element_bytes;
    *out = 0;
    return add_sum(b, true, "2Q+2A", e, out) && inner(b, true, out) && add_sum(b, b->split, "4Q", e, out) && add_sum(b, !b->split, "2X", e, out);
}

/* Their gradients: of both score tensors in any case; a gate's SiLU has none of its own. */
static bool gradients_of(struct block *b, qty *out)
{
    u64 e = b->element_bytes;
    bool kept = !b->strategy->fused_activation && !b->swiglu;
    *out = 0;
    return add_sum(b, true, "4Q+2A+2Z+2U+2E", e, out) && add_sum(b, true, b->swiglu ? "3V" : "V", e, out) && add_sum(b, kept, "V", e, out) &&
           add_sum(b, b->split, "4Q", e, out) && add_sum(b, !b->split, "2X", e, out) && add_sum(b, b->dropout, "d+2y", 1, out);
}

/* Kept for the backward pass: what nothing gathers or computes again. */
static bool stored(struct block *b, qty *out)
{
    const struct session_strategy *s = b->strategy;
    bool attention = s->recompute == SESSION_RECOMPUTE_ATTENTION, regather = b->split && s->input_regather;
    u64 e = b->element_bytes;
    *out = 0;
    if (s->recompute == SESSION_RECOMPUTE_FULL)
        return true;
    return add_sum(b, true, "2Q", e, out) && inner(b, !attention, out) && add_sum(b, b->split, "2Q", e, out) &&
           add_sum(b, !(b->split && (attention || regather)), "A", e, out) && add_sum(b, !regather, "A", e, out);
}

static bool check_training(struct facts *f)
{
    struct block *b = f->b;
    const struct dist_memory *m = b->memory;
    qty working, gradients, kept, checkpoint = 0;
    if (!b->strategy) {
        f->open++;
        return true;
    }
    return activations(b, &working) && gradients_of(b, &gradients) && stored(b, &kept) &&
           add_sum(b, b->strategy->recompute == SESSION_RECOMPUTE_FULL, "Q", b->element_bytes, &checkpoint) && check_state(f) &&
           check_memory_fact(f, "working", m->working, "what is alive in a block", working) &&
           check_memory_fact(f, "activation_gradients", m->activation_gradients, "the gradients of that", gradients) &&
           check_memory_fact(f, "stored", m->stored, "what is kept for the backward pass", kept) &&
           check_memory_fact(f, "checkpoint", m->checkpoint, "the block's input, if nothing else is kept", checkpoint);
}

static bool check_inference(struct facts *f)
{
    struct block *b = f->b;
    qty cache = 0, boundary = 0;
    return add_sum(b, true, "2C", b->element_bytes, &cache) && add_sum(b, true, "A", b->element_bytes, &boundary) &&
           check_memory_fact(f, "kv_cache", b->memory->kv_cache, "keys and values of the context", cache) &&
           check_memory_fact(f, "boundary", b->memory->boundary, "the block's input", boundary);
}

bool work_check_facts(struct block *b)
{
    struct facts f = { .b = b };
    bool good = check_scale(&f);
    if (b->memory)
        good = check_weights(&f) && (b->training ? check_training(&f) : check_inference(&f)) && good;
    if (good && f.checked)
        check_proved(b->c, "%u facts of scale and memory", f.checked);
    if (f.open)
        check_skipped(b->c, "facts of scale and memory: %u; a symbol stands for them, or the strategy is not in the file", f.open);
    return good;
}
