#include "ir/order.h"

#define NO_CHAIN UINT32_MAX

void order_serial(struct order *o, struct arena *arena, u32 n)
{
    *o = (struct order){ .arena = arena, .n = n, .leveled = true };
}

/* Counting sort; levels are below 2n. */
void order_levels(struct order *o, struct arena *arena, u32 n, const u32 *level)
{
    *o = (struct order){ .arena = arena, .n = n, .leveled = true, .level = level };
    u32 *start = ARENA_ARRAY(arena, u32, 2 * (size_t)n + 2), *sequence = ARENA_ARRAY(arena, u32, n + 1);
    for (u32 i = 0; i < n; i++)
        start[level[i] + 1]++;
    for (u32 i = 1; i < 2 * n; i++)
        start[i] += start[i - 1];
    for (u32 i = 0; i < n; i++)
        sequence[start[level[i]]++] = i;
    o->sequence = sequence;
}

void order_begin(struct order *o, struct arena *arena, u32 n)
{
    *o = (struct order){ .arena = arena, .n = n };
}

void order_add(struct order *o, u32 before, u32 after)
{
    u32 (*edge)[2] = VEC_PUSH(o->edges, o->n_edges, o->cap_edges);
    (*edge)[0] = before;
    (*edge)[1] = after;
}

/* Lists, by node, of the other ends of its edges: side 1 by the later node, side 0 by the earlier one. */
static void list_edges(const struct order *o, int side, u32 **first, u32 **ends)
{
    u32 *start = ARENA_ARRAY(o->arena, u32, o->n + (size_t)2);
    *ends = ARENA_ARRAY(o->arena, u32, o->n_edges + (size_t)1);
    for (u32 i = 0; i < o->n_edges; i++)
        start[o->edges[i][side] + 2]++;
    for (u32 i = 2; i < o->n + 2; i++)
        start[i] += start[i - 1];
    for (u32 i = 0; i < o->n_edges; i++)
        (*ends)[start[o->edges[i][side] + 1]++] = o->edges[i][!side];
    *first = start;
}

static bool all_forward(const struct order *o)
{
    for (u32 i = 0; i < o->n_edges; i++)
        if (o->edges[i][0] >= o->edges[i][1])
            return false;
    return true;
}

/* Kahn's algorithm, first in first out. */
static bool sort_nodes(struct order *o)
{
    u32 *to_first, *to, n = 0, *wants = ARENA_ARRAY(o->arena, u32, o->n + 1);
    u32 *sequence = ARENA_ARRAY(o->arena, u32, o->n + 1), *level = ARENA_ARRAY(o->arena, u32, o->n + 1);
    list_edges(o, 0, &to_first, &to);
    for (u32 i = 0; i < o->n; i++) {
        wants[i] = o->first[i + 1] - o->first[i];
        if (!wants[i])
            sequence[n++] = i;
    }
    for (u32 i = 0; i < n; i++) {
        level[sequence[i]] = i;
        for (u32 k = to_first[sequence[i]]; k < to_first[sequence[i] + 1]; k++)
            if (--wants[to[k]] == 0)
                sequence[n++] = to[k];
    }
    o->sequence = sequence;
    o->level = level;
    o->seen = wants;        /* positive where a node is in or behind a cycle */
    return n == o->n;
}

static bool is_total(const struct order *o)
{
    for (u32 i = 1; i < o->n; i++) {
        u32 node = order_at(o, i), before = order_at(o, i - 1), k = o->first[node];
        while (k < o->first[node + 1] && o->from[k] != before)
            k++;
        if (k == o->first[node + 1])
            return false;
    }
    return true;
}

bool order_close(struct order *o)
{
    list_edges(o, 1, &o->first, &o->from);
    bool good = all_forward(o) || sort_nodes(o);
    if (o->edges)
        block_free(o->edges, o->cap_edges * sizeof *o->edges);
    o->edges = NULL;
    o->leveled = good && is_total(o);
    if (good)
        o->seen = NULL;
    return good;
}

