/* Tensor types, interned in the context: equal types are equal numbers. Type 0 is "no type". */
#ifndef IR_TYPE_H
#define IR_TYPE_H

#include "ir/expr.h"

/* MLIR's element names. */
enum element {
    ELEMENT_NONE,
    ELEMENT_F64, ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16, ELEMENT_F8E4M3FN, ELEMENT_F8E5M2,
    ELEMENT_I64, ELEMENT_I32, ELEMENT_I8, ELEMENT_I4, ELEMENT_I1, ELEMENT_UI8,
    ELEMENTS
};

enum { MAX_RANK = 16 };

struct type {
    u8 element;
    u8 rank;
    const qty *dims;
    const u8 *layout;       /* permutation of 0..rank-1, or NULL */
};

struct types;

struct types *types_new(struct arena *arena);
void types_free(struct types *t);

/* DIMS and LAYOUT are copied when the type is new. */
u32 type_intern(struct types *t, const struct type *type);
const struct type *type_get(const struct types *t, u32 id);

const char *element_name(enum element e);
enum element element_find(const char *text, size_t length);     /* ELEMENT_NONE: not one */
u32 element_bits(enum element e);
bool element_is_float(enum element e);

/* Elements: the product of the dimensions. */
enum expr_status type_elements(struct exprs *x, const struct type *type, qty *out);

/* Bytes: elements x bits / 8, exact (an odd number of i4 is EXPR_INEXACT). */
enum expr_status type_bytes(struct exprs *x, const struct type *type, qty *out);

void out_type(struct out *o, const struct exprs *x, const struct type *type);

#endif
