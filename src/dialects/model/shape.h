/* One operation under check, and what shape rules are made of (shape.c); the rules are in shape_rules.c and shape_decoder.c. */
#ifndef DIALECTS_MODEL_SHAPE_H
#define DIALECTS_MODEL_SHAPE_H

#include "dialects/model/verify.h"

struct model_shape {
    struct model_checker *c;
    const struct model_op *op;
    const struct operation *row;
    const u32 *in, *out;            /* value names, as many as the row allows, all declared */
    u32 n_in, n_out;
    const struct type *const *types;    /* of the operands */
    bool refused;
};

/* Reports what is wrong with the operation's types, all of it. */
typedef void model_shape_rule(struct model_shape *s);

/* The row's rule; NULL where nothing is checked. */
model_shape_rule *model_shape_rule_of(const struct operation *row);
model_shape_rule model_shape_decoder;

/* ---- Reporting ---- */

/* Always false: the value and what is wrong with it, at its name in the operation. */
bool model_shape_refuse(struct model_shape *s, atom value, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);

/* A note at the value's declaration: what would be legal there. */
void model_shape_legal(struct model_shape *s, atom value, const char *format, ...) PRINTF_LIKE(3, 4);

/* Texts in the scratch arena or the context: "`%x : tensor<4x8xf16>`", "tensor<4x8xf16>", "%x", "8". */
const char *model_shape_value(const struct model_shape *s, atom value);
const char *model_shape_type(const struct model_shape *s, const struct type *t);
const char *model_shape_name(const struct model_shape *s, u32 operand);
const char *model_shape_size_text(const struct model_shape *s, u32 operand, u32 dim);

/* ---- Questions ---- */

enum { MODEL_NO_DIM = MAX_RANK };

/* Rank, element and sizes are the same, dimension SKIP and layouts aside. */
bool model_shape_same_type(const struct model_shape *s, const struct type *a, const struct type *b, u32 skip);
const struct type *model_shape_result_type(const struct model_shape *s, u32 i);

/* T with another size of dimension DIM, if it has that one; the sizes lie in ROOM. */
struct type model_shape_with_dim(const struct type *t, u32 dim, qty size, qty room[MAX_RANK]);

/* The operation's own clause as a number; false when it is not written. */
bool model_shape_number(const struct model_shape *s, const char *clause, u64 *out);

/* ---- Demands: false when not met, and reported ---- */

bool model_shape_rank(struct model_shape *s, u32 operand, u32 rank);
bool model_shape_rank_least(struct model_shape *s, u32 operand, u32 rank);
bool model_shape_integers(struct model_shape *s, u32 operand);

/* All operands from FIRST on have its element type. */
bool model_shape_one_element(struct model_shape *s, u32 first);

/* Dimension I of operand A and K of operand B are of one size. */
bool model_shape_same_dim(struct model_shape *s, const char *code, u32 a, u32 i, u32 b, u32 k);

/* Result I is a TYPE, layout aside. */
bool model_shape_result(struct model_shape *s, u32 i, const struct type *type);
bool model_shape_refuse_result(struct model_shape *s, u32 i, const struct type *expected);

/* The clause `axis`: a dimension of operand 0. */
bool model_shape_axis(struct model_shape *s, u32 *axis);

#endif
