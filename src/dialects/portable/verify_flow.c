/* Rules of order: a task runs behind the last makers of its operands and behind `after`, and what changes in place is
 * never touched by two tasks of which neither comes first. */
#include "dialects/portable/verify.h"

static const char *task_text(const struct plan *p, u32 task)
{
    return stmt_text(p->it, &p->tasks[task]->s);
}

/* ---- Edges ---- */

struct edges {
    struct plan *p;
    struct order *order;
    bool unknown;           /* some `after` names nothing */
    u32 *last;              /* by buffer: number + 1 of the last task so far whose result it is */
};

static void add_edge(struct edges *e, u32 before, u32 task)
{
    if (!e->p->serial)
        order_add(e->order, before, task);
}

static void check_operand(struct edges *e, u32 task, atom name)
{
    struct plan *p = e->p;
    u32 buffer;
    if (!plan_buffer(p, name, &buffer) || !p->maker[buffer])
        return;
    if (e->last[buffer]) {
        add_edge(e, e->last[buffer] - 1, task);
        return;
    }
    if (is_reusable(p->buffers[buffer]))
        return;
    u32 maker = p->maker[buffer] - 1;
    const char *text = value_text(p->it, name);
    verify_error(p->v, &p->tasks[task]->s, NULL, text, "portable.operand.early", maker == task ? "%s reads %s, which it makes itself"
                 : "%s reads %s before it is made", task_text(p, task), text);
    if (maker == task) {
        verify_note_legal(p->v, "what changes in place has the role `state`, `workspace` or `communication`");
    } else {
        verify_note(p->v, &p->tasks[maker]->s, "results", text, "%s makes it here, below", task_text(p, maker));
        verify_note_legal(p->v, "a task stands below the makers of its operands");
    }
}

static void check_after(struct edges *e, u32 task)
{
    struct plan *p = e->p;
    const struct portable_task *t = p->tasks[task];
    for (u32 i = 0; i < list_n(p->it, t->more->after); i++) {
        u32 ref = list_at(p->it, t->more->after)[i], other = ref_is_value(ref) ? 0 : p->task_of[ref_atom(ref)];
        e->unknown = e->unknown || !other;
        if (!other || other - 1 == task)
            continue;
        if (other - 1 < task) {
            add_edge(e, other - 1, task);
            continue;
        }
        verify_error(p->v, &t->s, "after", task_text(p, other - 1), "portable.after.order", "%s comes after %s, which stands below it",
                     task_text(p, task), task_text(p, other - 1));
        verify_note(p->v, &p->tasks[other - 1]->s, NULL, NULL, "here; tasks stand in an order in which they can run");
    }
}

/* False: something is wrong with the order, so that conflicts would only follow. */
static bool make_order(struct plan *p, struct order *o)
{
    u32 errors = p->v->errors;
    struct edges e = { p, o, false, ARENA_ARRAY(&p->v->scratch, u32, p->n_buffers + 1) };
    order_begin(o, &p->v->scratch, p->n_tasks);
    for (u32 i = 0; i < p->n_tasks; i++) {
        const struct portable_task *t = p->tasks[i];
        u32 buffer;
        for (u32 k = 0; k < list_n(p->it, t->operands); k++)
            check_operand(&e, i, list_at(p->it, t->operands)[k]);
        check_after(&e, i);
        for (u32 k = 0; k < list_n(p->it, t->results); k++)
            if (plan_buffer(p, list_at(p->it, t->results)[k], &buffer))
                e.last[buffer] = i + 1;
    }
    if (p->serial)
        order_serial(o, &p->v->scratch, p->n_tasks);
    else
        order_close(o);     /* every edge points downwards: no cycle */
    return !e.unknown && p->v->errors == errors;
}

/* ---- Accesses: of what changes in place, and of what some effect touches besides its maker's result ---- */

struct collector {
    struct plan *p;
    struct accesses *accesses;
    bool counting;
    u8 *checked;            /* by buffer */
};

static u32 endpoint(struct plan *p, const struct portable_task *t, u64 rank)
{
    return t->body == PORTABLE_TRANSFER && rank < UINT32_MAX ? rank_set_one(&p->ranks, (u32)rank) : rank_set_of(&p->ranks, t->ranks);
}

/* A transfer's ranks are its endpoints. */
static u32 own_ranks(struct plan *p, const struct portable_task *t)
{
    u64 source = t->more->source, destination = t->more->destination;
    if (t->body != PORTABLE_TRANSFER || source >= UINT32_MAX || destination >= UINT32_MAX)
        return rank_set_of(&p->ranks, t->ranks);
    const struct rank_range ends[] = { { (u32)source, (u32)source }, { (u32)destination, (u32)destination } };
    return rank_set_ranges(&p->ranks, ends, 2);
}

