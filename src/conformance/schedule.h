/* The steps of an item with the ranks that take part, and which of two comes first. */
#ifndef CONFORMANCE_SCHEDULE_H
#define CONFORMANCE_SCHEDULE_H

#include "conformance/checker.h"
#include "conformance/view.h"

#include "ir/ranks.h"

struct schedule {
    struct check *check;
    struct view view;
    struct rank_sets sets;          /* all: the mesh, or the devices; without either, all that are named */
    u32 *set;                       /* by step: a number of SETS; of a transfer with ends, what it names beside them */
    struct order order;             /* as view_order, and what is read by effect behind its maker */
};

/* The sets of a view's item: all are the ranks of the mesh, or of the devices; without either, all that are named. */
void schedule_ranks(const struct view *v, struct rank_sets *out);

/* IT is verified. False: its steps wait for one another, which a verifier reports. */
bool schedule_read(struct schedule *x, struct check *c, const struct item *it);

/* Calls VISIT with each dependency that ORDER was made of, unless slots made it. */
void schedule_dependencies(const struct schedule *x, void (*visit)(void *state, u32 before, u32 after), void *state);

#endif
