/*
 * bind-reference-slot and bind-reference-queue: the simplest honest binding. A rank a device, every buffer at a place
 * of its own, commands in the order of the plan: by issue slots, or through one queue for each kind of command.
 */
#include "dialects/concrete/concrete.h"
#include "dialects/portable/portable.h"
#include "passes/bind_capacity.h"
#include "passes/bind_ranks.h"
#include "passes/emit.h"
#include "passes/passes.h"
#include "passes/spec.h"
#include "support/quantity.h"

#include "ir/access.h"
#include "ir/attr.h"
#include "ir/verify.h"

enum { MAX_DEVICES = 1 << 20 };         /* each is a statement of the plan */

struct binding_run {
    struct pass_run *r;
    const struct session_target *target;
    const struct session_deployment *deployment;
    u64 ranks;
    bool slots;
    u128 layout;                    /* bytes that the buffers take */
    atom queues[4];                 /* by kind; 0: not made */
    u8 *made;                       /* by the name's atom: a buffer that some task makes or changes */
};

/* ---- Placement ---- */

/* The plan's mesh, or, without one, one past the highest rank that a task names. */
static bool count_ranks(struct binding_run *b)
{
    const struct item *in = b->r->input;
    const struct portable_mesh *mesh = (const struct portable_mesh *)item_once(in, PORTABLE_MESH);
    b->ranks = 1;
    if (mesh)
        return mesh_size(in, mesh->axes, &b->ranks);
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        if (t->s.entity != PORTABLE_TASK)
            continue;
        for (u32 k = 1; k < list_n(in, t->ranks); k += 2)
            if (list_at(in, t->ranks)[k] >= b->ranks)
                b->ranks = (u64)list_at(in, t->ranks)[k] + 1;
        u64 source = t->more->source, destination = t->more->destination;
        if (t->body == PORTABLE_TRANSFER && source != UINT64_MAX && source >= b->ranks)
            b->ranks = source + 1;
        if (t->body == PORTABLE_TRANSFER && destination != UINT64_MAX && destination >= b->ranks)
            b->ranks = destination + 1;
    }
    return true;
}

static bool check_devices(struct binding_run *b)
{
    struct pass_run *r = b->r;
    struct item *deployment = r->session.items[BIND_DEPLOYMENT];
    if (b->ranks > MAX_DEVICES)
        return pass_error(r, r->input, NULL, NULL, NULL, "pass.bind.ranks", "%s has %llu ranks; a reference binding lists at most %d devices",
                          symbol_text(r->input, r->input->name), (unsigned long long)b->ranks, MAX_DEVICES);
    if (b->deployment->devices >= b->ranks)
        return true;
    pass_error(r, deployment, &b->deployment->s, "devices", NULL, "pass.bind.devices", "%s has %llu device%s, and %s needs one for each of its %llu ranks",
               symbol_text(deployment, deployment->name), (unsigned long long)b->deployment->devices, b->deployment->devices == 1 ? "" : "s", symbol_text(r->input, r->input->name),
               (unsigned long long)b->ranks);
    pass_note(r, "%llu %s missing", (unsigned long long)(b->ranks - b->deployment->devices), b->ranks - b->deployment->devices == 1 ? "is" : "are");
    return false;
}

static atom device_name(struct binding_run *b, u64 rank)
{
    return emit_atom(b->r, arena_format(&b->r->ctx->arena, "d%llu", (unsigned long long)rank));
}

static u32 copy_list(struct binding_run *b, u32 handle)
{
    return handle ? item_list(b->r->output, list_at(b->r->input, handle), list_n(b->r->input, handle)) : 0;
}

/* A plan whose collectives have groups keeps the mesh along which they are. */
static void emit_mesh(struct binding_run *b)
{
    const struct item *in = b->r->input;
    const struct portable_mesh *mesh = (const struct portable_mesh *)item_once(in, PORTABLE_MESH);
    bool grouped = false;
    for (u32 i = 0; mesh && !grouped && i < in->n_stmts; i++)
        grouped = in->stmts[i]->entity == PORTABLE_TASK && ((const struct portable_task *)in->stmts[i])->over;
    if (!grouped)
        return;
    struct concrete_mesh *image = (struct concrete_mesh *)item_add(b->r->output, CONCRETE_MESH);
    image->s.name = mesh->s.name;
    image->axes = copy_list(b, mesh->axes);
    item_declare(b->r->output, &image->s);
}

