#include "conformance/view.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"

#include <stdlib.h>

const char *const step_work_words[STEP_WORK] = { "operations", "read", "write", "message" };
const char *const step_kind_words[] = { "computation", "collective", "transfer", "order", "host call", "reshard" };

/* ---- Reading ---- */

static bool is_task(const struct item *it, const struct stmt *s)
{
    return stmt_entity(it, s)->flags & ENTITY_TASK;
}

static struct step read_dist(const struct item *it, const struct dist_task *t)
{
    static const enum step_kind kinds[] = { [DIST_LOCAL] = STEP_COMPUTE, [DIST_COLLECTIVE] = STEP_COLLECTIVE, [DIST_TRANSFER] = STEP_TRANSFER,
                                            [DIST_RESHARD] = STEP_RESHARD, [DIST_CONTROL] = STEP_ORDER };
    return (struct step){ &t->s, kinds[t->body], dist_phase_enum.words[t->phase].text, t->operation, dist_layer(it, t), t->operands, t->results,
                          t->ranks, t->more->after, t->over, t->more->source, t->more->destination, t->work };
}

static struct step read_portable(const struct item *it, const struct portable_task *t)
{
    static const enum step_kind kinds[] = { [PORTABLE_COMPUTE] = STEP_COMPUTE, [PORTABLE_COLLECTIVE] = STEP_COLLECTIVE,
                                            [PORTABLE_TRANSFER] = STEP_TRANSFER, [PORTABLE_BARRIER] = STEP_ORDER, [PORTABLE_HOST] = STEP_HOST };
    return (struct step){ &t->s, kinds[t->body], portable_phase_enum.words[t->phase].text, t->operation, portable_layer(it, t), t->operands, t->results,
                          t->ranks, t->more->after, t->over, t->more->source, t->more->destination, t->work };
}

static struct step read_concrete(const struct concrete_command *c)
{
    static const enum step_kind kinds[] = { [CONCRETE_LAUNCH] = STEP_COMPUTE, [CONCRETE_COLLECTIVE] = STEP_COLLECTIVE,
                                            [CONCRETE_TRANSFER] = STEP_TRANSFER, [CONCRETE_BARRIER] = STEP_ORDER, [CONCRETE_SIGNAL] = STEP_ORDER,
                                            [CONCRETE_WAIT] = STEP_ORDER, [CONCRETE_HOST_CALL] = STEP_HOST };
    return (struct step){ &c->s, kinds[c->body], NULL, c->operation, 0, c->operands, c->results, c->on, c->more->after, c->over, UINT64_MAX, UINT64_MAX, NULL };
}

static struct step read_step(const struct item *it, const struct stmt *s)
{
    switch (it->kind->layer) {
    case LAYER_DIST: return read_dist(it, (const struct dist_task *)s);
    case LAYER_PORTABLE: return read_portable(it, (const struct portable_task *)s);
    default: return read_concrete((const struct concrete_command *)s);
    }
}

static bool is_serial(const struct item *it, const struct stmt *s)
{
    return it->kind->layer == LAYER_DIST ? s->entity == DIST_ORDER : it->kind->layer == LAYER_PORTABLE ? s->entity == PORTABLE_ORDER
                                                                                                      : s->entity == CONCRETE_ORDER;
}

static void read_mesh(struct view *v, const struct stmt *s)
{
    static const u32 meshes[LAYERS] = { [LAYER_DIST] = DIST_MESH, [LAYER_PORTABLE] = PORTABLE_MESH, [LAYER_CONCRETE] = CONCRETE_MESH };
    enum layer layer = v->it->kind->layer;
    if (v->mesh || s->entity != meshes[layer])
        return;
    v->mesh = s;
    v->axes = layer == LAYER_DIST ? ((const struct dist_mesh *)s)->axes : layer == LAYER_PORTABLE ? ((const struct portable_mesh *)s)->axes
                                                                                                 : ((const struct concrete_mesh *)s)->axes;
}

