/* Proves a reference binding against its plan: buffers by place and size, commands one to one, ranks by devices. */
#include "dialects/concrete/concrete.h"
#include "dialects/portable/portable.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "support/quantity.h"

static u128 number(const struct item *it, qty q)
{
    u128 n = 0;
    qty_value(it->ctx->exprs, q, &n);
    return n;
}

static bool same_list(const struct item *a, u32 x, const struct item *b, u32 y)
{
    return list_n(a, x) == list_n(b, y) && !memcmp(list_at(a, x), list_at(b, y), list_n(a, x) * sizeof(u32));
}

/* ---- Buffers: every one once, of its size, aligned as its plan and target ask, above the one before it ---- */

static bool prove_bind(const struct pass_run *r, const struct concrete_bind *b, const struct portable_buffer *p, u128 *end)
{
    const struct item *out = r->output;
    u64 align = spec_target_of(r->session.items[BIND_TARGET])->align;
    if (b->s.name != p->s.name || b->size != p->size)
        return gate_refuse(r, out, &b->s, "it is not the plan's buffer at its place, or not of its size");
    u128 offset = number(out, b->offset);
    if (offset % p->align || offset % align || b->align < p->align)
        return gate_refuse(r, out, &b->s, "its offset is not aligned as the plan and the target ask");
    if (offset < *end)
        return gate_refuse(r, out, &b->s, "it overlaps the buffer before it");
    *end = offset + number(out, b->size);
    return true;
}

static bool prove_buffers(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    const struct concrete_memory *region = NULL;
    u128 end = 0;
    u32 k = 0;
    for (u32 i = 0; i < out->n_stmts; i++) {
        if (out->stmts[i]->entity == CONCRETE_MEMORY)
            region = (const struct concrete_memory *)out->stmts[i];
        if (out->stmts[i]->entity != CONCRETE_BIND)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_BUFFER)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the plan has no buffer for it");
        if (!prove_bind(r, (const struct concrete_bind *)out->stmts[i], (const struct portable_buffer *)in->stmts[k++], &end))
            return false;
    }
    while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_BUFFER)
        k++;
    if (k < in->n_stmts)
        return gate_refuse(r, out, NULL, "a buffer of the plan has no place");
    return (region && number(out, region->capacity) >= end) || gate_refuse(r, out, NULL, "the buffers end beyond their region");
}

/* ---- Commands ---- */

static const u8 image_of[] = {
    [PORTABLE_COMPUTE] = CONCRETE_LAUNCH, [PORTABLE_COLLECTIVE] = CONCRETE_COLLECTIVE, [PORTABLE_TRANSFER] = CONCRETE_TRANSFER,
    [PORTABLE_BARRIER] = CONCRETE_BARRIER, [PORTABLE_HOST] = CONCRETE_HOST_CALL,
};

/* What the plan orders must be ordered: by the serial order, or by `after`, which may name producers besides. */
static bool keeps_order(const struct pass_run *r, const struct concrete_command *c, const struct portable_task *t)
{
    for (u32 i = 0; i < list_n(r->input, t->after); i++) {
        bool found = false;
        for (u32 k = 0; k < list_n(r->output, c->after); k++)
            found = found || list_at(r->output, c->after)[k] == list_at(r->input, t->after)[i];
        if (!found)
            return false;
    }
    return true;
}

static bool prove_command(const struct pass_run *r, const struct concrete_command *c, const struct portable_task *t, u64 index)
{
    const struct item *in = r->input, *out = r->output;
    if (c->s.name != t->s.name || c->body != image_of[t->body] || c->operation != t->operation)
        return gate_refuse(r, out, &c->s, "it is not the image of the plan's task at its place");
    if (!same_list(out, c->operands, in, t->operands) || !same_list(out, c->results, in, t->results))
        return gate_refuse(r, out, &c->s, "it uses other buffers than its source");
    if (!same_list(out, c->on, in, t->ranks) || !keeps_order(r, c, t))
        return gate_refuse(r, out, &c->s, "its ranks or its order are not its source's");
    return c->cycle == UINT64_MAX || c->cycle == index || gate_refuse(r, out, &c->s, "it issues out of the plan's order");
}

static bool prove_commands(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u64 index = 0;
    u32 k = 0;
    bool serial = false, order = false;
    for (u32 i = 0; i < out->n_stmts; i++) {
        serial = serial || out->stmts[i]->entity == CONCRETE_ORDER;
        if (out->stmts[i]->entity != CONCRETE_COMMAND)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_TASK)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the plan has no task for it");
        if (!prove_command(r, (const struct concrete_command *)out->stmts[i], (const struct portable_task *)in->stmts[k++], index++))
            return false;
    }
    for (u32 i = 0; i < in->n_stmts; i++)
        order = order || in->stmts[i]->entity == PORTABLE_ORDER;
    while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_TASK)
        k++;
    return (k == in->n_stmts && serial == order) || gate_refuse(r, out, NULL, "a task of the plan, or its order, is lost");
}

static bool prove_devices(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u64 devices = 0, ranks = 1;
    for (u32 i = 0; i < out->n_stmts; i++)
        if (out->stmts[i]->entity == CONCRETE_DEVICE && ((const struct concrete_device *)out->stmts[i])->rank != devices++)
            return gate_refuse(r, out, out->stmts[i], "devices are not placed rank by rank");
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_mesh *m = (const struct portable_mesh *)in->stmts[i];
        for (u32 k = 0; m->s.entity == PORTABLE_MESH && k + 2 < list_n(in, m->axes); k += 3)
            ranks *= pair_get(list_at(in, m->axes) + k + 1);
    }
    if (devices < ranks || devices > spec_deployment_of(r->session.items[BIND_DEPLOYMENT])->devices)
        return gate_refuse(r, out, NULL, "there is not one device of the deployment for each rank");
    return true;
}

bool bind_reference_gate(const struct pass_run *r)
{
    return prove_devices(r) && prove_buffers(r) && prove_commands(r);
}
