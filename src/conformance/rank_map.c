#include "conformance/rank_map.h"

void rank_map_init(struct rank_map *m, struct arena *arena)
{
    *m = (struct rank_map){ .arena = arena, .runs = ARENA_ARRAY(arena, struct rank_run, 16), .n = 1, .cap = 16 };
}

/* The number of the run that begins at RANK: what was one run is cut. */
static u32 cut(struct rank_map *m, u64 rank)
{
    u32 low = 0, high = m->n;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (m->runs[middle].first < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < m->n && m->runs[low].first == rank)
        return low;
    if (m->n == m->cap) {
        struct rank_run *bigger = ARENA_ARRAY(m->arena, struct rank_run, 2 * (size_t)m->cap);
        m->runs = memcpy(bigger, m->runs, m->n * sizeof *bigger);
        m->cap *= 2;
    }
    memmove(m->runs + low + 1, m->runs + low, (m->n - low) * sizeof *m->runs);
    m->n++;
    m->runs[low] = (struct rank_run){ rank, m->runs[low - 1].value };
    return low;
}

void rank_map_put(struct rank_map *m, const struct rank_set *set, u32 value, void (*visit)(void *state, u32 before, u32 rank), void *state)
{
    for (u32 i = 0; i < set->n; i++) {
        u32 first = cut(m, set->ranges[i].first), past = cut(m, (u64)set->ranges[i].last + 1);
        for (u32 k = first; k < past; k++)
            if (m->runs[k].value && m->runs[k].value != value && (k == first || m->runs[k].value != m->runs[k - 1].value))
                visit(state, m->runs[k].value, (u32)m->runs[k].first);
        m->runs[first].value = value;
        memmove(m->runs + first + 1, m->runs + past, (m->n - past) * sizeof *m->runs);
        m->n -= past - first - 1;
    }
}
