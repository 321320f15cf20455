/* Sets of ranks: within the mesh, without repetition, and as groups of mesh axes. The cost grows with the ranges
 * that are written, never with the ranks in them. */
#include "dialects/dist/verify.h"

#include <inttypes.h>

bool dist_ranks_check(struct dist_checker *c, const struct stmt *s, const char *field, u32 handle)
{
    if (!handle || c->good_ranks == handle)
        return true;
    const u32 *at = list_at(c->it, handle);
    u32 n = list_n(c->it, handle), twice;
    if (n == 0)
        return verify_error(c->v, s, field, NULL, "dist.ranks.empty", "`%s` names no rank", field);
    for (u32 i = 1; c->mesh && i < n; i += 2)
        if (at[i] >= c->size) {
            const char *text = arena_format(&c->v->scratch, "%" PRIu32, at[i]);
            verify_error(c->v, s, field, text, "dist.ranks.unknown", "%s has no rank %s", stmt_text(c->it, &c->mesh->s),
                         text);
            verify_note(c->v, &c->mesh->s, NULL, NULL, "it has the ranks 0 to %" PRIu64, c->size - 1);
            return false;
        }
    if (ranks_repeat(c->it, handle, &c->v->scratch, &twice))
        return verify_error(c->v, s, field, NULL, "dist.ranks.duplicate", "rank %" PRIu32 " stands twice in `%s`",
                            twice, field);
    c->good_ranks = handle;
    return true;
}

/* The range that holds RANK, or NULL. */
static const struct rank_range *range_of(const struct rank_set *r, u64 rank)
{
    u32 low = 0, high = r->n;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (r->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && r->ranges[low].first <= rank ? &r->ranges[low] : NULL;
}

static bool have_range(const struct rank_set *r, u64 first, u64 last, u64 *missing)
{
    const struct rank_range *in = range_of(r, first);
    if (in && in->last >= last)
        return true;
    *missing = in ? in->last + (u64)1 : first;
    return false;
}

/*
 * R is closed under the step along an axis, from the last position back to the first. Within one turn of the axis a
 * slice is what has one coordinate; [P, Q] lies in one turn, and only its first slice and its last two can step out of it.
 */
static bool slice_steps(const struct rank_set *r, const struct dist_axis *a, u64 p, u64 q, u64 *in, u64 *out)
{
    u64 turn = a->stride * a->size, missing, first = p % turn / a->stride;
    bool wraps = first + 1 == a->size;
    u64 back = wraps ? a->stride * (a->size - 1) : 0, ahead = wraps ? 0 : a->stride;
    if (have_range(r, p + ahead - back, q + ahead - back, &missing))
        return true;
    *in = missing + back - ahead;
    *out = missing;
    return false;
}

static bool turn_steps(const struct rank_set *r, const struct dist_axis *a, u64 p, u64 q, u64 *in, u64 *out)
{
    u64 slice_p = p - p % a->stride, slice_q = q - q % a->stride;
    if (slice_p == slice_q)
        return slice_steps(r, a, p, q, in, out);
    if (!slice_steps(r, a, p, slice_p + a->stride - 1, in, out))
        return false;
    if (slice_q - a->stride != slice_p && !slice_steps(r, a, slice_q - a->stride, slice_q - 1, in, out))
        return false;
    return slice_steps(r, a, slice_q, q, in, out);
}

static bool axis_closed(const struct rank_set *r, const struct dist_axis *a, u64 *in, u64 *out)
{
    u64 turn = a->stride * a->size;
    for (u32 i = 0; i < r->n; i++) {
        u64 p = r->ranges[i].first, q = r->ranges[i].last, head = p - p % turn, tail = q - q % turn;
        if (head == tail) {
            if ((p != head || q != head + turn - 1) && !turn_steps(r, a, p, q, in, out))
                return false;
            continue;
        }
        if (p != head && !turn_steps(r, a, p, head + turn - 1, in, out))
            return false;
        if (q != tail + turn - 1 && !turn_steps(r, a, tail, q, in, out))
            return false;
    }
    return true;
}

bool dist_ranks_grouped(const struct dist_checker *c, u32 set, u64 mask, u64 *in, u64 *out)
{
    for (u32 i = 0; i < c->n_axes; i++)
        if (mask >> i & 1 && c->axes[i].size > 1 && !axis_closed(&c->sets.sets[set], &c->axes[i], in, out))
            return false;
    return true;
}

enum { SHOWN_RANKS = 8 };

const char *dist_group_text(const struct dist_checker *c, u64 rank, u64 mask)
{
    u64 size = dist_axes_size(c, mask), base = rank;
    const char *text = "";
    for (u32 i = 0; i < c->n_axes; i++)
        if (mask >> i & 1)
            base -= rank / c->axes[i].stride % c->axes[i].size * c->axes[i].stride;
    for (u64 k = 0; k < size && k < SHOWN_RANKS; k++) {
        u64 member = base, rest = k;
        for (u32 i = c->n_axes; i-- > 0;)
            if (mask >> i & 1) {
                member += rest % c->axes[i].size * c->axes[i].stride;
                rest /= c->axes[i].size;
            }
        text = arena_format(&c->v->scratch, "%s%s%" PRIu64, text, k ? ", " : "", member);
    }
    return arena_format(&c->v->scratch, "[%s%s]", text, size > SHOWN_RANKS ? ", ..." : "");
}
