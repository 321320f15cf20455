/*
 * What ranks exchange. Each result is put together from the parts of its group, in coordinates of the whole value: what a
 * part has and the result needs is copied, or reduced in the order of the group.
 */
#include "execute/run.h"

#include <inttypes.h>
#include <math.h>

void run_reduced_bound(struct tensor *out, const struct tensor *const *parts, u64 n, enum reduction how)
{
    double bounds = 0, worst = 0, magnitudes = 0, largest = 0;
    for (u64 i = 0; i < n; i++) {
        bounds += parts[i]->bound;
        magnitudes += parts[i]->largest;
        worst = fmax(worst, parts[i]->bound);
        largest = fmax(largest, parts[i]->largest);
    }
    if (how == REDUCTION_SUM)
        out->bound = bounds + roundings(n - 1) * magnitudes;
    else if (how == REDUCTION_PRODUCT)
        out->bound = (bounds + roundings(n) * largest) * pow(fmax(largest + worst, 1), (double)(n - 1));
    else
        out->bound = worst;
}

/* ---- Gathering ---- */

u32 *run_copies(const struct run *r, const struct run_value *value, struct arena *arena)
{
    u64 axes = value->split | value->partial, n = mesh_product(&r->mesh, axes);
    u32 *first = ARENA_ARRAY(arena, u32, r->mesh.size), *of = ARENA_ARRAY(arena, u32, n);
    memset(of, 0xff, n * sizeof *of);
    for (u32 rank = 0; rank < r->mesh.size; rank++) {
        u64 position = mesh_position_in(&r->mesh, axes, rank);
        if (value->parts[rank].at && of[position] == NO_COPY)
            of[position] = rank;
        first[rank] = value->parts[rank].at ? of[position] : NO_COPY;
    }
    return first;
}

/* From the holders of the term that LIKE has. */
static bool gather_parts(const struct run *r, const struct run_value *value, struct tensor *out, const u32 *copies, u64 like)
{
    u64 n = 0, term = mesh_position_in(&r->mesh, value->partial, like);
    for (u64 rank = 0; rank < r->mesh.size; rank++) {
        const struct tensor *part = &value->parts[rank];
        if (copies[rank] != rank || mesh_position_in(&r->mesh, value->partial, rank) != term)
            continue;
        u64 taken = tensor_overlap(out, part, REDUCTION_NONE);
        n += taken;
        if (taken)
            out->bound = fmax(out->bound, part->bound);
    }
    return n == out->n;
}

bool run_gather(struct run *r, const struct run_value *value, struct tensor *out, u64 kept, u64 rank)
{
    u64 reduced = value->partial & ~kept, n = mesh_product(&r->mesh, reduced);
    struct arena room;
    arena_init(&room);
    const u32 *copies = run_copies(r, value, &room);
    const struct tensor **parts = ARENA_ARRAY(&room, const struct tensor *, n);
    bool good = n > 1 || gather_parts(r, value, out, copies, rank);
    for (u64 i = 0; good && n > 1 && i < n; i++) {
        struct tensor *one = ARENA_NEW(&room, struct tensor);
        *one = *out;
        one->bound = 0;
        tensor_allot(one, &room);
        good = gather_parts(r, value, one, copies, mesh_member(&r->mesh, reduced, rank, i));
        tensor_overlap(out, one, i ? value->reduction : REDUCTION_NONE);
        one->largest = tensor_largest(one);
        parts[i] = one;
    }
    if (good && n > 1)
        run_reduced_bound(out, parts, n, value->reduction);
    arena_free(&room);
    return good;
}

/* ---- Collectives ---- */

static bool is_collective(const struct run *r, const struct run_task *t, enum dist_collective kind)
{
    return t->operation && intern_is(&r->v.ctx->names, t->operation, dist_collective_enum.words[kind].text);
}

static bool is_reduction(const struct run *r, const struct run_task *t)
{
    return is_collective(r, t, DIST_ALL_REDUCE) || is_collective(r, t, DIST_REDUCE_SCATTER);
}

static bool refuse_missing(struct run *r, const struct run_task *t, atom name, u64 rank, u64 found, u64 n)
{
    const char *text = value_text(r->it, name);
    verify_error(&r->v, t->s, NULL, text, "execute.part",
                 "rank %" PRIu64 " gets only %" PRIu64 " of the %" PRIu64 " elements that it needs of %s",
                 rank, found, n, text);
    verify_note_legal(&r->v, "the parts of its group do not make up its own");
    return false;
}