static void emit_devices(struct binding_run *b)
{
    struct item *out = b->r->output;
    const char *target = context_text(out->ctx, b->r->session.items[BIND_TARGET]->name);
    struct concrete_library *library = (struct concrete_library *)item_add(out, CONCRETE_LIBRARY);
    library->s.name = emit_atom(b->r, "reference");
    library->abi = b->target->abi;
    library->version = emit_atom(b->r, "0");
    item_declare(out, &library->s);
    for (u64 rank = 0; rank < b->ranks; rank++) {
        struct concrete_device *d = (struct concrete_device *)item_add(out, CONCRETE_DEVICE);
        d->s.name = device_name(b, rank);
        d->rank = rank;
        d->target = emit_atom(b->r, arena_format(&out->arena, "%s:%llu", target, (unsigned long long)rank));
        item_declare(out, &d->s);
    }
}

/* ---- Memory ---- */

static u64 larger(u64 a, u64 b)
{
    return a > b ? a : b;
}

/* Bytes that every device of the plan has: the least of the listed. False when the deployment doesn't say. */
static bool available(const struct binding_run *b, u64 *bytes, u64 *rank)
{
    const struct item *it = b->r->session.items[BIND_DEPLOYMENT];
    u32 n = list_n(it, b->deployment->memory) / 2;
    const u32 *at = list_at(it, b->deployment->memory);
    for (u32 i = 0; i < n && i < b->ranks; i++)
        if (i == 0 || pair_get(at + 2 * i) < *bytes) {
            *bytes = pair_get(at + 2 * i);
            *rank = i;
        }
    return n > 0;
}

/* A state that tasks change or make anew must be told from a value that is read too early. */
static void mark_made(struct binding_run *b)
{
    const struct item *in = b->r->input;
    b->made = ARENA_ARRAY(&b->r->output->arena, u8, in->ctx->names.n);
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        if (t->s.entity != PORTABLE_TASK)
            continue;
        for (u32 k = 0; k < list_n(in, t->results); k++)
            b->made[list_at(in, t->results)[k]] = 1;
        for (u32 k = 0; k + 1 < list_n(in, t->more->effects); k += 2)
            if (access_of_effect(list_at(in, t->more->effects)[k]) & ACCESS_WRITE)
                b->made[ref_atom(list_at(in, t->more->effects)[k + 1])] = 1;
    }
}

static bool emit_binding(struct binding_run *b, const struct portable_buffer *buffer, atom region)
{
    struct pass_run *r = b->r;
    struct item *out = r->output;
    u64 align = larger(b->target->align, buffer->align);
    u128 size, gap = b->layout % align;
    if (!qty_value(r->ctx->exprs, buffer->size, &size))
        return pass_error(r, r->input, &buffer->s, "size", NULL, "pass.bind.symbolic", "the size of %s is %s: a binding needs a number",
                          stmt_text(r->input, &buffer->s), qty_text(r->ctx, buffer->size));
    u128 offset = b->layout + (gap ? align - gap : 0);
    if (offset < b->layout || !u128_add(offset, size, &b->layout))
        return pass_error(r, r->input, &buffer->s, "size", NULL, "pass.quantity", "the layout overflows 128 bits at %s", stmt_text(r->input, &buffer->s));
    struct concrete_bind *bind = (struct concrete_bind *)item_add(out, CONCRETE_BIND);
    bind->s.name = buffer->s.name;
    bind->memory = region;
    bind->offset = qty_number(r->ctx->exprs, offset);
    bind->size = buffer->size;
    bind->align = buffer->align;
    bind->lives = buffer->role == PORTABLE_STATE && b->made[buffer->s.name] ? CONCRETE_ALWAYS : CONCRETE_INFERRED;
    item_declare(out, &bind->s);
    return true;
}

static bool emit_memory(struct binding_run *b)
{
    struct pass_run *r = b->r;
    struct item *out = r->output;
    const struct item *target = r->session.items[BIND_TARGET];
    u64 bytes = 0, rank = 0;
    struct concrete_memory *region = (struct concrete_memory *)item_add(out, CONCRETE_MEMORY);
    region->space = list_at(target, b->target->memory_spaces)[0];
    region->s.name = region->space;
    region->align = b->target->align;
    item_declare(out, &region->s);
    mark_made(b);
    for (u32 i = 0; i < r->input->n_stmts; i++)
        if (r->input->stmts[i]->entity == PORTABLE_BUFFER && !emit_binding(b, (const struct portable_buffer *)r->input->stmts[i], region->s.name))
            return false;
    bool stated = available(b, &bytes, &rank);
    if (stated && b->layout > bytes)
        return bind_refuse_capacity(r, b->layout, bytes, rank, b->ranks);
    region->capacity = qty_number(r->ctx->exprs, stated ? bytes : b->layout ? b->layout : 1);
    return true;
}

/* ---- Commands ---- */

