/*
 * What the files of dist's verifier share: the mesh as coordinates, rank sets as intervals, the state of a value over
 * the mesh, and where each value is made. Everything lies in the verifier's scratch arena.
 */
#ifndef DIALECTS_DIST_VERIFY_H
#define DIALECTS_DIST_VERIFY_H

#include "dialects/dist/dist.h"
#include "ir/ranks.h"
#include "ir/sharding.h"
#include "ir/verify.h"

enum { DIST_MAX_AXES = 64, DIST_REDUCTIONS = 5 };

/* The five words of dist_collective, then what runs no collective. */
enum dist_form {
    DIST_FORM_ALL_REDUCE, DIST_FORM_REDUCE_SCATTER, DIST_FORM_ALL_GATHER, DIST_FORM_ALL_TO_ALL, DIST_FORM_BROADCAST,
    DIST_FORM_LOCAL, DIST_FORM_TRANSFER, DIST_FORM_RESHARD, DIST_FORM_CONTROL, DIST_FORMS,
};

struct dist_axis {
    atom name;
    u64 size, stride;       /* the rank next along the axis is STRIDE further */
};

/* Where a name is declared; at 0: not yet. */
struct dist_place {
    atom name;
    u32 at;                 /* 1 + index of the statement */
    atom updated_by;        /* the value that is its next version */
    bool checked;           /* its own clauses were looked at */
    bool broken, disowned;  /* its sharding, its owners are wrong: no rule may build on them */
};

struct dist_places {
    struct dist_place *slots;
    u32 mask;
};

/* An operand that is made, or a task waited for, further down in the text. */
struct dist_forward {
    u32 task;               /* index of the statement */
    u32 ref;                /* ir/item.h */
};

struct dist_checker {
    struct verifier *v;
    const struct item *it;
    struct context *ctx;
    const struct dist_mesh *mesh;       /* NULL: none, or a broken one: no rule that needs it runs */
    struct dist_axis axes[DIST_MAX_AXES];
    u32 n_axes;
    u64 size;                           /* ranks in the mesh */
    struct rank_sets sets;              /* all: the ranks of the mesh */
    u64 single;                         /* axes of one rank: splitting or reducing over them changes nothing */
    atom collectives[DIST_FORM_LOCAL];  /* their words */
    struct qty_binding *facts;          /* symbol -> multiple_of * symbol */
    u32 n_facts;
    u8 *class_of;                       /* by atom below ctx->n_operations; see verify_local.c */
    atom axis_word, permutation_word;   /* clauses of operations */
    struct dist_places values, tasks;   /* tasks: empty until first asked */
    struct dist_forward *forward;
    u32 n_forward, cap_forward;
    u32 good_ranks;                     /* the last handle found right; programs repeat themselves */
};

/* A value over the mesh. Axis sets are masks of mesh positions, and leave out the axes of one rank. */
struct dist_state {
    const struct dist_value *value;
    const struct type *type;
    struct sharding s;                  /* of the type's rank, also where the text says nothing */
    u64 split, partial;
    u64 partial_of[DIST_REDUCTIONS];
};

/* ---- verify_mesh.c: the mesh and sets of its ranks ---- */

/* Fills the mesh fields; reports what is wrong with it. */
void dist_mesh_check(struct dist_checker *c, const struct dist_mesh *mesh);

/* Position of an axis, or -1. */
int dist_axis_find(const struct dist_checker *c, atom name);
const char *dist_axis_nearest(const struct dist_checker *c, atom name);

/* Product of the sizes of the axes in MASK. */
u64 dist_axes_size(const struct dist_checker *c, u64 mask);

/* "{dp, tp}", in the scratch arena. */
const char *dist_axes_text(const struct dist_checker *c, u64 mask);

/* ---- verify_ranks.c ---- */

/* Each rank in the mesh, none twice, at least one. HANDLE 0, all ranks, is right. */
bool dist_ranks_check(struct dist_checker *c, const struct stmt *s, const char *field, u32 handle);

/*
 * True when the SET, a number of c->sets, is a union of groups: ranks that differ in nothing but the axes of MASK. Else
 * a rank that is in it, and one of its group that is not.
 */
bool dist_ranks_grouped(const struct dist_checker *c, u32 set, u64 mask, u64 *in, u64 *out);

/* The group of RANK as text: "[0..3]", cut short when it is long. */
const char *dist_group_text(const struct dist_checker *c, u64 rank, u64 mask);

/* ---- verify_value.c ---- */

/* Checks sharding, owners and updates of a declared value or a result, when this was not done yet. */
struct dist_place *dist_value_check(struct dist_checker *c, const struct dist_value *value);

/* States, parameters and versions of them change; nothing else does. */
bool dist_value_changes(const struct dist_value *value);

