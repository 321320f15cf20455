/*
 * What the files of model's verifier share: the operation that makes each value, and what is known of symbols.
 * Everything lies in the verifier's scratch arena.
 */
#ifndef DIALECTS_MODEL_VERIFY_H
#define DIALECTS_MODEL_VERIFY_H

#include "dialects/model/model.h"
#include "ir/verify.h"

/* A declared %value or @operation. */
struct model_entry {
    u32 ref;                /* ir/item.h; 0: a free slot */
    u32 at;                 /* 1 + index of the operation, or of the first that makes the value; 0: it exists before */
    u32 output;             /* 1 + index of the `output` that names it */
    atom next;              /* the value that is its next version */
    bool used;              /* read, updated, touched or given out */
    bool suspect;           /* the operation that makes it was refused: no rule may build on its type */
};

struct model_checker {
    struct verifier *v;
    const struct item *it;
    struct context *ctx;
    struct model_entry *slots;          /* open addressing by ref */
    u32 mask;
    struct qty_binding *facts;          /* symbol -> multiple_of * symbol */
    u32 n_facts;
};

/* The entry of what is declared in the item, made on first sight. It stays where it is. */
struct model_entry *model_entry_of(const struct model_checker *c, u32 ref);

static inline const struct model_value *model_value_named(const struct model_checker *c, atom name)
{
    return (const struct model_value *)item_value(c->it, name);
}

/* True when A and B are the same size for all values of the symbols. */
bool model_same_size(const struct model_checker *c, qty a, qty b);

/* True when the size Q may be the number N: it is that number, or a symbol whose facts N keeps. */
bool model_size_fits(const struct model_checker *c, qty q, u128 n);

/* The fact of the symbol that Q is: what divides it, 1 if nothing is said. */
u64 model_multiple_of(const struct model_checker *c, qty q);

/* ---- verify_flow.c: who makes what, in which order; versions and effects ---- */
void model_flow_gather(struct model_checker *c);
void model_flow_value(struct model_checker *c, const struct model_value *value);
void model_flow_op(struct model_checker *c, const struct model_op *op, u32 index);
void model_flow_output(struct model_checker *c, const struct model_output *output, u32 index);
void model_flow_end(struct model_checker *c);

/* ---- shape.c: the types of operands and results ---- */
void model_shape_check(struct model_checker *c, const struct model_op *op);

#endif
