/*
 * A strict partial order of N nodes: which of two comes before the other.
 *
 * Made of edges (order_add), or of levels: a node comes before all of higher level. An order in which each node has an
 * edge from its neighbour is total and needs no memory beyond its topological sequence. Any other is answered through
 * a cover of k chains, made at the first question: N x k numbers. Where that would exceed ORDER_REACH numbers, a
 * question searches instead, in time linear in the edges between the two nodes.
 */
#ifndef IR_ORDER_H
#define IR_ORDER_H

#include "support/arena.h"

enum { ORDER_REACH = 1 << 25 };

struct order {
    struct arena *arena;            /* owner of everything but the edges */
    u32 n;
    bool leveled;                   /* level alone decides */
    const u32 *level;               /* by node: its place in the sequence, or its level; NULL: the node's number */
    const u32 *sequence;            /* nodes in a topological order; NULL: by number */
    u32 (*edges)[2];                /* before, after; freed by order_close */
    u32 n_edges, cap_edges;
    u32 *first, *from;              /* the predecessors of node i are from[first[i]] to from[first[i + 1] - 1] */
    u32 *chain, *place, *reach, *seen;
    u32 n_chains, stamp;
};

/* The nodes in the order of their numbers, one after the other. */
void order_serial(struct order *o, struct arena *arena, u32 n);

/* By level: nodes of equal level are not ordered. LEVEL is kept. */
void order_levels(struct order *o, struct arena *arena, u32 n, const u32 *level);

/* By edges: begin, add, close. Closing fails when there is a cycle; then only order_cycles may follow. */
void order_begin(struct order *o, struct arena *arena, u32 n);
void order_add(struct order *o, u32 before, u32 after);
bool order_close(struct order *o);

/*
 * Calls VISIT with disjoint cycles, at least one for each group of nodes that depend on one another: nodes[i + 1] must
 * come before nodes[i], and nodes[0] before the last.
 */
void order_cycles(struct order *o, void (*visit)(void *state, const u32 *nodes, u32 n), void *state);

bool order_before(struct order *o, u32 a, u32 b);

static inline u32 order_at(const struct order *o, u32 i) { return o->sequence ? o->sequence[i] : i; }

/* Places in one legal sequence; nodes of one level share it, in the order of their numbers. */
static inline u32 order_place(const struct order *o, u32 node) { return o->level ? o->level[node] : node; }

#endif
