/*
 * What each result should be: its source's value, cut as its sharding says; parts of a partial value are reduced first.
 * What names no source is compared with the copies on other ranks. A value that is made of a wrong one is not reported.
 */
#include "execute/run.h"

#include <inttypes.h>
#include <math.h>

/* The first element that is out of bounds, and how many there are. */
struct difference {
    u64 rank, other;            /* other: the rank of the copy that it should be like */
    u64 place[MAX_RANK];
    double found, expected, tolerance;
    u64 elements, of;
    u32 ranks;
    u32 shown[8];
};

static double apart(double a, double b)
{
    if (a == b)
        return 0;
    return isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
}

/* What the rounding of two computations may set apart: each bound is to first order, and twice is room for the rest. */
static double tolerance(const struct tensor *a, const struct tensor *b)
{
    return 2 * (a->bound + b->bound);
}

static void keep(struct difference *d, u64 rank, u64 other, double found, double expected, double allowed, const u64 *place)
{
    d->rank = rank;
    d->other = other;
    d->found = found;
    d->expected = expected;
    d->tolerance = allowed;
    memcpy(d->place, place, sizeof d->place);
}

/* PART of RANK against what lies at the same places of WANT. */
static void compare_part(struct run_value *value, const struct tensor *part, const struct tensor *want, u64 rank, u64 other,
                         struct difference *d)
{
    u64 place[MAX_RANK], wrong = 0;
    double allowed = tolerance(part, want);
    for (u64 i = 0; i < part->n; i++) {
        tensor_place(part, i, place);
        double expected = tensor_get(want, place), off = apart(part->at[i], expected);
        value->error = fmax(value->error, off);
        if (off <= allowed)
            continue;
        if (wrong++ == 0 && !d->elements)
            keep(d, rank, other, part->at[i], expected, allowed, place);
    }
    value->tolerance = fmax(value->tolerance, allowed);
    d->of += part->n;
    d->elements += wrong;
    if (wrong && d->ranks++ < COUNT(d->shown))
        d->shown[d->ranks - 1] = (u32)rank;
}

/* ---- One value ---- */

/* The parts of the rank's group, reduced into OUT, which has room. False: one is not held. */
static bool reduce_group(const struct run *r, const struct run_value *value, u64 rank, struct tensor *out,
                         const struct tensor **parts)
{
    u64 n = mesh_product(&r->mesh, value->partial);
    for (u64 i = 0; i < n; i++) {
        parts[i] = &value->parts[mesh_member(&r->mesh, value->partial, rank, i)];
        if (!parts[i]->at)
            return false;
        tensor_overlap(out, parts[i], i ? value->reduction : REDUCTION_NONE);
    }
    run_reduced_bound(out, parts, n, value->reduction);
    return true;
}

/* The rank's part, reduced; NULL: the rank has none, or is not the first of its group. */
static const struct tensor *consistent(const struct run *r, const struct run_value *value, u64 rank, struct arena *room)
{
    const struct tensor *part = &value->parts[rank];
    if (!part->at || !value->partial)
        return part->at ? part : NULL;
    if (mesh_position_in(&r->mesh, value->partial, rank))
        return NULL;
    struct tensor *out = ARENA_NEW(room, struct tensor);
    *out = *part;
    tensor_allot(out, room);
    const struct tensor **parts = ARENA_ARRAY(room, const struct tensor *, mesh_product(&r->mesh, value->partial));
    return reduce_group(r, value, rank, out, parts) ? out : NULL;
}

static void compare_with_source(struct run *r, struct run_value *value, struct difference *d)
{
    struct arena room;
    struct tensor want = value->source->whole;
    arena_init(&room);
    tensor_allot(&want, &room);
    if (run_gather(r->source, value->source, &want, 0, 0)) {
        want.bound = value->source->anchor_bound;
        value->largest = tensor_largest(&want);
        for (u64 rank = 0; rank < r->mesh.size; rank++) {
            const struct tensor *part = consistent(r, value, rank, &room);
            if (part)
                compare_part(value, part, &want, rank, rank, d);
            value->compared = value->compared || part;
        }
    }
    arena_free(&room);
}

