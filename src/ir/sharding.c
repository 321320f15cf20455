#include "ir/sharding.h"

#include "ir/print.h"

static struct axis_list read_axes(const u32 **at)
{
    struct axis_list list = { *at + 1, **at };
    *at += 1 + list.n;
    return list;
}

void sharding_read(const struct item *it, u32 handle, struct sharding *out)
{
    memset(out, 0, sizeof *out);
    if (!handle)
        return;
    const u32 *at = list_at(it, handle);
    out->rank = *at++;
    for (u32 i = 0; i < out->rank; i++)
        out->dims[i] = read_axes(&at);
    out->n_partial = *at++;
    for (u32 i = 0; i < out->n_partial; i++) {
        out->partial[i].reduction = (enum reduction)*at++;
        out->partial[i].axes = read_axes(&at);
    }
}

enum { LONGEST_SHARDING = 512 };

static void put_axes(u32 *words, u32 *n, struct axis_list list)
{
    words[(*n)++] = list.n;
    for (u32 i = 0; i < list.n && *n < LONGEST_SHARDING - MAX_RANK; i++)
        words[(*n)++] = list.axes[i];
}

u32 sharding_write(struct item *it, const struct sharding *s, u32 rank)
{
    u32 words[LONGEST_SHARDING + 8], n = 0, dims = s->rank;
    bool split = false;
    for (u32 i = 0; i < s->rank; i++)
        split = split || s->dims[i].n;
    if (!split && s->rank == rank)
        dims = 0;
    words[n++] = dims;
    for (u32 i = 0; i < dims; i++)
        put_axes(words, &n, s->dims[i]);
    words[n++] = s->n_partial;
    for (u32 i = 0; i < s->n_partial; i++) {
        words[n++] = s->partial[i].reduction;
        put_axes(words, &n, s->partial[i].axes);
    }
    return dims || s->n_partial ? item_list(it, words, n) : 0;
}

bool axis_list_has(struct axis_list list, atom axis)
{
    for (u32 i = 0; i < list.n; i++)
        if (list.axes[i] == axis)
            return true;
    return false;
}

static void out_axes(struct out *o, const struct item *it, struct axis_list list)
{
    out_char(o, '{');
    for (u32 i = 0; i < list.n; i++) {
        if (i)
            out_string(o, ", ");
        out_word(o, &it->ctx->names, list.axes[i]);
    }
    out_char(o, '}');
}

void out_sharding(struct out *o, const struct item *it, u32 handle)
{
    struct sharding s;
    bool split = false;
    sharding_read(it, handle, &s);
    for (u32 i = 0; i < s.rank; i++)
        split = split || s.dims[i].n;
    if (split)
        out_string(o, " sharding [");
    for (u32 i = 0; split && i < s.rank; i++) {
        if (i)
            out_string(o, ", ");
        out_axes(o, it, s.dims[i]);
    }
    if (split)
        out_char(o, ']');
    for (u32 i = 0; i < s.n_partial; i++) {
        out_string(o, " partial ");
        out_string(o, reduction_enum.words[s.partial[i].reduction].text);
        out_char(o, ' ');
        out_axes(o, it, s.partial[i].axes);
    }
}
