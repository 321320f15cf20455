#include "conformance/grid.h"

#include "ir/context.h"

#include <inttypes.h>
#include <stdlib.h>

void grid_read(struct grid *g, struct arena *arena, const struct item *it, u32 axes)
{
    *g = (struct grid){ .it = it, .arena = arena, .size = 1 };
    for (u32 i = 0; i + 2 < list_n(it, axes) && g->n < GRID_AXES; i += 3) {
        u64 size = pair_get(list_at(it, axes) + i + 1);
        if (size > 1)
            g->axes[g->n++] = (struct grid_axis){ list_at(it, axes)[i], size, 0 };
    }
    for (u32 i = g->n; i-- > 0; g->size *= g->axes[i].size)
        g->axes[i].stride = g->size;
    rank_sets_init(&g->sets, arena, it, &(struct rank_range){ 0, (u32)(g->size - 1) }, 1);
}

static int find_axis(const struct grid *g, atom name)
{
    for (u32 i = 0; i < g->n; i++)
        if (g->axes[i].name == name)
            return (int)i;
    return -1;
}

u64 grid_axes_size(const struct grid *g, u64 mask)
{
    u64 size = 1;
    for (u32 i = 0; i < g->n; i++)
        if (mask >> i & 1)
            size *= g->axes[i].size;
    return size;
}

static const char *add_axis(const struct grid *g, const char *text, u32 axis)
{
    return arena_format(g->arena, "%s%s%s", text, text[1] ? ", " : "", context_text(g->it->ctx, g->axes[axis].name));
}

const char *grid_axes_text(const struct grid *g, u64 mask)
{
    const char *text = "{";
    for (u32 i = 0; i < g->n; i++)
        if (mask >> i & 1)
            text = add_axis(g, text, i);
    return arena_format(g->arena, "%s}", text);
}

u64 grid_over(const struct grid *g, u32 list)
{
    u64 mask = 0;
    if (!list)
        return g->n < 64 ? ((u64)1 << g->n) - 1 : UINT64_MAX;
    for (u32 i = 0; i < list_n(g->it, list); i++) {
        int axis = find_axis(g, list_at(g->it, list)[i]);
        if (axis >= 0)
            mask |= (u64)1 << axis;
    }
    return mask;
}

/* ---- Coverage ---- */

struct cover {
    const struct grid *g;
    u64 mask;
    u32 axis_of[GRID_AXES];     /* what is missing: axes and coordinates, innermost first */
    u64 at[GRID_AXES];
    u32 n;
};

struct span {
    u64 first, last;
};

