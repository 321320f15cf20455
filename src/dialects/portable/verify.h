/* What the rules of a portable plan share. Everything lies in the verifier's scratch. */
#ifndef DIALECTS_PORTABLE_VERIFY_H
#define DIALECTS_PORTABLE_VERIFY_H

#include "dialects/portable/portable.h"
#include "ir/access.h"
#include "ir/verify.h"

struct plan {
    struct verifier *v;
    const struct item *it;
    const struct portable_task **tasks;
    const struct portable_buffer **buffers;
    u32 n_tasks, n_buffers;
    u32 *task_of, *buffer_of;   /* by the name's atom: number + 1, or 0 */
    u32 *maker;                 /* by buffer: number + 1 of the first task whose result it is, or 0 */
    const struct portable_mesh *mesh;       /* NULL: none */
    u64 n_ranks;                /* 0: not known */
    bool serial;
    struct rank_sets ranks;
};

/* The number of the buffer that is called NAME; false: there is none, which is told elsewhere. */
static inline bool plan_buffer(const struct plan *p, atom name, u32 *number)
{
    *number = p->buffer_of[name] - 1;
    return p->buffer_of[name] != 0;
}

/* Buffers that tasks may write again and again. */
static inline bool is_reusable(const struct portable_buffer *b)
{
    return b->role == PORTABLE_STATE || b->role == PORTABLE_WORKSPACE || b->role == PORTABLE_COMMUNICATION;
}

bool portable_is_collective(const struct plan *p, atom operation);

void portable_verify_buffers(struct plan *p);   /* each buffer by itself, and who makes it */
void portable_verify_tasks(struct plan *p);     /* each task by itself */
void portable_verify_needs(struct plan *p);     /* require, implement */
void portable_verify_flow(struct plan *p);      /* order and conflicts of tasks */

#endif
