/*
 * Rules against other items, where they are in the file: the portable plan that this one is from, and the target and
 * deployment that it was bound to. They are read through their tables, by the names of their fields.
 */
#include "dialects/concrete/parent.h"
#include "support/quantity.h"

/* ---- The portable plan ---- */

/* Ranks of the mesh; without one, of which nothing more is known, one past the highest that a task names. */
static u64 mesh_ranks(const struct item *parent, const struct stmt *mesh)
{
    u64 n = 1;
    u32 axes = (u32)get(parent, mesh, "axes");
    for (u32 k = 0; k + 2 < list_n(parent, axes); k += 3) {
        u64 size = pair_get(list_at(parent, axes) + k + 1);
        if (!size || n > (UINT32_MAX - 1) / size)
            return 0;
        n *= size;
    }
    return n;
}

static u64 named_ranks(const struct item *parent, const struct stmt *task)
{
    u64 n = 1, ends[] = { get(parent, task, "source"), get(parent, task, "destination") };
    u32 ranks = (u32)get(parent, task, "ranks");
    for (u32 i = 1; i < list_n(parent, ranks); i += 2)
        if (list_at(parent, ranks)[i] >= n)
            n = (u64)list_at(parent, ranks)[i] + 1;
    for (u32 i = 0; i < COUNT(ends); i++)
        if (ends[i] >= n && ends[i] < UINT32_MAX)
            n = ends[i] + 1;
    return n;
}

u64 parent_ranks(const struct item *parent, bool *exact)
{
    u64 n = 1, named;
    *exact = false;
    for (u32 i = 0; i < parent->n_stmts; i++) {
        const struct stmt *s = parent->stmts[i];
        if (is_keyword(parent, s, "mesh")) {
            *exact = true;
            return mesh_ranks(parent, s);
        }
        if (is_keyword(parent, s, "task") && (named = named_ranks(parent, s)) > n)
            n = named;
    }
    return n;
}

static void check_spare(struct plan *p, u64 n)
{
    for (u32 i = 0; i < p->n_devices; i++) {
        const struct concrete_device *d = p->devices[i];
        if (d->rank < n || d->rank >= UINT32_MAX)
            continue;
        verify_error(p->v, &d->s, "rank", NULL, "concrete.device.spare", "%s is of rank %llu, and %s has ranks 0 to %llu", stmt_text(p->it, &d->s),
                     (unsigned long long)d->rank, symbol_text(p->it, p->parent->name), (unsigned long long)(n - 1));
        verify_note_legal(p->v, "leave out devices that the plan does not use");
    }
}

static void check_ranks(struct plan *p)
{
    bool exact;
    u64 n = parent_ranks(p->parent, &exact);
    const struct rank_set *have = &p->ranks.sets[ALL_RANKS];
    const char *parent = symbol_text(p->it, p->parent->name);
    if (n && exact)
        check_spare(p, n);
    u64 missing = have->ranges[0].first == 0 ? (u64)have->ranges[0].last + 1 : 0, count = 0;
    for (u32 i = 0; i < have->n && have->ranges[i].first < n; i++)
        count += (have->ranges[i].last < n ? (u64)have->ranges[i].last : n - 1) - have->ranges[i].first + 1;
    if (missing >= n)
        return;
    verify_error(p->v, NULL, NULL, parent, "concrete.device.missing", "%s has %llu rank%s, and rank %llu has no device", parent,
                 (unsigned long long)n, n == 1 ? "" : "s", (unsigned long long)missing);
    verify_note_legal(p->v, "%llu device%s missing: add `device @d%llu rank %llu name \"…\"`", (unsigned long long)(n - count),
                      n - count == 1 ? " is" : "s are", (unsigned long long)missing, (unsigned long long)missing);
}

const struct stmt *parent_buffer(const struct plan *p, u32 bind)
{
    const struct stmt *s = &p->binds[bind]->s, *buffer;
    if (!p->parent)
        return NULL;
    if (s->lineage_kind == LINEAGE_NONE)
        buffer = item_value(p->parent, s->name);
    else
        buffer = list_n(p->it, s->lineage) == 1 ? item_ref(p->parent, list_at(p->it, s->lineage)[0]) : NULL;
    return buffer && is_keyword(p->parent, buffer, "buffer") ? buffer : NULL;
}

