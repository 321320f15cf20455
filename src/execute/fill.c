/* Elements of what exists before the program: its source's, or made from its name. */
#include "execute/run.h"

#include "execute/generate.h"

#include "dialects/model/model.h"

#include <math.h>

/* ---- Sources ---- */

/* The source of a result whose task is from one operation, as many results and of the same sizes. */
static struct run_value *of_operation(const struct run *r, const struct run_value *value)
{
    const struct run_task *t = value->maker;
    const struct stmt *s = t->s;
    bool whole = s->lineage_kind == LINEAGE_LOWERED || s->lineage_kind == LINEAGE_CLONED ||
                 s->lineage_kind == LINEAGE_PRESERVED;
    if (!whole || list_n(r->it, s->lineage) != 1 || ref_is_value(list_at(r->it, s->lineage)[0]))
        return NULL;
    const struct run_task *from = run_task_named(r->source, ref_atom(list_at(r->it, s->lineage)[0]));
    if (!from || list_n(r->source->it, from->results) != list_n(r->it, t->results))
        return NULL;
    for (u32 k = 0; k < list_n(r->it, t->results); k++)
        if (list_at(r->it, t->results)[k] == value->name)
            return run_value(r->source, list_at(r->source->it, from->results)[k]);
    return NULL;
}

/* The %values among the sources of a statement: as many as it has results, or one. */
static struct run_value *written(const struct run *r, const struct run_value *value)
{
    const struct stmt *s = value->maker ? value->maker->s : value->s;
    u32 n = list_n(r->it, s->lineage), place = 0, seen = 0;
    u32 results = value->maker ? list_n(r->it, value->maker->results) : 1;
    while (value->maker && place < results && list_at(r->it, value->maker->results)[place] != value->name)
        place++;
    for (u32 i = 0; i < n; i++)
        seen += ref_is_value(list_at(r->it, s->lineage)[i]);
    if (seen != results)
        return NULL;
    for (u32 i = 0, k = 0; i < n; i++)
        if (ref_is_value(list_at(r->it, s->lineage)[i]) && k++ == place)
            return run_value(r->source, ref_atom(list_at(r->it, s->lineage)[i]));
    return NULL;
}

static bool same_sizes(const struct run_value *a, const struct run_value *b)
{
    return a->whole.rank == b->whole.rank && !memcmp(a->whole.size, b->whole.size, a->whole.rank * sizeof(u64));
}

/* What is written, else the namesake, else what the operation makes that the task is from. */
static bool find_source(struct run *r, struct run_value *value)
{
    value->source = written(r, value);
    if (!value->source)
        value->source = run_value(r->source, value->name);
    if (!value->source && value->maker) {
        value->source = of_operation(r, value);
        if (value->source && !same_sizes(value, value->source))
            value->source = NULL;
    }
    if (!value->source || same_sizes(value, value->source))
        return true;
    verify_error(&r->v, value->s, NULL, NULL, "execute.source.shape", "%s is %s, and its source, %s of %s, is %s",
                 value_text(r->it, value->name), sizes_text(&r->v.scratch, value->whole.size, value->whole.rank),
                 value_text(r->source->it, value->source->name), symbol_text(r->source->it, r->source->it->name),
                 sizes_text(&r->v.scratch, value->source->whole.size, value->source->whole.rank));
    verify_note(&r->v, value->s, NULL, NULL,
                "types are those of whole values; a value of another meaning has a name of its own");
    return false;
}

static bool require_source(struct run *r, const struct run_value *value)
{
    if (value->source || value->maker)
        return true;
    const char *name = value_text(r->it, value->name), *source = symbol_text(r->source->it, r->source->it->name),
               *near = nearest_value(r->source->it, value->name);
    verify_error(&r->v, value->s, NULL, NULL, "execute.source.missing",
                 "%s is no value of %s, so that nothing says what is in it",
                 name, source);
    if (near)
        verify_note_legal(&r->v, "name what it is: `from %%%s`", near);
    else
        verify_note_legal(&r->v, "name what it is: `from %%x`, of %s", source);
    return false;
}

bool run_find_sources(struct run *r)
{
    bool good = true;
    for (u32 i = 0; i < r->n_values; i++) {
        good = find_source(r, &r->values[i]) && require_source(r, &r->values[i]) && good;
        if (r->values[i].source)
            r->values[i].source->anchor = true;
    }
    return good;
}

/* ---- Ranges of integers ---- */

static void limit(struct run *r, atom name, u64 n)
{
    struct run_value *value = run_value(r, name);
    if (n && (!value->limit || n < value->limit))
        value->limit = n;
}

/* Backwards: what chooses rows or classes, and what only moves before it does. */
static void find_limits(struct run *r)
{
    for (u32 i = r->n_tasks; i-- > 0;) {
        const struct run_task *t = &r->tasks[i];
        const u32 *in = list_at(r->it, t->operands), *out = list_at(r->it, t->results);
        u32 n = list_n(r->it, t->operands), m = list_n(r->it, t->results);
        if (t->kernel && t->kernel->run == kernel_embedding)
            limit(r, in[0], run_value(r, in[1])->whole.whole[0]);
        if (t->kernel && t->kernel->run == kernel_cross_entropy && run_value(r, in[0])->whole.rank)
            limit(r, in[1], run_value(r, in[0])->whole.whole[run_value(r, in[0])->whole.rank - 1]);
        for (u32 k = 0; (!t->kernel || t->kernel->flags & KERNEL_MOVES) && k < n * m; k++)
            if (t->kernel || k / m == k % m)
                limit(r, in[k / m], run_value(r, out[k % m])->limit);
    }
}

