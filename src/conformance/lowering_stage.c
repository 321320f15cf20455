/*
 * The buffers of a training plan's pipeline stage, from the block's `memory`, the program's `scale` and the strategy. With
 * L blocks a rank, and k microbatches in flight (of v chunks each, where the pipeline is interleaved):
 *
 *     weights L·weights             gradients gradients_unsharded + (L - 1)·gradients      optimizer L·optimizer
 *     stored stored·(L·k - 1)       checkpoint checkpoint·L·k                              working, activation_gradients: one block's
 *
 * k over p stages and m microbatches: 1 (no pipeline), min(m, p) (1F1B), m (GPipe), min(2(p-1) + (v-1)p + 1, m·v) / v
 * (interleaved). Korthikanti et al. 2022 (arXiv 2205.05198) section 4.2.3; Narayanan et al. 2021 (arXiv 2104.04473) section 2.2.
 *
 * Of inference: weights, workspace of one block; other_weights (L - 1)·weights, other_kv_caches (L - 1)·kv_cache.
 */
#include "conformance/lowering.h"

#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "dialects/session/session.h"

struct stage {
    struct lowering *l;
    const struct dist_memory *memory;
    const struct dist_scale *scale;
    const struct session_strategy *strategy;
    u128 blocks, in_flight;     /* L; L·k */
};

static bool is_strategy(const struct item *it)
{
    return !strcmp(it->kind->name, "session.strategy");
}

/* The one that the header names; of a plan written by hand, the only one in the file. */
static const struct session_strategy *find_strategy(const struct lowering *l)
{
    const struct module *m = l->c->v.module;
    const struct item *found = NULL;
    for (u32 i = 0; i < l->it->header.n_using; i++) {
        const struct item *used = module_find(m, l->it->header.using[i].item);
        if (used && is_strategy(used))
            found = used;
    }
    if (l->it->header.pass || found)
        return found ? (const struct session_strategy *)found->stmts[0] : NULL;
    for (u32 i = 0; i < m->n; i++)
        if (is_strategy(m->items[i])) {
            if (found)
                return NULL;
            found = m->items[i];
        }
    return found ? (const struct session_strategy *)found->stmts[0] : NULL;
}

/* Chunks of one rank whose activations are kept at a time: L·k, from the schedule. */
static bool count_in_flight(struct stage *s, u128 microbatches)
{
    u128 p = s->strategy->pipeline, v = s->strategy->virtual_stages ? s->strategy->virtual_stages : 1, k = 1;
    int schedule = s->strategy->schedule;
    if (schedule == SESSION_SCHEDULE_DEFAULT && p > 1)
        schedule = v > 1 ? SESSION_INTERLEAVED_ONE_F_ONE_B : SESSION_ONE_F_ONE_B;
    switch (schedule) {
    case SESSION_GPIPE: k = microbatches; break;
    case SESSION_ONE_F_ONE_B: k = microbatches < p ? microbatches : p; break;
    case SESSION_INTERLEAVED_ONE_F_ONE_B: {
        u128 first = 2 * (p - 1) + (v - 1) * p + 1;
        k = first < microbatches * v ? first : microbatches * v;
        s->in_flight = s->blocks / v * k;
        return s->blocks % v == 0;
    }
    default: break;
    }
    s->in_flight = s->blocks * k;
    return true;
}

static bool count(struct stage *s)
{
    const struct exprs *x = s->l->it->ctx->exprs;
    u128 blocks, batch, microbatch;
    u64 data = s->strategy->data ? s->strategy->data : 1, p = s->strategy->pipeline ? s->strategy->pipeline : 1;
    if (!qty_value(x, s->scale->blocks, &blocks) || !qty_value(x, s->scale->batch, &batch) || !qty_value(x, s->scale->microbatch, &microbatch))
        return false;
    if (!microbatch || blocks % p || batch % (microbatch * data) || blocks > UINT32_MAX || batch > UINT32_MAX)
        return false;
    s->blocks = blocks / p;
    return count_in_flight(s, batch / microbatch / data);
}

