/*
 * Transfers that name only what is sent, or only what is received: the two ends of a message apart. Those of one channel from
 * one rank to another meet in order. A send ends when it is received, as where nothing is buffered; ranks run in the order
 * of the text.
 */
#include "conformance/matching.h"

#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"

#include "conformance/rank_map.h"

#include <inttypes.h>
#include <stdlib.h>

struct end {
    u64 source, destination;
    atom channel;
    u32 step;
    bool receives;
};

struct ends {
    struct matching *m;
    struct end *at;
    u32 n;
    u32 *partner;               /* by step: the other end + 1 */
    struct order order;         /* who waits for whom */
};

static const struct item *item_of(const struct ends *x) { return x->m->schedule.view.it; }
static const char *text_of(const struct ends *x, u32 step) { return stmt_text(item_of(x), x->m->schedule.view.steps[step].s); }

static atom channel_of(const struct ends *x, u32 step)
{
    bool dist = item_of(x)->kind->layer == LAYER_DIST;
    return dist ? ((const struct dist_task *)x->m->schedule.view.steps[step].s)->more->channel : 0;
}

static qty message_of(const struct ends *x, u32 step)
{
    const struct stmt *s = x->m->schedule.view.steps[step].s;
    return item_of(x)->kind->layer == LAYER_DIST ? ((const struct dist_task *)s)->work[DIST_MESSAGE]
                                                 : ((const struct portable_task *)s)->work[PORTABLE_MESSAGE];
}

/* ---- Who meets whom ---- */

