/* What the passes that plan a distributed block do alike: what they take, buffers, tasks one to one, objectives. */
#ifndef PASSES_PLAN_H
#define PASSES_PLAN_H

#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "passes/pass.h"
#include "passes/spec.h"
#include "transformer/contract.h"

struct plan {
    struct pass_run *r;
    struct training_strategy strategy;      /* filled in by the pass */
    const struct dist_mesh *mesh;
    const struct dist_scale *scale;
    const struct dist_memory *memory;
};

/* Fills in the rest; refuses a program that lacks one of them, or that another strategy distributed. */
bool plan_accept(struct plan *p);

/* A contract_report: at the strategy's field, or at the number of `scale`. STATE is a struct plan. */
void plan_report(void *state, const struct contract_finding *f);

/* A fact as a number above 0. */
bool plan_number(const struct item *it, qty q, u64 *out);

/* The mesh, the order and which attention is counted. */
void plan_head(struct plan *p);

/* Nothing, if SIZE is 0. SOURCE: what it is from, 0 for its namesake. */
void plan_buffer(struct plan *p, atom name, u8 role, u8 storage, qty size, u32 source);

/* Bytes of a value on one rank: its type divided by the sizes of the axes that split it. False: not exact. */
bool plan_local_bytes(struct plan *p, const struct dist_value *v, qty *out);

/* The image of a task, without its buffers and what it needs. */
struct portable_task *plan_task(struct plan *p, const struct dist_task *t);

/* `implement CAPABILITY [FIRST, SECOND, THIRD]`; NULL from the first that there is none of. */
u32 plan_implement(struct plan *p, const char *capability, const char *first, const char *second, const char *third);

/* A list of the input, as a list of the output. */
u32 plan_copy(struct plan *p, u32 handle);

/* Minimize latency and peak memory. */
void plan_objectives(struct plan *p);

#endif