/* The rank's part of one result, from the parts of its group. */
static bool collect(struct run *r, const struct run_task *t, u64 over, atom from, struct run_value *to, u64 rank)
{
    bool reduces = is_reduction(r, t), roots = is_collective(r, t, DIST_BROADCAST);
    u64 n = mesh_product(&r->mesh, over), found = 0;
    struct tensor out = to->parts[rank];
    const struct tensor **parts = ARENA_ARRAY(&r->v.scratch, const struct tensor *, n);
    tensor_allot(&out, r->arena);
    for (u64 i = 0; i < n; i++) {
        if (roots && i != t->root)
            continue;
        parts[i] = run_part(r, t, from, mesh_member(&r->mesh, over, rank, i));
        if (!parts[i])
            return false;
        u64 taken = tensor_overlap(&out, parts[i], reduces && i ? (enum reduction)t->reduction : REDUCTION_NONE);
        if (reduces && taken != out.n)
            return refuse_missing(r, t, from, rank, taken, out.n);
        found += taken;
        out.bound = fmax(out.bound, parts[i]->bound);
    }
    if (found < out.n)
        return refuse_missing(r, t, from, rank, found, out.n);
    if (reduces)
        run_reduced_bound(&out, parts, n, (enum reduction)t->reduction);
    return run_keep(r, t, to, rank, &out);
}

static u64 over_mask(const struct run *r, const struct run_task *t)
{
    if (!t->over)
        return r->mesh.n < MESH_AXES ? ((u64)1 << r->mesh.n) - 1 : UINT64_MAX;
    return mesh_mask(&r->mesh, (struct axis_list){ list_at(r->it, t->over), list_n(r->it, t->over) });
}

static bool run_collective(struct run *r, const struct run_task *t, atom from, struct run_value *to)
{
    u64 over = over_mask(r, t);
    for (u64 rank = 0; rank < r->mesh.size; rank++)
        if (ranks_contain(r->it, t->ranks, (u32)rank) && !collect(r, t, over, from, to, rank))
            return false;
    return true;
}

/* ---- Transfers and reshards ---- */

/* What the source holds goes as it is to where the destination holds its part. */
static bool run_transfer(struct run *r, const struct run_task *t, atom from, struct run_value *to)
{
    if (t->from >= r->mesh.size || t->to >= r->mesh.size)
        return false;
    const struct tensor *part = run_part(r, t, from, t->from);
    struct tensor out = to->parts[t->to];
    if (!part)
        return false;
    if (part->n != out.n)
        return refuse_missing(r, t, from, t->to, part->n, out.n);
    tensor_allot(&out, r->arena);
    memcpy(out.at, part->at, part->n * sizeof *part->at);
    out.bound = part->bound;
    return run_keep(r, t, to, t->to, &out);
}

static bool run_reshard(struct run *r, const struct run_task *t, atom from, struct run_value *to)
{
    for (u64 rank = 0; rank < r->mesh.size; rank++) {
        struct tensor out = to->parts[rank];
        if (!ranks_contain(r->it, to->owners, (u32)rank))
            continue;
        tensor_allot(&out, r->arena);
        if (!run_gather(r, run_value(r, from), &out, to->partial, rank)) {
            const char *text = value_text(r->it, from);
            return verify_error(&r->v, t->s, NULL, text, "execute.part",
                                "no rank holds all that rank %" PRIu64 " needs of %s", rank, text);
        }
        if (!run_keep(r, t, to, rank, &out))
            return false;
    }
    return true;
}

bool run_exchange(struct run *r, const struct run_task *t)
{
    const u32 *in = list_at(r->it, t->operands), *out = list_at(r->it, t->results);
    for (u32 i = 0; i < list_n(r->it, t->operands); i++) {
        struct run_value *to = run_value(r, out[i]);
        bool good = t->body == DIST_COLLECTIVE ? run_collective(r, t, in[i], to)
                    : t->body == DIST_TRANSFER ? run_transfer(r, t, in[i], to)
                                               : run_reshard(r, t, in[i], to);
        if (!good)
            return false;
    }
    return true;
}
