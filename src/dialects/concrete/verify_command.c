/* Rules of commands, one by one: what a body may say, and that its parts are where it runs. */
#include "dialects/concrete/verify.h"

/* What each body has. */
static const struct {
    bool operation, buffers;
    int queue;              /* the kind of queue that it needs; -1: any, or none */
} bodies[] = {
    [CONCRETE_LAUNCH] = { true, true, CONCRETE_QUEUE_COMPUTE },
    [CONCRETE_COLLECTIVE] = { true, true, CONCRETE_QUEUE_COLLECTIVE },
    [CONCRETE_TRANSFER] = { false, true, CONCRETE_QUEUE_TRANSFER },
    [CONCRETE_BARRIER] = { false, false, -1 },
    [CONCRETE_SIGNAL] = { false, false, -1 },
    [CONCRETE_WAIT] = { false, false, -1 },
    [CONCRETE_HOST_CALL] = { true, true, CONCRETE_QUEUE_HOST },
};

#define BODY(c) concrete_body_enum.words[(c)->body].text

static const char *const collectives[] = { "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast" };

static bool is_collective(const struct plan *p, atom operation)
{
    const struct interned *text = &p->v->ctx->names.atoms[operation];
    for (u32 i = 0; i < COUNT(collectives); i++)
        if (intern_is(&p->v->ctx->names, operation, collectives[i]))
            return true;
    return memchr(text->text, '.', text->length) != NULL;
}

static void check_collective(struct plan *p, const struct concrete_command *c)
{
    if (is_collective(p, c->operation))
        return;
    const char *word = context_text(p->v->ctx, c->operation), *near = nearest_name(word, collectives, COUNT(collectives));
    verify_error(p->v, &c->s, NULL, word, "concrete.operation.collective", "`%s` is no collective", word);
    if (near)
        verify_near(p->v, 0, word, near);
    else
        verify_note_legal(p->v, "collectives are all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, and a library's, as `nccl.all_reduce`");
}

static void check_operation(struct plan *p, const struct concrete_command *c)
{
    if (!c->operation && bodies[c->body].operation) {
        verify_error(p->v, &c->s, NULL, BODY(c), "concrete.operation.missing", "%s does not say what it runs", stmt_text(p->it, &c->s));
        verify_note_legal(p->v, "write the implementation behind the body, as `%s`",
                          c->body == CONCRETE_COLLECTIVE ? "collective all_reduce(…)" : "launch model.linear(…)");
    } else if (c->operation && !bodies[c->body].operation) {
        const char *word = context_text(p->v->ctx, c->operation);
        verify_error(p->v, &c->s, NULL, word, "concrete.operation.unexpected", "a %s runs nothing, found `%s`", BODY(c), word);
    } else if (c->body == CONCRETE_COLLECTIVE) {
        check_collective(p, c);
    }
}

static void check_library(struct plan *p, const struct concrete_command *c)
{
    const struct stmt *library = item_symbol(p->it, c->more->library);
    if (!c->more->library || !library)
        return;
    if (!bodies[c->body].operation) {
        verify_error(p->v, &c->s, "implementation", NULL, "concrete.library.unexpected", "a %s runs nothing of a library", BODY(c));
        return;
    }
    if (library->entity == CONCRETE_LIBRARY)
        return;
    verify_error(p->v, &c->s, "implementation", NULL, "concrete.library.kind", "%s is a %s, and no library", stmt_text(p->it, library),
                 stmt_entity(p->it, library)->keyword);
    verify_note(p->v, library, NULL, NULL, "it is declared here");
}

/* ---- Queues ---- */

/*
 * A rank of SET where a queue or region (on ON) is not. Ranks that are wrong in themselves are told elsewhere, and what
 * follows from them is not told.
 */
static bool is_beyond(struct plan *p, u32 set, u32 on, u32 *rank)
{
    bool empty = on && list_n(p->it, on) == 0;
    return !empty && !rank_sets_differ(&p->ranks, set, ALL_RANKS, rank) && rank_sets_differ(&p->ranks, set, rank_set_of(&p->ranks, on), rank);
}

