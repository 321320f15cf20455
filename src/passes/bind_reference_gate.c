/* Proves a reference binding against its plan: buffers by place and size, commands one to one, ranks by devices. */
#include "dialects/concrete/concrete.h"
#include "dialects/portable/portable.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "ir/attr.h"
#include "support/quantity.h"

#include <stdarg.h>
#include <stdio.h>

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

static bool prove_bind(const struct pass_run *r, const struct concrete_bind *b, const struct portable_buffer *p, const struct concrete_memory *region,
                       bool is_written, u128 *end)
{
    const struct item *out = r->output;
    u64 align = spec_target_of(r->session.items[BIND_TARGET])->align;
    if (b->s.name != p->s.name || b->size != p->size)
        return gate_refuse(r, out, &b->s, "it is not the plan's buffer at its place, or not of its size");
    u128 offset = number(out, b->offset);
    if (offset % p->align || offset % align || b->align != p->align)
        return gate_refuse(r, out, &b->s, "its offset is not aligned as the plan and the target ask");
    if (offset < *end)
        return gate_refuse(r, out, &b->s, "it overlaps the buffer before it");
    if (offset - *end >= (p->align > align ? p->align : align))
        return gate_refuse(r, out, &b->s, "it leaves more room than its alignment asks for");
    if (b->memory != region->s.name)
        return gate_refuse(r, out, &b->s, "it is not in the plan's region");
    *end = offset + number(out, b->size);
    if (b->lives != (p->role == PORTABLE_STATE && is_written ? CONCRETE_ALWAYS : CONCRETE_INFERRED))
        return gate_refuse(r, out, &b->s, "it does not live as its role says");
    return gate_says_only(r, out, &b->s, " name in offset size align lives ");
}

/* The least memory of the plan's devices that the deployment states, or else what the buffers take. */
static u128 capacity(const struct pass_run *r, u64 devices, u128 end)
{
    const struct item *it = r->session.items[BIND_DEPLOYMENT];
    u32 memory = spec_deployment_of(it)->memory, n = list_n(it, memory) / 2;
    u64 least = UINT64_MAX;
    for (u32 i = 0; i < n && i < devices; i++)
        if (pair_get(list_at(it, memory) + 2 * i) < least)
            least = pair_get(list_at(it, memory) + 2 * i);
    return n ? least : end ? end : 1;
}

static bool prove_region(const struct pass_run *r, const struct concrete_memory *region, u64 devices, u128 end)
{
    const struct item *out = r->output, *target = r->session.items[BIND_TARGET];
    const struct session_target *t = spec_target_of(target);
    if (region->space != list_at(target, t->memory_spaces)[0] || region->align != t->align)
        return gate_refuse(r, out, &region->s, "it is not the target's first memory");
    if (number(out, region->capacity) != capacity(r, devices, end) || number(out, region->capacity) < end)
        return gate_refuse(r, out, &region->s, "its capacity is not the deployment's, or the buffers end beyond it");
    return gate_says_only(r, out, &region->s, " name space capacity align ");
}

static const struct concrete_memory *find_region(const struct item *out)
{
    const struct concrete_memory *region = NULL;
    for (u32 i = 0; i < out->n_stmts; i++)
        if (out->stmts[i]->entity == CONCRETE_MEMORY) {
            if (region)
                return NULL;
            region = (const struct concrete_memory *)out->stmts[i];
        }
    return region;
}

static u64 count(const struct item *it, u32 entity)
{
    u64 n = 0;
    for (u32 i = 0; i < it->n_stmts; i++)
        n += it->stmts[i]->entity == entity;
    return n;
}

/* By the name's atom: 1 where some command writes the binding. */
static const u8 *written_by_commands(struct item *out)
{
    u8 *written = ARENA_ARRAY(&out->arena, u8, out->ctx->names.n);
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct concrete_command *c = (const struct concrete_command *)out->stmts[i];
        if (c->s.entity != CONCRETE_COMMAND)
            continue;
        for (u32 k = 0; k < list_n(out, c->results); k++)
            written[list_at(out, c->results)[k]] = 1;
        for (u32 k = 0; k + 1 < list_n(out, c->more->effects); k += 2) {
            u32 effect = list_at(out, c->more->effects)[k];
            if (effect == EFFECT_WRITE || effect == EFFECT_UPDATE || effect == EFFECT_RANDOM)
                written[ref_atom(list_at(out, c->more->effects)[k + 1])] = 1;
        }
    }
    return written;
}

