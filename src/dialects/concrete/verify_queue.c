/*
 * Rules of queues: the order in which each issues its commands, as `issue` says or as they stand. An ordered queue's
 * commands run in that order.
 */
#include "dialects/concrete/verify.h"

struct queues {
    struct plan *p;
    u32 *issue;             /* by queue: number + 1 of its issue statement, or 0 */
    u32 *place;             /* by command: its place in the queue's list + 1, or 0 */
    u8 *bad;                /* by queue: its list is not to be trusted */
};

static bool queue_of(const struct plan *p, u32 command, u32 *queue)
{
    return p->commands[command]->queue && plan_find(p, CONCRETE_QUEUE, p->commands[command]->queue, queue);
}

static void check_issue(struct queues *q, u32 issue)
{
    struct plan *p = q->p;
    const struct concrete_issue *s = p->issues[issue];
    const struct stmt *to = item_symbol(p->it, s->queue);
    u32 queue;
    if (!plan_find(p, CONCRETE_QUEUE, s->queue, &queue)) {
        if (to)
            verify_error(p->v, &s->s, NULL, stmt_text(p->it, to), "concrete.issue.queue", "%s is a %s, and no queue", stmt_text(p->it, to),
                         stmt_entity(p->it, to)->keyword);
        return;
    }
    if (q->issue[queue]) {
        const char *name = stmt_text(p->it, to);
        verify_error(p->v, &s->s, NULL, name, "concrete.issue.twice", "%s has two orders", name);
        verify_note(p->v, &p->issues[q->issue[queue] - 1]->s, NULL, name, "the first is here");
        return;
    }
    q->issue[queue] = issue + 1;
}

static bool tell_foreign(struct plan *p, const struct concrete_issue *s, u32 queue, const struct concrete_command *c)
{
    const char *name = stmt_text(p->it, &p->queues[queue]->s);
    verify_error(p->v, &s->s, NULL, stmt_text(p->it, &c->s), "concrete.issue.foreign", "%s is not in %s", stmt_text(p->it, &c->s), name);
    if (c->queue)
        verify_note(p->v, &c->s, "via", NULL, "its queue is here");
    else
        verify_note(p->v, &c->s, NULL, NULL, "it is in no queue; write `via %s` here", name);
    return false;
}

/* One command of an issue list. */
static bool check_listed(struct queues *q, const struct concrete_issue *s, u32 queue, u32 ref, u32 place)
{
    struct plan *p = q->p;
    const struct stmt *to = item_ref(p->it, ref);
    u32 command, own = UINT32_MAX;
    if (!to)
        return false;
    if (ref_is_value(ref) || !plan_find(p, CONCRETE_COMMAND, ref_atom(ref), &command))
        return verify_error(p->v, &s->s, NULL, stmt_text(p->it, to), "concrete.issue.command", "%s is a %s, and queues issue commands",
                            stmt_text(p->it, to), stmt_entity(p->it, to)->keyword);
    if (!queue_of(p, command, &own) || own != queue)
        return tell_foreign(p, s, queue, p->commands[command]);
    if (q->place[command])
        return false;       /* told by ir.list.duplicate */
    q->place[command] = place + 1;
    return true;
}

static void list_queue(struct queues *q, u32 queue)
{
    struct plan *p = q->p;
    const struct concrete_issue *s = p->issues[q->issue[queue] - 1];
    for (u32 i = 0; i < list_n(p->it, s->commands); i++)
        if (!check_listed(q, s, queue, list_at(p->it, s->commands)[i], i))
            q->bad[queue] = 1;
}

static void check_coverage(struct queues *q, u32 command, u32 queue)
{
    struct plan *p = q->p;
    if (!q->issue[queue] || q->place[command])
        return;
    const char *name = stmt_text(p->it, &p->queues[queue]->s);
    q->bad[queue] = 1;
    verify_error(p->v, &p->issues[q->issue[queue] - 1]->s, NULL, name, "concrete.issue.missing", "%s does not issue %s, which is in it", name,
                 command_text(p, command));
    verify_note(p->v, &p->commands[command]->s, "via", NULL, "it is in the queue here");
}

