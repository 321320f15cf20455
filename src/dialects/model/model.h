/* model: values with roles and operations with signatures; what is computed, and nothing about where. */
#ifndef DIALECTS_MODEL_MODEL_H
#define DIALECTS_MODEL_MODEL_H

#include "ir/item.h"

#define DEF "dialects/model/model.def"
#include "ir/enums.h"
enum model_entity {
#define ENTITY(id, ...) id,
#include DEF
#undef DEF
    MODEL_ENTITIES
};

struct model_symbol {
    struct stmt s;
    u8 kind;
    u64 multiple_of;    /* 0: nothing known */
};

struct model_value {
    struct stmt s;
    u8 role;
    u32 type;
    atom updates;
    u32 note;
};

struct model_op {
    struct stmt s;
    atom operation;
    u32 operands, results, attributes, after, effects, note;
};

struct model_output {
    struct stmt s;
    atom value;
};

extern const struct dialect model_dialect;

/* Drops an operation's `kv_heads` that is its `heads`: what it would be if it were absent. */
void model_settle(struct item *it, struct stmt *s);

struct verifier;
void model_verify(struct verifier *v);

#endif