/* base + each·n */
static bool linear(const struct stage *s, qty base, qty each, u128 n, qty *out)
{
    struct exprs *x = s->l->it->ctx->exprs;
    return qty_mul(x, each, qty_number(x, n), out) == EXPR_OK && qty_add(x, *out, base, out) == EXPR_OK;
}

static bool expected(const struct stage *s, const char *name, qty *size)
{
    const struct dist_memory *m = s->memory;
    bool full = s->strategy->recompute == SESSION_RECOMPUTE_FULL;
    *size = 0;
    if (!strcmp(name, "weights"))
        return linear(s, 0, m->weights, s->blocks, size);
    if (!strcmp(name, "gradients"))
        return linear(s, m->gradients_unsharded, m->gradients, s->blocks - 1, size);
    if (!strcmp(name, "activation_gradients"))
        return linear(s, m->activation_gradients, 0, 0, size);
    if (!strcmp(name, "optimizer"))
        return linear(s, 0, m->optimizer, s->blocks, size);
    if (!strcmp(name, "working"))
        return linear(s, m->working, 0, 0, size);
    if (!strcmp(name, "stored"))
        return full || linear(s, 0, m->stored, s->in_flight - 1, size);
    return !strcmp(name, "checkpoint") && (!full || linear(s, 0, m->checkpoint, s->in_flight, size));
}

static const struct portable_buffer *find_buffer(const struct stage *s, const char *name)
{
    atom word = intern_find(&s->l->it->ctx->names, name, strlen(name));
    const struct stmt *b = word ? item_value(s->l->it, word) : NULL;
    return b && b->entity == PORTABLE_BUFFER ? (const struct portable_buffer *)b : NULL;
}

static void check_kind(struct stage *s, const struct portable_buffer *b, bool lasts)
{
    u8 storage = lasts ? PORTABLE_PERSISTENT : PORTABLE_TRANSIENT, role = lasts ? PORTABLE_STATE : PORTABLE_WORKSPACE;
    if (b->storage != storage || b->role != role)
        verify_error(&s->l->c->v, &b->s, b->role != role ? "role" : "storage", NULL, "check.lowering.stage", "%s is %s %s; of a training stage it is %s %s",
                     stmt_text(s->l->it, &b->s), portable_role_enum.words[b->role].text, portable_storage_enum.words[b->storage].text,
                     portable_role_enum.words[role].text, portable_storage_enum.words[storage].text);
}

static void check_fact(struct stage *s, const char *name, bool lasts)
{
    const struct context *ctx = s->l->it->ctx;
    const struct portable_buffer *b = find_buffer(s, name);
    qty size;
    if (!expected(s, name, &size))
        check_skipped(s->l->c, "the stage's %s: their bytes leave 128 bits", name);
    else if (!b && size)
        verify_error(&s->l->c->v, NULL, NULL, NULL, "check.lowering.stage", "no buffer %%%s holds the %s bytes of the stage's %s", name, qty_text(ctx, size), name);
    else if (b && b->size != size) {
        const char *is = qty_text(ctx, b->size);
        verify_error(&s->l->c->v, &b->s, "size", NULL, "check.lowering.stage", "%s has %s bytes; a stage of %llu blocks has %s", stmt_text(s->l->it, &b->s), is,
                     (unsigned long long)s->blocks, qty_text(ctx, size));
    }
    if (b)
        check_kind(s, b, lasts);
}

/* ---- Inference ---- */

struct kept {
    const char *name;
    u8 role, storage;
    qty fact;
    u128 times;
};