/* ---- verify_state.c ---- */

/* False when the value is unknown or its own clauses are wrong. */
bool dist_state_read(struct dist_checker *c, atom name, struct dist_state *out);

/* "{dp, tp}"; "`sharding [{}, {tp}] partial sum {dp}`", or "replicated". */
const char *dist_list_text(const struct dist_checker *c, struct axis_list list);
const char *dist_state_text(const struct dist_checker *c, const struct sharding *s);

/* Bytes that one rank holds when the axes of MASK split the value; false when they are not exact or can't be proved. */
bool dist_state_bytes(struct dist_checker *c, const struct dist_state *state, u64 mask, qty *out);

/* True when both are split and partial alike over the axes that are not in IGNORED. Split axes stand in order. */
bool dist_state_same(const struct dist_checker *c, const struct dist_state *a, const struct dist_state *b, u64 ignored);
bool dist_list_same(const struct dist_checker *c, struct axis_list a, struct axis_list b, u64 ignored);

/* ---- verify_quantity.c: what can be proved of quantities with symbols ---- */

enum dist_proof { DIST_WRONG, DIST_UNPROVED, DIST_PROVED };

void dist_facts_init(struct dist_checker *c);

/* Does N divide Q for all values of its symbols? When it never does: the remainder. */
enum dist_proof dist_divides(struct dist_checker *c, qty q, u64 n, u64 *remainder);

/* Q with each symbol replaced by its fact, multiple_of * symbol. */
bool dist_apply_facts(struct dist_checker *c, qty q, qty *out);

/*
 * Are A and B, to both of which the facts are applied, one quantity? DIST_WRONG comes with numbers: what they are when
 * every symbol is TIMES its `multiple_of`.
 */
enum dist_proof dist_equal(struct dist_checker *c, qty a, qty b, u64 *times, u128 *a_value, u128 *b_value);

/* ---- verify_flow.c: who makes what, and in which order ---- */

/* The entry of a name, made on first sight: only for names declared in the item. It stays where it is. */
struct dist_place *dist_place_of(const struct dist_places *p, atom name);
void dist_places_init(struct dist_checker *c, struct dist_places *p, u32 n);    /* room for N names */
void dist_flow_task(struct dist_checker *c, const struct dist_task *t, u32 index);
void dist_flow_end(struct dist_checker *c);         /* what can be said only when all tasks are known */

/* ---- verify_task.c: the fields of each body, transfers, effects ---- */

/* The form of a task; DIST_FORMS when its collective is unknown. */
enum dist_form dist_form_of(const struct dist_checker *c, const struct dist_task *t);
void dist_task_check(struct dist_checker *c, const struct dist_task *t);

/* ---- verify_effects.c ---- */
void dist_effects_check(struct dist_checker *c, const struct dist_task *t);

/* ---- verify_collective.c: transitions of collectives, transfers and reshards ---- */
void dist_collective_check(struct dist_checker *c, const struct dist_task *t, enum dist_form form);

/* ---- verify_message.c: the message against the types ---- */
void dist_message_check(struct dist_checker *c, const struct dist_task *t, enum dist_form form, u64 over);

/* ---- verify_shape.c: what an operation ties together ---- */

/* Dimensions of operands and results with one label are one dimension. Labels below MAX_RANK: of the first operand. */
enum { DIST_CONTRACTED = MAX_RANK, DIST_COLUMNS, DIST_LABELS, DIST_FREE = DIST_LABELS };

struct dist_shape {
    const struct operation *op;
    u32 rank;                           /* of the first operand */
    u32 permutation[MAX_RANK], axis;    /* the operation's own clauses */
};

void dist_shape_init(struct dist_checker *c);

/* Ranks and sizes of the operands and results that are written. False, reported, when the labels don't fit them. */
bool dist_shape_check(struct dist_checker *c, const struct dist_task *t, const struct operation *op,
                      struct dist_shape *out);

/* The label of dimension DIM of a result, or of operand I, that has RANK dimensions; DIST_FREE: tied to nothing. */
u8 dist_label_of(const struct dist_shape *x, bool result, u32 i, u32 dim, u32 rank);

/* ---- verify_local.c: shardings through local operations ---- */
void dist_local_init(struct dist_checker *c);
void dist_local_check(struct dist_checker *c, const struct dist_task *t);

/* The mesh axes that `over` names, all of them by default; false when one is unknown (reported elsewhere). */
bool dist_over_mask(const struct dist_checker *c, const struct dist_task *t, u64 *out);

/* Statement of a %name as a value, or NULL. */
static inline const struct dist_value *dist_value_named(const struct dist_checker *c, atom name)
{
    return (const struct dist_value *)item_value(c->it, name);
}

#endif
