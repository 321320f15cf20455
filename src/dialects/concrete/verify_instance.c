/*
 * The nodes of the order of a plan with ordered queues. A queue is one on each of its devices, so it orders two commands
 * only on a rank that both run on; `after` and tokens wait for a command on all of its ranks. So a command is a node on
 * each class of ranks that the plan treats alike, and has a join, which comes after all of these. What meets on all of its
 * ranks, a collective, a routed transfer or a barrier, is one node.
 */
#include "dialects/concrete/verify.h"

#include <stdlib.h>

/* Past this many nodes a queue is taken to order all of its commands, as if there were one for all ranks. */
enum { MOST_NODES = 1 << 21 };

/* ---- Classes of ranks: parts that are in the same sets ---- */

struct cutting {
    struct plan *p;
    const u32 *sets;                /* each set that something is on, once */
    u32 n_sets;
};

/* Regions, commands, and the ends of routes. */
static void find_sets(struct cutting *c)
{
    struct plan *p = c->p;
    u32 n = 0, kept = 0, *sets = ARENA_ARRAY(&p->v->scratch, u32, p->n_memories + 3 * (size_t)p->n_commands + 1);
    sets[n++] = ALL_RANKS;
    for (u32 i = 0; i < p->n_memories; i++)
        sets[n++] = rank_set_of(&p->ranks, p->memories[i]->on);
    for (u32 i = 0; i < p->n_commands; i++) {
        sets[n++] = p->set[i];
        if (!p->route[i])
            continue;
        sets[n++] = plan_end(p, i, true);
        sets[n++] = plan_end(p, i, false);
    }
    u8 *seen = ARENA_ARRAY(&p->v->scratch, u8, p->ranks.n);
    for (u32 i = 0; i < n; i++)
        if (!seen[sets[i]]) {
            seen[sets[i]] = 1;
            sets[kept++] = sets[i];
        }
    c->sets = sets;
    c->n_sets = kept;
}

