/*
 * work-conservation: no work is lost on the way from the model to its ranks, and none is added without a name. Per phase
 *     work of all ranks = work of the model + recompute + replication + communication
 * term by term, for a decoder's block by closed forms, and for programs that write their values by the types of products.
 */
#include "conformance/work_terms.h"

static bool check_terms(struct block *b)
{
    struct terms *t = ARENA_NEW(&b->c->v.scratch, struct terms);
    bool good = true;
    t->b = b;
    if (!terms_fill(t))
        return false;
    for (u32 i = 0; i < b->it->n_stmts; i++)
        if (b->it->stmts[i]->entity == DIST_TASK)
            good = terms_check_task(t, (const struct dist_task *)b->it->stmts[i]) && good;
    good = good && terms_check_counts(t) && terms_check_products(t);
    return good && terms_tell(t);
}

static bool run(struct check *c)
{
    const char *why;
    struct block *b = ARENA_NEW(&c->v.scratch, struct block);
    bool good = true;
    if (block_read(b, c, &why))
        good = check_terms(b) & work_check_facts(b);
    else if (why)
        check_skipped(c, "the terms of a block: %s", why);
    return work_check_products(c) && good && c->v.errors == 0;
}

const struct checker work_conservation = {
    .name = "work-conservation",
    .layers = IN(LAYER_DIST),
    .run = run,
    .doc = "The work of all ranks is the model's, plus recompute, replication and communication by name, term by term.",
};
