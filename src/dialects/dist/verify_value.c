/* Values: their sharding over the mesh, who owns them, and what they are the next version of. */
#include "dialects/dist/verify.h"

#include <inttypes.h>

static const char *text_of(const struct dist_checker *c, const struct dist_value *value)
{
    return value_text(c->it, value->s.name);
}

/* ---- Shardings ---- */

static bool check_axes(struct dist_checker *c, const struct dist_value *value, struct axis_list list, const char *field,
                       u64 *seen)
{
    bool good = true;
    for (u32 i = 0; i < list.n; i++) {
        int axis = dist_axis_find(c, list.axes[i]);
        const char *name, *near;
        if (axis >= 0 && !(*seen >> axis & 1)) {
            *seen |= (u64)1 << axis;
            continue;
        }
        name = context_text(c->ctx, list.axes[i]);
        if (axis < 0) {
            good = verify_error(c->v, &value->s, field, name, "dist.sharding.axis_unknown", "the mesh has no axis `%s`",
                                name);
            near = dist_axis_nearest(c, list.axes[i]);
            if (near)
                verify_near(c->v, 0, name, near);
            verify_note(c->v, &c->mesh->s, NULL, NULL, "it has the axes %s", dist_axes_text(c, UINT64_MAX));
        } else {
            good = verify_error(c->v, &value->s, field, name, "dist.sharding.axis_reuse",
                                "axis `%s` stands twice in the sharding of %s", name, text_of(c, value));
            verify_note_legal(c->v, "an axis splits one dimension, or makes the value partial, once");
        }
    }
    return good;
}

static bool check_partial(struct dist_checker *c, const struct dist_value *value, const struct sharding *s, u64 *seen)
{
    bool good = true;
    u32 reductions = 0;
    for (u32 i = 0; i < s->n_partial; i++) {
        enum reduction r = s->partial[i].reduction;
        const char *word = reduction_enum.words[r].text;
        if (r == REDUCTION_NONE)
            good = verify_error(c->v, &value->s, "partial", word, "dist.sharding.partial",
                                "a partial value says how it is to be reduced: sum, max, min or product");
        else if (!s->partial[i].axes.n)
            good = verify_error(c->v, &value->s, "partial", NULL, "dist.sharding.partial", "%s is partial over no axis",
                                text_of(c, value));
        else if (reductions >> r & 1)
            good = verify_error(c->v, &value->s, "partial", word, "dist.sharding.partial",
                                "`partial %s` stands twice: write all its axes in one set", word);
        reductions |= 1u << r;
        good = check_axes(c, value, s->partial[i].axes, "partial", seen) && good;
    }
    return good;
}

/* "axis tp = 8", "axes dp x tp = 16". */
static const char *product_text(const struct dist_checker *c, struct axis_list list, u64 size)
{
    const char *text = "";
    for (u32 i = 0; i < list.n; i++)
        text = arena_format(&c->v->scratch, "%s%s%s", text, i ? " x " : "", context_text(c->ctx, list.axes[i]));
    return size ? arena_format(&c->v->scratch, "%s %s = %" PRIu64, list.n > 1 ? "axes" : "axis", text, size) : text;
}

enum { SHOWN_SIZES = 16, LARGEST_SIZE = 65536 };

static void note_legal_sizes(struct dist_checker *c, struct axis_list list, qty dim)
{
    u128 n;
    u32 shown = 0, size = 1;
    const char *text = "";
    if (!qty_value(c->ctx->exprs, dim, &n))
        return;
    for (; size <= n && size <= LARGEST_SIZE && shown < SHOWN_SIZES; size++)
        if (n % size == 0)
            text = arena_format(&c->v->scratch, "%s%s%u", text, shown++ ? ", " : "", size);
    verify_note_legal(c->v, "legal %s of %s for %s are %s%s", list.n > 1 ? "products" : "sizes",
                      product_text(c, list, 0), qty_text(c->ctx, dim), text, size <= n ? ", ..." : "");
}

static void first_symbol(void *state, atom symbol)
{
    atom *first = state;
    *first = *first ? *first : symbol;
}

static void warn_unproved(struct dist_checker *c, const struct dist_value *value, u32 i, qty dim, struct axis_list list,
                          u64 size)
{
    atom symbol = 0;
    verify_warning(c->v, &value->s, "sharding", context_text(c->ctx, list.axes[0]), "dist.sharding.unproved",
                   "dimension %u of %s has %s elements, and nothing says that %s divides them", i, text_of(c, value),
                   qty_text(c->ctx, dim), product_text(c, list, size));
    qty_symbols(c->ctx->exprs, dim, first_symbol, &symbol);
    if (symbol)
        verify_note_legal(c->v, "a fact can say it: `symbol $%s : integer multiple_of %" PRIu64 "`",
                          context_text(c->ctx, symbol), size);
}

static bool check_divisible(struct dist_checker *c, const struct dist_value *value, u32 i, qty dim,
                            struct axis_list list)
{
    u64 size = 1, remainder = 0;
    for (u32 k = 0; k < list.n; k++)
        size *= c->axes[dist_axis_find(c, list.axes[k])].size;
    enum dist_proof proof = dist_divides(c, dim, size, &remainder);
    if (proof == DIST_UNPROVED)
        warn_unproved(c, value, i, dim, list, size);
    if (proof != DIST_WRONG)
        return true;
    verify_error(c->v, &value->s, "sharding", context_text(c->ctx, list.axes[0]), "dist.sharding.divisibility",
                 "dimension %u of %s has %s elements, not divisible by %s (remainder %" PRIu64 ")", i,
                 text_of(c, value), qty_text(c->ctx, dim), product_text(c, list, size), remainder);
    note_legal_sizes(c, list, dim);
    return false;
}

