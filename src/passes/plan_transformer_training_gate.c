/* Proves a training plan against its chain: every task one to one and field by field, every buffer by its own formula. */
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "ir/sharding.h"
#include "support/quantity.h"

static bool same_list(const struct item *a, u32 x, const struct item *b, u32 y)
{
    return list_n(a, x) == list_n(b, y) && !memcmp(list_at(a, x), list_at(b, y), list_n(a, x) * sizeof(u32));
}

static bool prove_task(const struct pass_run *r, const struct portable_task *p, const struct dist_task *t)
{
    const struct item *in = r->input, *out = r->output;
    if (p->s.name != t->s.name || list_n(out, p->s.lineage) != 1 || list_at(out, p->s.lineage)[0] != REF_SYMBOL(t->s.name))
        return gate_refuse(r, out, &p->s, "it is not the image of the chain's task at its place");
    if ((p->body == PORTABLE_COLLECTIVE) != (t->body == DIST_COLLECTIVE) || p->operation != t->operation)
        return gate_refuse(r, out, &p->s, "it does something else than its source");
    for (int i = 0; i < DIST_WORK; i++)
        if (p->work[i] != t->work[i])
            return gate_refuse(r, out, &p->s, "its work is not its source's");
    if (p->work[PORTABLE_TEMPORARY] || p->work[PORTABLE_PERSISTENT_BYTES])
        return gate_refuse(r, out, &p->s, "it has memory that its source lacks");
    if (p->phase != t->phase || p->layer != t->layer)
        return gate_refuse(r, out, &p->s, "it belongs to another phase or layer than its source");
    return (same_list(out, p->after, in, t->after) && same_list(out, p->ranks, in, t->ranks) &&
            same_list(out, p->operands, in, t->operands) && same_list(out, p->results, in, t->results)) ||
           gate_refuse(r, out, &p->s, "its order, ranks or values are not its source's");
}

static bool prove_tasks(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u32 k = 0;
    bool ordered = false, order = false;
    for (u32 i = 0; i < out->n_stmts; i++) {
        ordered = ordered || out->stmts[i]->entity == PORTABLE_ORDER;
        if (out->stmts[i]->entity != PORTABLE_TASK)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != DIST_TASK)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the chain has no task for it");
        if (!prove_task(r, (const struct portable_task *)out->stmts[i], (const struct dist_task *)in->stmts[k++]))
            return false;
    }
    for (u32 i = 0; i < in->n_stmts; i++)
        order = order || in->stmts[i]->entity == DIST_ORDER;
    while (k < in->n_stmts && in->stmts[k]->entity != DIST_TASK)
        k++;
    return (k == in->n_stmts && order == ordered) || gate_refuse(r, out, NULL, "a task of the chain, or its order, is lost");
}

/* ---- Buffers ---- */

static u128 number(const struct item *it, qty q)
{
    u128 n = 0;
    qty_value(it->ctx->exprs, q, &n);
    return n;
}

static u64 axis_size(const struct item *in, const struct dist_mesh *mesh, atom axis)
{
    const u32 *at = list_at(in, mesh->axes), *end = at + list_n(in, mesh->axes);
    while (at < end && *at != axis)
        at += 3;
    return at < end ? pair_get(at + 1) : 1;
}

/* Bytes of a boundary value on one rank: split by the size of every axis in its sharding. */
static u128 local_bytes(const struct item *in, const struct dist_value *v, const struct dist_mesh *mesh)
{
    qty bytes = 0;
    struct sharding s;
    sharding_read(in, v->sharding, &s);
    u64 by = 1;         /* divides the mesh's size, which fits */
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++)
            by *= axis_size(in, mesh, s.dims[i].axes[k]);
    return type_bytes(in->ctx->exprs, type_get(in->ctx->types, v->type), &bytes) == EXPR_OK ? number(in, bytes) / by : 0;
}