static void choose_buffers(struct collector *c)
{
    struct plan *p = c->p;
    u32 buffer;
    c->checked = ARENA_ARRAY(&p->v->scratch, u8, p->n_buffers + 1);
    for (u32 i = 0; i < p->n_buffers; i++)
        c->checked[i] = is_reusable(p->buffers[i]);
    for (u32 i = 0; i < p->n_tasks; i++) {
        const u32 *at = list_at(p->it, p->tasks[i]->more->effects);
        for (u32 k = 0; k + 1 < list_n(p->it, p->tasks[i]->more->effects); k += 2)
            if (ref_is_value(at[k + 1]) && plan_buffer(p, ref_atom(at[k + 1]), &buffer) && p->maker[buffer] && at[k] == EFFECT_READ)
                c->checked[buffer] = 1;
    }
}

static void touch(struct collector *c, u32 task, u32 set, atom name, u8 kind)
{
    u32 buffer;
    if (!plan_buffer(c->p, name, &buffer) || !c->checked[buffer])
        return;
    if (!is_reusable(c->p->buffers[buffer]) && kind & ACCESS_WRITE && c->p->maker[buffer] != task + 1)
        return;             /* told: it does not change in place, and has one maker */
    if (c->counting)
        accesses_count(c->accesses, buffer);
    else
        accesses_put(c->accesses, buffer, task, set, kind);
}

static void touch_effects(struct collector *c, u32 task, u32 set)
{
    const struct portable_task *t = c->p->tasks[task];
    const u32 *at = list_at(c->p->it, t->more->effects);
    for (u32 i = 0; i + 1 < list_n(c->p->it, t->more->effects); i += 2)
        if (ref_is_value(at[i + 1]) && access_of_effect(at[i]))
            touch(c, task, set, ref_atom(at[i + 1]), access_of_effect(at[i]));
}

static void collect(struct collector *c)
{
    for (u32 i = 0; i < c->p->n_tasks; i++) {
        const struct portable_task *t = c->p->tasks[i];
        u32 reads = endpoint(c->p, t, t->more->source), writes = endpoint(c->p, t, t->more->destination);
        for (u32 k = 0; k < list_n(c->p->it, t->operands); k++)
            touch(c, i, reads, list_at(c->p->it, t->operands)[k], ACCESS_READ);
        touch_effects(c, i, own_ranks(c->p, t));
        for (u32 k = 0; k < list_n(c->p->it, t->results); k++)
            touch(c, i, writes, list_at(c->p->it, t->results)[k], ACCESS_WRITE);
    }
}

static enum access_start start_of(void *state, u32 buffer)
{
    const struct plan *p = state;
    return p->buffers[buffer]->role == PORTABLE_STATE ? START_FULL : START_EMPTY;
}

static void conflict(void *state, u32 buffer, const struct access *first, const struct access *second)
{
    struct plan *p = state;
    const char *name = stmt_text(p->it, &p->buffers[buffer]->s);
    bool both = first->kind & second->kind & ACCESS_WRITE;
    verify_error(p->v, &p->tasks[second->node]->s, access_field(second), name, "portable.buffer.race", "%s and %s touch %s, %s, and neither comes first",
                 task_text(p, first->node), task_text(p, second->node), name, both ? "both change it" : "one changes it");
    verify_note(p->v, &p->tasks[first->node]->s, access_field(first), name, "the other is here");
    verify_note_legal(p->v, "write `after %s` at %s, or `order serial` in the plan", task_text(p, first->node), task_text(p, second->node));
}

static void unwritten(void *state, u32 buffer, const struct access *read, u32 rank, u32 writer)
{
    struct plan *p = state;
    const struct portable_task *w = writer == NO_NODE ? NULL : p->tasks[writer];
    const char *name = stmt_text(p->it, &p->buffers[buffer]->s);
    bool elsewhere = w && !rank_set_has(&p->ranks, endpoint(p, w, w->more->destination), rank);
    if (elsewhere)
        verify_error(p->v, &p->tasks[read->node]->s, NULL, name, "portable.buffer.unwritten", "%s reads %s on rank %u, where no task has written it",
                     task_text(p, read->node), name, rank);
    else
        verify_error(p->v, &p->tasks[read->node]->s, NULL, name, "portable.buffer.unwritten", "%s reads %s before any task has written it",
                     task_text(p, read->node), name);
    if (w && writer != read->node)
        verify_note(p->v, &w->s, NULL, name, elsewhere ? "%s writes it on other ranks, here" : "%s writes it first, here", task_text(p, writer));
    if (!elsewhere)
        verify_note_legal(p->v, "what holds something from the start is a state, an input or a constant");
    else
        verify_note_legal(p->v, "write it there, too, or move it with a transfer or collective");
}

void portable_verify_flow(struct plan *p)
{
    struct order order;
    struct accesses accesses;
    if (!make_order(p, &order))
        return;
    struct collector c = { .p = p, .accesses = &accesses, .counting = true };
    choose_buffers(&c);
    accesses_begin(&accesses, &p->v->scratch, p->n_buffers);
    collect(&c);
    accesses_allot(&accesses);
    c.counting = false;
    collect(&c);
    accesses_check(&accesses, &p->ranks, &order,
                   &(struct access_report){ .state = p, .start = start_of, .conflict = conflict, .unwritten = unwritten });
}
