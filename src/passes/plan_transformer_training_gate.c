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

/* The engines that a task can run on: products on matrix engines, all else on vector engines. */
static bool prove_engine(const struct pass_run *r, const struct portable_task *p)
{
    const struct item *out = r->output;
    const char *operation = context_text(r->ctx, p->operation);
    bool product = (!strcmp(operation, "transformer.linear") || !strcmp(operation, "transformer.batch_matmul")) &&
                   p->phase != PORTABLE_OPTIMIZER;
    const char *words[3] = { "vector-elementwise", "vector-engine", NULL };
    if (p->body == PORTABLE_COLLECTIVE)
        words[0] = operation, words[1] = "collective-library", words[2] = "network-engine";
    else if (product)
        words[0] = "matrix-multiply", words[1] = "tensor-core", words[2] = "matrix-engine";
    u32 n = words[2] ? 2 : 1;
    const u32 *record = list_at(out, p->implement);
    bool same = list_n(out, p->implement) == n + 3 && record[1] == n && intern_is(&r->ctx->names, record[0], words[0]) && !record[n + 2];
    for (u32 i = 0; same && i < n; i++)
        same = intern_is(&r->ctx->names, record[2 + i], words[1 + i]);
    return same || gate_refuse(r, out, &p->s, "it needs another engine than its source");
}

/* The groups of a collective are those of its source: along fewer axes than the mesh has, or all ranks. */
static bool prove_group(const struct pass_run *r, u32 axes, const struct portable_task *p, const struct dist_task *t)
{
    bool all = 3 * list_n(r->input, t->over) == list_n(r->input, axes);
    return (all ? !p->over : same_list(r->output, p->over, r->input, t->over)) ||
           gate_refuse(r, r->output, &p->s, "it exchanges in other groups than its source");
}

static bool prove_task(const struct pass_run *r, u32 axes, const struct portable_task *p, const struct dist_task *t)
{
    const struct item *in = r->input, *out = r->output;
    if (p->s.name != t->s.name || list_n(out, p->s.lineage) != 1 || list_at(out, p->s.lineage)[0] != REF_SYMBOL(t->s.name))
        return gate_refuse(r, out, &p->s, "it is not the image of the chain's task at its place");
    if ((p->body == PORTABLE_COLLECTIVE) != (t->body == DIST_COLLECTIVE) || p->operation != t->operation)
        return gate_refuse(r, out, &p->s, "it does something else than its source");
    if (!prove_group(r, axes, p, t))
        return false;
    for (int i = 0; i < DIST_WORK; i++)
        if (p->work[i] != t->work[i])
            return gate_refuse(r, out, &p->s, "its work is not its source's");
    if (p->s.lineage_kind != LINEAGE_LOWERED || !prove_engine(r, p) ||
        !gate_says_only(r, out, &p->s, " name body operation operands results over ranks phase layer after work implement from "))
        return gate_refuse(r, out, &p->s, "it says more or less than its source");
    if (p->work[PORTABLE_TEMPORARY] || p->work[PORTABLE_PERSISTENT_BYTES])
        return gate_refuse(r, out, &p->s, "it has memory that its source lacks");
    if (p->phase != t->phase || portable_layer(out, p) != dist_layer(in, t))
        return gate_refuse(r, out, &p->s, "it belongs to another phase or layer than its source");
    return (same_list(out, p->more->after, in, t->more->after) && same_list(out, p->ranks, in, t->ranks) &&
            same_list(out, p->operands, in, t->operands) && same_list(out, p->results, in, t->results)) ||
           gate_refuse(r, out, &p->s, "its order, ranks or values are not its source's");
}

static bool prove_tasks(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u32 k = 0;
    bool ordered = false, order = false;
    u32 axes = 0;
    for (u32 i = 0; i < in->n_stmts; i++)
        if (in->stmts[i]->entity == DIST_MESH)
            axes = ((const struct dist_mesh *)in->stmts[i])->axes;
    for (u32 i = 0; i < out->n_stmts; i++) {
        ordered = ordered || out->stmts[i]->entity == PORTABLE_ORDER;
        if (out->stmts[i]->entity != PORTABLE_TASK)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != DIST_TASK)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the chain has no task for it");
        if (!prove_task(r, axes, (const struct portable_task *)out->stmts[i], (const struct dist_task *)in->stmts[k++]))
            return false;
    }
    for (u32 i = 0; i < in->n_stmts; i++)
        order = order || in->stmts[i]->entity == DIST_ORDER;
    while (k < in->n_stmts && in->stmts[k]->entity != DIST_TASK)
        k++;
    return (k == in->n_stmts && order == ordered) || gate_refuse(r, out, NULL, "a task of the chain, or its order, is lost");
}

/* The pairs that the facts count are the chain's, or neither says which. */
static bool prove_attention(const struct pass_run *r)
{
    const struct dist_attention *from = NULL;
    const struct portable_attention *a = NULL;
    for (u32 i = 0; i < r->input->n_stmts; i++)
        from = r->input->stmts[i]->entity == DIST_ATTENTION ? (const struct dist_attention *)r->input->stmts[i] : from;
    for (u32 i = 0; i < r->output->n_stmts; i++)
        a = r->output->stmts[i]->entity == PORTABLE_ATTENTION ? (const struct portable_attention *)r->output->stmts[i] : a;
    return (from && a ? (from->pairs == DIST_CAUSAL) == (a->pairs == PORTABLE_CAUSAL) : !from && !a) ||
           gate_refuse(r, r->output, NULL, "it counts other pairs of a query and a key than its source");
}

