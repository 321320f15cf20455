/* Rules of devices, memory regions and bindings, one by one. */
#include "dialects/concrete/verify.h"
#include "support/quantity.h"

#include <stdlib.h>

/* ---- Devices ---- */

struct key {
    u64 value;
    u32 number;
};

static int by_value(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return x->value != y->value ? x->value < y->value ? -1 : 1 : x->number < y->number ? -1 : x->number > y->number;
}

static void twin_device(struct plan *p, u32 first, u32 second, const char *field, const char *code, const char *message)
{
    verify_error(p->v, &p->devices[second]->s, field, NULL, code, message, stmt_text(p->it, &p->devices[first]->s),
                 stmt_text(p->it, &p->devices[second]->s));
    verify_note(p->v, &p->devices[first]->s, field, NULL, "the other is here");
}

static void check_devices(struct plan *p)
{
    struct key *ranks = ARENA_ARRAY(&p->v->scratch, struct key, p->n_devices), *names = ARENA_ARRAY(&p->v->scratch, struct key, p->n_devices);
    for (u32 i = 0; i < p->n_devices; i++) {
        ranks[i] = (struct key){ p->devices[i]->rank, i };
        names[i] = (struct key){ p->devices[i]->target, i };
        if (p->devices[i]->rank < UINT32_MAX)
            continue;
        p->disorder = true;
        verify_error(p->v, &p->devices[i]->s, "rank", NULL, "concrete.device.range", "rank %llu is out of range: ranks end at 4294967294",
                     (unsigned long long)p->devices[i]->rank);
    }
    qsort(ranks, p->n_devices, sizeof *ranks, by_value);
    qsort(names, p->n_devices, sizeof *names, by_value);
    for (u32 i = 1; i < p->n_devices; i++) {
        if (ranks[i].value == ranks[i - 1].value)
            twin_device(p, ranks[i - 1].number, ranks[i].number, "rank", "concrete.device.rank", "%s and %s are both of one rank");
        if (names[i].value == names[i - 1].value)
            twin_device(p, names[i - 1].number, names[i].number, "name", "concrete.device.name", "%s and %s are one device of the target");
    }
}

/* ---- Alignments ---- */

static bool is_power(u64 n)
{
    return n && !(n & (n - 1));
}

static bool check_power(struct plan *p, const struct stmt *s, u64 align)
{
    u64 next = 1;
    if (is_power(align))
        return true;
    while (next < align && next < (u64)1 << 63)
        next *= 2;
    verify_error(p->v, s, "align", NULL, "concrete.align.power", "the alignment of %s is %llu, and no power of two", stmt_text(p->it, s),
                 (unsigned long long)align);
    verify_note_legal(p->v, align ? "the next one is %llu" : "every place is aligned to %llu", (unsigned long long)next);
    return false;
}

/* ---- Memory ---- */

static void check_memory(struct plan *p, const struct concrete_memory *m)
{
    concrete_verify_ranks(p, &m->s, m->on);
    check_power(p, &m->s, m->align);
    if (m->capacity)
        return;
    verify_error(p->v, &m->s, "capacity", NULL, "concrete.memory.capacity", "%s has no bytes", stmt_text(p->it, &m->s));
    verify_note_legal(p->v, "a capacity is at least 1; leave out a region that nothing needs");
}

/* ---- Bindings ---- */

static void check_alignment(struct plan *p, const struct concrete_bind *b, const struct concrete_memory *m, u128 offset)
{
    bool good = check_power(p, &b->s, b->align) && is_power(m->align);
    u64 align = b->align > m->align ? b->align : m->align;
    char at[U128_DIGITS], down[U128_DIGITS], up[U128_DIGITS];
    u128 rest = offset & (align - 1);
    if (!good || rest == 0)
        return;
    u128 below = offset - rest, above = 0;
    verify_error(p->v, &b->s, "offset", NULL, "concrete.bind.alignment", "%s is at offset %s, and %s wants a multiple of %llu",
                 stmt_text(p->it, &b->s), u128_text(offset, at), b->align > m->align ? "it" : stmt_text(p->it, &m->s), (unsigned long long)align);
    if (m->align >= b->align)
        verify_note(p->v, &m->s, "align", NULL, "the region's alignment is here");
    if (u128_add(below, align, &above))
        verify_note_legal(p->v, "the nearest are %s and %s", u128_text(below, down), u128_text(above, up));
}

/* The highest offset at which the binding fits in the region. */
static void note_fit(struct plan *p, const struct concrete_bind *b, const struct concrete_memory *m, u128 size, u128 capacity)
{
    u64 align = b->align > m->align ? b->align : m->align;
    char text[U128_DIGITS];
    if (size > capacity)
        verify_note_legal(p->v, "it fits nowhere in the region: it is larger by %s", u128_text(size - capacity, text));
    else if (align)
        verify_note_legal(p->v, "the last offset at which it fits is %s", u128_text((capacity - size) / align * align, text));
}

static void check_bounds(struct plan *p, const struct concrete_bind *b, const struct concrete_memory *m, u128 offset, u128 size)
{
    u128 end, capacity;
    char last[U128_DIGITS], room[U128_DIGITS];
    if (!qty_value(p->v->ctx->exprs, m->capacity, &capacity) || capacity == 0)
        return;
    bool whole = u128_add(offset, size, &end);
    if (whole && end <= capacity)
        return;
    verify_error(p->v, &b->s, "offset", NULL, "concrete.bind.bounds", "%s ends %s%s, and %s has %s bytes", stmt_text(p->it, &b->s),
                 whole ? "at byte " : "beyond 128 bits", whole ? u128_text(end, last) : "", stmt_text(p->it, &m->s), u128_text(capacity, room));
    verify_note(p->v, &m->s, "capacity", NULL, "the capacity is here");
    note_fit(p, b, m, size, capacity);
}

static void check_bind(struct plan *p, u32 bind)
{
    const struct concrete_bind *b = p->binds[bind];
    const struct stmt *to = item_symbol(p->it, b->memory);
    u128 offset, size;
    u32 memory;
    if (b->size == 0) {
        verify_error(p->v, &b->s, "size", NULL, "concrete.bind.size", "%s has no bytes", stmt_text(p->it, &b->s));
        verify_note_legal(p->v, "a size is at least 1; leave out a buffer that nothing needs");
    }
    if (!bind_region(p, bind, &memory)) {
        if (to)
            verify_error(p->v, &b->s, "in", NULL, "concrete.bind.memory", "%s is in %s, which is a %s and no memory", stmt_text(p->it, &b->s),
                         stmt_text(p->it, to), stmt_entity(p->it, to)->keyword);
        check_power(p, &b->s, b->align);
        return;
    }
    if (qty_value(p->v->ctx->exprs, b->offset, &offset)) {
        check_alignment(p, b, p->memories[memory], offset);
        if (qty_value(p->v->ctx->exprs, b->size, &size))
            check_bounds(p, b, p->memories[memory], offset, size);
    } else {
        check_power(p, &b->s, b->align);
    }
}

void concrete_verify_place(struct plan *p)
{
    check_devices(p);
    for (u32 i = 0; i < p->n_memories; i++)
        check_memory(p, p->memories[i]);
    for (u32 i = 0; i < p->n_queues; i++)
        concrete_verify_ranks(p, &p->queues[i]->s, p->queues[i]->on);
    for (u32 i = 0; i < p->n_binds; i++)
        check_bind(p, i);
}
