#include "conformance/schedule.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"

/* ---- Ranks ---- */

static void see_rank(u64 rank, u32 *highest)
{
    if (rank < UINT32_MAX && rank > *highest)
        *highest = (u32)rank;
}

static u32 highest_named(const struct view *v)
{
    u32 highest = 0;
    for (u32 i = 0; i < v->n; i++) {
        for (u32 k = 1; k < list_n(v->it, v->steps[i].ranks); k += 2)
            see_rank(list_at(v->it, v->steps[i].ranks)[k], &highest);
        see_rank(v->steps[i].source, &highest);
        see_rank(v->steps[i].destination, &highest);
    }
    return highest;
}

/* Of a mesh or a device. */
static bool ranks_of(const struct item *it, const struct stmt *s, struct rank_range *out)
{
    u32 axes = 0;
    u64 size = 1;
    if (it->kind->layer == LAYER_CONCRETE && s->entity == CONCRETE_DEVICE) {
        u32 rank = (u32)((const struct concrete_device *)s)->rank;
        *out = (struct rank_range){ rank, rank };
        return true;
    }
    if (it->kind->layer == LAYER_DIST && s->entity == DIST_MESH)
        axes = ((const struct dist_mesh *)s)->axes;
    if (it->kind->layer == LAYER_PORTABLE && s->entity == PORTABLE_MESH)
        axes = ((const struct portable_mesh *)s)->axes;
    for (u32 k = 0; k + 2 < list_n(it, axes); k += 3)
        size *= pair_get(list_at(it, axes) + k + 1);
    *out = (struct rank_range){ 0, (u32)(size - 1) };
    return axes != 0;
}

void schedule_ranks(const struct view *v, struct rank_sets *out)
{
    struct rank_range *all = ARENA_ARRAY(v->arena, struct rank_range, v->it->n_stmts + (size_t)1);
    u32 n = 0;
    for (u32 i = 0; i < v->it->n_stmts; i++)
        n += ranks_of(v->it, v->it->stmts[i], &all[n]);
    if (!n)
        all[n++] = (struct rank_range){ 0, highest_named(v) };
    rank_sets_init(out, v->arena, v->it, all, n);
}

/* ---- Order ---- */

static enum layer layer_of(const struct schedule *x) { return x->view.it->kind->layer; }

static u32 effects_of(const struct schedule *x, u32 step)
{
    const struct stmt *s = x->view.steps[step].s;
    switch (layer_of(x)) {
    case LAYER_DIST: return ((const struct dist_task *)s)->more->effects;
    case LAYER_PORTABLE: return ((const struct portable_task *)s)->more->effects;
    default: return 0;
    }
}

/* Behind the last task above that made the value. LAST: by atom, number + 1. */
static void visit_effects(const struct schedule *x, u32 step, u32 *last, void (*visit)(void *, u32, u32), void *state)
{
    const struct item *it = x->view.it;
    u32 effects = effects_of(x, step), results = x->view.steps[step].results;
    for (u32 i = 1; i < list_n(it, effects); i += 2) {
        u32 ref = list_at(it, effects)[i], maker = ref_is_value(ref) ? last[ref_atom(ref)] : 0;
        if (maker)
            visit(state, maker - 1, step);
    }
    for (u32 i = 0; i < list_n(it, results); i++)
        last[list_at(it, results)[i]] = step + 1;
}

void schedule_dependencies(const struct schedule *x, void (*visit)(void *state, u32 before, u32 after), void *state)
{
    u32 *last = ARENA_ARRAY(x->view.arena, u32, x->view.it->ctx->names.n);
    view_dependencies(&x->view, visit, state);
    for (u32 i = 0; layer_of(x) != LAYER_CONCRETE && i < x->view.n; i++)
        visit_effects(x, i, last, visit, state);
}

static void add_edge(void *state, u32 before, u32 after)
{
    order_add(state, before, after);
}

bool schedule_read(struct schedule *x, struct check *c, const struct item *it)
{
    *x = (struct schedule){ .check = c };
    view_read(&x->view, it, &c->v.scratch);
    schedule_ranks(&x->view, &x->sets);
    x->set = ARENA_ARRAY(x->view.arena, u32, x->view.n + (size_t)1);
    for (u32 i = 0; i < x->view.n; i++)
        x->set[i] = rank_set_of(&x->sets, x->view.steps[i].ranks);
    if (x->view.serial || layer_of(x) == LAYER_CONCRETE)
        return view_order(&x->view, &x->order);
    order_begin(&x->order, x->view.arena, x->view.n);
    schedule_dependencies(x, add_edge, &x->order);
    return order_close(&x->order);
}