/* Every node left over has a predecessor that is left over: following the first one ends in a cycle. */
void order_cycles(struct order *o, void (*visit)(void *state, const u32 *nodes, u32 n), void *state)
{
    u32 *walk_of = ARENA_ARRAY(o->arena, u32, o->n + 1), *path = ARENA_ARRAY(o->arena, u32, o->n + 1);
    for (u32 i = 0; i < o->n; i++) {
        u32 n = 0, at = i;
        if (!o->seen[i] || walk_of[i])
            continue;
        while (!walk_of[at]) {
            walk_of[at] = i + 1;
            path[n++] = at;
            u32 k = o->first[at];
            while (!o->seen[o->from[k]])
                k++;
            at = o->from[k];
        }
        if (walk_of[at] != i + 1)
            continue;
        u32 start = 0;
        while (path[start] != at)
            start++;
        visit(state, path + start, n - start);
    }
}

/* ---- Questions ---- */

static void cover_with_chains(struct order *o)
{
    u32 *tail = ARENA_ARRAY(o->arena, u32, o->n + 1);       /* of each chain */
    o->chain = ARENA_ARRAY(o->arena, u32, o->n + 1);
    o->place = ARENA_ARRAY(o->arena, u32, o->n + 1);
    for (u32 i = 0; i < o->n; i++) {
        u32 node = order_at(o, i), found = NO_CHAIN;
        for (u32 k = o->first[node]; k < o->first[node + 1] && found == NO_CHAIN; k++)
            if (tail[o->chain[o->from[k]]] == o->from[k])
                found = o->chain[o->from[k]];
        o->chain[node] = found == NO_CHAIN ? o->n_chains++ : found;
        o->place[node] = found == NO_CHAIN ? 0 : o->place[tail[found]] + 1;
        tail[o->chain[node]] = node;
    }
}

/* reach[node][c]: how many nodes of chain c come before the node. */
static void fill_reach(struct order *o)
{
    u32 chains = o->n_chains;
    o->reach = ARENA_ARRAY(o->arena, u32, (size_t)o->n * chains);
    for (u32 i = 0; i < o->n; i++) {
        u32 node = order_at(o, i), *row = o->reach + (size_t)node * chains;
        for (u32 k = o->first[node]; k < o->first[node + 1]; k++) {
            u32 before = o->from[k];
            const u32 *other = o->reach + (size_t)before * chains;
            for (u32 c = 0; c < chains; c++)
                row[c] = other[c] > row[c] ? other[c] : row[c];
            if (row[o->chain[before]] <= o->place[before])
                row[o->chain[before]] = o->place[before] + 1;
        }
    }
}

static bool search(struct order *o, u32 a, u32 b)
{
    u32 n = 0, low = order_place(o, a);
    if (!o->seen) {
        o->seen = ARENA_ARRAY(o->arena, u32, o->n + 1);
        o->reach = ARENA_ARRAY(o->arena, u32, o->n + 1);    /* the stack */
    }
    o->stamp++;
    o->reach[n++] = b;
    while (n) {
        u32 node = o->reach[--n];
        for (u32 k = o->first[node]; k < o->first[node + 1]; k++) {
            u32 before = o->from[k];
            if (before == a)
                return true;
            if (o->seen[before] == o->stamp || order_place(o, before) < low)
                continue;
            o->seen[before] = o->stamp;
            o->reach[n++] = before;
        }
    }
    return false;
}

bool order_before(struct order *o, u32 a, u32 b)
{
    u32 x = order_place(o, a), y = order_place(o, b);
    if (o->leveled || x >= y)
        return x < y;
    if (!o->chain)
        cover_with_chains(o);
    if ((u64)o->n * o->n_chains > ORDER_REACH)
        return search(o, a, b);
    if (!o->reach)
        fill_reach(o);
    return o->place[a] < o->reach[(size_t)b * o->n_chains + o->chain[a]];
}
