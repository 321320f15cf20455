/*
 * Dataflow: each value is made once and before it is read, and each task waits only for tasks above it, so that the text
 * is an order in which the program can run. What waits for something below is either out of place or in a cycle.
 */
#include "dialects/dist/verify.h"

#include "ir/order.h"

void dist_places_init(struct dist_checker *c, struct dist_places *p, u32 n)
{
    u32 size = 16;
    while (size < 2 * (u64)n)
        size *= 2;
    p->slots = ARENA_ARRAY(&c->v->scratch, struct dist_place, size);
    p->mask = size - 1;
}

/* As in ir/item.c, neighbours by atom stay neighbours. */
struct dist_place *dist_place_of(const struct dist_places *p, atom name)
{
    u32 i = name & p->mask;
    while (p->slots[i].name && p->slots[i].name != name)
        i = (i + 1) & p->mask;
    p->slots[i].name = name;
    return &p->slots[i];
}

/* ---- As the text goes ---- */

static void add_forward(struct dist_checker *c, u32 task, u32 ref)
{
    if (c->n_forward == c->cap_forward) {
        struct dist_forward *bigger = ARENA_ARRAY(&c->v->scratch, struct dist_forward, 2 * c->cap_forward + 16);
        if (c->n_forward)
            memcpy(bigger, c->forward, c->n_forward * sizeof *bigger);
        c->forward = bigger;
        c->cap_forward = 2 * c->cap_forward + 16;
    }
    c->forward[c->n_forward++] = (struct dist_forward){ task, ref };
}

static void read_operands(struct dist_checker *c, const struct dist_task *t, u32 index)
{
    const u32 *at = list_at(c->it, t->operands);
    for (u32 i = 0; i < list_n(c->it, t->operands); i++) {
        const struct dist_value *value = dist_value_named(c, at[i]);
        if (value && value->s.is_result && !dist_place_of(&c->values, at[i])->at)
            add_forward(c, index, REF_VALUE(at[i]));
    }
}

static bool reads(u32 effect)
{
    return effect == EFFECT_READ || effect == EFFECT_UPDATE || effect == EFFECT_RANDOM;
}

/* What an effect reads must exist by then, too. */
static void read_effects(struct dist_checker *c, const struct dist_task *t, u32 index)
{
    const u32 *at = list_at(c->it, t->more->effects);
    for (u32 i = 0; i + 1 < list_n(c->it, t->more->effects); i += 2) {
        const struct dist_value *value =
            reads(at[i]) && ref_is_value(at[i + 1]) ? dist_value_named(c, ref_atom(at[i + 1])) : NULL;
        if (value && value->s.is_result && !dist_place_of(&c->values, value->s.name)->at)
            add_forward(c, index, at[i + 1]);
    }
}

static void make_result(struct dist_checker *c, const struct dist_task *t, u32 index, atom name)
{
    const struct dist_value *value = dist_value_named(c, name);
    struct dist_place *place = dist_place_of(&c->values, name);
    if (value->s.is_result && !place->at) {
        place->at = index + 1;
        return;
    }
    const char *text = value_text(c->it, name);
    if (!value->s.is_result) {
        verify_error(c->v, &t->s, NULL, text, "dist.dataflow.multiple_definition",
                     "%s exists before the program, so %s can't make it", text, stmt_text(c->it, &t->s));
        verify_note(c->v, &value->s, NULL, NULL, "declared here");
    } else {
        verify_error(c->v, &t->s, NULL, text, "dist.dataflow.multiple_definition", "%s is made twice, by %s and by %s",
                     text, stmt_text(c->it, c->it->stmts[place->at - 1]), stmt_text(c->it, &t->s));
        verify_note(c->v, c->it->stmts[place->at - 1], NULL, text, "made here first");
    }
    verify_note_legal(c->v, "give the new value a name of its own; `updates` says what it is the next version of");
}

static void index_tasks(struct dist_checker *c)
{
    u32 n = 0;
    for (u32 i = 0; i < c->it->n_stmts; i++)
        n += c->it->stmts[i]->entity == DIST_TASK;
    dist_places_init(c, &c->tasks, n);
    for (u32 i = 0; i < c->it->n_stmts; i++)
        if (c->it->stmts[i]->entity == DIST_TASK)
            dist_place_of(&c->tasks, c->it->stmts[i]->name)->at = i + 1;
}

/* Index + 1 of the task called NAME; 0: it is none, which the schema's rules report. */
static u32 task_named(struct dist_checker *c, atom name)
{
    const struct stmt *to = item_symbol(c->it, name);
    if (!to || to->entity != DIST_TASK)
        return 0;
    if (!c->tasks.slots)
        index_tasks(c);
    return dist_place_of(&c->tasks, name)->at;
}

static void wait_for(struct dist_checker *c, const struct dist_task *t, u32 index)
{
    const u32 *at = list_at(c->it, t->more->after);
    for (u32 i = 0; i < list_n(c->it, t->more->after); i++) {
        atom name = ref_atom(at[i]);
        if (ref_is_value(at[i]) || (index && c->it->stmts[index - 1]->name == name))
            continue;
        if (task_named(c, name) > index + 1)
            add_forward(c, index, at[i]);
    }
}

void dist_flow_task(struct dist_checker *c, const struct dist_task *t, u32 index)
{
    const u32 *results = list_at(c->it, t->results);
    read_operands(c, t, index);
    if (t->more->effects)
        read_effects(c, t, index);
    if (t->more->after)
        wait_for(c, t, index);
    for (u32 i = 0; i < list_n(c->it, t->results); i++)
        if (item_value(c->it, results[i]))
            make_result(c, t, index, results[i]);
}

/* ---- When all tasks are known ---- */