/* Minimizes latency and peak memory, each for one. */
static bool prove_objectives(const struct pass_run *r)
{
    const struct item *out = r->output;
    static const u8 wanted[] = { PORTABLE_LATENCY, PORTABLE_PEAK_MEMORY };
    u32 n = 0;
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct portable_objective *o = (const struct portable_objective *)out->stmts[i];
        if (o->s.entity != PORTABLE_OBJECTIVE)
            continue;
        if (n == COUNT(wanted) || o->kind != wanted[n++] || o->direction != PORTABLE_MINIMIZE ||
            !gate_says_only(r, out, &o->s, " direction kind "))
            return gate_refuse(r, out, NULL, "its objectives are not latency and peak memory");
    }
    return n == COUNT(wanted) || gate_refuse(r, out, NULL, "an objective is missing");
}

static bool prove_mesh(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    const struct dist_mesh *from = NULL;
    const struct portable_mesh *mesh = NULL;
    for (u32 i = 0; i < in->n_stmts; i++)
        from = in->stmts[i]->entity == DIST_MESH ? (const struct dist_mesh *)in->stmts[i] : from;
    for (u32 i = 0; i < out->n_stmts; i++)
        mesh = out->stmts[i]->entity == PORTABLE_MESH ? (const struct portable_mesh *)out->stmts[i] : mesh;
    return (mesh && from->s.name == mesh->s.name && same_list(out, mesh->axes, in, from->axes)) ||
           gate_refuse(r, out, NULL, "its mesh is not the chain's");
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

enum { ALIGN = 16 };

struct stage_bytes {
    const char *name;
    u8 role, storage;
    u128 bytes;
};

static bool prove_buffer(const struct pass_run *r, const struct stage_bytes *expected, atom source)
{
    const char *name = expected->name;
    u128 bytes = expected->bytes;
    const struct item *out = r->output;
    atom a = intern_find(&r->ctx->names, name, strlen(name));
    const struct portable_buffer *b = a ? (const struct portable_buffer *)item_value(out, a) : NULL;
    if (!b || (!bytes && b->s.lineage_kind == LINEAGE_NONE))        /* a value of the chain may have the name */
        return bytes == 0 || gate_refuse(r, out, NULL, "buffer %%%s is missing", name);
    if (b->role != expected->role || b->storage != expected->storage || b->align != ALIGN)
        return gate_refuse(r, out, &b->s, "its role, storage or alignment is not that of such memory");
    return gate_is_from(r, &b->s, LINEAGE_LOWERED, REF_SYMBOL(source)) &&
           (number(out, b->size) == bytes || gate_refuse(r, out, &b->s, "its size is not what the block's memory facts give"));
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
        { "weights", PORTABLE_STATE, PORTABLE_PERSISTENT, blocks * number(in, m->weights) },
        { "gradients", PORTABLE_STATE, PORTABLE_PERSISTENT, number(in, m->gradients_unsharded) + (blocks - 1) * number(in, m->gradients) },
        { "activation_gradients", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, number(in, m->activation_gradients) },
        { "optimizer", PORTABLE_STATE, PORTABLE_PERSISTENT, blocks * number(in, m->optimizer) },
        { "working", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, number(in, m->working) },
        { "stored", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, m->stored ? number(in, m->stored) * (kept - 1) : 0 },
        { "checkpoint", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, number(in, m->checkpoint) * kept },
    };
    for (size_t i = 0; i < COUNT(stage); i++)
        if (!prove_buffer(r, &stage[i], m->s.name))
            return false;
    return true;
}

/* An input or output of the chain has a buffer of its bytes on one rank. */
static bool prove_boundary(const struct pass_run *r, const struct dist_value *v, u8 role, const struct dist_mesh *mesh)
{
    const struct item *out = r->output;
    const struct portable_buffer *b = (const struct portable_buffer *)item_value(out, v->s.name);
    if (!b)
        return gate_refuse(r, r->input, &v->s, "it has no buffer");
    if (number(out, b->size) != local_bytes(r->input, v, mesh))
        return gate_refuse(r, out, &b->s, "its size is not its value's on one rank");
    return (b->role == role && b->storage == PORTABLE_DEVICE_LOCAL && b->align == ALIGN && b->s.lineage_kind == LINEAGE_NONE) ||
           gate_refuse(r, out, &b->s, "its role, storage or alignment is not its value's");
}

static bool prove_buffers(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    const struct dist_memory *memory = NULL;
    const struct dist_scale *scale = NULL;
    const struct dist_mesh *mesh = NULL;
    u32 boundary = 0;
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct stmt *s = in->stmts[i];
        mesh = s->entity == DIST_MESH ? (const struct dist_mesh *)s : mesh;
        memory = s->entity == DIST_MEMORY ? (const struct dist_memory *)s : memory;
        scale = s->entity == DIST_SCALE ? (const struct dist_scale *)s : scale;
    }
    for (u32 i = 0; i < in->n_stmts; i++) {
        bool input = in->stmts[i]->entity == DIST_VALUE, output = in->stmts[i]->entity == DIST_OUTPUT;
        const struct stmt *s = output ? item_value(in, ((const struct dist_output *)in->stmts[i])->value) : in->stmts[i];
        boundary += input || output;
        if ((input || output) && !prove_boundary(r, (const struct dist_value *)s, input ? PORTABLE_INPUT : PORTABLE_OUTPUT, mesh))
            return false;
    }
    for (u32 i = 0; i < out->n_stmts; i++)
        boundary -= out->stmts[i]->entity == PORTABLE_BUFFER && out->stmts[i]->lineage_kind == LINEAGE_NONE;
    return prove_stage(r, memory, scale) && (!boundary || gate_refuse(r, out, NULL, "a buffer has no source"));
}

bool plan_transformer_training_gate(const struct pass_run *r)
{
    return prove_mesh(r) && prove_attention(r) && prove_tasks(r) && prove_buffers(r) && prove_objectives(r);
}
