/* Rules of portable that the schema can't say: of the plan as a whole. The others are in verify_<theme>.c. */
#include "dialects/portable/verify.h"

#include <math.h>

static void check_objectives(struct plan *p)
{
    const struct portable_objective *seen[8] = { 0 };
    bool any = false;
    for (u32 i = 0; i < p->it->n_stmts; i++) {
        const struct portable_objective *o = (const struct portable_objective *)p->it->stmts[i];
        if (o->s.entity != PORTABLE_OBJECTIVE)
            continue;
        const char *kind = portable_objective_kind_enum.words[o->kind].text;
        any = true;
        if (seen[o->kind]) {
            verify_error(p->v, &o->s, NULL, kind, "portable.objective.duplicate", "`%s` is already an objective", kind);
            verify_note(p->v, &seen[o->kind]->s, NULL, kind, "the first is here");
        } else {
            seen[o->kind] = o;
        }
        if (!isfinite(o->weight) || o->weight <= 0) {
            verify_error(p->v, &o->s, "weight", NULL, "portable.objective.weight", "the weight of `%s` is %g, and must be above 0", kind,
                         o->weight);
            verify_note_legal(p->v, "an objective of no weight is none: remove it");
        }
    }
    if (!any) {
        verify_error(p->v, NULL, NULL, NULL, "portable.plan.objective", "%s says nothing about what a binder should make small or large",
                     symbol_text(p->it, p->it->name));
        verify_note_legal(p->v, "add an `objective`, as `objective minimize latency`");
    }
}

static void check_mesh(struct plan *p)
{
    const u32 *at = list_at(p->it, p->mesh->axes);
    u32 n = list_n(p->it, p->mesh->axes);
    p->n_ranks = 1;
    for (u32 i = 0; i + 2 < n; i += 3) {
        const char *axis = context_text(p->v->ctx, at[i]);
        u64 size = pair_get(at + i + 1);
        for (u32 k = 0; k < i; k += 3)
            if (at[k] == at[i]) {
                verify_error(p->v, &p->mesh->s, NULL, axis, "portable.mesh.axis", "the mesh has two axes `%s`", axis);
                break;
            }
        if (size == 0)
            verify_error(p->v, &p->mesh->s, NULL, axis, "portable.mesh.size", "axis `%s` has no ranks: its size is at least 1", axis);
        if (size && (p->n_ranks == 0 || size > (UINT32_MAX - 1) / p->n_ranks)) {
            verify_error(p->v, &p->mesh->s, NULL, axis, "portable.mesh.size", "the mesh has more than 4294967294 ranks");
            size = 0;
        }
        p->n_ranks *= size;
        if (!p->n_ranks)
            return;
    }
}

static void gather(struct plan *p)
{
    const struct item *it = p->it;
    struct arena *a = &p->v->scratch;
    p->tasks = ARENA_ARRAY(a, const struct portable_task *, it->n_stmts + (size_t)1);
    p->buffers = ARENA_ARRAY(a, const struct portable_buffer *, it->n_stmts + (size_t)1);
    p->task_of = ARENA_ARRAY(a, u32, it->ctx->names.n);
    p->buffer_of = ARENA_ARRAY(a, u32, it->ctx->names.n);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *s = it->stmts[i];
        if (s->entity == PORTABLE_TASK) {
            p->tasks[p->n_tasks++] = (const struct portable_task *)s;
            p->task_of[s->name] = p->n_tasks;
        } else if (s->entity == PORTABLE_BUFFER) {
            p->buffers[p->n_buffers++] = (const struct portable_buffer *)s;
            p->buffer_of[s->name] = p->n_buffers;
        } else if (s->entity == PORTABLE_MESH && !p->mesh) {
            p->mesh = (const struct portable_mesh *)s;
        } else if (s->entity == PORTABLE_ORDER) {
            p->serial = true;
        }
    }
    p->maker = ARENA_ARRAY(a, u32, p->n_buffers + 1);
}

void portable_verify(struct verifier *v)
{
    struct plan p = { .v = v, .it = v->item };
    gather(&p);
    if (p.n_tasks == 0) {
        verify_error(v, NULL, NULL, NULL, "portable.plan.empty", "%s has no task", symbol_text(p.it, p.it->name));
        verify_note_legal(v, "a plan is work: add at least one `task`");
    }
    if (p.mesh)
        check_mesh(&p);
    rank_sets_init(&p.ranks, &v->scratch, p.it, &(struct rank_range){ 0, p.n_ranks ? (u32)(p.n_ranks - 1) : UINT32_MAX - 1 }, 1);
    check_objectives(&p);
    portable_verify_buffers(&p);
    portable_verify_tasks(&p);
    portable_verify_needs(&p);
    portable_verify_flow(&p);
}