struct life plan_life(const struct plan *p, u32 bind)
{
    const struct stmt *buffer = parent_buffer(p, bind);
    struct life life = { 0 };
    if (p->binds[bind]->lives == CONCRETE_ALWAYS)
        life.from_start = life.to_end = true;
    life.scratch = life.used = p->binds[bind]->lives == CONCRETE_USED;
    if (!buffer || life.used)
        return life;        /* what the binding says itself stands, whatever its buffer is */
    const char *role = get_word(p->parent, buffer, "role");
    bool persistent = !strcmp(get_word(p->parent, buffer, "storage"), "persistent");
    bool kept = !strcmp(role, "state") || !strcmp(role, "constant");
    life.from_start = life.from_start || kept || !strcmp(role, "input");
    life.to_end = life.to_end || kept || persistent || !strcmp(role, "output");
    life.scratch = life.scratch || !life.from_start;
    return life;
}

static bool check_size(struct plan *p, u32 bind, const struct stmt *buffer)
{
    const struct concrete_bind *b = p->binds[bind];
    u128 have, want;
    char a[U128_DIGITS], c[U128_DIGITS];
    if (!qty_value(p->v->ctx->exprs, b->size, &have) || !qty_value(p->v->ctx->exprs, get(p->parent, buffer, "size"), &want) || have >= want)
        return true;
    verify_error(p->v, &b->s, "size", NULL, "concrete.bind.small", "%s has %s bytes, and the buffer that it holds has %s",
                 stmt_text(p->it, &b->s), u128_text(have, a), u128_text(want, c));
    note_parent(p, buffer, "size", "the buffer");
    return false;
}

static void check_align(struct plan *p, u32 bind, const struct stmt *buffer)
{
    u64 want = get(p->parent, buffer, "align");
    const struct concrete_bind *b = p->binds[bind];
    u128 offset;
    if (!want || want & (want - 1) || !qty_value(p->v->ctx->exprs, b->offset, &offset) || offset % want == 0 || offset % b->align)
        return;
    verify_error(p->v, &b->s, "offset", NULL, "concrete.bind.source_alignment", "%s is at an offset that is no multiple of %llu, the alignment of its buffer",
                 stmt_text(p->it, &b->s), (unsigned long long)want);
    note_parent(p, buffer, "align", "the buffer");
}

/* Each buffer of the parent has a place, large enough. */
static void check_buffers(struct plan *p)
{
    u8 *bound = ARENA_ARRAY(&p->v->scratch, u8, p->it->ctx->names.n);
    for (u32 i = 0; i < p->n_binds; i++) {
        const struct stmt *buffer = parent_buffer(p, i);
        const struct stmt *s = &p->binds[i]->s;
        for (u32 k = 0; k < list_n(p->it, s->lineage); k++)
            bound[ref_atom(list_at(p->it, s->lineage)[k])] = 1;
        if (!buffer)
            continue;
        bound[buffer->name] = 1;
        check_size(p, i, buffer);
        if (p->binds[i]->align)
            check_align(p, i, buffer);
    }
    for (u32 i = 0; i < p->parent->n_stmts; i++) {
        const struct stmt *s = p->parent->stmts[i];
        if (!is_keyword(p->parent, s, "buffer") || bound[s->name])
            continue;
        const char *parent = symbol_text(p->it, p->parent->name);
        verify_error(p->v, NULL, NULL, parent, "concrete.bind.missing", "%s has a buffer %s, which has no place here", parent,
                     stmt_text(p->parent, s));
        note_parent(p, s, NULL, "the buffer");
        verify_note_legal(p->v, "add `bind %s in … offset … size …`", stmt_text(p->parent, s));
    }
}

/* ---- Target and deployment ---- */

static const struct item *used_item(const struct plan *p, const char *kind)
{
    for (u32 i = 0; p->v->module && i < p->it->header.n_using; i++) {
        const struct item *it = module_find(p->v->module, p->it->header.using[i].item);
        if (it && !it->damaged && !strcmp(it->kind->name, kind) && it->n_stmts)
            return it;
    }
    return NULL;
}

static bool lists_word(const struct item *it, const char *field, const char *word)
{
    u32 handle = (u32)get(it, it->stmts[0], field);
    for (u32 i = 0; i < list_n(it, handle); i++)
        if (intern_is(&it->ctx->names, list_at(it, handle)[i], word))
            return true;
    return false;
}