static bool prove_buffers(const struct pass_run *r)
{
    const struct item *in = r->input;
    struct item *out = r->output;
    const struct concrete_memory *region = find_region(out);
    const u8 *written = written_by_commands(out);
    u128 end = 0;
    u32 k = 0;
    if (!region)
        return gate_refuse(r, out, NULL, "it has not one region");
    for (u32 i = 0; i < out->n_stmts; i++) {
        if (out->stmts[i]->entity != CONCRETE_BIND)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_BUFFER)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the plan has no buffer for it");
        if (!prove_bind(r, (const struct concrete_bind *)out->stmts[i], (const struct portable_buffer *)in->stmts[k++], region,
                        written[out->stmts[i]->name], &end))
            return false;
    }
    while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_BUFFER)
        k++;
    if (k < in->n_stmts)
        return gate_refuse(r, out, NULL, "a buffer of the plan has no place");
    return prove_region(r, region, count(out, CONCRETE_DEVICE), end);
}

/* ---- Commands ---- */

static const u8 image_of[] = {
    [PORTABLE_COMPUTE] = CONCRETE_LAUNCH, [PORTABLE_COLLECTIVE] = CONCRETE_COLLECTIVE, [PORTABLE_TRANSFER] = CONCRETE_TRANSFER,
    [PORTABLE_BARRIER] = CONCRETE_BARRIER, [PORTABLE_HOST] = CONCRETE_HOST_CALL,
};

static bool has(const struct item *it, u32 list, u32 ref)
{
    for (u32 i = 0; i < list_n(it, list); i++)
        if (list_at(it, list)[i] == ref)
            return true;
    return false;
}

/* REF makes an operand of T, by the last makers above. */
static bool feeds(const struct item *in, u32 ref, const struct portable_task *t, const u32 *makers)
{
    for (u32 i = 0; i < list_n(in, t->operands); i++)
        if (makers[list_at(in, t->operands)[i]] == ref)
            return true;
    return false;
}

/*
 * What the plan orders is ordered, and nothing else: by `after`, and in a plan that is not serial by its dataflow. MAKERS
 * has the last maker above of a buffer, by its atom, or 0; the plan's own verifier has ordered it behind earlier ones.
 */
static bool keeps_order(const struct pass_run *r, const struct concrete_command *c, const struct portable_task *t, const u32 *makers)
{
    const struct item *in = r->input, *out = r->output;
    for (u32 i = 0; i < list_n(in, t->more->after); i++)
        if (!has(out, c->more->after, list_at(in, t->more->after)[i]))
            return false;
    for (u32 i = 0; i < list_n(out, c->more->after); i++) {
        u32 ref = list_at(out, c->more->after)[i];
        if (!has(in, t->more->after, ref) && (!makers || !feeds(in, ref, t, makers)))
            return false;
    }
    for (u32 i = 0; makers && i < list_n(in, t->operands); i++) {
        u32 maker = makers[list_at(in, t->operands)[i]];
        if (maker && !has(out, c->more->after, maker))
            return false;
    }
    return true;
}

/* The queue that takes commands of a body; -1: none does. */
static int queue_of(u8 body)
{
    return body == CONCRETE_LAUNCH ? CONCRETE_QUEUE_COMPUTE : body == CONCRETE_COLLECTIVE ? CONCRETE_QUEUE_COLLECTIVE
           : body == CONCRETE_TRANSFER ? CONCRETE_QUEUE_TRANSFER : body == CONCRETE_HOST_CALL ? CONCRETE_QUEUE_HOST : -1;
}

static bool by_slots(const struct pass_run *r)
{
    return !strcmp(r->pass->suffix, "slot");
}

/* Slots count through the plan, one a cycle; a queue takes what is of its kind. */
static bool is_issued(const struct pass_run *r, const struct concrete_command *c, u64 index)
{
    if (by_slots(r))
        return c->cycle == index && c->slot == 0 && !c->queue;
    const struct concrete_queue *q = c->queue ? (const struct concrete_queue *)item_symbol(r->output, c->queue) : NULL;
    bool taken = q && q->s.entity == CONCRETE_QUEUE && q->s.name == c->queue && q->kind == queue_of(c->body);
    return c->cycle == UINT64_MAX && c->slot == UINT64_MAX && (queue_of(c->body) < 0 ? !c->queue : taken);
}

static bool same_clauses(const struct item *a, u32 x, const struct item *b, u32 y)
{
    bool same = list_n(a, x) == list_n(b, y);
    for (u32 i = 0; same && i + 1 < list_n(a, x); i += 2)
        same = list_at(a, x)[i] == list_at(b, y)[i] && attr_equal(a, list_at(a, x)[i + 1], b, list_at(b, y)[i + 1]);
    return same;
}