static const struct {
    u8 body;
    int queue;                      /* concrete_queue_kind, or -1 */
} command_of[] = {
    [PORTABLE_COMPUTE] = { CONCRETE_LAUNCH, CONCRETE_QUEUE_COMPUTE },
    [PORTABLE_COLLECTIVE] = { CONCRETE_COLLECTIVE, CONCRETE_QUEUE_COLLECTIVE },
    [PORTABLE_TRANSFER] = { CONCRETE_TRANSFER, CONCRETE_QUEUE_TRANSFER },
    [PORTABLE_BARRIER] = { CONCRETE_BARRIER, -1 },
    [PORTABLE_HOST] = { CONCRETE_HOST_CALL, CONCRETE_QUEUE_HOST },
};

static bool has_engine(const struct binding_run *b, const char *engine)
{
    const struct item *target = b->r->session.items[BIND_TARGET];
    for (u32 i = 0; i < list_n(target, b->target->engines); i++)
        if (intern_is(&target->ctx->names, list_at(target, b->target->engines)[i], engine))
            return true;
    return false;
}

/* Each kind of command needs its engine in the target. */
static bool check_engines(struct binding_run *b)
{
    const struct item *in = b->r->input;
    bool seen[COUNT(command_of)] = { false }, good = true;
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        if (t->s.entity != PORTABLE_TASK || seen[t->body] || command_of[t->body].queue < 0)
            continue;
        seen[t->body] = true;
        const char *engine = concrete_queue_kind_enum.words[command_of[t->body].queue].text;
        if (has_engine(b, engine))
            continue;
        const struct item *target = b->r->session.items[BIND_TARGET];
        good = pass_error(b->r, target, &b->target->s, "engines", NULL, "pass.bind.engine", "%s has no %s engine, and %s needs one",
                          symbol_text(target, target->name), engine, stmt_text(in, &t->s));
    }
    return good;
}

static void emit_queues(struct binding_run *b)
{
    const struct item *in = b->r->input;
    struct item *out = b->r->output;
    for (u32 i = 0; !b->slots && i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        if (t->s.entity != PORTABLE_TASK || command_of[t->body].queue < 0 || b->queues[command_of[t->body].queue])
            continue;
        int kind = command_of[t->body].queue;
        const char *word = concrete_queue_kind_enum.words[kind].text;
        struct concrete_queue *q = (struct concrete_queue *)item_add(out, CONCRETE_QUEUE);
        q->s.name = b->queues[kind] = emit_atom(b->r, arena_format(&out->arena, "%s_queue", word));
        q->kind = (u8)kind;
        q->engine = emit_atom(b->r, arena_format(&out->arena, "reference:%s", word));
        item_declare(out, &q->s);
    }
}

/* An operation's own clauses: atoms, each with a value. */
static u32 copy_attributes(struct binding_run *b, u32 handle)
{
    u32 n = list_n(b->r->input, handle), *words = ARENA_ARRAY(&b->r->output->arena, u32, n + 1);
    for (u32 i = 0; i < n; i++)
        words[i] = i % 2 ? attr_copy(b->r->output, b->r->input, list_at(b->r->input, handle)[i]) : list_at(b->r->input, handle)[i];
    return handle ? item_list(b->r->output, words, n) : 0;
}

/* A transfer runs where it starts and where it ends: on all, where there are no others. */
static u32 endpoints(struct binding_run *b, const struct portable_task *t)
{
    u32 source = (u32)t->more->source, destination = (u32)t->more->destination;
    u32 low = source < destination ? source : destination, high = source ^ destination ^ low;
    return b->ranks == 2 ? 0 : item_list(b->r->output, (u32[]){ low, low, high, high }, 4);
}

static void copy_more(struct binding_run *b, struct concrete_command *c, const struct portable_more *from)
{
    if (!from->after && !from->effects && !from->attributes)
        return;
    struct concrete_more *to = concrete_more(b->r->output, c);
    to->after = copy_list(b, from->after);
    to->effects = copy_list(b, from->effects);
    to->attributes = copy_attributes(b, from->attributes);
}

static struct concrete_command *emit_command(struct binding_run *b, const struct portable_task *t)
{
    struct item *out = b->r->output;
    struct concrete_command *c = (struct concrete_command *)item_add(out, CONCRETE_COMMAND);
    c->s.name = t->s.name;
    c->body = command_of[t->body].body;
    c->operation = t->operation;
    c->operands = copy_list(b, t->operands);
    c->results = copy_list(b, t->results);
    c->over = copy_list(b, t->over);
    c->on = t->body == PORTABLE_TRANSFER ? endpoints(b, t) : copy_list(b, t->ranks);
    copy_more(b, c, t->more);
    emit_from(out, &c->s, REF_SYMBOL(t->s.name));
    item_declare(out, &c->s);
    return c;
}

