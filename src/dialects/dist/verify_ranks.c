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

bool dist_ranks_grouped(const struct dist_checker *c, u32 set, u64 mask, u64 *in, u64 *out)
{
    for (u32 i = 0; i < c->n_axes; i++)
        if (mask >> i & 1 && c->axes[i].size > 1 && !rank_set_closed(&c->sets.sets[set], c->axes[i].stride, c->axes[i].size, in, out))
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