/* ---- Elements ---- */

static u64 limit_of(const struct run_value *value)
{
    static const u64 largest[ELEMENTS] = { [ELEMENT_I1] = 2, [ELEMENT_I4] = 8 };
    u64 most = largest[value->whole.element];
    if (value->limit && (!most || value->limit < most))
        return value->limit;
    return most ? most : 100;
}

static void generate(const struct run *r, const struct run_value *value, struct tensor *t)
{
    const struct interned *name = &r->v.ctx->names.atoms[value->name];
    u64 state = generate_state(name->text, name->length, r->options->seed);
    bool whole = !element_is_float((enum element)t->element);
    for (u64 i = 0; i < t->n; i++)
        t->at[i] = whole ? generate_integer(state, i, limit_of(value)) : generate_float(state, i);
}

/* All of a value, in the arena; in the source's program, or made here. NULL: the source does not have all of it. */
static const struct tensor *whole_of(struct run *r, struct run_value *value)
{
    struct tensor *t = ARENA_NEW(r->arena, struct tensor);
    *t = value->whole;
    tensor_allot(t, r->arena);
    if (!value->source)
        generate(r, value, t);
    else if (!run_gather(r->source, value->source, t, 0, 0))
        return NULL;
    t->largest = tensor_largest(t);
    return t;
}

/* The term of one position, generated; of the first, what all others leave: their sum. */
static double term(u64 state, u64 index, u64 positions, u64 position)
{
    double sum = 0;
    if (position)
        return generate_float(state, index * positions + position);
    for (u64 p = 1; p < positions; p++)
        sum += generate_float(state, index * positions + p);
    return sum;
}

/*
 * The share of one position of those that a value is partial over, so that all make up WHOLE without rounding. Of max and
 * min, no other is beyond the first.
 */
static double share(const struct run_value *value, double all, double term, u64 position)
{
    switch (value->reduction) {
    case REDUCTION_SUM: return position ? term : all - term;
    case REDUCTION_MAX: return position ? all - fabs(term) : all;
    case REDUCTION_MIN: return position ? all + fabs(term) : all;
    case REDUCTION_PRODUCT: return position ? 1 : all;
    case REDUCTION_NONE: break;
    }
    return all;
}

static void take_share(const struct run *r, const struct run_value *value, struct tensor *part, u64 position)
{
    u64 positions = mesh_product(&r->mesh, value->partial), place[MAX_RANK];
    u64 state = generate_state("partial", 7, r->options->seed);
    bool integer = !element_is_float((enum element)part->element);
    for (u64 i = 0; i < part->n; i++) {
        u64 index = 0;
        tensor_place(part, i, place);
        for (u32 k = 0; k < part->rank; k++)
            index = index * part->whole[k] + place[k];
        part->at[i] = share(value, part->at[i], integer ? 0 : term(state, index, positions, position), position);
    }
}

/* Its elements are its source's, so that it is as far from it as a sum of terms is that are not whole multiples. */
static void fill_part(struct run *r, struct run_value *value, const struct tensor *whole, u64 rank)
{
    struct tensor *part = &value->parts[rank];
    u64 terms = mesh_product(&r->mesh, value->partial);
    tensor_allot(part, r->arena);
    tensor_overlap(part, whole, REDUCTION_NONE);
    if (value->partial && value->source && value->source->maker)
        part->bound = roundings(terms) * ((double)terms + whole->largest);
    if (value->partial)
        take_share(r, value, part, mesh_position_in(&r->mesh, value->partial, rank));
    part->largest = tensor_largest(part);
    value->n_parts++;
}

static bool fill_value(struct run *r, struct run_value *value)
{
    const struct tensor *whole = whole_of(r, value);
    if (!whole)
        return verify_error(&r->v, value->s, NULL, NULL, "execute.part", "no rank of %s holds all parts of %s",
                            symbol_text(r->source->it, r->source->it->name), value_text(r->source->it, value->source->name));
    for (u64 rank = 0; rank < r->mesh.size; rank++)
        if (ranks_contain(r->it, value->owners, (u32)rank))
            fill_part(r, value, whole, rank);
    return true;
}

/* A shadow has what the run has that it follows. */
static void take_parts(struct run *r)
{
    for (u32 i = 0; i < r->n_values; i++)
        if (!r->values[i].maker)
            memcpy(r->values[i].parts, r->base->values[i].parts, r->mesh.size * sizeof(struct tensor));
}

bool run_fill(struct run *r)
{
    bool good = true;
    if (r->base) {
        take_parts(r);
        return true;
    }
    find_limits(r);
    for (u32 i = 0; i < r->n_values; i++)
        if (!r->values[i].maker)
            good = fill_value(r, &r->values[i]) && good;
    return good;
}