/* Statement + 1 of the task that REF, a value or a task, waits for; 0: none. */
static u32 awaited(struct dist_checker *c, u32 ref)
{
    if (!ref_is_value(ref))
        return task_named(c, ref_atom(ref));
    return item_value(c->it, ref_atom(ref)) ? dist_place_of(&c->values, ref_atom(ref))->at : 0;
}

static void add_edges(struct dist_checker *c, struct order *o, u32 index)
{
    const struct dist_task *t = (const struct dist_task *)c->it->stmts[index];
    u32 to;
    for (u32 i = 0; i < list_n(c->it, t->operands); i++)
        if ((to = awaited(c, REF_VALUE(list_at(c->it, t->operands)[i]))) != 0)
            order_add(o, to - 1, index);
    for (u32 i = 0; i < list_n(c->it, t->more->after); i++)
        if ((to = awaited(c, list_at(c->it, t->more->after)[i])) != 0 && to != index + 1)
            order_add(o, to - 1, index);
    for (u32 i = 0; i + 1 < list_n(c->it, t->more->effects); i += 2)
        if (reads(list_at(c->it, t->more->effects)[i]) && (to = awaited(c, list_at(c->it, t->more->effects)[i + 1])) != 0)
            order_add(o, to - 1, index);
}

struct cycles {
    struct dist_checker *c;
    u32 *cycle_of;          /* by statement; 0: in none */
    u32 n;
};

enum { SHOWN_TASKS = 16 };

/* "@a -> @b -> @a" from its first task in the text; each waits for the next. */
static const char *cycle_text(struct dist_checker *c, const u32 *nodes, u32 n, u32 start)
{
    const char *first = stmt_text(c->it, c->it->stmts[nodes[start]]), *text = first;
    for (u32 i = 1; i < n && i < SHOWN_TASKS; i++)
        text = arena_format(&c->v->scratch, "%s -> %s", text, stmt_text(c->it, c->it->stmts[nodes[(start + i) % n]]));
    return arena_format(&c->v->scratch, "%s%s -> %s", text, n > SHOWN_TASKS ? " -> ..." : "", first);
}

/* Why TASK waits for TO, which is not above it. */
static const struct dist_forward *forward_of(struct dist_checker *c, u32 task, u32 to)
{
    u32 low = 0, high = c->n_forward;       /* they are sorted by task */
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (c->forward[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    while (awaited(c, c->forward[low].ref) != to + 1)
        low++;
    return &c->forward[low];
}

/* The first task of a cycle waits for one below it: there the cycle is told. */
static void report_cycle(void *state, const u32 *nodes, u32 n)
{
    struct cycles *cycles = state;
    struct dist_checker *c = cycles->c;
    u32 start = 0;
    cycles->n++;
    for (u32 k = 0; k < n; k++) {
        cycles->cycle_of[nodes[k]] = cycles->n;
        start = nodes[k] < nodes[start] ? k : start;
    }
    const struct stmt *s = c->it->stmts[nodes[start]];
    u32 ref = forward_of(c, nodes[start], nodes[(start + 1) % n])->ref;
    const char *name = ref_is_value(ref) ? value_text(c->it, ref_atom(ref)) : symbol_text(c->it, ref_atom(ref));
    if (n == 1)
        verify_error(c->v, s, NULL, name, "dist.dataflow.cycle", "%s reads %s, which it makes itself",
                     stmt_text(c->it, s), name);
    else
        verify_error(c->v, s, ref_is_value(ref) ? NULL : "after", name, "dist.dataflow.cycle",
                     "tasks wait for each other: %s", cycle_text(c, nodes, n, start));
}

static void report_forward(struct dist_checker *c, const struct dist_forward *f, bool movable)
{
    const struct stmt *s = c->it->stmts[f->task];
    const char *task = stmt_text(c->it, s), *name;
    if (!ref_is_value(f->ref)) {
        name = symbol_text(c->it, ref_atom(f->ref));
        verify_error(c->v, s, "after", name, "dist.after.order", "%s comes after %s, but stands above it", task, name);
        verify_note(c->v, item_symbol(c->it, ref_atom(f->ref)), NULL, NULL, "move this task above %s", task);
        return;
    }
    name = value_text(c->it, ref_atom(f->ref));
    const struct dist_place *place = dist_place_of(&c->values, ref_atom(f->ref));
    verify_error(c->v, s, NULL, name, "dist.dataflow.use_before_definition", "%s reads %s before it is made", task,
                 name);
    if (place->at)
        verify_note(c->v, c->it->stmts[place->at - 1], NULL, name,
                    movable ? "move %s, which makes it, above %s" : "%s makes it",
                    stmt_text(c->it, c->it->stmts[place->at - 1]), task);
}

/* The nodes of the order are statements: those that are no tasks have no edges. */
void dist_flow_end(struct dist_checker *c)
{
    struct order o;
    struct cycles cycles = { .c = c };
    if (!c->n_forward)
        return;
    cycles.cycle_of = ARENA_ARRAY(&c->v->scratch, u32, c->it->n_stmts);
    order_begin(&o, &c->v->scratch, c->it->n_stmts);
    for (u32 i = 0; i < c->it->n_stmts; i++)
        if (c->it->stmts[i]->entity == DIST_TASK)
            add_edges(c, &o, i);
    if (!order_close(&o))
        order_cycles(&o, report_cycle, &cycles);
    for (u32 i = 0; i < c->n_forward; i++) {
        const struct dist_forward *f = &c->forward[i];
        u32 to = awaited(c, f->ref), cycle = cycles.cycle_of[f->task];
        if (!to || !cycle || cycles.cycle_of[to - 1] != cycle)
            report_forward(c, f, !cycle);
    }
}
