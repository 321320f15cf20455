#include "ir/ranks.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const struct rank_range *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts and joins what overlaps or touches; returns how many ranges are left. */
static u32 normalize(struct rank_range *ranges, u32 n)
{
    u32 kept = 0;
    qsort(ranges, n, sizeof *ranges, by_first);
    for (u32 i = 0; i < n; i++)
        if (kept && ranges[i].first <= (u64)ranges[kept - 1].last + 1) {
            if (ranges[i].last > ranges[kept - 1].last)
                ranges[kept - 1].last = ranges[i].last;
        } else {
            ranges[kept++] = ranges[i];
        }
    return kept;
}

static u32 hash_set(const struct rank_range *ranges, u32 n)
{
    u64 h = n;
    for (u32 i = 0; i < n; i++)
        h = (h ^ ranges[i].first ^ (u64)ranges[i].last << 32) * 0x9e3779b97f4a7c15u;
    return (u32)(h >> 32);
}

static u32 *find_slot(const struct rank_sets *r, const struct rank_range *ranges, u32 n)
{
    u32 i = hash_set(ranges, n) & r->mask;
    for (; r->slots[i]; i = (i + 1) & r->mask) {
        const struct rank_set *s = &r->sets[r->slots[i] - 1];
        if (s->n == n && !memcmp(s->ranges, ranges, n * sizeof *ranges))
            break;
    }
    return &r->slots[i];
}

static void grow(struct rank_sets *r)
{
    u32 cap = r->cap ? r->cap * 2 : 16;
    struct rank_set *sets = ARENA_ARRAY(r->arena, struct rank_set, cap);
    if (r->n)
        memcpy(sets, r->sets, r->n * sizeof *sets);
    r->sets = sets;
    r->cap = cap;
    r->mask = 4 * cap - 1;
    r->slots = ARENA_ARRAY(r->arena, u32, 4 * (size_t)cap);
    for (u32 i = 0; i < r->n; i++)
        *find_slot(r, sets[i].ranges, sets[i].n) = i + 1;
}

/* RANGES lie in the arena and are normal. */
static u32 add_set(struct rank_sets *r, const struct rank_range *ranges, u32 n)
{
    if (r->n == r->cap)
        grow(r);
    u32 *slot = find_slot(r, ranges, n);
    if (!*slot) {
        r->sets[r->n] = (struct rank_set){ ranges, n };
        *slot = ++r->n;
    }
    return *slot - 1;
}

static struct rank_range *read_ranges(const struct item *it, u32 handle, struct arena *arena)
{
    u32 n = list_n(it, handle) / 2;
    struct rank_range *ranges = ARENA_ARRAY(arena, struct rank_range, n + 1);
    for (u32 i = 0; i < n; i++)
        ranges[i] = (struct rank_range){ list_at(it, handle)[2 * i], list_at(it, handle)[2 * i + 1] };
    return ranges;
}

void rank_sets_init(struct rank_sets *r, struct arena *arena, const struct item *it, const struct rank_range *all, u32 n)
{
    *r = (struct rank_sets){ .arena = arena, .item = it };
    struct rank_range *ranges = ARENA_ARRAY(arena, struct rank_range, n + 1);
    if (n)
        memcpy(ranges, all, n * sizeof *ranges);
    add_set(r, ranges, normalize(ranges, n));
}

u32 rank_set_of(struct rank_sets *r, u32 handle)
{
    if (!handle)
        return ALL_RANKS;
    if (handle == r->last_handle)
        return r->last_set;
    struct rank_range *ranges = read_ranges(r->item, handle, r->arena);
    r->last_handle = handle;
    return r->last_set = add_set(r, ranges, normalize(ranges, list_n(r->item, handle) / 2));
}

u32 rank_set_ranges(struct rank_sets *r, const struct rank_range *ranges, u32 n)
{
    struct rank_range *own = ARENA_ARRAY(r->arena, struct rank_range, n + (size_t)1);
    if (n)
        memcpy(own, ranges, n * sizeof *own);
    return add_set(r, own, normalize(own, n));
}

u32 rank_set_one(struct rank_sets *r, u32 rank)
{
    struct rank_range *range = ARENA_NEW(r->arena, struct rank_range);
    *range = (struct rank_range){ rank, rank };
    return add_set(r, range, 1);
}

