/* portable: exact work, buffers with sizes per rank, resources and capabilities; nothing of a target. */
#ifndef DIALECTS_PORTABLE_PORTABLE_H
#define DIALECTS_PORTABLE_PORTABLE_H

#include "ir/item.h"

#define DEF "dialects/portable/portable.def"
#include "ir/enums.h"
enum portable_entity {
#define ENTITY(id, ...) id,
#include DEF
#undef DEF
    PORTABLE_ENTITIES
};

struct portable_symbol {
    struct stmt s;
    u8 kind;
    u64 multiple_of;    /* 0: nothing known */
};

struct portable_mesh {
    struct stmt s;
    u32 axes;
};

struct portable_order {
    struct stmt s;
    u8 order;
};

struct portable_attention {
    struct stmt s;
    u8 pairs;
};

struct portable_buffer {
    struct stmt s;
    u8 role, storage;
    u32 note;
    qty size;
    u64 align;
};

enum portable_work {
    PORTABLE_OPERATIONS, PORTABLE_READ, PORTABLE_WRITE, PORTABLE_MESSAGE, PORTABLE_TEMPORARY, PORTABLE_PERSISTENT_BYTES,
    PORTABLE_WORK
};

struct portable_more {
    u32 after, effects, require, attributes, note;
    u64 source, destination;            /* UINT64_MAX: none */
};

struct portable_task {
    struct stmt s;
    u8 body, phase;
    atom operation;
    u32 operands, results, over, ranks;
    atom layer, group;
    u32 implement;
    const struct portable_more *more;   /* what few tasks say; to write it: portable_more */
    qty work[PORTABLE_WORK];
};

static inline struct portable_more *portable_more(struct item *it, struct portable_task *t)
{
    return stmt_more(it, &t->s);
}

struct portable_objective {
    struct stmt s;
    u8 direction, kind;
    double weight;
};

extern const struct dialect portable_dialect;

/*
 * What a task requires of a resource when it says nothing, of each rank: operations (compute), bytes read and written
 * (memory_bandwidth), message (network), else 0. False: the sum leaves 128 bits.
 */
bool portable_projection(const struct item *it, const struct portable_task *t, enum resource kind, qty *out);

/* Sorts a task's `require` by kind and drops what equals the projection. For what a pass makes, too. */
void portable_settle(struct item *it, struct stmt *s);

/* The layer of a task, written or said by its name; 0: none. May intern a string. */
atom portable_layer(const struct item *it, const struct portable_task *t);

struct verifier;
void portable_verify(struct verifier *v);

#endif
