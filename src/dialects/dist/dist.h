/* dist: logical ranks, sharded values, tasks and collectives. Facts are per rank, exact; ir.md's dist layer. */
#ifndef DIALECTS_DIST_DIST_H
#define DIALECTS_DIST_DIST_H

#include "ir/item.h"

#define DEF "dialects/dist/dist.def"
#include "ir/enums.h"

enum dist_entity {
#define ENTITY(id, ...) id,
#include DEF
#undef DEF
    DIST_ENTITIES
};

struct dist_symbol {
    struct stmt s;
    u8 kind;
    u64 multiple_of;    /* 0: nothing known */
};

struct dist_mesh {
    struct stmt s;
    u32 axes;
};

struct dist_order {
    struct stmt s;
    u8 order;
};

struct dist_origin {
    struct stmt s;
    atom source;
};

struct dist_attention {
    struct stmt s;
    u8 pairs;
};

struct dist_scale {
    struct stmt s;
    qty blocks, batch, microbatch, query, context;
};

struct dist_memory {
    struct stmt s;
    qty weights, working, stored, checkpoint, gradients, gradients_unsharded, activation_gradients, optimizer;
    qty kv_cache, workspace, boundary;
};

struct dist_value {
    struct stmt s;
    u8 role;
    u32 type;           /* whole value */
    u32 sharding;
    u32 owners;
    atom updates;
    u32 note;
};

enum dist_work { DIST_OPERATIONS, DIST_READ, DIST_WRITE, DIST_MESSAGE, DIST_WORK };

struct dist_more {
    atom channel;
    u32 after, effects, attributes, note;
    u64 root, source, destination;      /* UINT64_MAX: none */
};

struct dist_task {
    struct stmt s;
    u8 body, phase, reduction;
    atom operation;
    u32 operands, results;
    u32 over, ranks;
    atom layer;
    const struct dist_more *more;       /* what few tasks say; to write it: dist_more */
    qty work[DIST_WORK];
};

static inline struct dist_more *dist_more(struct item *it, struct dist_task *t)
{
    return stmt_more(it, &t->s);
}

struct dist_output {
    struct stmt s;
    atom value;
};

extern const struct dialect dist_dialect;

/* The layer of a task, written or said by its name; 0: none. May intern a string. */
atom dist_layer(const struct item *it, const struct dist_task *t);

struct verifier;
void dist_verify(struct verifier *v);

#endif