/* How many parts begin below RANK. */
static u32 parts_below(const struct plan *p, u64 rank)
{
    u32 low = 0, high = p->n_parts;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (p->parts[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Calls VISIT for each part of a set. */
static void each_part(struct plan *p, u32 set, void (*visit)(struct plan *p, u32 part, void *state), void *state)
{
    const struct rank_set *s = &p->ranks.sets[set];
    for (u32 i = 0; i < s->n; i++)
        for (u32 part = parts_below(p, s->ranges[i].first); part < p->n_parts && p->parts[part] <= s->ranges[i].last; part++)
            visit(p, part, state);
}

/* Parts in all sets together. */
static u64 count_parts(const struct cutting *c)
{
    const struct plan *p = c->p;
    u64 n = 0;
    for (u32 i = 0; i < c->n_sets; i++)
        for (u32 k = 0; k < p->ranks.sets[c->sets[i]].n; k++) {
            struct rank_range range = p->ranks.sets[c->sets[i]].ranges[k];
            n += parts_below(p, (u64)range.last + 1) - parts_below(p, range.first);
        }
    return n;
}

struct refinement {
    u32 *members, *inside, *to;     /* by class: its parts, those in the set, and the class that these become + 1 */
    u32 n;
};

static void count_inside(struct plan *p, u32 part, void *state)
{
    struct refinement *r = state;
    r->inside[p->class_of[part]]++;
    r->to[p->class_of[part]] = 0;
}

/* The first part of a class decides: the set has all of the class, or cuts it. */
static void move_inside(struct plan *p, u32 part, void *state)
{
    struct refinement *r = state;
    u32 from = p->class_of[part];
    if (!r->to[from])
        r->to[from] = r->inside[from] == r->members[from] ? from + 1 : ++r->n;
    r->inside[from]--;
    r->members[from]--;
    r->members[r->to[from] - 1]++;
    p->class_of[part] = r->to[from] - 1;
}

/* Classes in the order of their first parts, so that the ranks that stand for them ascend. */
static void number_classes(struct plan *p, u32 n)
{
    u32 *number = ARENA_ARRAY(&p->v->scratch, u32, n + (size_t)1), *reps = ARENA_ARRAY(&p->v->scratch, u32, n + (size_t)1);
    p->n_classes = 0;
    for (u32 i = 0; i < p->n_parts; i++) {
        u32 *to = &number[p->class_of[i]];
        if (!*to) {
            reps[p->n_classes] = p->parts[i];
            *to = ++p->n_classes;
        }
        p->class_of[i] = *to - 1;
    }
    p->reps = reps;
}

static void refine(struct cutting *c)
{
    struct plan *p = c->p;
    struct arena *a = &p->v->scratch;
    size_t room = 2 * (size_t)p->n_parts + 2;
    struct refinement r = { ARENA_ARRAY(a, u32, room), ARENA_ARRAY(a, u32, room), ARENA_ARRAY(a, u32, room), 1 };
    p->class_of = ARENA_ARRAY(a, u32, room);
    r.members[0] = p->n_parts;
    for (u32 i = 0; i < c->n_sets; i++) {
        each_part(p, c->sets[i], count_inside, &r);
        each_part(p, c->sets[i], move_inside, &r);
    }
    number_classes(p, r.n);
}

/* False: one class, so that a command is a node; or too many parts. */
static bool make_classes(struct plan *p)
{
    struct cutting c = { .p = p };
    find_sets(&c);
    p->n_parts = rank_sets_cut(&p->ranks, c.sets, c.n_sets, &p->v->scratch, &p->parts);
    if (p->n_parts < 2 || count_parts(&c) > 8 * (u64)MOST_NODES)
        return false;
    refine(&c);
    return p->n_classes > 1;
}

/* ---- Nodes ---- */

static bool meets(const struct plan *p, u32 command)
{
    u8 body = p->commands[command]->body;
    return body == CONCRETE_COLLECTIVE || body == CONCRETE_BARRIER || (body == CONCRETE_TRANSFER && p->route[command]);
}

static bool has_chains(const struct plan *p)
{
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->previous[i])
            return true;
    return false;
}

struct found {
    u32 *at, n, *stamp, set;        /* stamp: by class, the set in which it was found last + 1 */
};

static void find_class(struct plan *p, u32 part, void *state)
{
    struct found *f = state;
    u32 class = p->class_of[part];
    if (f->stamp[class] == f->set + 1)
        return;
    f->stamp[class] = f->set + 1;
    f->at[f->n++] = class;
}

static int by_class(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

/* The classes of each set that a command is on, ascending. */
static void list_classes(struct plan *p)
{
    struct arena *a = &p->v->scratch;
    struct found f = { .at = ARENA_ARRAY(a, u32, p->n_classes + (size_t)1), .stamp = ARENA_ARRAY(a, u32, p->n_classes + (size_t)1) };
    p->classes_of = ARENA_ARRAY(a, struct class_list, p->ranks.n + (size_t)1);
    for (u32 i = 0; i < p->n_commands; i++) {
        struct class_list *l = &p->classes_of[p->set[i]];
        if (l->at)
            continue;
        f.n = 0;
        f.set = p->set[i];
        each_part(p, p->set[i], find_class, &f);
        qsort(f.at, f.n, sizeof *f.at, by_class);
        l->at = ARENA_ARRAY(a, u32, f.n + (size_t)1);
        memcpy(l->at, f.at, f.n * sizeof *f.at);
        l->n = f.n;
    }
}

/* False: too many. */
static bool number_nodes(struct plan *p)
{
    u64 n = 0;
    u32 *node = ARENA_ARRAY(&p->v->scratch, u32, p->n_commands + (size_t)1);
    for (u32 i = 0; i < p->n_commands && n < MOST_NODES; i++) {
        node[i] = (u32)n;
        n += meets(p, i) ? 1 : p->classes_of[p->set[i]].n;
    }
    if (n >= MOST_NODES)
        return false;
    node[p->n_commands] = (u32)n;
    p->owner = ARENA_ARRAY(&p->v->scratch, u32, n + p->n_commands + 1);
    for (u32 i = 0; i < p->n_commands; i++) {
        for (u32 k = node[i]; k < node[i + 1]; k++)
            p->owner[k] = i;
        p->owner[n + i] = i;        /* its join */
    }
    p->node = node;
    return true;
}

static u32 class_at(const struct plan *p, u32 rank)
{
    return p->class_of[parts_below(p, (u64)rank + 1) - 1];
}

u32 plan_node(const struct plan *p, u32 command, u32 rank)
{
    if (!p->node || p->node[command + 1] - p->node[command] == 1)
        return p->node ? p->node[command] : command;
    const struct class_list *l = &p->classes_of[p->set[command]];
    u32 low = 0, high = l->n, class = class_at(p, rank);
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (l->at[middle] < class)
            low = middle + 1;
        else
            high = middle;
    }
    return p->node[command] + low;
}

/* ---- Edges ---- */

struct chains {
    u32 *next;              /* by command: number + 1 of the one that its queue issues behind it, or 0 */
    u32 *last, *chain;      /* by class: the last node of the chain whose first command is CHAIN - 1 */
};

/* A queue's commands, from FIRST on: in each class each behind the one before. */
static void add_chain(struct plan *p, u32 first, struct chains *q)
{
    for (u32 c = first, more = 1; more; more = q->next[c], c = more - 1) {
        const struct class_list *l = &p->classes_of[p->set[c]];
        bool one = p->node[c + 1] - p->node[c] == 1;
        u32 before = UINT32_MAX;
        for (u32 i = 0; i < l->n; i++) {
            u32 class = l->at[i], node = p->node[c] + (one ? 0 : i);
            if (q->chain[class] == first + 1 && (!one || q->last[class] != before))
                order_add(&p->order, before = q->last[class], node);
            q->chain[class] = first + 1;
            q->last[class] = node;
        }
    }
}

static void add_chains(struct plan *p)
{
    struct arena *a = &p->v->scratch;
    struct chains q = { ARENA_ARRAY(a, u32, p->n_commands + (size_t)1), ARENA_ARRAY(a, u32, p->n_classes + (size_t)1),
                        ARENA_ARRAY(a, u32, p->n_classes + (size_t)1) };
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->previous[i])
            q.next[p->previous[i] - 1] = i + 1;
    for (u32 i = 0; i < p->n_commands; i++)
        if (!p->previous[i] && q.next[i])
            add_chain(p, i, &q);
}

static u32 join_of(const struct plan *p, u32 command)
{
    return p->node[p->n_commands] + command;
}

static void add_wait(struct plan *p, u32 c, u32 before, void *state)
{
    u32 from = p->node[before + 1] - p->node[before] == 1 ? p->node[before] : join_of(p, before);
    (void)state;
    for (u32 k = p->node[c]; k < p->node[c + 1]; k++)
        order_add(&p->order, from, k);
}

static void add_joins(struct plan *p)
{
    for (u32 i = 0; i < p->n_commands; i++)
        for (u32 k = p->node[i]; k < p->node[i + 1] && p->node[i + 1] - p->node[i] > 1; k++)
            order_add(&p->order, k, join_of(p, i));
}

bool concrete_verify_instances(struct plan *p)
{
    if (!has_chains(p) || !make_classes(p))
        return false;
    list_classes(p);
    if (!number_nodes(p))
        return false;
    order_begin(&p->order, &p->v->scratch, join_of(p, p->n_commands));
    add_joins(p);
    for (u32 i = 0; i < p->n_commands; i++)
        plan_dependencies(p, i, add_wait, NULL);
    add_chains(p);
    return true;
}