static bool check_sharding(struct dist_checker *c, const struct dist_value *value)
{
    const struct type *type = type_get(c->ctx->types, value->type);
    struct sharding s;
    u64 seen = 0;
    bool good = true, ranked;
    if (!value->sharding)
        return true;
    sharding_read(c->it, value->sharding, &s);
    ranked = s.rank == type->rank || s.rank == 0;
    if (!ranked) {
        verify_error(c->v, &value->s, "sharding", NULL, "dist.sharding.rank",
                     "the sharding of %s names %u dimension%s, and its type has %u", text_of(c, value), s.rank,
                     s.rank == 1 ? "" : "s", type->rank);
        verify_note_legal(c->v, "write one set of axes for each dimension; an unsplit one is `{}`");
    }
    for (u32 i = 0; i < s.rank; i++)
        good = check_axes(c, value, s.dims[i], "sharding", &seen) && good;
    good = check_partial(c, value, &s, &seen) && good;
    for (u32 i = 0; good && ranked && i < s.rank; i++)
        if (s.dims[i].n)
            good = check_divisible(c, value, i, type->dims[i], s.dims[i]) && good;
    return good && ranked;
}

/* ---- Owners ---- */

/* Whole copies, or every replica of a part: nothing between can be said by a sharding. */
static bool check_owners(struct dist_checker *c, const struct dist_value *value)
{
    struct dist_state state;
    u64 in, out;
    if (!dist_ranks_check(c, &value->s, "owners", value->owners))
        return false;
    if (!dist_state_read(c, value->s.name, &state))
        return true;
    u32 owners = rank_set_of(&c->sets, value->owners);
    u64 parts = state.split | state.partial;
    if (dist_ranks_grouped(c, owners, ~parts, &in, &out) || dist_ranks_grouped(c, owners, parts, &in, &out))
        return true;
    verify_error(c->v, &value->s, "owners", NULL, "dist.owners.groups",
                 "the owners of %s hold it in pieces: rank %" PRIu64 " has a part, and rank %" PRIu64
                 ", which has another, is no owner",
                 text_of(c, value), in, out);
    verify_note_legal(c->v,
                      "owners are whole groups, over the axes %s that divide it, as %s, or over the others, as %s",
                      dist_axes_text(c, parts), dist_group_text(c, in, parts), dist_group_text(c, in, ~parts));
    return false;
}

/* ---- Versions of states ---- */

bool dist_value_changes(const struct dist_value *value)
{
    if (value->s.is_result)
        return value->updates != 0;
    return value->role == DIST_STATE || value->role == DIST_KV_CACHE || value->role == DIST_OPTIMIZER_STATE ||
           value->role == DIST_PARAMETER;
}

static bool check_updated(struct dist_checker *c, const struct dist_value *value, const struct dist_value *old)
{
    const char *name = value_text(c->it, value->updates), *word = dist_role_enum.words[old->role].text;
    if (!value->s.is_result)
        return verify_error(c->v, &value->s, "updates", name, "dist.updates.result",
                            "%s exists before the program, so it is no version that the program makes",
                            text_of(c, value));
    if (old == value)
        return verify_error(c->v, &value->s, "updates", name, "dist.updates.kind", "%s can't be its own next version",
                            name);
    if (!dist_value_changes(old)) {
        verify_error(c->v, &value->s, "updates", name, "dist.updates.kind", "%s has the role `%s`, which never changes",
                     name, word);
        verify_note_legal(c->v, "parameter, state, kv_cache and optimizer_state can change");
        return false;
    }
    return true;
}

static void check_updates(struct dist_checker *c, const struct dist_value *value)
{
    const struct dist_value *old = value->updates ? dist_value_named(c, value->updates) : NULL;
    struct dist_state a, b;
    if (!old || !check_updated(c, value, old))
        return;
    const char *name = value_text(c->it, value->updates);
    struct dist_place *place = dist_place_of(&c->values, value->updates);
    if (place->updated_by) {
        verify_error(c->v, &value->s, "updates", name, "dist.updates.twice", "%s has two next versions, %s and %s",
                     name, value_text(c->it, place->updated_by), text_of(c, value));
        verify_note_legal(c->v, "let one update the other, so that no write is lost");
        return;
    }
    place->updated_by = value->s.name;
    if (old->type != value->type)
        verify_error(c->v, &value->s, "updates", name, "dist.updates.type", "%s is %s, and its next version %s is %s",
                     name, type_text(c->ctx, old->type), text_of(c, value), type_text(c->ctx, value->type));
    else if (dist_state_read(c, old->s.name, &a) && dist_state_read(c, value->s.name, &b) &&
             !dist_state_same(c, &a, &b, 0))
        verify_error(c->v, &value->s, "updates", name, "dist.updates.type", "%s is %s, and its next version %s is %s",
                     name, dist_state_text(c, &a.s), text_of(c, value), dist_state_text(c, &b.s));
    else
        return;
    verify_note_legal(c->v, "versions of a state have one type and one sharding");
}

struct dist_place *dist_value_check(struct dist_checker *c, const struct dist_value *value)
{
    struct dist_place *place = dist_place_of(&c->values, value->s.name);
    if (place->checked)
        return place;
    place->checked = true;
    place->broken = c->mesh && !check_sharding(c, value);
    place->disowned = value->owners && !check_owners(c, value);
    if (value->updates)
        check_updates(c, value);
    return place;
}
