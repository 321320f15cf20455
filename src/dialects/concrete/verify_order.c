/*
 * Which command comes before which: `order serial`, `after`, tokens, ordered queues, slots. What only reads another's
 * results has no order to it: without one of these, that is a hazard.
 */
#include "dialects/concrete/verify.h"
#include "support/out.h"

enum { SHOWN = 8 };

/* ---- Cycles ---- */

static bool waits_by_token(const struct plan *p, u32 waiter, u32 other, atom *token)
{
    const struct concrete_command *c = p->commands[waiter];
    for (u32 i = 0; i < list_n(p->it, c->more->wait); i++) {
        *token = ref_atom(list_at(p->it, c->more->wait)[i]);
        if (p->signaller[*token] == other + 1)
            return true;
    }
    return false;
}

static bool waits_by_after(const struct plan *p, u32 waiter, u32 other)
{
    const struct concrete_command *c = p->commands[waiter];
    for (u32 i = 0; i < list_n(p->it, c->more->after); i++)
        if (list_at(p->it, c->more->after)[i] == REF_SYMBOL(p->commands[other]->s.name))
            return true;
    return false;
}

/* The queue alone makes WAITER come after OTHER. */
static bool waits_by_queue(const struct plan *p, u32 waiter, u32 other)
{
    atom token;
    return !waits_by_token(p, waiter, other, &token) && !waits_by_after(p, waiter, other);
}

static void note_step(struct plan *p, u32 waiter, u32 other)
{
    atom token;
    const struct stmt *s = &p->commands[waiter]->s;
    const char *name = command_text(p, waiter), *before = command_text(p, other);
    if (waits_by_token(p, waiter, other, &token))
        verify_note(p->v, s, "wait", symbol_text(p->it, token), "%s waits for %s, which %s signals", name, symbol_text(p->it, token), before);
    else if (waits_by_after(p, waiter, other))
        verify_note(p->v, s, "after", before, "%s comes after %s", name, before);
    else if (p->serial)
        verify_note(p->v, s, NULL, NULL, "%s comes after %s by `order serial`", name, before);
    else
        verify_note(p->v, s, "via", NULL, "%s is issued by %s after %s", name, symbol_text(p->it, p->commands[waiter]->queue), before);
}

/* NODES: each waits for the next, the last for the first. */
static void report_cycle(struct plan *p, const u32 *nodes, u32 n)
{
    struct out o;
    u32 shown = n > SHOWN ? SHOWN : n;
    out_memory(&o);
    for (u32 i = 0; i < shown; i++)
        out_printf(&o, "%s -> ", command_text(p, nodes[i]));
    if (shown < n)
        out_printf(&o, "(%u more) -> ", n - shown);
    out_printf(&o, "%s", command_text(p, nodes[0]));
    out_char(&o, '\0');
    verify_error(p->v, &p->commands[nodes[0]]->s, NULL, NULL, "concrete.order.deadlock", "these commands wait for one another: %s", o.data);
    for (u32 i = 0; i < shown; i++)
        note_step(p, nodes[i], nodes[(i + 1) % n]);
    out_free(&o);
}

/* Several steps through one queue are one. The first shown stands highest in the text. */
static void visit_commands(struct plan *p, const u32 *nodes, u32 n)
{
    u32 *kept = ARENA_ARRAY(&p->v->scratch, u32, n), *turned = ARENA_ARRAY(&p->v->scratch, u32, n), n_kept = 0, first = 0;
    for (u32 i = 0; i < n; i++) {
        u32 before = nodes[(i + n - 1) % n], after = nodes[(i + 1) % n];
        bool inside = n > 2 && p->commands[before]->queue == p->commands[after]->queue && waits_by_queue(p, before, nodes[i]) &&
                      waits_by_queue(p, nodes[i], after);
        if (!inside)
            kept[n_kept++] = nodes[i];
    }
    for (u32 i = 1; i < n_kept; i++)
        if (kept[i] < kept[first])
            first = i;
    for (u32 i = 0; i < n_kept; i++)
        turned[i] = kept[(first + i) % n_kept];
    report_cycle(p, turned, n_kept);
}

/* A command's nodes behind one another are one step. */
static void visit_cycle(void *state, const u32 *nodes, u32 n)
{
    struct plan *p = state;
    u32 *commands = ARENA_ARRAY(&p->v->scratch, u32, n + (size_t)1), k = 0;
    for (u32 i = 0; i < n; i++) {
        u32 command = p->owner ? p->owner[nodes[i]] : nodes[i];
        if (!k || commands[k - 1] != command)
            commands[k++] = command;
    }
    while (k > 1 && commands[k - 1] == commands[0])
        k--;
    visit_commands(p, commands, k);
}

/* ---- Edges ---- */

/* A command that signals what it waits for. */
static bool check_self(struct plan *p)
{
    bool good = true;
    for (u32 i = 0; i < p->n_commands; i++) {
        atom token;
        if (!waits_by_token(p, i, i, &token))
            continue;
        report_cycle(p, &i, 1);
        good = false;
    }
    return good;
}

static void add_edge(struct plan *p, u32 c, u32 before, void *state)
{
    (void)state;
    order_add(&p->order, before, c);
}

/* Under `order serial` only a token that is signalled below can contradict. */
static void check_serial(struct plan *p, u32 c, u32 before, void *state)
{
    bool *good = state;
    if (before < c)
        return;
    *good = false;
    report_cycle(p, (u32[]){ c, before }, 2);
}

static bool make_serial(struct plan *p)
{
    bool good = true;
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->commands[i]->more->wait)
            plan_dependencies(p, i, check_serial, &good);
    order_serial(&p->order, &p->v->scratch, p->n_commands);
    return good;
}

static bool make_levels(struct plan *p)
{
    u32 *level = ARENA_ARRAY(&p->v->scratch, u32, p->n_commands);
    bool whole;
    concrete_verify_slots(p, level, &whole);
    if (whole)
        order_levels(&p->order, &p->v->scratch, p->n_commands, level);
    return whole;
}

static void add_edges(struct plan *p)
{
    order_begin(&p->order, &p->v->scratch, p->n_commands);
    for (u32 i = 0; i < p->n_commands; i++) {
        plan_dependencies(p, i, add_edge, NULL);
        if (p->previous[i])
            order_add(&p->order, p->previous[i] - 1, i);
    }
}

bool concrete_verify_order(struct plan *p)
{
    bool good = check_self(p);
    if (p->slots)
        return make_levels(p) && good;
    if (p->serial)
        return make_serial(p) && good;
    if (!concrete_verify_instances(p))
        add_edges(p);
    if (order_close(&p->order))
        return good;
    order_cycles(&p->order, visit_cycle, p);
    return false;
}