static void check_queue(struct plan *p, u32 command)
{
    const struct concrete_command *c = p->commands[command];
    const struct stmt *to = item_symbol(p->it, c->queue);
    u32 number, rank;
    if (!c->queue) {
        if (p->n_queues == 0 || p->slots || bodies[c->body].queue < 0)
            return;
        p->disorder = true;
        verify_error(p->v, &c->s, NULL, NULL, "concrete.queue.missing", "%s is in no queue, and this plan has queues", stmt_text(p->it, &c->s));
        for (u32 i = 0; i < p->n_queues; i++)
            if (p->queues[i]->kind == bodies[c->body].queue) {
                verify_note(p->v, &p->queues[i]->s, NULL, NULL, "write `via %s`", stmt_text(p->it, &p->queues[i]->s));
                return;
            }
        verify_note_legal(p->v, "no queue takes it: add one of kind `%s`", concrete_queue_kind_enum.words[bodies[c->body].queue].text);
        return;
    }
    if (!plan_find(p, CONCRETE_QUEUE, c->queue, &number)) {
        p->disorder = true;
        if (to)
            verify_error(p->v, &c->s, "via", NULL, "concrete.queue.reference", "%s is a %s, and no queue", stmt_text(p->it, to),
                         stmt_entity(p->it, to)->keyword);
        return;
    }
    const struct concrete_queue *q = p->queues[number];
    const char *kind = concrete_queue_kind_enum.words[q->kind].text;
    if (bodies[c->body].queue >= 0 && bodies[c->body].queue != q->kind) {
        verify_error(p->v, &c->s, "via", NULL, "concrete.queue.kind", "%s is a %s, and %s takes `%s`", stmt_text(p->it, &c->s), BODY(c),
                     stmt_text(p->it, &q->s), kind);
        verify_note(p->v, &q->s, NULL, kind, "a %s goes through a queue of kind `%s`", BODY(c),
                    concrete_queue_kind_enum.words[bodies[c->body].queue].text);
    } else if (is_beyond(p, p->set[command], q->on, &rank)) {
        verify_error(p->v, &c->s, "via", NULL, "concrete.queue.rank", "%s runs on rank %u, and %s is not there", stmt_text(p->it, &c->s), rank,
                     stmt_text(p->it, &q->s));
        verify_note(p->v, &q->s, "on", NULL, "the queue's ranks are here");
    }
}

/* ---- Buffers: operands, results and effects ---- */

/* The region of a buffer that the command uses on the ranks of SET is there. An unrouted transfer may have it at one end,
 * and the host reaches all. */
static void check_region(struct plan *p, u32 command, atom name, u32 set)
{
    const struct concrete_command *c = p->commands[command];
    u32 memory, rank, bind = p->bind_of[name];
    if (!bind || !bind_region(p, bind - 1, &memory) || c->body == CONCRETE_HOST_CALL || !is_beyond(p, set, p->memories[memory]->on, &rank))
        return;
    if (c->body == CONCRETE_TRANSFER && !p->route[command] && rank_sets_meet(&p->ranks, set, rank_set_of(&p->ranks, p->memories[memory]->on)))
        return;
    verify_error(p->v, &c->s, NULL, value_text(p->it, name), "concrete.command.device", "%s runs on rank %u, and %s is in %s, which is not there",
                 stmt_text(p->it, &c->s), rank, value_text(p->it, name), stmt_text(p->it, &p->memories[memory]->s));
    verify_note(p->v, &p->memories[memory]->s, "on", NULL, "the region's ranks are here");
}

static void tell_idle(struct plan *p, const struct concrete_command *c, const char *name)
{
    verify_error(p->v, &c->s, NULL, name, "concrete.command.buffers", "%s is a %s, and touches %s", stmt_text(p->it, &c->s), BODY(c), name);
    verify_note_legal(p->v, "only launch, collective, transfer and host_call have buffers");
}