static void check_kept(struct stage *s, const struct kept *k)
{
    const struct context *ctx = s->l->it->ctx;
    struct verifier *to = &s->l->c->v;
    const struct portable_buffer *b = find_buffer(s, k->name);
    qty size;
    if (!linear(s, 0, k->fact, k->times, &size)) {
        check_skipped(s->l->c, "the stage's %s: their bytes leave 128 bits", k->name);
        return;
    }
    if (!b && size)
        verify_error(to, NULL, NULL, NULL, "check.lowering.stage", "no buffer %%%s holds the %s bytes of the stage's %s", k->name, qty_text(ctx, size), k->name);
    if (!b)
        return;
    if (b->size != size) {
        const char *is = qty_text(ctx, b->size);
        verify_error(to, &b->s, "size", NULL, "check.lowering.stage", "%s has %s bytes; a stage of %llu blocks has %s", stmt_text(s->l->it, &b->s), is,
                     (unsigned long long)s->blocks, qty_text(ctx, size));
    }
    if (b->storage != k->storage || b->role != k->role)
        verify_error(to, &b->s, b->role != k->role ? "role" : "storage", NULL, "check.lowering.stage", "%s is %s %s; in inference it is %s %s",
                     stmt_text(s->l->it, &b->s), portable_role_enum.words[b->role].text, portable_storage_enum.words[b->storage].text,
                     portable_role_enum.words[k->role].text, portable_storage_enum.words[k->storage].text);
}

/* What a block keeps besides its cache, a value, and what the other blocks of the stage do. */
static void check_inference(struct stage *s)
{
    const struct dist_memory *m = s->memory;
    u64 p = s->strategy->pipeline ? s->strategy->pipeline : 1;
    u32 before = s->l->c->v.errors;
    if (!qty_value(s->l->it->ctx->exprs, s->scale->blocks, &s->blocks) || !s->blocks || s->blocks % p || s->blocks > UINT32_MAX) {
        check_skipped(s->l->c, "the stage's buffers: `scale` and the strategy don't give whole blocks a rank");
        return;
    }
    s->blocks /= p;
    const struct kept kept[] = {
        { "weights", PORTABLE_CONSTANT, PORTABLE_PERSISTENT, m->weights, 1 },
        { "workspace", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, m->workspace, 1 },
        { "other_weights", PORTABLE_CONSTANT, PORTABLE_PERSISTENT, m->weights, s->blocks - 1 },
        { "other_kv_caches", PORTABLE_STATE, PORTABLE_PERSISTENT, m->kv_cache, s->blocks - 1 },
    };
    for (u32 i = 0; i < COUNT(kept); i++)
        check_kept(s, &kept[i]);
    if (s->l->c->v.errors == before)
        check_proved(s->l->c, "buffers of a stage of %llu blocks", (unsigned long long)s->blocks);
}

/* ---- All of it ---- */

/* A plan whose buffers are from a program's `memory` is one of a whole stage. */
static bool is_stage(const struct lowering *l)
{
    for (u32 i = 0; i < l->it->n_stmts; i++) {
        const struct stmt *s = l->it->stmts[i];
        if (s->entity != PORTABLE_BUFFER || !s->lineage || !list_n(l->it, s->lineage) || ref_is_value(list_at(l->it, s->lineage)[0]))
            continue;
        const struct stmt *from = item_symbol(l->parent, ref_atom(list_at(l->it, s->lineage)[0]));
        if (from && from->entity == DIST_MEMORY)
            return true;
    }
    return false;
}

void lowering_check_stage(struct lowering *l)
{
    static const struct {
        const char *name;
        bool lasts;
    } facts[] = { { "weights", true }, { "gradients", true }, { "activation_gradients", false }, { "optimizer", true },
                  { "working", false }, { "stored", false }, { "checkpoint", false } };
    struct stage s = { .l = l, .memory = (const struct dist_memory *)item_once(l->parent, DIST_MEMORY),
                       .scale = (const struct dist_scale *)item_once(l->parent, DIST_SCALE), .strategy = find_strategy(l) };
    u32 before = l->c->v.errors;
    if (!is_stage(l))
        return;
    if (!s.memory || !s.scale || !s.strategy) {
        check_skipped(l->c, "the stage's buffers: the %s is not in the file", s.strategy ? "program's `memory` or `scale`" : "strategy");
        return;
    }
    if (s.scale->query) {
        check_inference(&s);
        return;
    }
    if (!count(&s)) {
        check_skipped(l->c, "the stage's buffers: `scale` and the strategy don't give whole blocks and microbatches a rank");
        return;
    }
    for (u32 i = 0; i < COUNT(facts); i++)
        check_fact(&s, facts[i].name, facts[i].lasts);
    if (l->c->v.errors == before)
        check_proved(l->c, "buffers of a stage of %llu blocks", (unsigned long long)s.blocks);
}
