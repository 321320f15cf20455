/*
 * collective-matching: ranks that share communications meet them in one order, so that none waits for ever.
 *   order         of two collectives that share a rank one comes first; above a concrete plan that may be left open
 *   groups        with a rank all of its group take part; of a dist program that is the verifier's rule
 *   sends         each send meets a receive of its channel, of the same bytes
 *   no hang       where sends and receives stand apart, ranks that run in the order of the text never wait in a circle
 */
#include "conformance/matching.h"

#include "conformance/mesh.h"
#include "conformance/rank_map.h"

/* ---- One order ---- */

struct ordering {
    struct matching *m;
    u32 step;
    bool told;                  /* once a step */
};

/* A concrete plan is what runs; above it an order may still be chosen, the same one for all ranks. */
static void tell_order(struct matching *m, u32 a, u32 b, u32 rank)
{
    const struct view *view = &m->schedule.view;
    struct verifier *v = &m->check->v;
    const char *first = stmt_text(view->it, view->steps[a].s), *second = stmt_text(view->it, view->steps[b].s);
    if (view->it->kind->layer == LAYER_CONCRETE)
        verify_error(v, view->steps[b].s, NULL, NULL, "check.collective_matching.order",
                     "rank %u takes part in %s and in %s, and neither comes first: another rank may enter them in the other order", rank, first,
                     second);
    else
        verify_warning(v, view->steps[b].s, NULL, NULL, "check.collective_matching.order",
                       "rank %u takes part in %s and in %s, and neither comes first: what runs them must choose one order for all ranks", rank,
                       first, second);
    verify_note(v, view->steps[a].s, NULL, NULL, "%s is here", first);
    verify_note_legal(v, "write `after %s`, or `order serial`", first);
    m->open++;
}

/* Where an order may still be chosen one pair is enough to say so. */
static void visit_before(void *state, u32 before, u32 rank)
{
    struct ordering *o = state;
    struct matching *m = o->m;
    bool enough = m->open && m->schedule.view.it->kind->layer != LAYER_CONCRETE;
    if (o->told || enough || order_before(&m->schedule.order, before - 1, o->step))
        return;
    tell_order(m, before - 1, o->step, rank);
    o->told = true;
}

/* In a sequence that keeps the order; the last on each rank before, if ordered, has all others before it. */
static void check_order(struct matching *m)
{
    struct rank_map last;
    rank_map_init(&last, &m->check->v.scratch);
    for (u32 i = 0; i < m->schedule.view.n; i++) {
        struct ordering o = { m, order_at(&m->schedule.order, i), false };
        if (m->schedule.view.steps[o.step].kind != STEP_COLLECTIVE)
            continue;
        m->collectives++;
        rank_map_put(&last, &m->schedule.sets.sets[m->schedule.set[o.step]], o.step + 1, visit_before, &o);
    }
}

/* ---- Whole groups ---- */

static void tell_apart(struct matching *m, const struct step *t, u64 in, u64 out)
{
    const struct view *view = &m->schedule.view;
    verify_error(&m->check->v, t->s, view->it->kind->layer == LAYER_CONCRETE ? "on" : "ranks", NULL, "check.collective_matching.group",
                 "rank %llu takes part in %s, and rank %llu of its group over %s does not: it waits for ever", (unsigned long long)in,
                 stmt_text(view->it, t->s), (unsigned long long)out, view_over_text(view, t->over));
    verify_note_legal(&m->check->v, "name both, or none of the group");
}

/* Axes are major to minor: the last one's ranks are next to one another. */
static void check_group(struct matching *m, const struct step *t, const struct rank_set *set)
{
    const struct view *view = &m->schedule.view;
    const u32 *at = list_at(view->it, view->axes);
    u64 stride = mesh_ranks(view->it, view->axes), in, out;
    for (u32 k = 0; k + 2 < list_n(view->it, view->axes); k += 3) {
        u64 size = pair_get(at + k + 1);
        stride /= size;
        if (size > 1 && view_over(view, t->over, at[k]) && !rank_set_closed(set, stride, size, &in, &out)) {
            tell_apart(m, t, in, out);
            return;
        }
    }
    m->groups++;
}

static void check_groups(struct matching *m)
{
    const struct view *view = &m->schedule.view;
    for (u32 i = 0; view->it->kind->layer != LAYER_DIST && view->mesh && i < view->n; i++)
        if (view->steps[i].kind == STEP_COLLECTIVE && view->steps[i].over && m->schedule.set[i] != ALL_RANKS)
            check_group(m, &view->steps[i], &m->schedule.sets.sets[m->schedule.set[i]]);
}

static void say(struct matching *m)
{
    struct check *c = m->check;
    if (!c->v.errors && m->collectives && !m->open)
        check_proved(c, "%u collectives: any two that share a rank have an order, so that all ranks meet them in one", m->collectives);
    if (!c->v.errors && m->groups)
        check_proved(c, "%u collectives of some ranks in groups: with a rank all of its group take part", m->groups);
    if (!c->v.errors && m->pairs)
        check_proved(c, "%u sends meet their receives, and no rank waits in a circle when all run in the order of the text", m->pairs);
    if (m->open && !c->v.errors)
        check_skipped(c, "the order of %u collectives, which is open", m->collectives);
    if (!m->collectives && !m->pairs)
        check_skipped(c, "it has no collective, and no send apart from its receive");
    if (m->whole)
        check_skipped(c, "transfers that name no value: %u; they are taken to be sent and received", m->whole);
}

static bool run(struct check *c)
{
    struct matching m = { .check = c };
    if (!schedule_read(&m.schedule, c, c->v.item)) {
        check_skipped(c, "its tasks wait for one another, so that there is no order to check");
        return true;
    }
    check_groups(&m);
    check_order(&m);
    matching_sends(&m);
    say(&m);
    return c->v.errors == 0;
}

const struct checker collective_matching = {
    .name = "collective-matching",
    .layers = IN(LAYER_DIST) | IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE),
    .run = run,
    .doc = "All ranks meet their collectives in one order, sends meet receives, and none waits for ever.",
};