static int by_channel(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    if (x->channel != y->channel)
        return x->channel < y->channel ? -1 : 1;
    if (x->receives != y->receives)
        return x->receives ? 1 : -1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static bool same_channel(const struct end *x, const struct end *y)
{
    return x->source == y->source && x->destination == y->destination && x->channel == y->channel;
}

static void refuse_alone(struct ends *x, const struct end *e)
{
    const char *channel = e->channel ? context_text(item_of(x)->ctx, e->channel) : NULL;
    verify_error(&x->m->check->v, x->m->schedule.view.steps[e->step].s, NULL, NULL,
                 e->receives ? "check.collective_matching.receive" : "check.collective_matching.send",
                 e->receives ? "%s receives on rank %" PRIu64 " what rank %" PRIu64 " never sends%s%s"
                             : "%s sends to rank %" PRIu64 " from rank %" PRIu64 " what that never receives%s%s",
                 text_of(x, e->step), e->destination, e->source, channel ? " on channel " : "", channel ? channel : "");
    verify_note_legal(&x->m->check->v, e->receives ? "a `transfer` with its operand, between the same ranks on the same channel, is the send"
                                                   : "a `transfer` with its result, between the same ranks on the same channel, is the receive");
}

static bool same_parts(const struct item *it, const struct dist_value *a, const struct dist_value *b)
{
    u32 n = list_n(it, a->sharding);
    if (!a->sharding || !b->sharding)
        return a->sharding == b->sharding;
    return n == list_n(it, b->sharding) && !memcmp(list_at(it, a->sharding), list_at(it, b->sharding), n * sizeof(u32));
}

static void refuse_value(struct ends *x, u32 send, u32 receive, const struct dist_value *a, const struct dist_value *b)
{
    const struct item *it = item_of(x);
    const char *sent = value_text(it, a->s.name), *taken = value_text(it, b->s.name);
    verify_error(&x->m->check->v, x->m->schedule.view.steps[receive].s, NULL, taken, "check.collective_matching.message",
                 "%s receives %s, and %s, which it meets, sends %s, which is of another %s", text_of(x, receive), taken, text_of(x, send), sent,
                 a->type == b->type ? "sharding" : "type");
    verify_note(&x->m->check->v, x->m->schedule.view.steps[send].s, NULL, sent, "the send is here");
}

/* In a dist program what is received is the value that is sent, in the same parts. */
static void check_values(struct ends *x, u32 send, u32 receive)
{
    const struct item *it = item_of(x);
    u32 operands = x->m->schedule.view.steps[send].operands, results = x->m->schedule.view.steps[receive].results;
    for (u32 i = 0; it->kind->layer == LAYER_DIST && list_n(it, operands) == list_n(it, results) && i < list_n(it, operands); i++) {
        const struct dist_value *a = (const struct dist_value *)item_value(it, list_at(it, operands)[i]),
                                *b = (const struct dist_value *)item_value(it, list_at(it, results)[i]);
        if (a && b && (a->type != b->type || !same_parts(it, a, b)))
            refuse_value(x, send, receive, a, b);
    }
}

static void meet(struct ends *x, const struct end *send, const struct end *receive)
{
    qty sent = message_of(x, send->step), taken = message_of(x, receive->step);
    const struct context *ctx = item_of(x)->ctx;
    x->partner[send->step] = receive->step + 1;
    x->partner[receive->step] = send->step + 1;
    x->m->pairs++;
    if (sent == taken) {
        check_values(x, send->step, receive->step);
        return;
    }
    verify_error(&x->m->check->v, x->m->schedule.view.steps[receive->step].s, "work", "message", "check.collective_matching.message",
                 "%s receives %s bytes, and %s, which it meets, sends %s", text_of(x, receive->step), qty_text(ctx, taken), text_of(x, send->step),
                 qty_text(ctx, sent));
    verify_note(&x->m->check->v, x->m->schedule.view.steps[send->step].s, "work", "message", "the send is here");
}

/* One channel: N ends, sends first, each side in the order of the text. */
static void match_channel(struct ends *x, const struct end *at, u32 n)
{
    u32 sends = 0;
    while (sends < n && !at[sends].receives)
        sends++;
    for (u32 i = 0; i < sends || i < n - sends; i++) {
        if (i >= n - sends)
            refuse_alone(x, &at[i]);
        else if (i >= sends)
            refuse_alone(x, &at[sends + i]);
        else
            meet(x, &at[i], &at[sends + i]);
    }
}

static void read_ends(struct ends *x)
{
    struct schedule *s = &x->m->schedule;
    x->at = ARENA_ARRAY(&x->m->check->v.scratch, struct end, s->view.n + (size_t)1);
    for (u32 i = 0; i < s->view.n; i++) {
        const struct step *step = &s->view.steps[i];
        bool sends = list_n(s->view.it, step->operands) > 0, receives = list_n(s->view.it, step->results) > 0;
        if (step->kind != STEP_TRANSFER)
            continue;
        x->m->whole += !sends && !receives;
        if (sends != receives)
            x->at[x->n++] = (struct end){ step->source, step->destination, channel_of(x, i), i, receives };
    }
    qsort(x->at, x->n, sizeof *x->at, by_channel);
}

/* ---- Who waits for whom: the two ends of a message are one event ---- */

static u32 event_of(const struct ends *x, u32 step)
{
    u32 other = x->partner[step];
    return other && other - 1 < step ? other - 1 : step;
}

struct chain {
    struct ends *x;
    u32 step;
};

static void visit_before(void *state, u32 before, u32 rank)
{
    struct chain *c = state;
    u32 a = event_of(c->x, before - 1), b = event_of(c->x, c->step);
    (void)rank;
    if (a != b)
        order_add(&c->x->order, a, b);
}

static void run_on(struct ends *x, struct rank_map *last, u32 step, const struct rank_set *set)
{
    rank_map_put(last, set, step + 1, visit_before, &(struct chain){ x, step });
}

static void run_step(struct ends *x, struct rank_map *last, u32 i)
{
    struct schedule *s = &x->m->schedule;
    const struct step *step = &s->view.steps[i];
    bool sends = list_n(s->view.it, step->operands) > 0, receives = list_n(s->view.it, step->results) > 0;
    struct rank_range source = { (u32)step->source, (u32)step->source }, destination = { (u32)step->destination, (u32)step->destination };
    if (step->kind != STEP_TRANSFER) {
        run_on(x, last, i, &s->sets.sets[s->set[i]]);
        return;
    }
    if (sends || !receives)
        run_on(x, last, i, &(struct rank_set){ &source, 1 });
    if (receives || !sends)
        run_on(x, last, i, &(struct rank_set){ &destination, 1 });
}

enum { SHOWN = 8 };

/* NODES: each waits for the next, the last for the first. */
static void report_circle(void *state, const u32 *nodes, u32 n)
{
    struct ends *x = state;
    struct verifier *v = &x->m->check->v;
    const char *text = "";
    u32 first = 0;
    for (u32 i = 1; i < n; i++)
        first = nodes[i] < nodes[first] ? i : first;
    for (u32 i = 0; i < n && i < SHOWN; i++)
        text = arena_format(&v->scratch, "%s%s -> ", text, text_of(x, nodes[(first + i) % n]));
    verify_error(v, x->m->schedule.view.steps[nodes[first]].s, NULL, NULL, "check.collective_matching.hang", "ranks wait for one another: %s%s%s", text,
                 n > SHOWN ? "... -> " : "", text_of(x, nodes[first]));
    for (u32 i = 0; i < n && i < SHOWN; i++) {
        u32 step = nodes[(first + i) % n], other = x->partner[step];
        if (other)
            verify_note(v, x->m->schedule.view.steps[other - 1].s, NULL, NULL, "%s is the other end of %s", text_of(x, other - 1), text_of(x, step));
    }
    verify_note_legal(v, "each runs where its rank has come to it in the text: move a send or a receive up");
}

static void add_dependency(void *state, u32 before, u32 after)
{
    struct ends *x = state;
    u32 a = event_of(x, before), b = event_of(x, after);
    if (a != b)
        order_add(&x->order, a, b);
}

static void check_circles(struct ends *x)
{
    struct schedule *s = &x->m->schedule;
    struct rank_map last;
    rank_map_init(&last, &x->m->check->v.scratch);
    order_begin(&x->order, &x->m->check->v.scratch, s->view.n);
    for (u32 i = 0; i < s->view.n; i++)
        run_step(x, &last, i);
    if (!s->view.serial)
        schedule_dependencies(s, add_dependency, x);
    if (!order_close(&x->order))
        order_cycles(&x->order, report_circle, x);
}

void matching_sends(struct matching *m)
{
    struct ends x = { .m = m };
    u32 errors = m->check->v.errors;
    if (m->schedule.view.it->kind->layer == LAYER_CONCRETE)
        return;                 /* its verifier proves that commands do not wait in a circle */
    read_ends(&x);
    if (!x.n)
        return;
    x.partner = ARENA_ARRAY(&m->check->v.scratch, u32, m->schedule.view.n + (size_t)1);
    for (u32 i = 0, end = 0; i < x.n; i = end) {
        for (end = i; end < x.n && same_channel(&x.at[i], &x.at[end]);)
            end++;
        match_channel(&x, x.at + i, end - i);
    }
    if (m->check->v.errors == errors)
        check_circles(&x);
}
