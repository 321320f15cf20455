/*
 * shard-reconstruction: the rank-local pieces of every value make up the value, exactly. Each part is held by some rank; what
 * ranks hold twice is the same; what is partial stays so until it is reduced; pieces keep their elements where values are
 * cut, joined and reshaped; types are the model's.
 */
#include "conformance/shard_reconstruction.h"

struct counts {
    u32 values, taken, silent, unknown;
};

/* Every part, and every term of a sum, is somewhere. */
static bool check_cover(struct program *p, const struct value_facts *v)
{
    struct piece piece;
    const char *missing, *name;
    value_piece(p, v, &piece);
    u64 parts = piece.split | piece.partial;
    if (grid_covers(&p->grid, v->holders, parts, &missing))
        return true;
    const struct stmt *at = v->maker ? &v->maker->s : &v->value->s;
    name = value_text(p->it, v->value->s.name);
    verify_error(&p->check->v, at, NULL, name, "check.shard_reconstruction.cover",
                 "%s is in parts over %s, and no rank that holds it has the part of %s", name, grid_axes_text(&p->grid, parts), missing);
    if (v->maker && !v->value->owners)
        verify_note(&p->check->v, at, v->maker->body == DIST_TRANSFER ? "destination" : "ranks", NULL, "these ranks come to hold it");
    else
        verify_note(&p->check->v, v->maker ? &v->value->s : at, "owners", NULL, "these ranks hold it");
    return false;
}

/* A version that some holders of the state do not get leaves them with the one before. */
static void check_version(struct program *p, const struct value_facts *v)
{
    const struct value_facts *old = v->value->updates ? program_value(p, v->value->updates) : NULL;
    u32 rank;
    if (!old || !rank_sets_differ(&p->grid.sets, old->holders, v->holders, &rank))
        return;
    const char *name = value_text(p->it, v->value->s.name), *before = value_text(p->it, old->value->s.name);
    verify_error(&p->check->v, v->maker ? &v->maker->s : &v->value->s, NULL, name, "check.shard_reconstruction.replicas",
                 "rank %u holds %s, and not its next version %s: what it has is out of date", rank, before, name);
    verify_note(&p->check->v, old->maker ? &old->maker->s : &old->value->s, NULL, before, "it comes to hold %s here", before);
}

static void check_results(struct program *p, const struct dist_task *t, struct counts *n)
{
    for (u32 i = 0; i < task_results(p, t); i++) {
        const struct value_facts *v = program_result(p, t, i);
        check_cover(p, v);
        check_version(p, v);
        n->values++;
    }
}

static void check_output(struct program *p, const struct dist_output *o)
{
    const struct value_facts *v = program_value(p, o->value);
    struct piece piece;
    if (!v)
        return;
    value_piece(p, v, &piece);
    if (!piece.partial)
        return;
    const char *name = value_text(p->it, o->value);
    verify_error(&p->check->v, &o->s, NULL, name, "check.shard_reconstruction.partial", "%s leaves the program %s, unreduced", name,
                 piece_text(&p->grid, &piece));
    verify_note_legal(&p->check->v, "reduce it first: `collective all_reduce` or `reduce_scatter`");
}

static void check_task(struct program *p, const struct dist_task *t, struct counts *n)
{
    struct task_meaning x;
    check_results(p, t, n);
    n->silent += !t->operands && !t->results && t->body != DIST_CONTROL;
    if (t->body != DIST_LOCAL) {
        for (u32 i = 0; i < task_operands(p, t); i++) {
            struct piece piece;
            value_piece(p, program_operand(p, t, i), &piece);
            n->taken += piece.partial != 0;
        }
        return;
    }
    if (!t->operands && !t->results)
        return;
    meaning_of(&p->meanings, t, &x);
    n->unknown += !x.known;
    if (t->operands)
        n->taken += shard_partial_check(p, t, &x);
    shard_pieces_check(p, t, &x);
}

static void say(struct check *c, const struct program *p, const struct counts *n)
{
    if (!c->v.errors && n->values)
        check_proved(c, "%u values on a mesh of %llu: every part is held, replicas agree, %u uses of partial values keep or reduce their sums", n->values,
                     (unsigned long long)p->grid.size, n->taken);
    if (n->silent)
        check_skipped(c, "tasks that write neither operands nor results: %u; nothing is known of what they make", n->silent);
    if (n->unknown)
        check_skipped(c, "local tasks whose pieces do not follow from their operation: %u; only sums and holders were checked", n->unknown);
}

static void check_source_types(struct check *c, struct program *p)
{
    const struct item *model = source_item(c, p->it, LAYER_MODEL);
    u32 open = 0, reads = 0, errors = c->v.errors, same = model ? shard_types_check(p, model, &open, &reads) : 0;
    if (!model) {
        check_skipped(c, "its model program is not in the file: types were compared with none");
        return;
    }
    if (same && c->v.errors == errors)
        check_proved(c, "%u values have the types of their sources in %s, and %u operands are what those read", same,
                     symbol_text(p->it, model->name), reads);
    if (open)
        check_skipped(c, "types that depend on symbols of %s which nothing binds: %u", symbol_text(p->it, model->name), open);
}

static bool run(struct check *c)
{
    struct program p;
    struct counts n = { 0 };
    program_read(&p, c, c->v.item);
    for (u32 i = 0; i < p.it->n_stmts; i++) {
        const struct stmt *s = p.it->stmts[i];
        if (s->entity == DIST_VALUE) {
            check_cover(&p, program_value(&p, s->name));
            n.values++;
        } else if (s->entity == DIST_TASK) {
            check_task(&p, (const struct dist_task *)s, &n);
        } else if (s->entity == DIST_OUTPUT) {
            check_output(&p, (const struct dist_output *)s);
        }
    }
    say(c, &p, &n);
    check_source_types(c, &p);
    return c->v.errors == 0;
}

const struct checker shard_reconstruction = {
    .name = "shard-reconstruction",
    .layers = IN(LAYER_DIST),
    .run = run,
    .doc = "The pieces of every value that ranks hold make up the value: every part, every replica, every term of a partial sum.",
};
