/* concrete: devices, memory, queues, bindings and commands of one target. A plan is SPMD over its ranks. */
#ifndef DIALECTS_CONCRETE_CONCRETE_H
#define DIALECTS_CONCRETE_CONCRETE_H

#include "ir/item.h"

#define DEF "dialects/concrete/concrete.def"
#include "ir/enums.h"
enum concrete_entity {
#define ENTITY(id, ...) id,
#include DEF
#undef DEF
    CONCRETE_ENTITIES
};

struct concrete_symbol {
    struct stmt s;
    u8 kind;
    u64 multiple_of;    /* 0: nothing known */
};

struct concrete_mesh {
    struct stmt s;
    u32 axes;
};

struct concrete_library {
    struct stmt s;
    atom abi, version, variant;
};

struct concrete_device {
    struct stmt s;
    atom target;
    u32 note;
    u64 rank;
};

struct concrete_memory {
    struct stmt s;
    u32 on;
    atom space;
    u32 note;
    qty capacity;
    u64 align;
};

struct concrete_queue {
    struct stmt s;
    u8 kind, ordered;
    u32 on;
    atom engine;
    u32 note;
};

struct concrete_order {
    struct stmt s;
    u8 order;
};

struct concrete_bind {
    struct stmt s;
    u8 lives;
    atom memory;
    u32 note;
    qty offset, size;
    u64 align;
};

struct concrete_more {
    atom library;
    u32 wait, signal, after, effects, attributes, note;
};

struct concrete_command {
    struct stmt s;
    u8 body;
    atom operation;
    u32 operands, results, over, on;
    atom queue;
    const struct concrete_more *more;   /* what few commands say; to write it: concrete_more */
    u64 cycle, slot;                    /* UINT64_MAX: no slot */
};

static inline struct concrete_more *concrete_more(struct item *it, struct concrete_command *c)
{
    return stmt_more(it, &c->s);
}

struct concrete_issue {
    struct stmt s;
    atom queue;
    u32 commands;
};

struct concrete_route {
    struct stmt s;
    atom command, source, destination, channel;
};

extern const struct dialect concrete_dialect;

struct verifier;
void concrete_verify(struct verifier *v);

#endif