void view_read(struct view *v, const struct item *it, struct arena *arena)
{
    u32 names = it->ctx->names.n, n = 0;
    *v = (struct view){ .it = it, .arena = arena };
    for (u32 i = 0; i < it->n_stmts; i++)
        n += is_task(it, it->stmts[i]);
    v->steps = ARENA_ARRAY(arena, struct step, n + 1);
    v->number = ARENA_ARRAY(arena, u32, names);
    v->maker = ARENA_ARRAY(arena, u32, names);
    memset(v->number, 0, names * sizeof *v->number);
    memset(v->maker, 0, names * sizeof *v->maker);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *s = it->stmts[i];
        v->serial = v->serial || is_serial(it, s);
        read_mesh(v, s);
        if (!is_task(it, s))
            continue;
        struct step step = v->steps[v->n++] = read_step(it, s);
        v->number[s->name] = v->n;
        for (u32 k = 0; k < list_n(it, step.results); k++)
            v->maker[list_at(it, step.results)[k]] = v->n;
        v->n_values += list_n(it, step.results) + list_n(it, step.operands);
    }
}

bool view_find(const struct view *v, atom name, u32 *step)
{
    *step = v->number[name] - 1;
    return v->number[name] != 0;
}

bool view_over(const struct view *v, u32 over, atom axis)
{
    for (u32 i = 0; i < list_n(v->it, over); i++)
        if (list_at(v->it, over)[i] == axis)
            return true;
    return !over;
}

enum { SHOWN_AXES = 8 };

const char *view_over_text(const struct view *v, u32 over)
{
    const char *text = "";
    u32 n = list_n(v->it, over);
    for (u32 i = 0; i < n && i < SHOWN_AXES; i++)
        text = arena_format(v->arena, "%s%s%s", text, i ? ", " : "", context_text(v->it->ctx, list_at(v->it, over)[i]));
    return over ? arena_format(v->arena, "{%s%s}", text, n > SHOWN_AXES ? ", ..." : "") : "all";
}

/* ---- Order ---- */

struct visitor {
    void (*visit)(void *state, u32 before, u32 after);
    void *state;
};

static void visit_after(const struct view *v, u32 step, struct visitor *to)
{
    u32 before, after = v->steps[step].after;
    for (u32 i = 0; i < list_n(v->it, after); i++)
        if (view_find(v, ref_atom(list_at(v->it, after)[i]), &before))
            to->visit(to->state, before, step);
}

/* Behind the last task above that made what it reads: buffers may be made again. LAST: by atom, number + 1. */
static void visit_operands(const struct view *v, u32 step, u32 *last, struct visitor *to)
{
    u32 operands = v->steps[step].operands, results = v->steps[step].results;
    for (u32 i = 0; i < list_n(v->it, operands); i++) {
        u32 maker = last[list_at(v->it, operands)[i]];
        if (maker)
            to->visit(to->state, maker - 1, step);
    }
    for (u32 i = 0; i < list_n(v->it, results); i++)
        last[list_at(v->it, results)[i]] = step + 1;
}

/* Who signals each token, by atom: number + 1. */
static void visit_tokens(const struct view *v, struct visitor *to)
{
    u32 names = v->it->ctx->names.n, *signaller = ARENA_ARRAY(v->arena, u32, names);
    memset(signaller, 0, names * sizeof *signaller);
    for (u32 i = 0; i < v->n; i++) {
        u32 tokens = ((const struct concrete_command *)v->steps[i].s)->more->signal;
        for (u32 k = 0; k < list_n(v->it, tokens); k++)
            signaller[ref_atom(list_at(v->it, tokens)[k])] = i + 1;
    }
    for (u32 i = 0; i < v->n; i++) {
        u32 tokens = ((const struct concrete_command *)v->steps[i].s)->more->wait;
        for (u32 k = 0; k < list_n(v->it, tokens); k++) {
            u32 before = signaller[ref_atom(list_at(v->it, tokens)[k])];
            if (before)
                to->visit(to->state, before - 1, i);
        }
    }
}

/* ---- Queues: each exists on each of its devices, and orders what runs there ---- */

/* A rank that both run on; lists of first, last pairs, 0 is every rank. */
static bool share_rank(const struct item *it, u32 a, u32 b)
{
    if (!list_n(it, a) || !list_n(it, b) || a == b)
        return true;
    for (u32 i = 0; i + 1 < list_n(it, a); i += 2)
        for (u32 k = 0; k + 1 < list_n(it, b); k += 2)
            if (list_at(it, a)[i] <= list_at(it, b)[k + 1] && list_at(it, b)[k] <= list_at(it, a)[i + 1])
                return true;
    return false;
}

/* The commands of a queue that nothing behind them has followed on all of their ranks yet. */
struct frontier {
    u32 *steps, n, cap;
};