static void check_dependency(struct plan *p, u32 c, u32 before, void *state)
{
    struct queues *q = state;
    u32 queue, other;
    if (!queue_of(p, c, &queue) || !queue_of(p, before, &other) || queue != other || !q->issue[queue] || !q->place[c] || !q->place[before] ||
        q->place[before] < q->place[c] || !rank_sets_meet(&p->ranks, p->set[c], p->set[before]))
        return;
    q->bad[queue] = 1;
    verify_error(p->v, &p->issues[q->issue[queue] - 1]->s, NULL, command_text(p, c), "concrete.issue.order", "%s issues %s ahead of %s, which must come first",
                 stmt_text(p->it, &p->queues[queue]->s), command_text(p, c), command_text(p, before));
    verify_note(p->v, &p->commands[c]->s, NULL, NULL, "%s comes after %s", command_text(p, c), command_text(p, before));
}

/* Under `order serial` a queue issues in the order of the text; neighbours in the queue show whether it does. */
static void check_serial(struct queues *q)
{
    struct plan *p = q->p;
    u32 *last = ARENA_ARRAY(&p->v->scratch, u32, p->n_queues + 1), queue;
    for (u32 i = 0; i < p->n_commands; i++) {
        if (!queue_of(p, i, &queue))
            continue;
        if (last[queue] && last[queue] != i)     /* neighbours in the text are told already */
            check_dependency(p, i, last[queue] - 1, q);
        last[queue] = i + 1;
    }
}

/* By list where there is one, else by text. */
static void chain_commands(struct queues *q)
{
    struct plan *p = q->p;
    u32 *last = ARENA_ARRAY(&p->v->scratch, u32, p->n_queues + 1), queue;
    for (u32 i = 0; i < p->n_queues; i++)
        for (u32 k = 0, before = 0; q->issue[i] && !q->bad[i] && p->queues[i]->ordered && k < list_n(p->it, p->issues[q->issue[i] - 1]->commands); k++) {
            u32 command = p->number[ref_atom(list_at(p->it, p->issues[q->issue[i] - 1]->commands)[k])];
            p->previous[command] = before;
            before = command + 1;
        }
    for (u32 i = 0; i < p->n_commands; i++) {
        if (!queue_of(p, i, &queue) || q->issue[queue] || !p->queues[queue]->ordered)
            continue;
        p->previous[i] = last[queue];
        last[queue] = i + 1;
    }
}

void concrete_verify_queues(struct plan *p)
{
    struct arena *a = &p->v->scratch;
    struct queues q = { p, ARENA_ARRAY(a, u32, p->n_queues + 1), NULL, ARENA_ARRAY(a, u8, p->n_queues + 1) };
    u32 queue, errors = p->v->errors;
    for (u32 i = 0; i < p->n_queues && p->slots; i++) {
        verify_error(p->v, &p->queues[i]->s, NULL, NULL, "concrete.slot.queue", "%s is a queue in a plan with slots", stmt_text(p->it, &p->queues[i]->s));
        verify_note_legal(p->v, "a plan has queues, or slots, not both: remove the queues, or each `at`");
    }
    for (u32 i = 0; i < p->n_issues; i++)
        check_issue(&q, i);
    if (p->slots || p->n_queues == 0)
        return;
    q.place = ARENA_ARRAY(a, u32, p->n_commands);
    for (u32 i = 0; i < p->n_queues; i++)
        if (q.issue[i])
            list_queue(&q, i);
    for (u32 i = 0; i < p->n_commands; i++)
        if (queue_of(p, i, &queue))
            check_coverage(&q, i, queue);
    for (u32 i = 0; i < p->n_commands && p->n_issues; i++)
        plan_dependencies(p, i, check_dependency, &q);
    if (p->serial && p->n_issues)
        check_serial(&q);
    chain_commands(&q);
    p->disorder = p->disorder || p->v->errors != errors;
}