/* On the devices of the task's ranks; a transfer at its two ends, which in a plan of two ranks are all. */
static bool is_placed(const struct pass_run *r, const struct concrete_command *c, const struct portable_task *t)
{
    const struct item *out = r->output;
    u64 n = 0;
    if (t->body != PORTABLE_TRANSFER)
        return same_list(out, c->on, r->input, t->ranks);
    if (!c->on)
        return count(out, CONCRETE_DEVICE) == 2;
    for (u32 i = 0; i + 1 < list_n(out, c->on); i += 2)
        n += (u64)list_at(out, c->on)[i + 1] - list_at(out, c->on)[i] + 1;
    return n == 2 && ranks_contain(out, c->on, (u32)t->more->source) && ranks_contain(out, c->on, (u32)t->more->destination);
}

static bool prove_command(const struct pass_run *r, const struct concrete_command *c, const struct portable_task *t, u64 index, const u32 *makers)
{
    const struct item *in = r->input, *out = r->output;
    if (c->s.name != t->s.name || c->body != image_of[t->body] || c->operation != t->operation)
        return gate_refuse(r, out, &c->s, "it is not the image of the plan's task at its place");
    if (!same_list(out, c->operands, in, t->operands) || !same_list(out, c->results, in, t->results))
        return gate_refuse(r, out, &c->s, "it uses other buffers than its source");
    if (!same_list(out, c->more->effects, in, t->more->effects) || !same_clauses(out, c->more->attributes, in, t->more->attributes))
        return gate_refuse(r, out, &c->s, "its effects or its operation's own clauses are not its source's");
    if (!same_list(out, c->over, in, t->over))
        return gate_refuse(r, out, &c->s, "it exchanges in other groups than its source");
    if (!is_placed(r, c, t) || !keeps_order(r, c, t, makers))
        return gate_refuse(r, out, &c->s, "its ranks or its order are not its source's");
    if (!is_issued(r, c, index))
        return gate_refuse(r, out, &c->s, "it issues out of the plan's order, or by another queue than its kind's");
    return gate_is_from(r, &c->s, LINEAGE_LOWERED, REF_SYMBOL(t->s.name)) &&
           gate_says_only(r, out, &c->s, " name body operation operands results over on via at after effects attributes from ");
}

static bool prove_commands(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u64 index = 0;
    u32 k = 0;
    bool serial = count(in, PORTABLE_ORDER) != 0;
    u32 *makers = serial ? NULL : ARENA_ARRAY(&r->output->arena, u32, out->ctx->names.n);
    if (count(out, CONCRETE_ORDER) != serial)
        return gate_refuse(r, out, NULL, "its order is not the plan's");
    for (u32 i = 0; i < out->n_stmts; i++) {
        const struct concrete_order *order = (const struct concrete_order *)out->stmts[i];
        if (order->s.entity == CONCRETE_ORDER && order->order != CONCRETE_SERIAL)
            return gate_refuse(r, out, &order->s, "its order is not the plan's");
        if (out->stmts[i]->entity != CONCRETE_COMMAND)
            continue;
        while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_TASK)
            k++;
        if (k == in->n_stmts)
            return gate_refuse(r, out, out->stmts[i], "the plan has no task for it");
        const struct portable_task *t = (const struct portable_task *)in->stmts[k++];
        if (!prove_command(r, (const struct concrete_command *)out->stmts[i], t, index++, makers))
            return false;
        for (u32 n = 0; makers && n < list_n(in, t->results); n++)
            makers[list_at(in, t->results)[n]] = REF_SYMBOL(t->s.name);
    }
    while (k < in->n_stmts && in->stmts[k]->entity != PORTABLE_TASK)
        k++;
    return k == in->n_stmts || gate_refuse(r, out, NULL, "a task of the plan is lost");
}

/* ---- What the commands run on ---- */

static bool is_text(const struct pass_run *r, atom a, const char *format, ...) PRINTF_LIKE(3, 4);
static bool is_text(const struct pass_run *r, atom a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t n = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    va_end(args);
    char *text = arena_alloc(&r->output->arena, n);
    va_start(args, format);
    vsnprintf(text, n, format, args);
    va_end(args);
    return a && intern_is(&r->ctx->names, a, text);
}

static bool prove_device(const struct pass_run *r, const struct concrete_device *d, u64 rank)
{
    const char *target = context_text(r->ctx, r->session.items[BIND_TARGET]->name);
    return (d->rank == rank && is_text(r, d->s.name, "d%llu", (unsigned long long)rank) &&
            is_text(r, d->target, "%s:%llu", target, (unsigned long long)rank)) ||
           gate_refuse(r, r->output, &d->s, "devices are not placed rank by rank");
}

