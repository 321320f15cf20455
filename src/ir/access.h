/*
 * Who reads and writes which place (a buffer, a binding), on which ranks, and what is wrong with it: a conflict without
 * an order, or a read of what nobody has written yet. Each rank has its own copy of a place.
 */
#ifndef IR_ACCESS_H
#define IR_ACCESS_H

#include "ir/order.h"
#include "ir/ranks.h"

enum { ACCESS_READ = 1, ACCESS_WRITE = 2 };

struct access {
    u32 node, set;          /* set: a number of the rank sets */
    u8 kind;                /* ACCESS_READ, ACCESS_WRITE or both */
};

struct accesses {
    struct arena *arena;
    u32 n_places;
    u32 *first;             /* of place i: at[first[i]] to at[first[i + 1] - 1], in the order of the nodes' sequence, unless node_on is given */
    struct access *at;
};

/* In three steps: count each access, allot, then put them again, the nodes in the order's sequence. */
void accesses_begin(struct accesses *a, struct arena *arena, u32 n_places);
void accesses_count(struct accesses *a, u32 place);
void accesses_allot(struct accesses *a);
void accesses_put(struct accesses *a, u32 place, u32 node, u32 set, u8 kind);

/* What a place holds before the first node runs. */
enum access_start {
    START_FULL,             /* something, on every rank */
    START_EMPTY,            /* nothing */
    START_GUESS,            /* something where nobody writes it at all, or where its first writer reads it too */
};

#define NO_NODE UINT32_MAX

struct access_report {
    void *state;
    enum access_start (*start)(void *state, u32 place);
    /* What a node is in the order, on one rank of its set; NULL: itself, on every rank. Else RANKS stand for all. */
    u32 (*node_on)(void *state, u32 node, u32 rank);
    const u32 *ranks;
    u32 n_ranks;
    /* Two accesses, at least one of them a write, which no order keeps apart; FIRST comes first in the sequence. */
    void (*conflict)(void *state, u32 place, const struct access *first, const struct access *second);
    /* A read with nothing written before; WRITER is the first to write it afterwards, on any rank, or NO_NODE. */
    void (*unwritten)(void *state, u32 place, const struct access *read, u32 rank, u32 writer);
};

/* A conflict or an unwritten read is told once, for the lowest rank where it happens. */
void accesses_check(const struct accesses *a, const struct rank_sets *ranks, struct order *o, const struct access_report *report);

/* Where a message points: at the results of what only writes, else at the first place that names the buffer. */
static inline const char *access_field(const struct access *x)
{
    return x->kind == ACCESS_WRITE ? "results" : NULL;
}

/* What an effect (enum effect) does to the place that it names: ACCESS_READ, ACCESS_WRITE, both, or 0. */
u8 access_of_effect(u32 effect);

/* The lowest rank that the sets of both have; false when there is none. */
bool access_share(const struct rank_sets *ranks, u32 a, u32 b, u32 *rank);

/* As rank_sets_cut, of the sets of a place's accesses. */
u32 access_parts(const struct accesses *a, const struct rank_sets *ranks, u32 place, struct arena *scratch, const u32 **parts);

#endif