static void compare_copies(struct run *r, struct run_value *value, struct difference *d)
{
    struct arena room;
    arena_init(&room);
    const struct tensor **parts = ARENA_ARRAY(&room, const struct tensor *, r->mesh.size);
    const u32 *copies = run_copies(r, value, &room);
    for (u64 rank = 0; rank < r->mesh.size; rank++) {
        parts[rank] = consistent(r, value, rank, &room);
        u64 other = copies[rank];
        if (parts[rank] && other != rank && parts[other])
            compare_part(value, parts[rank], parts[other], rank, other, d);
        if (parts[rank])
            value->largest = fmax(value->largest, tensor_largest(parts[rank]));
    }
    arena_free(&room);
}

/* ---- Messages ---- */

static const char *ranks_text(struct run *r, const struct difference *d)
{
    const char *text = "";
    for (u32 i = 0; i < d->ranks && i < COUNT(d->shown); i++)
        text = arena_format(&r->v.scratch, "%s%s%u", text, i ? ", " : "", d->shown[i]);
    return arena_format(&r->v.scratch, "rank%s %s%s", d->ranks == 1 ? "" : "s", text,
                        d->ranks > COUNT(d->shown) ? ", ..." : "");
}

/* "%a, %b": all operands, or only those that were compared with nothing. */
static const char *operands_text(struct run *r, const struct run_task *t, bool unknown)
{
    const char *text = "";
    for (u32 i = 0; i < list_n(r->it, t->operands); i++) {
        const struct run_value *from = run_value(r, list_at(r->it, t->operands)[i]);
        if (!unknown || (r->source && !from->source))
            text = arena_format(&r->v.scratch, "%s%s%s", text, *text ? ", " : "", value_text(r->it, from->name));
    }
    return text;
}

static void note_maker(struct run *r, const struct run_value *value)
{
    const struct run_task *t = value->maker;
    const char *unknown = operands_text(r, t, true), *all = operands_text(r, t, false);
    const char *right = list_n(r->it, t->operands) == 1 ? ", which is right so far" : ", which are right so far";
    verify_note(&r->v, t->s, NULL, NULL, "%s makes it by %s of %s%s", stmt_text(r->it, t->s), run_task_text(r, t), all,
                *unknown ? "" : right);
    if (*unknown)
        verify_note_legal(&r->v, "no source was named for %s: what is wrong may lie further up", unknown);
}

static void report_source(struct run *r, const struct run_value *value, const struct difference *d, const char *place)
{
    const char *name = value_text(r->it, value->name), *source = value_text(r->source->it, value->source->name);
    verify_error(&r->v, value->s, NULL, NULL, "execute.differs",
                 "%s on rank %" PRIu64 "%s is not %s of %s: element %s is %.9g, and should be %.9g "
                 "(off by %.3g, where rounding allows %.1g)",
                 name, d->rank, value->partial ? ", reduced with its group's," : "", source,
                 symbol_text(r->source->it, r->source->it->name), place, d->found, d->expected,
                 apart(d->found, d->expected), d->tolerance);
}

static void report_copies(struct run *r, const struct run_value *value, const struct difference *d, const char *place)
{
    verify_error(&r->v, value->s, NULL, NULL, "execute.replica",
                 "%s is one value on ranks %" PRIu64 " and %" PRIu64 ", but element %s is %.9g on one and %.9g on the other "
                 "(off by %.3g, where rounding allows %.1g)",
                 value_text(r->it, value->name), d->other, d->rank, place, d->expected, d->found,
                 apart(d->found, d->expected), d->tolerance);
}

static void report(struct run *r, const struct run_value *value, const struct difference *d)
{
    const char *place = place_text(&r->v.scratch, d->place, value->whole.rank);
    if (value->compared)
        report_source(r, value, d, place);
    else
        report_copies(r, value, d, place);
    note_maker(r, value);
    verify_note_legal(&r->v, "%" PRIu64 " of %" PRIu64 " elements differ, on %s", d->elements, d->of, ranks_text(r, d));
}

/* ---- All values ---- */

static bool follows(const struct run *r, const struct run_value *value)
{
    const u32 *at = list_at(r->it, value->maker->operands);
    for (u32 i = 0; i < list_n(r->it, value->maker->operands); i++) {
        const struct run_value *from = run_value(r, at[i]);
        if (from->wrong || from->follows)
            return true;
    }
    return false;
}

