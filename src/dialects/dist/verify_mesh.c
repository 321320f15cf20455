/* The mesh: named axes with sizes; their product numbers the ranks. */
#include "dialects/dist/verify.h"

#include <inttypes.h>

static bool check_axis_name(struct dist_checker *c, const struct dist_mesh *mesh, atom name)
{
    if (dist_axis_find(c, name) < 0)
        return true;
    const char *text = context_text(c->ctx, name);
    return verify_error(c->v, &mesh->s, NULL, text, "dist.mesh.axis_duplicate", "the mesh has two axes called `%s`",
                        text);
}

static bool check_axis_size(struct dist_checker *c, const struct dist_mesh *mesh, atom name, u64 size)
{
    const char *text = context_text(c->ctx, name);
    if (size == 0)
        return verify_error(c->v, &mesh->s, NULL, text, "dist.mesh.size",
                            "axis `%s` has size 0; an axis has at least one rank", text);
    if (size >= UINT32_MAX || c->size * size >= UINT32_MAX) {
        verify_error(c->v, &mesh->s, NULL, text, "dist.mesh.size",
                     "with axis `%s` = %" PRIu64 " the mesh has too many ranks", text, size);
        verify_note_legal(c->v, "a mesh has at most %" PRIu32 " ranks", UINT32_MAX - 1);
        return false;
    }
    return true;
}

void dist_mesh_check(struct dist_checker *c, const struct dist_mesh *mesh)
{
    const u32 *at = list_at(c->it, mesh->axes);
    u32 n = list_n(c->it, mesh->axes) / 3;
    bool good = n >= 1 && n <= DIST_MAX_AXES;
    if (!good)
        verify_error(c->v, &mesh->s, NULL, NULL, "dist.mesh.axes", "%s has %u axes; a mesh has 1 to %d",
                     stmt_text(c->it, &mesh->s), n, DIST_MAX_AXES);
    c->size = 1;
    for (u32 i = 0; i < n && i < DIST_MAX_AXES; i++) {
        u64 size = pair_get(&at[3 * i + 1]);
        bool right = check_axis_name(c, mesh, at[3 * i]) && check_axis_size(c, mesh, at[3 * i], size);
        c->axes[c->n_axes++] = (struct dist_axis){ .name = at[3 * i], .size = size };
        c->size *= right ? size : 1;
        good = good && right;
    }
    u64 stride = 1;
    for (u32 i = c->n_axes; i-- > 0; stride *= c->axes[i].size) {
        c->axes[i].stride = stride;
        c->single |= (u64)(c->axes[i].size == 1) << i;
    }
    rank_sets_init(&c->sets, &c->v->scratch, c->it, &(struct rank_range){ 0, (u32)(c->size - 1) }, 1);
    c->mesh = good ? mesh : NULL;
}

int dist_axis_find(const struct dist_checker *c, atom name)
{
    for (u32 i = 0; i < c->n_axes; i++)
        if (c->axes[i].name == name)
            return (int)i;
    return -1;
}

const char *dist_axis_nearest(const struct dist_checker *c, atom name)
{
    const char *names[DIST_MAX_AXES];
    for (u32 i = 0; i < c->n_axes; i++)
        names[i] = context_text(c->ctx, c->axes[i].name);
    return nearest_name(context_text(c->ctx, name), names, c->n_axes);
}

u64 dist_axes_size(const struct dist_checker *c, u64 mask)
{
    u64 product = 1;
    for (u32 i = 0; i < c->n_axes; i++)
        product *= mask >> i & 1 ? c->axes[i].size : 1;
    return product;
}

const char *dist_axes_text(const struct dist_checker *c, u64 mask)
{
    const char *text = "";
    for (u32 i = 0; i < c->n_axes; i++)
        if (mask >> i & 1)
            text =
                arena_format(&c->v->scratch, "%s%s%s", text, *text ? ", " : "", context_text(c->ctx, c->axes[i].name));
    return arena_format(&c->v->scratch, "{%s}", text);
}
