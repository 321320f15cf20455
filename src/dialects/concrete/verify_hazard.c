/* Rules of what commands read and write, by operands, results and effects: two that touch a binding are ordered when one writes, and what is read was written. */
#include "dialects/concrete/verify.h"

struct collector {
    struct plan *p;
    bool counting;
};

static void touch(struct collector *c, u32 command, u32 set, atom name, u8 kind)
{
    u32 bind = c->p->bind_of[name];
    if (!bind)
        return;
    if (c->counting)
        accesses_count(&c->p->accesses, bind - 1);
    else
        accesses_put(&c->p->accesses, bind - 1, command, set, kind);
}

static void touch_effects(struct collector *c, u32 command)
{
    struct plan *p = c->p;
    const u32 *at = list_at(p->it, p->commands[command]->more->effects);
    for (u32 i = 0; i + 1 < list_n(p->it, p->commands[command]->more->effects); i += 2)
        if (ref_is_value(at[i + 1]) && access_of_effect(at[i]))
            touch(c, command, p->set[command], ref_atom(at[i + 1]), access_of_effect(at[i]));
}

static void collect(struct collector *c)
{
    struct plan *p = c->p;
    for (u32 i = 0; i < p->n_commands; i++) {
        u32 command = p->node ? i : order_at(&p->order, i);
        const struct concrete_command *s = p->commands[command];
        u32 reads = plan_end(p, command, true), writes = plan_end(p, command, false);
        for (u32 k = 0; k < list_n(p->it, s->operands); k++)
            touch(c, command, reads, list_at(p->it, s->operands)[k], ACCESS_READ);
        if (s->more->effects)
            touch_effects(c, command);
        for (u32 k = 0; k < list_n(p->it, s->results); k++)
            touch(c, command, writes, list_at(p->it, s->results)[k], ACCESS_WRITE);
    }
}

static enum access_start start_of(void *state, u32 bind)
{
    struct life life = plan_life(state, bind);
    return life.from_start ? START_FULL : life.scratch ? START_EMPTY : START_GUESS;
}

/* Named by the order of the text: read after write, write after read, write after write. */
static void conflict(void *state, u32 bind, const struct access *first, const struct access *second)
{
    struct plan *p = state;
    const struct access *above = first->node < second->node ? first : second, *below = above == first ? second : first;
    const char *name = stmt_text(p->it, &p->binds[bind]->s), *a = command_text(p, above->node), *b = command_text(p, below->node);
    const struct stmt *at = &p->commands[below->node]->s;
    const char *field = access_field(below);
    if (above->kind & below->kind & ACCESS_WRITE)
        verify_error(p->v, at, field, name, "concrete.hazard.waw", "%s and %s both write %s, and neither comes first", a, b, name);
    else if (above->kind & ACCESS_WRITE)
        verify_error(p->v, at, field, name, "concrete.hazard.raw", "%s reads %s, which %s writes, and neither comes first", b, name, a);
    else
        verify_error(p->v, at, field, name, "concrete.hazard.war", "%s writes %s, which %s reads, and neither comes first", b, name, a);
    verify_note(p->v, &p->commands[above->node]->s, access_field(above), name, "%s is here", a);
    verify_note_legal(p->v, "write `after %s` at %s, or order them by a token, a queue, slots or `order serial`", a, b);
}

static void unwritten(void *state, u32 bind, const struct access *read, u32 rank, u32 writer)
{
    struct plan *p = state;
    const char *name = stmt_text(p->it, &p->binds[bind]->s), *reader = command_text(p, read->node);
    verify_error(p->v, &p->commands[read->node]->s, NULL, name, "concrete.use.unwritten", "%s reads %s on rank %u before any command has written it",
                 reader, name, rank);
    if (writer != NO_NODE)
        verify_note(p->v, &p->commands[writer]->s, "results", name, "%s writes it %s, here", command_text(p, writer),
                    rank_set_has(&p->ranks, p->set[writer], rank) ? "later" : "on other ranks");
    if (!plan_life(p, bind).scratch)
        verify_note(p->v, &p->binds[bind]->s, NULL, NULL, "if it holds something before the plan runs, write `lives always`");
    else
        verify_note(p->v, &p->binds[bind]->s, NULL, NULL, "it holds nothing before the plan runs");
}

static u32 node_on(void *state, u32 command, u32 rank)
{
    return plan_node(state, command, rank);
}

void concrete_verify_hazards(struct plan *p)
{
    struct collector c = { p, true };
    accesses_begin(&p->accesses, &p->v->scratch, p->n_binds);
    collect(&c);
    accesses_allot(&p->accesses);
    c.counting = false;
    collect(&c);
    accesses_check(&p->accesses, &p->ranks, &p->order,
                   &(struct access_report){ .state = p, .start = start_of, .conflict = conflict, .unwritten = unwritten,
                                            .node_on = p->node ? node_on : NULL, .ranks = p->reps, .n_ranks = p->n_classes });
}
