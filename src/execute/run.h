/* One program under execution. Everything lies in the execution's arena, texts of messages in the verifier's scratch. */
#ifndef EXECUTE_RUN_H
#define EXECUTE_RUN_H

#include "execute/execute.h"
#include "execute/kernel.h"
#include "execute/mesh.h"

struct run_value {
    const struct stmt *s;           /* its declaration, as a statement or a result */
    atom name;
    u32 type, owners;               /* owners: as in dist_value, 0 is every rank */
    atom updates;
    struct sharding sharding;
    u64 split, partial;             /* axes that split it, and over which it is partial */
    enum reduction reduction;       /* how its parts combine; NONE when it is not partial */
    struct tensor whole;            /* sizes, without elements; rank and n are 0 while they are unknown */
    u64 limit;                      /* its integers are below; 0: nothing says so */
    struct tensor *parts;           /* by rank; at NULL: not held */
    const struct run_task *maker;   /* NULL: it exists before */
    struct run_value *source;       /* what it is in the program that this one is from, or NULL */
    bool is_output;
    bool anchor;                    /* of a shadow: the program that is compared has it, and goes on from there */
    double anchor_bound;            /* what rounding may have changed in it since the anchors before it */
    /* How it compares, worst over the ranks: with its source, or the ranks with one another. */
    bool compared, wrong, follows;  /* follows: it is made of what is wrong */
    double error, tolerance, largest;
    u32 n_parts;                    /* ranks that hold it */
};

struct run_task {
    const struct stmt *s;
    u8 body;                        /* enum dist_body; an operation of a model is local */
    u8 phase;                       /* enum dist_phase */
    u8 reduction;
    atom operation;
    const struct kernel *kernel;
    u32 operands, results, attributes, over, ranks;
    u64 root, from, to;             /* UINT64_MAX: none */
};

struct run {
    struct verifier v;
    const struct item *it;
    const struct execute_options *options;
    struct arena *arena;
    struct run *source;             /* what it is compared with: a shadow of its parent's run, or NULL */
    const struct run *base;         /* this is a shadow of that run: it runs again, to bound what is between anchors */
    struct mesh mesh;
    struct run_value *values;       /* declared ones, then results, in the order of the text */
    u32 n_values;
    u32 *slots, mask;               /* by name: index + 1 */
    struct run_task *tasks;
    u32 n_tasks;
    u32 *task_slots, task_mask;     /* by name: index + 1 */
    bool running, good;
    u32 n_agree, n_exact, n_alone;  /* values compared with the source, exactly equal ones, and those without a source */
};

static inline struct run_value *run_value(const struct run *r, atom name)
{
    u32 i = name & r->mask;
    while (r->slots[i] && r->values[r->slots[i] - 1].name != name)
        i = (i + 1) & r->mask;
    return r->slots[i] ? &r->values[r->slots[i] - 1] : NULL;
}

static inline const struct run_task *run_task_named(const struct run *r, atom name)
{
    u32 i = name & r->task_mask;
    while (r->task_slots[i] && r->tasks[r->task_slots[i] - 1].s->name != name)
        i = (i + 1) & r->task_mask;
    return r->task_slots[i] ? &r->tasks[r->task_slots[i] - 1] : NULL;
}

static inline bool run_is_distributed(const struct run *r)
{
    return r->it->kind->layer == LAYER_DIST;
}

/* ---- read.c: statements, sizes; what can't be run is refused before anything is ---- */
bool run_read(struct run *r);

/* ---- fill.c: what exists before the program ---- */

/* Finds the source of each value, and makes it an anchor. */
bool run_find_sources(struct run *r);

/* Gives each declared value its elements. */
bool run_fill(struct run *r);

/* ---- exchange.c ---- */

/* A collective, transfer or reshard. */
bool run_exchange(struct run *r, const struct run_task *t);

/*
 * Fills OUT, whose box and zeros are there, from the ranks that hold the value: those that are as RANK along the axes of
 * KEPT; parts that are partial over other axes are reduced. False: some element is held by none.
 */
bool run_gather(struct run *r, const struct run_value *value, struct tensor *out, u64 kept, u64 rank);

/* By rank, in ARENA: the first holder that has the same part, and is the same term of a partial value; else NO_COPY. */
enum { NO_COPY = UINT32_MAX };
u32 *run_copies(const struct run *r, const struct run_value *value, struct arena *arena);

/* Parts that were reduced into OUT: its bound. */
void run_reduced_bound(struct tensor *out, const struct tensor *const *parts, u64 n, enum reduction how);

/* ---- step.c ---- */

/* All tasks, in the order of the text; the first that can't be done ends it. */
bool run_tasks(struct run *r);

/* The part that RANK reads; NULL: reported. */
const struct tensor *run_part(struct run *r, const struct run_task *t, atom value, u64 rank);

/* A part is finished: kept if the rank is an owner. False: an element is no number, reported. */
bool run_keep(struct run *r, const struct run_task *t, struct run_value *value, u64 rank, const struct tensor *part);

/* ---- compare.c ---- */

/* What a task has made: with the source, and copies with one another. The parts' bounds are then what was found. */
void run_compare_task(struct run *r, const struct run_task *t);

/* Of a shadow: keeps the bounds of anchors, and begins anew from them. */
void run_anchor_task(struct run *r, const struct run_task *t);

/* When all tasks are done: the outputs. */
bool run_compare_end(struct run *r);

/* "model.linear", "collective all_reduce". */
const char *run_task_text(const struct run *r, const struct run_task *t);

#endif
