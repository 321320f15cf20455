/* The state of a value over the mesh: read, compared, shown, and measured. */
#include "dialects/dist/verify.h"

static u64 mask_of(const struct dist_checker *c, struct axis_list list)
{
    u64 mask = 0;
    for (u32 i = 0; i < list.n; i++)
        mask |= (u64)1 << dist_axis_find(c, list.axes[i]);
    return mask & ~c->single;
}

bool dist_state_read(struct dist_checker *c, atom name, struct dist_state *out)
{
    const struct dist_value *value = dist_value_named(c, name);
    if (!value || !c->mesh || dist_value_check(c, value)->broken)
        return false;
    out->value = value;
    out->type = type_get(c->ctx->types, value->type);
    sharding_read(c->it, value->sharding, &out->s);
    out->s.rank = out->type->rank;
    out->split = out->partial = 0;
    memset(out->partial_of, 0, sizeof out->partial_of);
    for (u32 i = 0; i < out->s.rank; i++)
        out->split |= mask_of(c, out->s.dims[i]);
    for (u32 i = 0; i < out->s.n_partial; i++)
        out->partial |= out->partial_of[out->s.partial[i].reduction] = mask_of(c, out->s.partial[i].axes);
    return true;
}

/* Position of the next axis of LIST that counts, from *AT on; -1 at the end. */
static int next_axis(const struct dist_checker *c, struct axis_list list, u64 ignored, u32 *at)
{
    while (*at < list.n) {
        int axis = dist_axis_find(c, list.axes[(*at)++]);
        if (!((ignored | c->single) >> axis & 1))
            return axis;
    }
    return -1;
}

bool dist_list_same(const struct dist_checker *c, struct axis_list a, struct axis_list b, u64 ignored)
{
    u32 i = 0, k = 0;
    for (;;) {
        int x = next_axis(c, a, ignored, &i), y = next_axis(c, b, ignored, &k);
        if (x != y)
            return false;
        if (x < 0)
            return true;
    }
}

bool dist_state_same(const struct dist_checker *c, const struct dist_state *a, const struct dist_state *b, u64 ignored)
{
    if (a->s.rank != b->s.rank)
        return false;
    for (u32 r = 0; r < DIST_REDUCTIONS; r++)
        if ((a->partial_of[r] ^ b->partial_of[r]) & ~ignored)
            return false;
    for (u32 i = 0; i < a->s.rank; i++)
        if (!dist_list_same(c, a->s.dims[i], b->s.dims[i], ignored))
            return false;
    return true;
}

const char *dist_list_text(const struct dist_checker *c, struct axis_list list)
{
    const char *text = "";
    for (u32 i = 0; i < list.n; i++)
        text = arena_format(&c->v->scratch, "%s%s%s", text, i ? ", " : "", context_text(c->ctx, list.axes[i]));
    return arena_format(&c->v->scratch, "{%s}", text);
}

const char *dist_state_text(const struct dist_checker *c, const struct sharding *s)
{
    const char *text = "";
    bool split = false;
    for (u32 i = 0; i < s->rank; i++) {
        text = arena_format(&c->v->scratch, "%s%s%s", text, i ? ", " : "", dist_list_text(c, s->dims[i]));
        split = split || s->dims[i].n;
    }
    text = split ? arena_format(&c->v->scratch, "sharding [%s]", text) : "";
    for (u32 i = 0; i < s->n_partial; i++)
        text = arena_format(&c->v->scratch, "%s%spartial %s %s", text, *text ? " " : "",
                            reduction_enum.words[s->partial[i].reduction].text, dist_list_text(c, s->partial[i].axes));
    return *text ? arena_format(&c->v->scratch, "`%s`", text) : "replicated";
}

bool dist_state_bytes(struct dist_checker *c, const struct dist_state *state, u64 mask, qty *out)
{
    qty bytes;
    u64 n = dist_axes_size(c, state->split & mask);
    return type_bytes(c->ctx->exprs, state->type, &bytes) == EXPR_OK && dist_apply_facts(c, bytes, &bytes) &&
           qty_div_exact(c->ctx->exprs, bytes, qty_number(c->ctx->exprs, n), out) == EXPR_OK;
}
