/* dist's rules that the schema can't say: the program as a whole. The other files hold one theme each. */
#include "dialects/dist/verify.h"

/* That the batch is made of whole microbatches depends on the strategy: the contract says it when a plan is made. */
static void check_scale(struct dist_checker *c, const struct dist_scale *s)
{
    bool inference = s->query || s->context;
    const struct {
        const char *name;
        qty value;
    } facts[] = { { "blocks", s->blocks }, { "batch", s->batch }, { "microbatch", inference ? 1 : s->microbatch },
                  { "query", inference ? s->query : 1 }, { "context", inference ? s->context : 1 } };
    for (u32 i = 0; i < COUNT(facts); i++)
        if (!facts[i].value)
            verify_error(c->v, &s->s, NULL, facts[i].name, "dist.scale.positive",
                         "`%s` is missing or 0: a scale counts %s, each from 1", facts[i].name,
                         inference ? "blocks, batch, query and context" : "all three");
    if (inference && s->microbatch)
        verify_error(c->v, &s->s, NULL, "microbatch", "dist.scale.positive",
                     "`microbatch` beside `query` and `context`: a scale is of training or of inference");
    u128 query, context;
    if (!s->context || !qty_value(c->ctx->exprs, s->query, &query) || !qty_value(c->ctx->exprs, s->context, &context) || query <= context)
        return;
    verify_error(c->v, &s->s, NULL, "query", "dist.scale.query", "%s new tokens in a context of %s", qty_text(c->ctx, s->query),
                 qty_text(c->ctx, s->context));
    verify_note_legal(c->v, "the context is at least %s", qty_text(c->ctx, s->query));
}

static void check_memory(struct dist_checker *c, const struct dist_memory *m)
{
    u128 share, whole;
    if (!m->gradients_unsharded || !qty_value(c->ctx->exprs, m->gradients, &share) ||
        !qty_value(c->ctx->exprs, m->gradients_unsharded, &whole) || share <= whole)
        return;
    verify_error(c->v, &m->s, NULL, "gradients", "dist.memory.gradients",
                 "a rank's share of the gradients, %s bytes, exceeds the whole, %s", qty_text(c->ctx, m->gradients),
                 qty_text(c->ctx, m->gradients_unsharded));
}

/* ---- Outputs ---- */

static void check_output(struct dist_checker *c, const struct dist_output *o, u8 *seen)
{
    if (!item_value(c->it, o->value))
        return;
    u32 slot = (u32)(dist_place_of(&c->values, o->value) - c->values.slots);
    const char *name;
    if (!seen[slot]++)
        return;
    name = value_text(c->it, o->value);
    verify_error(c->v, &o->s, NULL, name, "dist.output.duplicate", "%s is an output already", name);
}

/* ---- The program ---- */

static void find_mesh(struct dist_checker *c)
{
    for (u32 i = 0; i < c->it->n_stmts; i++)
        if (c->it->stmts[i]->entity == DIST_MESH) {
            dist_mesh_check(c, (const struct dist_mesh *)c->it->stmts[i]);
            return;
        }
    verify_error(c->v, NULL, NULL, NULL, "dist.program.empty", "a dist program needs a mesh: `mesh @ranks [tp = 8]`");
}

static void check_task(struct dist_checker *c, const struct dist_task *t, u32 index)
{
    for (u32 i = 0; i < list_n(c->it, t->results); i++) {
        const struct dist_value *value = dist_value_named(c, list_at(c->it, t->results)[i]);
        if (value)
            dist_value_check(c, value);
    }
    dist_flow_task(c, t, index);
    dist_task_check(c, t);
}

/* One walk over the statements: a program may have millions. */
static void check_statements(struct dist_checker *c)
{
    u8 *outputs = ARENA_ARRAY(&c->v->scratch, u8, c->values.mask + (size_t)1);
    u32 tasks = 0;
    for (u32 i = 0; i < c->it->n_stmts; i++) {
        const struct stmt *s = c->it->stmts[i];
        switch (s->entity) {
        case DIST_TASK:
            check_task(c, (const struct dist_task *)s, i);
            tasks++;
            break;
        case DIST_VALUE: dist_value_check(c, (const struct dist_value *)s); break;
        case DIST_OUTPUT: check_output(c, (const struct dist_output *)s, outputs); break;
        case DIST_SCALE: check_scale(c, (const struct dist_scale *)s); break;
        case DIST_MEMORY: check_memory(c, (const struct dist_memory *)s); break;
        default: break;
        }
    }
    if (!tasks)
        verify_error(c->v, NULL, NULL, NULL, "dist.program.empty", "a dist program needs at least one task");
}

void dist_verify(struct verifier *v)
{
    struct dist_checker *c = ARENA_NEW(&v->scratch, struct dist_checker);
    c->v = v;
    c->it = v->item;
    c->ctx = v->ctx;
    for (u32 i = 0; i < DIST_FORM_LOCAL; i++) {
        const char *word = dist_collective_enum.words[i].text;
        c->collectives[i] = intern_find(&v->ctx->names, word, strlen(word));
    }
    dist_facts_init(c);
    dist_places_init(c, &c->values, v->item->values.n);
    dist_local_init(c);
    find_mesh(c);
    check_statements(c);
    dist_flow_end(c);
}