/* A transfer is routed between the devices of its own ranks. */
static void emit_route(struct binding_run *b, const struct portable_task *t)
{
    struct concrete_route *route = (struct concrete_route *)item_add(b->r->output, CONCRETE_ROUTE);
    route->command = t->s.name;
    route->source = device_name(b, t->more->source);
    route->destination = device_name(b, t->more->destination);
    route->channel = emit_atom(b->r, "reference-link");
}

static bool has_ref(const u32 *refs, u32 n, u32 ref)
{
    for (u32 i = 0; i < n; i++)
        if (refs[i] == ref)
            return true;
    return false;
}

/* A plan without `order serial` is ordered by its dataflow: commands say it, each after the producers of its operands.
 * PRODUCER is by atom of the buffer's name. */
static void order_by_dataflow(struct binding_run *b, struct concrete_command *c, const struct portable_task *t, atom *producer)
{
    const struct item *in = b->r->input;
    u32 n = list_n(in, t->more->after), operands = list_n(in, t->operands);
    u32 *refs = ARENA_ARRAY(&b->r->output->arena, u32, n + operands + 1);
    memcpy(refs, list_at(in, t->more->after), n * sizeof *refs);
    for (u32 i = 0; i < operands; i++) {
        atom from = producer[list_at(in, t->operands)[i]];
        if (from && !has_ref(refs, n, REF_SYMBOL(from)))
            refs[n++] = REF_SYMBOL(from);
    }
    if (n)
        concrete_more(b->r->output, c)->after = item_list(b->r->output, refs, n);
    for (u32 i = 0; i < list_n(in, t->results); i++)
        producer[list_at(in, t->results)[i]] = t->s.name;
}

static void emit_commands(struct binding_run *b)
{
    const struct item *in = b->r->input;
    bool serial = item_once(in, PORTABLE_ORDER) != NULL;
    atom *producer = serial ? NULL : ARENA_ARRAY(&b->r->output->arena, atom, in->ctx->names.n);
    u64 cycle = 0;
    if (serial)
        item_add(b->r->output, CONCRETE_ORDER);
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        if (t->s.entity != PORTABLE_TASK)
            continue;
        struct concrete_command *c = emit_command(b, t);
        if (!serial)
            order_by_dataflow(b, c, t, producer);
        if (b->slots) {
            c->cycle = cycle++;
            c->slot = 0;
        } else if (command_of[t->body].queue >= 0) {
            c->queue = b->queues[command_of[t->body].queue];
        }
        if (t->body == PORTABLE_TRANSFER)
            emit_route(b, t);
    }
}

static bool run(struct pass_run *r)
{
    struct binding_run b = { .r = r, .target = spec_target_of(r->session.items[BIND_TARGET]),
                             .deployment = spec_deployment_of(r->session.items[BIND_DEPLOYMENT]),
                             .slots = r->pass == &bind_reference_slot };
    if (!count_ranks(&b))
        return pass_error(r, r->input, NULL, NULL, NULL, "pass.quantity", "the mesh has more than 4294967294 ranks");
    bool good = check_devices(&b);
    good = check_engines(&b) && good;
    good = good && bind_check_ranks(r, b.ranks);
    if (!good)
        return false;
    emit_mesh(&b);
    emit_devices(&b);
    if (!emit_memory(&b))
        return false;
    emit_queues(&b);
    emit_commands(&b);
    return true;
}

static const struct relation relations[] = {
    { "task", "command", LINEAGE_LOWERED, "name, body, operation, operands, results, groups, ranks and order" },
    { "buffer", "bind", LINEAGE_LOWERED, "name, bytes and alignment" },
    { NULL, NULL, LINEAGE_NONE, NULL },
};

static const struct analysis *const preserves[] = { &engine_counts, &buffer_totals, NULL };

const struct pass bind_reference_slot = {
    .name = "bind-reference-slot", .revision = 1, .from = LAYER_PORTABLE, .to = LAYER_CONCRETE,
    .bindings = NEEDS(BIND_TARGET) | NEEDS(BIND_DEPLOYMENT), .suffix = "slot", .relations = relations, .preserves = preserves, .run = run, .gate = bind_reference_gate,
    .doc = "Binds a plan to a target with issue slots: command i in cycle i.",
};

const struct pass bind_reference_queue = {
    .name = "bind-reference-queue", .revision = 1, .from = LAYER_PORTABLE, .to = LAYER_CONCRETE,
    .bindings = NEEDS(BIND_TARGET) | NEEDS(BIND_DEPLOYMENT), .suffix = "queue", .relations = relations, .preserves = preserves, .run = run, .gate = bind_reference_gate,
    .doc = "Binds a plan to a target with one queue for each kind of command.",
};
