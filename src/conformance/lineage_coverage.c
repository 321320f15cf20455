/*
 * lineage-coverage: what a program was derived from is all there again, and nothing in it is from elsewhere.
 *     every value, buffer, memory fact, operation and task of the parent is the source of something,
 *     every output of the parent leaves the program too,
 *     and tasks are from tasks, values from values, unless they are `generated`.
 * Checked from each item of a chain to the one above, so through all layers that the file holds.
 */
#include "conformance/checker.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/model/model.h"
#include "dialects/portable/portable.h"

enum { COVERED_SYMBOL = 1, COVERED_VALUE = 2 };

struct coverage {
    struct check *check;
    const struct item *it, *parent;
    u8 *covered;                /* by atom of the parent's names: COVERED_… */
    u32 silent;                 /* statements that say no source, and have no namesake that is one */
    u32 sources, images;
};

/* ---- What entities are ---- */

static bool is_task(const struct item *it, const struct stmt *s)
{
    return stmt_entity(it, s)->flags & ENTITY_TASK;
}

static bool is_value(const struct item *it, const struct stmt *s)
{
    return stmt_entity(it, s)->flags & ENTITY_VALUE;
}

/* A block's memory facts: the source of a plan's buffers. */
static bool is_memory(const struct item *it, const struct stmt *s)
{
    return it->kind->layer == LAYER_DIST && s->entity == DIST_MEMORY && s->name;
}

static bool is_source(const struct item *it, const struct stmt *s)
{
    return s->name && (is_task(it, s) || is_value(it, s) || is_memory(it, s));
}

/* The value that an output statement names, 0: it is none. A plan's outputs are buffers by their role. */
static atom output_of(const struct item *it, const struct stmt *s)
{
    if (it->kind->layer == LAYER_MODEL)
        return s->entity == MODEL_OUTPUT ? ((const struct model_output *)s)->value : 0;
    if (it->kind->layer == LAYER_DIST)
        return s->entity == DIST_OUTPUT ? ((const struct dist_output *)s)->value : 0;
    if (it->kind->layer == LAYER_PORTABLE)
        return s->entity == PORTABLE_BUFFER && ((const struct portable_buffer *)s)->role == PORTABLE_OUTPUT ? s->name : 0;
    return 0;
}

static u32 results_of(const struct item *it, const struct stmt *s)
{
    switch (it->kind->layer) {
    case LAYER_MODEL: return s->entity == MODEL_OP ? ((const struct model_op *)s)->results : 0;
    case LAYER_DIST: return s->entity == DIST_TASK ? ((const struct dist_task *)s)->results : 0;
    case LAYER_PORTABLE: return s->entity == PORTABLE_TASK ? ((const struct portable_task *)s)->results : 0;
    case LAYER_CONCRETE: return s->entity == CONCRETE_COMMAND ? ((const struct concrete_command *)s)->results : 0;
    default: return 0;
    }
}

/* ---- Coverage ---- */

/* What an image is from: of its own sort, or it is generated. */
static bool check_sort(struct coverage *c, const struct stmt *s, const struct stmt *source)
{
    bool task = is_task(c->it, s), same = task ? is_task(c->parent, source) : !is_task(c->parent, source);
    bool memory = is_memory(c->it, s) && c->parent->kind->layer == LAYER_MODEL;    /* from the operation as a whole */
    if (same || memory || s->lineage_kind == LINEAGE_GENERATED)
        return true;
    verify_error(&c->check->v, s, "from", NULL, "check.lineage_coverage.sort", "%s is %s, and its source %s of %s is %s", stmt_text(c->it, s),
                 task ? "a step" : "a place", stmt_text(c->parent, source), symbol_text(c->parent, c->parent->name), task ? "a place" : "a step");
    verify_note_legal(&c->check->v, "what only follows from the source is `generated from` it");
    return false;
}

static bool mark_lineage(struct coverage *c, const struct stmt *s)
{
    bool good = true;
    for (u32 i = 0; i < list_n(c->it, s->lineage); i++) {
        u32 ref = list_at(c->it, s->lineage)[i];
        const struct stmt *source = item_ref(c->parent, ref);
        if (!source)
            continue;           /* told by the verifier */
        c->covered[ref_atom(ref)] |= ref_is_value(ref) ? COVERED_VALUE : COVERED_SYMBOL;
        good = check_sort(c, s, source) && good;
    }
    return good;
}

/* A statement's sources; by default a place is from its namesake. */
static bool mark(struct coverage *c, const struct stmt *s)
{
    if (!is_source(c->it, s))
        return true;
    c->images++;
    if (s->lineage_kind != LINEAGE_NONE)
        return mark_lineage(c, s);
    if (is_value(c->it, s) && item_value(c->parent, s->name))
        c->covered[s->name] |= COVERED_VALUE;
    else
        c->silent++;
    return true;
}

/* Results are declared where they arise; one that says so is an image too. */
static bool mark_results(struct coverage *c, const struct stmt *s)
{
    u32 results = results_of(c->it, s);
    bool good = true;
    for (u32 i = 0; i < list_n(c->it, results); i++) {
        const struct stmt *value = item_value(c->it, list_at(c->it, results)[i]);
        if (value && value->is_result && value->lineage_kind != LINEAGE_NONE)
            good = mark_lineage(c, value) && good;
    }
    return good;
}