/* The range that holds RANK, or NULL. */
static const struct rank_range *range_at(const struct rank_set *r, u64 rank)
{
    u32 low = 0, high = r->n;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (r->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && r->ranges[low].first <= rank ? &r->ranges[low] : NULL;
}

bool rank_set_has(const struct rank_sets *r, u32 set, u32 rank)
{
    return range_at(&r->sets[set], rank) != NULL;
}

bool rank_sets_meet(const struct rank_sets *r, u32 a, u32 b)
{
    const struct rank_set *x = &r->sets[a], *y = &r->sets[b];
    if (a == b)
        return x->n > 0;
    for (u32 i = 0, k = 0; i < x->n && k < y->n;) {
        if (x->ranges[i].last < y->ranges[k].first)
            i++;
        else if (y->ranges[k].last < x->ranges[i].first)
            k++;
        else
            return true;
    }
    return false;
}

bool rank_sets_differ(const struct rank_sets *r, u32 a, u32 b, u32 *rank)
{
    const struct rank_set *x = &r->sets[a], *y = &r->sets[b];
    for (u32 i = 0, k = 0; a != b && i < x->n; i++) {
        u64 at = x->ranges[i].first;
        for (; k < y->n && y->ranges[k].last < at; k++)
            ;
        /* Ranges of Y touch no neighbour, so one range of X lies in one range of Y or leaves it. */
        if (k < y->n && y->ranges[k].first <= at)
            at = (u64)y->ranges[k].last + 1;
        if (at <= x->ranges[i].last) {
            *rank = (u32)at;
            return true;
        }
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return x < y ? -1 : x > y;
}

u32 rank_sets_cut(const struct rank_sets *r, const u32 *sets, u32 n, struct arena *scratch, const u32 **ranks)
{
    u32 n_points = 0, n_parts = 0;
    for (u32 i = 0; i < n; i++)
        n_points += 2 * r->sets[sets[i]].n;
    u64 *points = ARENA_ARRAY(scratch, u64, n_points + 1);
    u32 *parts = ARENA_ARRAY(scratch, u32, n_points + 1);
    n_points = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < r->sets[sets[i]].n; k++) {
            points[n_points++] = r->sets[sets[i]].ranges[k].first;
            points[n_points++] = (u64)r->sets[sets[i]].ranges[k].last + 1;
        }
    qsort(points, n_points, sizeof *points, by_number);
    for (u32 i = 0; i < n_points; i++) {
        bool inside = false;
        if (points[i] > UINT32_MAX || (i && points[i] == points[i - 1]))
            continue;
        for (u32 k = 0; k < n && !inside; k++)
            inside = rank_set_has(r, sets[k], (u32)points[i]);
        if (inside)
            parts[n_parts++] = (u32)points[i];
    }
    *ranks = parts;
    return n_parts;
}

bool ranks_repeat(const struct item *it, u32 handle, struct arena *scratch, u32 *rank)
{
    u32 n = list_n(it, handle) / 2;
    if (n < 2)
        return false;
    struct rank_range *ranges = read_ranges(it, handle, scratch);
    qsort(ranges, n, sizeof *ranges, by_first);
    for (u32 i = 1; i < n; i++)
        if (ranges[i].first <= ranges[i - 1].last) {
            *rank = ranges[i].first;
            return true;
        }
    return false;
}

/* ---- Groups ---- */

struct axis_steps {
    u64 stride, size;
};

static bool have_range(const struct rank_set *r, u64 first, u64 last, u64 *missing)
{
    const struct rank_range *in = range_at(r, first);
    if (in && in->last >= last)
        return true;
    *missing = in ? in->last + (u64)1 : first;
    return false;
}

/*
 * R is closed under the step along an axis, from the last position back to the first. Within one turn of the axis a
 * slice is what has one coordinate; [P, Q] lies in one turn, and only its first slice and its last two can step out of it.
 */
static bool slice_steps(const struct rank_set *r, const struct axis_steps *a, u64 p, u64 q, u64 *in, u64 *out)
{
    u64 turn = a->stride * a->size, missing, first = p % turn / a->stride;
    bool wraps = first + 1 == a->size;
    u64 back = wraps ? a->stride * (a->size - 1) : 0, ahead = wraps ? 0 : a->stride;
    if (have_range(r, p + ahead - back, q + ahead - back, &missing))
        return true;
    *in = missing + back - ahead;
    *out = missing;
    return false;
}

static bool turn_steps(const struct rank_set *r, const struct axis_steps *a, u64 p, u64 q, u64 *in, u64 *out)
{
    u64 slice_p = p - p % a->stride, slice_q = q - q % a->stride;
    if (slice_p == slice_q)
        return slice_steps(r, a, p, q, in, out);
    if (!slice_steps(r, a, p, slice_p + a->stride - 1, in, out))
        return false;
    if (slice_q - a->stride != slice_p && !slice_steps(r, a, slice_q - a->stride, slice_q - 1, in, out))
        return false;
    return slice_steps(r, a, slice_q, q, in, out);
}

bool rank_set_closed(const struct rank_set *r, u64 stride, u64 size, u64 *in, u64 *out)
{
    const struct axis_steps *a = &(struct axis_steps){ stride, size };
    u64 turn = stride * size;
    for (u32 i = 0; i < r->n; i++) {
        u64 p = r->ranges[i].first, q = r->ranges[i].last, head = p - p % turn, tail = q - q % turn;
        if (head == tail) {
            if ((p != head || q != head + turn - 1) && !turn_steps(r, a, p, q, in, out))
                return false;
            continue;
        }
        if (p != head && !turn_steps(r, a, p, head + turn - 1, in, out))
            return false;
        if (q != tail + turn - 1 && !turn_steps(r, a, tail, q, in, out))
            return false;
    }
    return true;
}
