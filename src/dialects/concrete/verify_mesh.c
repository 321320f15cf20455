/* Rules of the mesh and of groups along its axes: it has the ranks of the devices, and only collectives have groups. */
#include "dialects/concrete/verify.h"

/* ---- The mesh ---- */

static void check_names(struct plan *p, u8 *is_axis)
{
    const u32 *at = list_at(p->it, p->mesh->axes);
    for (u32 i = 0; i + 2 < list_n(p->it, p->mesh->axes); i += 3) {
        const char *axis = context_text(p->v->ctx, at[i]);
        if (is_axis[at[i]])
            verify_error(p->v, &p->mesh->s, NULL, axis, "concrete.mesh.axis", "the mesh has two axes `%s`", axis);
        is_axis[at[i]] = 1;
    }
}

/* Ranks of the mesh; 0: they can't be told, and why is. */
static u64 check_sizes(struct plan *p)
{
    const u32 *at = list_at(p->it, p->mesh->axes);
    u64 n = 1;
    for (u32 i = 0; i + 2 < list_n(p->it, p->mesh->axes); i += 3) {
        const char *axis = context_text(p->v->ctx, at[i]);
        u64 size = pair_get(at + i + 1);
        if (size == 0)
            verify_error(p->v, &p->mesh->s, NULL, axis, "concrete.mesh.size", "axis `%s` has no ranks: its size is at least 1", axis);
        else if (size > (UINT32_MAX - 1) / n)
            verify_error(p->v, &p->mesh->s, NULL, axis, "concrete.mesh.size", "the mesh has more than 4294967294 ranks");
        else {
            n *= size;
            continue;
        }
        return 0;
    }
    return n;
}

static const struct concrete_device *device_of(const struct plan *p, u32 rank)
{
    for (u32 i = 0; i < p->n_devices; i++)
        if (p->devices[i]->rank == rank)
            return p->devices[i];
    return NULL;
}

static void check_devices(struct plan *p, u64 n)
{
    u32 rank, set = rank_set_ranges(&p->ranks, &(struct rank_range){ 0, (u32)(n - 1) }, 1);
    const char *mesh = stmt_text(p->it, &p->mesh->s);
    if (rank_sets_differ(&p->ranks, ALL_RANKS, set, &rank)) {
        verify_error(p->v, &p->mesh->s, "axes", NULL, "concrete.mesh.device", "%s has ranks 0 to %llu, and rank %u has a device", mesh,
                     (unsigned long long)(n - 1), rank);
        verify_note(p->v, &device_of(p, rank)->s, "rank", NULL, "the device is here");
    } else if (rank_sets_differ(&p->ranks, set, ALL_RANKS, &rank)) {
        verify_error(p->v, &p->mesh->s, "axes", NULL, "concrete.mesh.device", "%s has ranks 0 to %llu, and rank %u has no device", mesh,
                     (unsigned long long)(n - 1), rank);
        verify_note_legal(p->v, "add `device @d%u rank %u name \"…\"`, or make the mesh smaller", rank, rank);
    }
}

static bool has_range(const struct plan *p)
{
    for (u32 i = 0; i < p->n_devices; i++)
        if (p->devices[i]->rank >= UINT32_MAX)
            return false;
    return true;
}

/* ---- Groups ---- */

static const char *nearest_axis(const struct plan *p, const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (u32 k = 0; k + 2 < list_n(p->it, p->mesh->axes) && n < COUNT(names); k += 3)
        names[n++] = context_text(p->v->ctx, list_at(p->it, p->mesh->axes)[k]);
    return nearest_name(word, names, n);
}

static void unknown_axis(struct plan *p, const struct concrete_command *c, atom axis)
{
    const char *word = context_text(p->v->ctx, axis), *near;
    verify_error(p->v, &c->s, "over", word, "concrete.over.axis", "%s has no axis `%s`", stmt_text(p->it, &p->mesh->s), word);
    if ((near = nearest_axis(p, word)))
        verify_near(p->v, 0, word, near);
    else
        verify_note(p->v, &p->mesh->s, NULL, NULL, "the mesh is here");
}

static void check_over(struct plan *p, const struct concrete_command *c, const u8 *is_axis)
{
    const char *body = concrete_body_enum.words[c->body].text;
    if (c->body != CONCRETE_COLLECTIVE) {
        verify_error(p->v, &c->s, "over", NULL, "concrete.over.body", "a %s has no `over`", body);
        verify_note_legal(p->v, "only a collective has groups of ranks; say who takes part with `on`");
    } else if (!list_n(p->it, c->over)) {
        verify_error(p->v, &c->s, "over", NULL, "concrete.over.axis", "a collective over no axis has no group");
        verify_note_legal(p->v, "leave `over` out for one group of all");
    } else if (!p->mesh) {
        verify_error(p->v, &c->s, "over", NULL, "concrete.over.mesh", "%s has groups along axes, and the plan has no mesh", stmt_text(p->it, &c->s));
        verify_note_legal(p->v, "add the portable plan's `mesh`");
    } else {
        for (u32 i = 0; i < list_n(p->it, c->over); i++)
            if (!is_axis[list_at(p->it, c->over)[i]])
                unknown_axis(p, c, list_at(p->it, c->over)[i]);
    }
}

void concrete_verify_mesh(struct plan *p)
{
    u8 *is_axis = ARENA_ARRAY(&p->v->scratch, u8, p->it->ctx->names.n);     /* by atom */
    u64 n = p->mesh ? check_sizes(p) : 0;
    if (p->mesh)
        check_names(p, is_axis);
    if (n && has_range(p))
        check_devices(p, n);
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->commands[i]->over)
            check_over(p, p->commands[i], is_axis);
}