/* Chunks in flight on the first stage: GPipe all m, 1F1B min(m, p), interleaved min(2(p-1) + (v-1)p + 1, m v). */
static u128 peak_chunks(const struct training_strategy *s, u128 m)
{
    u128 p = s->pipeline, v = s->virtual_stages, most = m * v, warm;
    if (s->schedule == SCHEDULE_GPIPE)
        return m;
    warm = s->schedule == SCHEDULE_INTERLEAVED_ONE_F_ONE_B ? 2 * (p - 1) + (v - 1) * p + 1 : p;
    return warm < most ? warm : most;
}

struct stage_bytes {
    const char *name;
    u128 bytes;
};

static bool prove_buffer(const struct pass_run *r, const char *name, u128 bytes)
{
    const struct item *out = r->output;
    atom a = intern_find(&r->ctx->names, name, strlen(name));
    const struct portable_buffer *b = a ? (const struct portable_buffer *)item_value(out, a) : NULL;
    if (!b)
        return bytes == 0 || gate_refuse(r, out, NULL, "buffer %%%s is missing", name);
    return number(out, b->size) == bytes || gate_refuse(r, out, &b->s, "its size is not what the block's memory facts give");
}

static bool prove_stage(const struct pass_run *r, const struct dist_memory *m, const struct dist_scale *scale)
{
    const struct item *in = r->input;
    struct training_strategy s;
    spec_strategy(r->session.items[BIND_STRATEGY], &s);
    u128 blocks = number(in, scale->blocks) / s.pipeline, v = s.schedule == SCHEDULE_INTERLEAVED_ONE_F_ONE_B ? s.virtual_stages : 1;
    u128 chunks = peak_chunks(&s, number(in, scale->batch) / s.data / number(in, scale->microbatch));
    u128 kept = blocks / v * chunks;        /* blocks a chunk, times chunks in flight */
    const struct stage_bytes stage[] = {
        { "weights", blocks * number(in, m->weights) },
        { "gradients", number(in, m->gradients_unsharded) + (blocks - 1) * number(in, m->gradients) },
        { "activation_gradients", number(in, m->activation_gradients) },
        { "optimizer", blocks * number(in, m->optimizer) },
        { "working", number(in, m->working) },
        { "stored", m->stored ? number(in, m->stored) * (kept - 1) : 0 },
        { "checkpoint", number(in, m->checkpoint) * kept },
    };
    for (size_t i = 0; i < COUNT(stage); i++)
        if (!prove_buffer(r, stage[i].name, stage[i].bytes))
            return false;
    return true;
}

static bool prove_buffers(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    const struct dist_memory *memory = NULL;
    const struct dist_scale *scale = NULL;
    const struct dist_mesh *mesh = NULL;
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct stmt *s = in->stmts[i];
        mesh = s->entity == DIST_MESH ? (const struct dist_mesh *)s : mesh;
        memory = s->entity == DIST_MEMORY ? (const struct dist_memory *)s : memory;
        scale = s->entity == DIST_SCALE ? (const struct dist_scale *)s : scale;
    }
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct portable_buffer *b = (const struct portable_buffer *)out->stmts[i];
        if (b->s.entity != PORTABLE_BUFFER || b->s.lineage_kind != LINEAGE_NONE)
            continue;
        const struct dist_value *v = (const struct dist_value *)item_value(in, b->s.name);
        if (number(out, b->size) != local_bytes(in, v, mesh))
            return gate_refuse(r, out, &b->s, "its size is not its value's on one rank");
        if ((b->role == PORTABLE_INPUT) != (v->role == DIST_INPUT && !v->s.is_result) || b->storage != PORTABLE_DEVICE_LOCAL)
            return gate_refuse(r, out, &b->s, "its role or storage is not its value's");
    }
    return prove_stage(r, memory, scale);
}

bool plan_transformer_training_gate(const struct pass_run *r)
{
    return prove_tasks(r) && prove_buffers(r);
}