static void note_place(struct coverage *c, const struct stmt *s, const char *text)
{
    if (c->check->v.ctx->locate)
        diag_note(c->check->v.ctx->diags, c->check->v.ctx->locate(c->parent, s, NULL, NULL), "%s", text);
}

static bool check_source_covered(struct coverage *c, const struct stmt *s, u32 *unsure)
{
    const char *parent = symbol_text(c->it, c->parent->name);
    if (!is_source(c->parent, s))
        return true;
    c->sources++;
    if (c->covered[s->name] & (is_value(c->parent, s) ? COVERED_VALUE : COVERED_SYMBOL))
        return true;
    if (c->silent) {
        ++*unsure;
        return true;
    }
    verify_error(&c->check->v, NULL, NULL, parent, "check.lineage_coverage.lost", "%s of %s is the source of nothing here", stmt_text(c->parent, s),
                 parent);
    note_place(c, s, "it is here");
    return false;
}

/* ---- Outputs ---- */

/* By atom of a value: the task that makes it. */
static const struct stmt **makers(struct check *c, const struct item *it)
{
    const struct stmt **of = ARENA_ARRAY(&c->v.scratch, const struct stmt *, c->v.ctx->names.n);
    for (u32 i = 0; i < it->n_stmts; i++) {
        u32 results = results_of(it, it->stmts[i]);
        for (u32 k = 0; k < list_n(it, results); k++)
            of[list_at(it, results)[k]] = it->stmts[i];
    }
    return of;
}

/* Marks in LEAVES (by atom) what an output of the program is from: namesakes, sources, and what its makers are from. */
static void mark_leaving(struct coverage *c, atom value, const struct stmt *maker, u8 *leaves)
{
    const struct stmt *s = item_value(c->it, value);
    leaves[value] |= COVERED_VALUE;
    for (u32 i = 0; s && i < list_n(c->it, s->lineage); i++)
        leaves[ref_atom(list_at(c->it, s->lineage)[i])] |= ref_is_value(list_at(c->it, s->lineage)[i]) ? COVERED_VALUE : COVERED_SYMBOL;
    for (u32 i = 0; maker && i < list_n(c->it, maker->lineage); i++)
        leaves[ref_atom(list_at(c->it, maker->lineage)[i])] |= COVERED_SYMBOL;
}

static bool check_outputs(struct coverage *c, u32 *n)
{
    const struct stmt **made = makers(c->check, c->it), **made_above = makers(c->check, c->parent);
    u8 *leaves = ARENA_ARRAY(&c->check->v.scratch, u8, c->check->v.ctx->names.n);
    bool good = true;
    for (u32 i = 0; i < c->it->n_stmts; i++) {
        atom value = output_of(c->it, c->it->stmts[i]);
        if (value)
            mark_leaving(c, value, made[value], leaves);
    }
    for (u32 i = 0; i < c->parent->n_stmts; i++) {
        const struct stmt *s = c->parent->stmts[i];
        atom value = output_of(c->parent, s);
        const char *parent = symbol_text(c->it, c->parent->name);
        if (!value)
            continue;
        ++*n;
        if (leaves[value] & COVERED_VALUE || (made_above[value] && leaves[made_above[value]->name] & COVERED_SYMBOL))
            continue;
        verify_error(&c->check->v, NULL, NULL, parent, "check.lineage_coverage.output", "%s leaves %s, and nothing that is from it leaves here",
                     value_text(c->parent, value), parent);
        note_place(c, s, "it leaves here");
        good = false;
    }
    return good;
}

/* ---- All of it ---- */

static bool cover(struct coverage *c)
{
    u32 unsure = 0, outputs = 0;
    bool good = true, concrete = c->it->kind->layer == LAYER_CONCRETE;      /* bindings don't say what leaves */
    const char *parent = symbol_text(c->it, c->parent->name);
    for (u32 i = 0; i < c->it->n_stmts; i++) {
        good = mark(c, c->it->stmts[i]) && good;
        good = mark_results(c, c->it->stmts[i]) && good;
    }
    for (u32 i = 0; i < c->parent->n_stmts; i++)
        good = check_source_covered(c, c->parent->stmts[i], &unsure) && good;
    good = (concrete || check_outputs(c, &outputs)) && good;
    if (!good)
        return false;
    if (unsure)
        check_skipped(c->check, "sources of %s that nothing names: %u; statements here that say no source: %u, so that they may be from those", parent, unsure,
                      c->silent);
    check_proved(c->check, "%u of %u sources of %s are covered by %u statements, and %u outputs leave as there", c->sources - unsure, c->sources, parent,
                 c->images, outputs);
    return true;
}

static bool run(struct check *check)
{
    const struct item *it = check->v.item;
    struct coverage c = { .check = check, .it = it };
    atom parent = it->header.parent.item;
    if (!parent) {
        if (it->kind->layer != LAYER_MODEL)
            check_skipped(check, "it names nothing that it is derived from");
        return true;
    }
    c.parent = check->v.module ? module_find(check->v.module, parent) : NULL;
    if (!c.parent) {
        check_skipped(check, "%s, which it is derived from, is not in the file", symbol_text(it, parent));
        return true;
    }
    c.covered = ARENA_ARRAY(&check->v.scratch, u8, check->v.ctx->names.n);
    return cover(&c);
}

const struct checker lineage_coverage = {
    .name = "lineage-coverage",
    .layers = IN(LAYER_MODEL) | IN(LAYER_DIST) | IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE),
    .run = run,
    .doc = "Every value, task and output that a program was derived from is the source of something in it; none dangles.",
};
