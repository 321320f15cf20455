/*
 * work-conservation: no work is lost on the way from the model to its ranks, and none is added without a name. Per phase
 *     work of all ranks = work of the model + recompute + replication + communication
 * term by term, for a decoder's block by closed forms, and for programs that write their values by the types of products.
 */
#include "conformance/work.h"

static bool run(struct check *c)
{
    const char *why;
    struct block *b = ARENA_NEW(&c->v.scratch, struct block);
    bool good = true;
    if (block_read(b, c, &why))
        good = work_check_terms(b) & work_check_facts(b);
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