static void note_target(struct plan *p, const struct item *target, const char *field)
{
    if (p->v->ctx->locate)
        diag_note(p->v->ctx->diags, p->v->ctx->locate(target, target->stmts[0], field, NULL), "the target says so here");
}

static void check_target(struct plan *p, const struct item *target)
{
    const char *name = symbol_text(p->it, target->name);
    atom abi = (atom)get(target, target->stmts[0], "abi");
    for (u32 i = 0; i < p->it->n_stmts; i++) {
        const struct concrete_library *library = (const void *)p->it->stmts[i];
        if (library->s.entity != CONCRETE_LIBRARY || library->abi == abi)
            continue;
        verify_error(p->v, &library->s, "abi", NULL, "concrete.library.abi", "%s has the interface `%s`, and %s has `%s`", stmt_text(p->it, &library->s),
                     context_text(p->v->ctx, library->abi), name, context_text(p->v->ctx, abi));
        note_target(p, target, "abi");
    }
    for (u32 i = 0; i < p->n_memories; i++) {
        const char *space = context_text(p->v->ctx, p->memories[i]->space);
        if (lists_word(target, "memory_spaces", space))
            continue;
        verify_error(p->v, &p->memories[i]->s, "space", NULL, "concrete.memory.space", "%s has no memory space `%s`", name, space);
        note_target(p, target, "memory_spaces");
    }
    for (u32 i = 0; i < p->n_queues; i++) {
        const char *kind = concrete_queue_kind_enum.words[p->queues[i]->kind].text;
        if (lists_word(target, "engines", kind))
            continue;
        verify_error(p->v, &p->queues[i]->s, NULL, kind, "concrete.queue.engine", "%s has no %s engine", name, kind);
        note_target(p, target, "engines");
    }
}

/* Bytes that the deployment gives to the device of RANK; false: it does not say. */
static bool device_bytes(const struct item *deployment, u64 rank, u64 *bytes)
{
    u32 handle = (u32)get(deployment, deployment->stmts[0], "memory_per_device"), n = list_n(deployment, handle) / 2;
    if (n == 0 || (n > 1 && rank >= n))
        return false;
    *bytes = pair_get(list_at(deployment, handle) + 2 * (n == 1 ? 0 : rank));
    return true;
}

/* Capacities of all regions on a rank; false: one is no number, or the sum leaves 128 bits. */
static bool region_bytes(struct plan *p, u32 rank, u128 *sum)
{
    *sum = 0;
    for (u32 i = 0; i < p->n_memories; i++) {
        u128 capacity;
        if (!rank_set_has(&p->ranks, rank_set_of(&p->ranks, p->memories[i]->on), rank))
            continue;
        if (!qty_value(p->v->ctx->exprs, p->memories[i]->capacity, &capacity) || !u128_add(*sum, capacity, sum))
            return false;
    }
    return true;
}

static void check_deployment(struct plan *p, const struct item *deployment)
{
    u32 told = UINT32_MAX;
    for (u32 i = 0; i < p->n_devices; i++) {
        u64 have, rank = p->devices[i]->rank;
        u128 want;
        char a[U128_DIGITS], b[U128_DIGITS];
        if (rank >= UINT32_MAX || !device_bytes(deployment, rank, &have) || !region_bytes(p, (u32)rank, &want) || want <= have)
            continue;
        if (told != UINT32_MAX)
            return;     /* one device too small is enough: mostly, all are alike */
        told = i;
        verify_error(p->v, &p->devices[i]->s, NULL, NULL, "concrete.memory.deployment", "the regions of %s have %s bytes, and %s gives it %llu",
                     stmt_text(p->it, &p->devices[i]->s), u128_text(want, a), symbol_text(p->it, deployment->name), (unsigned long long)have);
        verify_note_legal(p->v, "that is %s too many", u128_text(want - have, b));
    }
}

void concrete_verify_chain(struct plan *p)
{
    const struct item *target = used_item(p, "session.target"), *deployment = used_item(p, "session.deployment");
    if (p->parent) {
        check_ranks(p);
        check_buffers(p);
        concrete_verify_tasks(p);
    }
    if (target)
        check_target(p, target);
    if (deployment)
        check_deployment(p, deployment);
}
