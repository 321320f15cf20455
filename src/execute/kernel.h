/*
 * What each operation computes, on the parts that one rank holds. A kernel knows where its parts lie in the whole values,
 * so that a rotary embedding, a mask or a lookup of rows does its part of what the operation does to the whole.
 *
 * One row of kernels.def adds an operation. docs/execution.md has the formulas, and those of the bounds.
 */
#ifndef EXECUTE_KERNEL_H
#define EXECUTE_KERNEL_H

#include "execute/tensor.h"

struct kernel_call {
    struct arena *arena;            /* of what is allotted on the way, and of the fault */
    const struct tensor *in;
    u32 n_in;
    struct tensor *out;             /* boxes are set, elements are zero */
    u32 n_out;
    const char *const *in_names, *const *out_names;     /* for messages */
    u32 axis;                       /* the operation's own clauses, 0 where it has none */
    u64 offset;
    u32 permutation[MAX_RANK], n_permutation;
    const char *code, *fault;       /* what does not fit */
};

/* False: c->code and c->fault say why not, and the results are nothing. */
typedef bool kernel_function(struct kernel_call *c);

enum kernel_flags {
    KERNEL_MOVES = 1,       /* elements only change places: exact, and a range of integers goes through */
    KERNEL_CURVED = 2,      /* not linear: in a gradient phase its name means another function */
};

struct kernel {
    const char *name;       /* the operation */
    kernel_function *run;
    u32 flags;
    const char *formula;    /* as docs/execution.md has it */
};

extern const struct kernel kernels[];
extern const u32 n_kernels;

const struct kernel *kernel_find(const char *name);     /* or NULL */

/* Multiplications of one call, as the limit of work counts them. */
u64 kernel_work(const struct kernel *k, const struct tensor *in, u32 n_in, const struct tensor *out);

#define KERNEL(name, function, flags, formula) kernel_function kernel_##function;
#include "execute/kernels.def"
#undef KERNEL

/* ---- What kernels are made of ---- */

/* Always false: sets the fault. CODE as in rules.c. */
bool kernel_refuse(struct kernel_call *c, const char *code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Operand I has RANK dimensions at least; dimension I of operand A and K of operand B have one size here. */
bool kernel_rank(struct kernel_call *c, u32 i, u32 rank);
bool kernel_same(struct kernel_call *c, u32 a, u32 i, u32 b, u32 k);

/* Operand I has the box sizes of operand 0; result I has these sizes. */
bool kernel_like(struct kernel_call *c, u32 i);
bool kernel_makes(struct kernel_call *c, u32 i, const u64 *sizes, u32 rank);

static inline u64 last_size(const struct tensor *t)
{
    return t->rank ? t->size[t->rank - 1] : 1;
}

/* Elements divided by those of the last dimension. */
static inline u64 row_count(const struct tensor *t)
{
    return last_size(t) ? t->n / last_size(t) : 0;
}

#endif