static void check_buffers(struct plan *p, u32 command)
{
    const struct concrete_command *c = p->commands[command];
    const u32 lists[] = { c->operands, c->results };
    for (u32 l = 0; l < COUNT(lists); l++) {
        const u32 *at = list_at(p->it, lists[l]);
        u32 n = list_n(p->it, lists[l]);
        if (n && !bodies[c->body].buffers) {
            tell_idle(p, c, value_text(p->it, at[0]));
            return;
        }
        for (u32 i = 0; i < n; i++)
            check_region(p, command, at[i], plan_end(p, command, l == 0));
    }
}

/* ---- Effects ---- */

static const char *ref_text(const struct plan *p, u32 ref)
{
    return ref_is_value(ref) ? value_text(p->it, ref_atom(ref)) : symbol_text(p->it, ref_atom(ref));
}

static void check_effect(struct plan *p, u32 command, u32 effect, u32 ref)
{
    const struct concrete_command *c = p->commands[command];
    const struct stmt *to = item_ref(p->it, ref);
    if (ref_is_value(ref)) {
        check_region(p, command, ref_atom(ref), p->set[command]);
        return;
    }
    if (!to)
        return;
    verify_error(p->v, &c->s, "effects", ref_text(p, ref), "concrete.effect.place", "`%s` acts on a binding, and %s is a %s",
                 effect_enum.words[effect].text, ref_text(p, ref), stmt_entity(p->it, to)->keyword);
    verify_note_legal(p->v, "to order commands, write `after`");
}

static void check_effects(struct plan *p, u32 command)
{
    const struct concrete_command *c = p->commands[command];
    const u32 *at = list_at(p->it, c->more->effects);
    u32 n = list_n(p->it, c->more->effects);
    if (n && !bodies[c->body].buffers)
        tell_idle(p, c, ref_text(p, at[1]));
    for (u32 i = 0; i + 1 < n && bodies[c->body].buffers; i += 2) {
        check_effect(p, command, at[i], at[i + 1]);
        for (u32 k = i > 64 ? i - 64 : 0; k < i; k += 2)
            if (at[k] == at[i] && at[k + 1] == at[i + 1]) {
                verify_error(p->v, &c->s, "effects", ref_text(p, at[i + 1]), "concrete.effect.duplicate", "`%s %s` stands twice",
                             effect_enum.words[at[i]].text, ref_text(p, at[i + 1]));
                break;
            }
    }
}

/* ---- Tokens ---- */

static void check_synchronization(struct plan *p, const struct concrete_command *c)
{
    bool waits = c->body == CONCRETE_WAIT, signals = c->body == CONCRETE_SIGNAL;
    if (!waits && !signals)
        return;
    const char *name = stmt_text(p->it, &c->s);
    const char *own = waits ? "wait" : "signal", *other = waits ? "signal" : "wait";
    if (!(waits ? c->more->wait : c->more->signal)) {
        verify_error(p->v, &c->s, NULL, own, "concrete.token.none", "%s is a %s of no token", name, own);
        verify_note_legal(p->v, "write `command %s %s() %s @token`", name, own, own);
    }
    if (waits ? c->more->signal : c->more->wait) {
        verify_error(p->v, &c->s, other, NULL, "concrete.token.both", "%s is a %s, and has a clause `%s`", name, own, other);
        verify_note_legal(p->v, "use two commands; only other bodies both wait and signal");
    }
}

void concrete_verify_commands(struct plan *p)
{
    for (u32 i = 0; i < p->n_commands; i++) {
        const struct concrete_command *c = p->commands[i];
        check_operation(p, c);
        check_library(p, c);
        concrete_verify_ranks(p, &c->s, c->on);
        check_queue(p, i);
        check_buffers(p, i);
        if (c->more->effects)
            check_effects(p, i);
        check_synchronization(p, c);
    }
}