/* Where rounding could hide what is wrong, nothing is proved. */
static void check_bound(struct run *r, const struct run_value *value)
{
    double most = value->largest * 1e-3;
    if (value->wrong || value->follows || most == 0 || value->tolerance <= most)
        return;
    verify_error(&r->v, value->s, NULL, NULL, "execute.bound",
                 "rounding alone may change %s by %.1g, and its largest element is %.1g: that proves nothing",
                 value_text(r->it, value->name), value->tolerance, value->largest);
    verify_note_legal(&r->v, "name sources of what it is made of, so that each step is compared by itself");
}

/* From here on the distance from the source is known. Of terms of a sum, the first has all of it. */
static void settle(const struct run *r, struct run_value *value)
{
    bool shared = value->reduction == REDUCTION_SUM || value->reduction == REDUCTION_PRODUCT;
    for (u64 rank = 0; value->compared && rank < r->mesh.size; rank++)
        if (value->parts[rank].at)
            value->parts[rank].bound = shared && mesh_position_in(&r->mesh, value->partial, rank) ? 0 : value->error;
}

static void compare_value(struct run *r, struct run_value *value)
{
    struct difference d = { 0 };
    if (value->source)
        compare_with_source(r, value, &d);
    else
        compare_copies(r, value, &d);
    value->wrong = d.elements > 0;
    value->follows = follows(r, value);
    r->n_agree += value->compared;
    r->n_exact += value->compared && value->error == 0;
    r->n_alone += !value->compared;
    if (value->wrong && !value->follows)
        report(r, value, &d);
    check_bound(r, value);
    settle(r, value);
}

void run_compare_task(struct run *r, const struct run_task *t)
{
    for (u32 i = 0; i < list_n(r->it, t->results); i++)
        compare_value(r, run_value(r, list_at(r->it, t->results)[i]));
}

static void anchor(struct run *r, struct run_value *value)
{
    struct arena room;
    struct tensor all = value->whole;
    if (!value->anchor)
        return;
    arena_init(&room);
    tensor_allot(&all, &room);
    run_gather(r, value, &all, 0, 0);
    value->anchor_bound = all.bound;
    for (u64 rank = 0; rank < r->mesh.size; rank++)
        value->parts[rank].bound = 0;
    arena_free(&room);
}

void run_anchor_task(struct run *r, const struct run_task *t)
{
    for (u32 i = 0; i < list_n(r->it, t->results); i++)
        anchor(r, run_value(r, list_at(r->it, t->results)[i]));
}

static void note_followers(struct run *r)
{
    u32 n = 0;
    for (u32 i = 0; i < r->n_values; i++)
        n += r->values[i].follows;
    if (n)
        verify_note_legal(&r->v, "%u value%s made of what differs, and %s not judged", n, n == 1 ? " is" : "s are",
                          n == 1 ? "is" : "are");
}

static void refuse_unproved(struct run *r, const struct run_value *want)
{
    verify_error(&r->v, NULL, NULL, NULL, "execute.output", "no output of %s is %s, an output of %s",
                 symbol_text(r->it, r->it->name),
                 value_text(r->source->it, want->name), symbol_text(r->source->it, r->source->it->name));
    verify_note_legal(&r->v, "what leaves the program is what is proved: name it alike, or its task `from` its operation");
}

/* Every output of the source is one here. */
static void check_outputs(struct run *r)
{
    struct arena room;
    arena_init(&room);
    bool *proved = ARENA_ARRAY(&room, bool, r->source->n_values + (size_t)1);
    for (u32 i = 0; i < r->n_values; i++)
        if (r->values[i].is_output && r->values[i].source)
            proved[r->values[i].source - r->source->values] = true;
    for (u32 i = 0; i < r->source->n_values; i++)
        if (r->source->values[i].is_output && !proved[i])
            refuse_unproved(r, &r->source->values[i]);
    arena_free(&room);
}

/* Its ranks hold all of it together. */
static void check_whole(struct run *r)
{
    struct arena room;
    arena_init(&room);
    for (u32 i = 0; i < r->n_values; i++) {
        struct tensor all = r->values[i].whole;
        if (!r->values[i].is_output)
            continue;
        tensor_allot(&all, &room);
        if (!run_gather(r, &r->values[i], &all, 0, 0))
            verify_error(&r->v, r->values[i].s, NULL, NULL, "execute.part",
                         "no ranks hold all parts of %s, which leaves the program",
                         value_text(r->it, r->values[i].name));
    }
    arena_free(&room);
}

bool run_compare_end(struct run *r)
{
    note_followers(r);
    if (r->source)
        check_outputs(r);
    check_whole(r);
    return r->v.errors == 0;
}