static bool prove_library(const struct pass_run *r, const struct concrete_library *l)
{
    if (l->abi != spec_target_of(r->session.items[BIND_TARGET])->abi || !is_text(r, l->s.name, "reference") || !is_text(r, l->version, "0"))
        return gate_refuse(r, r->output, &l->s, "it is not the reference library for the target");
    return gate_says_only(r, r->output, &l->s, " name abi version ");
}

static bool prove_queue(const struct pass_run *r, const struct concrete_queue *q)
{
    const char *kind = concrete_queue_kind_enum.words[q->kind].text;
    u64 commands = 0;
    for (u32 i = 0; i < r->output->n_stmts; i++) {
        const struct concrete_command *c = (const struct concrete_command *)r->output->stmts[i];
        commands += c->s.entity == CONCRETE_COMMAND && c->queue == q->s.name;
    }
    if (by_slots(r) || !commands || !is_text(r, q->engine, "reference:%s", kind))
        return gate_refuse(r, r->output, &q->s, "no command needs it, or its engine is not of its kind");
    return gate_says_only(r, r->output, &q->s, " name kind engine ");
}

/* A transfer has a route between the devices of its own ranks. */
static bool prove_route(const struct pass_run *r, const struct concrete_route *route)
{
    const struct portable_task *t = (const struct portable_task *)item_symbol(r->input, route->command);
    return (t && t->s.entity == PORTABLE_TASK && t->body == PORTABLE_TRANSFER &&
            is_text(r, route->source, "d%llu", (unsigned long long)t->more->source) &&
            is_text(r, route->destination, "d%llu", (unsigned long long)t->more->destination) && is_text(r, route->channel, "reference-link")) ||
           gate_refuse(r, r->output, &route->s, "it is not the way of a transfer between its ranks");
}

/* Where some task has groups the mesh is the plan's; else there is none. */
static bool prove_mesh(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    const struct portable_mesh *source = NULL;
    const struct concrete_mesh *mesh = NULL;
    bool grouped = false;
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        grouped = grouped || (t->s.entity == PORTABLE_TASK && t->over);
        source = t->s.entity == PORTABLE_MESH ? (const struct portable_mesh *)in->stmts[i] : source;
    }
    for (u32 i = 0; i < out->n_stmts; i++)
        mesh = out->stmts[i]->entity == CONCRETE_MESH ? (const struct concrete_mesh *)out->stmts[i] : mesh;
    if (!mesh)
        return !grouped || gate_refuse(r, out, NULL, "its groups have no mesh");
    if (!grouped || !source || mesh->s.name != source->s.name || !same_list(out, mesh->axes, in, source->axes))
        return gate_refuse(r, out, &mesh->s, "it is not the mesh of the plan's groups");
    return gate_says_only(r, out, &mesh->s, " name axes ");
}

static bool prove_resources(const struct pass_run *r)
{
    const struct item *in = r->input, *out = r->output;
    u64 devices = 0, ranks = 1, transfers = 0;
    bool good = true;
    for (u32 i = 0; good && i < out->n_stmts; i++) {
        const struct stmt *s = out->stmts[i];
        if (s->entity == CONCRETE_DEVICE)
            good = prove_device(r, (const struct concrete_device *)s, devices++);
        else if (s->entity == CONCRETE_LIBRARY)
            good = prove_library(r, (const struct concrete_library *)s);
        else if (s->entity == CONCRETE_QUEUE)
            good = prove_queue(r, (const struct concrete_queue *)s);
        else if (s->entity == CONCRETE_ROUTE)
            good = prove_route(r, (const struct concrete_route *)s);
    }
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_mesh *m = (const struct portable_mesh *)in->stmts[i];
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        transfers += t->s.entity == PORTABLE_TASK && t->body == PORTABLE_TRANSFER;
        for (u32 k = 0; m->s.entity == PORTABLE_MESH && k + 2 < list_n(in, m->axes); k += 3)
            ranks *= pair_get(list_at(in, m->axes) + k + 1);
    }
    if (good && (count(in, PORTABLE_MESH) ? devices != ranks : devices < ranks))
        return gate_refuse(r, out, NULL, "there is not one device for each rank");
    if (good && (devices > spec_deployment_of(r->session.items[BIND_DEPLOYMENT])->devices || count(out, CONCRETE_LIBRARY) != 1))
        return gate_refuse(r, out, NULL, "the deployment has not so many devices, or there is not one library");
    return good && (count(out, CONCRETE_ROUTE) == transfers || gate_refuse(r, out, NULL, "a route is lost"));
}

bool bind_reference_gate(const struct pass_run *r)
{
    return prove_mesh(r) && prove_resources(r) && prove_buffers(r) && prove_commands(r);
}
