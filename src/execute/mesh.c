#include "execute/mesh.h"

void mesh_read(struct mesh *m, const struct item *it, const struct dist_mesh *mesh)
{
    const u32 *at = mesh ? list_at(it, mesh->axes) : NULL;
    *m = (struct mesh){ .n = mesh ? list_n(it, mesh->axes) / 3 : 0, .size = 1 };
    for (u32 i = m->n; i-- > 0;) {
        m->axes[i].name = at[3 * i];
        m->axes[i].size = pair_get(&at[3 * i + 1]);
        m->axes[i].stride = m->size;
        m->size *= m->axes[i].size;
    }
}

static u32 axis_of(const struct mesh *m, atom name)
{
    u32 i = 0;
    while (i < m->n && m->axes[i].name != name)
        i++;
    return i;
}

u64 mesh_mask(const struct mesh *m, struct axis_list list)
{
    u64 mask = 0;
    for (u32 i = 0; i < list.n; i++)
        if (axis_of(m, list.axes[i]) < m->n)
            mask |= (u64)1 << axis_of(m, list.axes[i]);
    return mask;
}

u64 mesh_product(const struct mesh *m, u64 mask)
{
    u64 product = 1;
    for (u32 i = 0; i < m->n; i++)
        product *= mask >> i & 1 ? m->axes[i].size : 1;
    return product;
}

static u64 coordinate(const struct mesh *m, u32 axis, u64 rank)
{
    return rank / m->axes[axis].stride % m->axes[axis].size;
}

u64 mesh_position(const struct mesh *m, struct axis_list list, u64 rank)
{
    u64 position = 0;
    for (u32 i = 0; i < list.n; i++) {
        u32 axis = axis_of(m, list.axes[i]);
        if (axis < m->n)
            position = position * m->axes[axis].size + coordinate(m, axis, rank);
    }
    return position;
}

u64 mesh_position_in(const struct mesh *m, u64 mask, u64 rank)
{
    u64 position = 0;
    for (u32 i = 0; i < m->n; i++)
        if (mask >> i & 1)
            position = position * m->axes[i].size + coordinate(m, i, rank);
    return position;
}

u64 mesh_member(const struct mesh *m, u64 mask, u64 rank, u64 position)
{
    for (u32 i = m->n; i-- > 0;)
        if (mask >> i & 1) {
            rank -= coordinate(m, i, rank) * m->axes[i].stride;
            rank += position % m->axes[i].size * m->axes[i].stride;
            position /= m->axes[i].size;
        }
    return rank;
}

bool mesh_box(const struct mesh *m, const struct sharding *s, u64 rank, const struct tensor *whole, struct tensor *box,
              u32 *dim)
{
    *box = *whole;
    box->at = NULL;
    for (u32 i = 0; i < whole->rank && i < s->rank; i++) {
        u64 parts = mesh_product(m, mesh_mask(m, s->dims[i]));
        *dim = i;
        if (whole->whole[i] % parts)
            return false;
        box->size[i] = whole->whole[i] / parts;
        box->from[i] = mesh_position(m, s->dims[i], rank) * box->size[i];
    }
    box->n = sizes_product(box->size, box->rank);
    return true;
}