static void frontier_add(const struct view *v, struct frontier *f, u32 step, struct visitor *to)
{
    u32 ranks = v->steps[step].ranks, kept = 0;
    for (u32 i = 0; i < f->n; i++) {
        u32 before = v->steps[f->steps[i]].ranks;
        if (share_rank(v->it, before, ranks))
            to->visit(to->state, f->steps[i], step);
        if (before != ranks && list_n(v->it, ranks))
            f->steps[kept++] = f->steps[i];
    }
    f->n = kept;
    *VEC_PUSH(f->steps, f->n, f->cap) = step;
}

static const struct concrete_queue *ordered_queue(const struct item *it, atom name)
{
    const struct concrete_queue *queue = name ? (const struct concrete_queue *)item_symbol(it, name) : NULL;
    return queue && queue->ordered ? queue : NULL;
}

/* Commands of an ordered queue, one behind the other: as `issue` lists them, or as they stand. */
static void visit_queues(const struct view *v, struct visitor *to)
{
    const struct item *it = v->it;
    u32 names = it->ctx->names.n, step;
    struct frontier *frontiers = ARENA_ARRAY(v->arena, struct frontier, names);
    u8 *listed = ARENA_ARRAY(v->arena, u8, names);
    memset(frontiers, 0, names * sizeof *frontiers);
    memset(listed, 0, names);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct concrete_issue *issue = (const struct concrete_issue *)it->stmts[i];
        if (issue->s.entity != CONCRETE_ISSUE)
            continue;
        listed[issue->queue] = 1;
        for (u32 k = 0; ordered_queue(it, issue->queue) && k < list_n(it, issue->commands); k++)
            if (view_find(v, ref_atom(list_at(it, issue->commands)[k]), &step))
                frontier_add(v, &frontiers[issue->queue], step, to);
    }
    for (u32 i = 0; i < v->n; i++) {
        atom name = ((const struct concrete_command *)v->steps[i].s)->queue;
        if (ordered_queue(it, name) && !listed[name])
            frontier_add(v, &frontiers[name], i, to);
    }
    for (u32 i = 0; i < names; i++)
        free(frontiers[i].steps);
}

static bool has_slots(const struct view *v)
{
    return v->it->kind->layer == LAYER_CONCRETE && v->n && ((const struct concrete_command *)v->steps[0].s)->cycle != UINT64_MAX;
}

void view_dependencies(const struct view *v, void (*visit)(void *state, u32 before, u32 after), void *state)
{
    struct visitor to = { visit, state };
    bool concrete = v->it->kind->layer == LAYER_CONCRETE;
    u32 *last = ARENA_ARRAY(v->arena, u32, concrete ? 1 : v->it->ctx->names.n);
    for (u32 i = 0; i < v->n; i++) {
        if (v->serial && i)
            visit(state, i - 1, i);
        visit_after(v, i, &to);
        if (!concrete)
            visit_operands(v, i, last, &to);
    }
    if (concrete) {
        visit_tokens(v, &to);
        visit_queues(v, &to);
    }
}

static void add_edge(void *state, u32 before, u32 after)
{
    order_add(state, before, after);
}

struct slot {
    u64 cycle, slot;
    u32 step;
};

static int by_slot(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* A level for each slot in which something issues: the verifier has seen that all commands have one. */
static void order_by_slots(const struct view *v, struct order *o)
{
    struct slot *slots = ARENA_ARRAY(v->arena, struct slot, v->n);
    u32 *level = ARENA_ARRAY(v->arena, u32, v->n);
    for (u32 i = 0; i < v->n; i++) {
        const struct concrete_command *c = (const struct concrete_command *)v->steps[i].s;
        slots[i] = (struct slot){ c->cycle, c->slot, i };
    }
    qsort(slots, v->n, sizeof *slots, by_slot);
    for (u32 i = 0, at = 0; i < v->n; i++) {
        at += i && (slots[i].cycle != slots[i - 1].cycle || slots[i].slot != slots[i - 1].slot);
        level[slots[i].step] = at;
    }
    order_levels(o, v->arena, v->n, level);
}

bool view_order(const struct view *v, struct order *o)
{
    if (has_slots(v)) {
        order_by_slots(v, o);
        return true;
    }
    if (v->serial) {
        order_serial(o, v->arena, v->n);
        return true;
    }
    order_begin(o, v->arena, v->n);
    view_dependencies(v, add_edge, o);
    return order_close(o);
}