static int by_first(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Joins what overlaps or touches. */
static u32 join(struct span *spans, u32 n)
{
    u32 kept = 0;
    qsort(spans, n, sizeof *spans, by_first);
    for (u32 i = 0; i < n; i++)
        if (kept && spans[i].first <= spans[kept - 1].last + 1) {
            if (spans[i].last > spans[kept - 1].last)
                spans[kept - 1].last = spans[i].last;
        } else {
            spans[kept++] = spans[i];
        }
    return kept;
}

/*
 * Each span cut at the multiples of STRIDE: a head, a tail, and whole slices between, of which one stands for all when
 * slices are laid over one another. Room for three a span.
 */
static u32 cut(const struct span *spans, u32 n, u64 stride, struct span *out)
{
    u32 m = 0;
    for (u32 i = 0; i < n; i++) {
        u64 first = spans[i].first, last = spans[i].last, head = first / stride, tail = last / stride;
        if (head == tail) {
            out[m++] = (struct span){ first, last };
            continue;
        }
        out[m++] = (struct span){ first, (head + 1) * stride - 1 };
        if (head + 1 < tail)
            out[m++] = (struct span){ (head + 1) * stride, tail * stride - 1 };
        out[m++] = (struct span){ tail * stride, last };
    }
    return m;
}

static bool covers(struct cover *c, struct span *spans, u32 n, u32 axis);

static bool miss(struct cover *c, u32 axis, u64 at)
{
    c->axis_of[c->n] = axis;
    c->at[c->n++] = at;
    return false;
}

/* Every slice along the axis has all that is asked of the axes below. */
static bool each_slice(struct cover *c, struct span *parts, u32 n, u32 axis)
{
    u64 stride = c->g->axes[axis].stride, next = 0;
    for (u32 i = 0; i < n;) {
        u64 slice = parts[i].first / stride, past = parts[i].last / stride;
        u32 end = i;
        if (slice != next)
            return miss(c, axis, next);
        next = past + 1;
        if (past > slice || (parts[i].first % stride == 0 && parts[i].last % stride == stride - 1)) {
            i++;
            continue;
        }
        for (; end < n && parts[end].first / stride == slice; end++)
            parts[end] = (struct span){ parts[end].first % stride, parts[end].last % stride };
        if (!covers(c, parts + i, end - i, axis + 1))
            return miss(c, axis, slice);
        i = end;
    }
    return next == c->g->axes[axis].size || miss(c, axis, next);
}

/* SPANS: sorted, disjoint ranks of the axes from AXIS on. */
static bool covers(struct cover *c, struct span *spans, u32 n, u32 axis)
{
    if (axis == c->g->n || !(c->mask >> axis))
        return n > 0;
    u64 stride = c->g->axes[axis].stride;
    struct span *parts = ARENA_ARRAY(c->g->arena, struct span, 3 * (size_t)n);
    u32 m = cut(spans, n, stride, parts);
    if (c->mask >> axis & 1)
        return each_slice(c, parts, m, axis);
    for (u32 i = 0; i < m; i++) {
        bool whole = parts[i].last - parts[i].first + 1 >= stride;
        parts[i] = whole ? (struct span){ 0, stride - 1 } : (struct span){ parts[i].first % stride, parts[i].last % stride };
    }
    return covers(c, parts, join(parts, m), axis + 1);
}

static bool find_missing(const struct grid *g, u32 set, u64 mask, const char **missing)
{
    const struct rank_set *s = &g->sets.sets[set];
    struct cover c = { .g = g, .mask = mask };
    struct span *spans = ARENA_ARRAY(g->arena, struct span, s->n + (size_t)1);
    for (u32 i = 0; i < s->n; i++)
        spans[i] = (struct span){ s->ranges[i].first, s->ranges[i].last };
    if (covers(&c, spans, s->n, 0))
        return true;
    *missing = "";
    for (u32 i = c.n; i-- > 0;)
        *missing = arena_format(g->arena, "%s%s%s = %" PRIu64, *missing, **missing ? ", " : "",
                                context_text(g->it->ctx, g->axes[c.axis_of[i]].name), c.at[i]);
    return false;
}

struct covered {
    u32 set;                    /* + 1 */
    bool good;
    u64 mask;
};

static struct covered *covered_slot(const struct grid *g, u32 set, u64 mask)
{
    u32 i = (u32)(((u64)set * 31 + mask) * 0x9e3779b97f4a7c15u >> 32) & g->covered_mask;
    while (g->covered[i].set && (g->covered[i].set != set + 1 || g->covered[i].mask != mask))
        i = (i + 1) & g->covered_mask;
    return &g->covered[i];
}

static void grow_covered(struct grid *g)
{
    struct covered *old = g->covered;
    u32 n = old ? g->covered_mask + 1 : 0, size = n ? 2 * n : 64;
    g->covered = ARENA_ARRAY(g->arena, struct covered, size);
    g->covered_mask = size - 1;
    for (u32 i = 0; i < n; i++)
        if (old[i].set)
            *covered_slot(g, old[i].set - 1, old[i].mask) = old[i];
}

bool grid_covers(struct grid *g, u32 set, u64 mask, const char **missing)
{
    if (set == ALL_RANKS || !mask)
        return g->sets.sets[set].n > 0;
    if (2 * (u64)g->n_covered >= g->covered_mask)
        grow_covered(g);
    struct covered *known = covered_slot(g, set, mask);
    if (known->set && known->good)
        return true;
    g->n_covered += !known->set;
    *known = (struct covered){ set + 1, find_missing(g, set, mask, missing), mask };
    return known->good;
}

/* ---- Pieces ---- */

static u64 mask_of(const struct grid *g, struct axis_list list)
{
    u64 mask = 0;
    for (u32 i = 0; i < list.n; i++) {
        int axis = find_axis(g, list.axes[i]);
        if (axis >= 0)
            mask |= (u64)1 << axis;
    }
    return mask;
}

static void add_dim(const struct grid *g, struct piece *out, struct axis_list list, u32 *n)
{
    for (u32 i = 0; i < list.n && *n < GRID_AXES; i++) {
        int axis = find_axis(g, list.axes[i]);
        if (axis >= 0)
            out->axes[(*n)++] = (u8)axis;
    }
    out->split |= mask_of(g, list);
}

void piece_read(const struct grid *g, u32 type, u32 sharding, struct piece *out)
{
    struct sharding s;
    u32 n = 0;
    *out = (struct piece){ .type = type_get(g->it->ctx->types, type) };
    out->rank = out->type->rank;
    if (!sharding)
        return;
    sharding_read(g->it, sharding, &s);
    for (u32 i = 0; i < out->rank; i++) {
        if (i < s.rank)
            add_dim(g, out, s.dims[i], &n);
        out->first[i + 1] = (u8)n;
    }
    for (u32 i = 0; i < s.n_partial; i++)
        out->partial |= out->partial_of[s.partial[i].reduction] = mask_of(g, s.partial[i].axes);
}

bool piece_leads(const struct piece *p, u32 a, const struct piece *q, u32 b)
{
    u32 n = piece_n(p, a);
    return n <= piece_n(q, b) && !memcmp(piece_at(p, a), piece_at(q, b), n);
}

u64 piece_mask(const struct piece *p, u32 dim)
{
    u64 mask = 0;
    for (u32 i = p->first[dim]; i < p->first[dim + 1]; i++)
        mask |= (u64)1 << p->axes[i];
    return mask;
}

const char *piece_dim_text(const struct grid *g, const struct piece *p, u32 dim)
{
    const char *text = "{";
    for (u32 i = p->first[dim]; i < p->first[dim + 1]; i++)
        text = add_axis(g, text, p->axes[i]);
    return arena_format(g->arena, "%s}", text);
}

const char *piece_text(const struct grid *g, const struct piece *p)
{
    const char *text = "";
    for (u32 i = 0; p->split && i < p->rank; i++)
        text = arena_format(g->arena, "%s%s%s", i ? text : "sharding [", i ? ", " : "", piece_dim_text(g, p, i));
    if (p->split)
        text = arena_format(g->arena, "%s]", text);
    for (u32 r = REDUCTION_SUM; r < REDUCTIONS; r++)
        if (p->partial_of[r])
            text = arena_format(g->arena, "%s%spartial %s %s", text, *text ? " " : "", reduction_enum.words[r].text,
                                grid_axes_text(g, p->partial_of[r]));
    return *text ? text : "replicated";
}

/* ---- Numbers ---- */

void numbering_init(struct numbering *x, struct arena *arena, u32 most)
{
    u32 size = 16;
    while (size < 2 * (u64)most)
        size *= 2;
    *x = (struct numbering){ arena_alloc(arena, size * sizeof *x->slots), size - 1, 0 };
}

/* Names made one after the other have atoms one after the other: neighbours stay neighbours. */
static u32 *slot_of(const struct numbering *x, atom name)
{
    u32 i = name & x->mask;
    while (x->slots[i][0] && x->slots[i][0] != name)
        i = (i + 1) & x->mask;
    return x->slots[i];
}

u32 numbering_add(struct numbering *x, atom name)
{
    u32 *slot = slot_of(x, name);
    if (!slot[0]) {
        slot[0] = name;
        slot[1] = ++x->n;
    }
    return slot[1] - 1;
}

bool numbering_find(const struct numbering *x, atom name, u32 *number)
{
    const u32 *slot = slot_of(x, name);
    *number = slot[1] - 1;
    return slot[0] != 0;
}
