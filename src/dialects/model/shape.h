/* The signature of one operation under check, for the files of shape rules. */
#ifndef DIALECTS_MODEL_SHAPE_H
#define DIALECTS_MODEL_SHAPE_H

#include "dialects/model/verify.h"

struct model_shape {
    struct model_checker *c;
    const struct model_op *op;
    const struct operation *row;
    const u32 *in, *out;            /* value names, as many as the row allows */
    u32 n_in, n_out;
    const struct type *const *types;    /* of the operands */
    bool refused;
};

/* Always false: the value and what is wrong with it, at its name in the operation. */
bool model_shape_refuse(struct model_shape *s, atom value, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);

/* A note at the value's declaration: what would be legal there. */
void model_shape_legal(struct model_shape *s, atom value, const char *format, ...) PRINTF_LIKE(3, 4);

/* The value with its type, "`%x : tensor<4x8xf16>`". */
const char *model_shape_value(const struct model_shape *s, atom value);
const char *model_shape_type(const struct model_shape *s, const struct type *t);

/* True when the operand has RANK dimensions. */
bool model_shape_rank(struct model_shape *s, u32 operand, u32 rank);

/* Result I is a TYPE, layout aside. */
bool model_shape_result(struct model_shape *s, u32 i, const struct type *type);

/* The operation's own clause as a number; false when it is not written. */
bool model_shape_number(const struct model_shape *s, const char *clause, u64 *out);

/* ---- shape_decoder.c: the coarse operations ---- */
void model_shape_decoder(struct model_shape *s);

#endif
