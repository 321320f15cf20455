/* What the rules of a concrete plan share. Everything lies in the verifier's scratch. */
#ifndef DIALECTS_CONCRETE_VERIFY_H
#define DIALECTS_CONCRETE_VERIFY_H

#include "dialects/concrete/concrete.h"
#include "ir/access.h"
#include "ir/verify.h"

/* Classes of ranks that a set is. */
struct class_list {
    u32 *at, n;
};

struct plan {
    struct verifier *v;
    const struct item *it;
    const struct item *parent;      /* the portable plan, when it is in the file and whole; else NULL */
    const struct concrete_mesh *mesh;       /* NULL: none */
    const struct concrete_device **devices;
    const struct concrete_memory **memories;
    const struct concrete_queue **queues;
    const struct concrete_bind **binds;
    const struct concrete_command **commands;
    const struct concrete_issue **issues;
    const struct concrete_route **routes;
    u32 n_devices, n_memories, n_queues, n_binds, n_commands, n_issues, n_routes;
    u32 *number;                    /* of a @name in its own list, by atom */
    u32 *bind_of;                   /* by the atom of a %name: number + 1, or 0 */
    struct rank_sets ranks;         /* ALL_RANKS: those that have a device */
    u32 *set;                       /* by command: the ranks that run it */
    bool serial, slots;             /* slots: some command has one */
    bool disorder;                  /* an order or a rank is wrong: hazards would only follow */

    u32 *route;                     /* by command: number + 1 of its route, or 0 */
    u32 *previous;                  /* by command: number + 1 of the one that its queue issues before it, or 0 */
    u32 *signaller;                 /* by the atom of a token: number + 1 of the command that signals it, or 0 */
    struct order order;             /* happens-before of the commands, or of their instances */

    /* Of plans with ordered queues that don't treat all ranks alike; see verify_instance.c. */
    u32 *node;                      /* by command: its first node in the order, up to the next one's; NULL: its number */
    u32 *owner;                     /* by node: the command */
    const u32 *parts, *reps;        /* where the parts of the ranks begin; the lowest rank of each class of parts */
    u32 *class_of;                  /* by part */
    u32 n_parts, n_classes;
    struct class_list *classes_of;  /* by number of a rank set that a command has */
    struct accesses accesses;       /* of the bindings */
};

/* The number of the statement of kind ENTITY that is called @name; false: there is none. */
static inline bool plan_find(const struct plan *p, u32 entity, atom name, u32 *number)
{
    const struct stmt *s = item_symbol(p->it, name);
    *number = s ? p->number[name] : 0;
    return s && s->entity == entity;
}

static inline const char *command_text(const struct plan *p, u32 command)
{
    return stmt_text(p->it, &p->commands[command]->s);
}

/* The region of a binding; false: there is none, which is told elsewhere. */
static inline bool bind_region(const struct plan *p, u32 bind, u32 *memory)
{
    return plan_find(p, CONCRETE_MEMORY, p->binds[bind]->memory, memory);
}

/* The ranks on which a command reads (SOURCE), or writes: of a routed transfer its end, of any other all of its ranks. */
u32 plan_end(struct plan *p, u32 command, bool source);

/* Ranks of a statement: known, and each once. ON is a FIELD_RANKS handle. */
void concrete_verify_ranks(struct plan *p, const struct stmt *s, u32 on);

void concrete_verify_mesh(struct plan *p);          /* the mesh against the devices, and the groups along its axes */
void concrete_verify_place(struct plan *p);         /* devices, memory, bindings one by one */
void concrete_verify_chain(struct plan *p);         /* against parent, target and deployment, where they are in the file */
void concrete_verify_tasks(struct plan *p);         /* against the tasks of the parent, which is there */
void concrete_verify_routes(struct plan *p);        /* fills p->route */
void concrete_verify_commands(struct plan *p);      /* each command by itself */
void concrete_verify_queues(struct plan *p);        /* issue; fills p->previous */
void concrete_verify_tokens(struct plan *p);        /* after, wait and signal; fills p->signaller */

/* Fills p->order; false: there is none, so that nothing that needs it can be judged. */
bool concrete_verify_order(struct plan *p);
bool concrete_verify_instances(struct plan *p);     /* begins the order and adds its edges; false: commands are the nodes */
void concrete_verify_slots(struct plan *p, u32 *level, bool *whole);

void concrete_verify_hazards(struct plan *p);       /* fills p->accesses */
void concrete_verify_overlap(struct plan *p);

/* The node of the order that a command is on a rank of its own. */
u32 plan_node(const struct plan *p, u32 command, u32 rank);

/* Calls VISIT for each command that C must come after: `after`, tokens, and the one above it under `order serial`. */
void plan_dependencies(struct plan *p, u32 c, void (*visit)(struct plan *p, u32 c, u32 before, void *state), void *state);

/* What a binding is by its role in the parent, or in its own words. */
struct life {
    bool from_start, to_end;        /* certain, whatever the commands do */
    bool scratch;                   /* holds nothing before its first write; never from_start */
    bool used;                      /* written so: from its first use to its last */
};
struct life plan_life(const struct plan *p, u32 bind);

#endif
