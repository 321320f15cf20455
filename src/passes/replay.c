#include "passes/replay.h"

#include "ir/print.h"
#include "parser/parse.h"
#include "passes/guard.h"

/* A copy knows nothing of where the original stands, or of what it says by default. NULL: it can't be copied. */
static struct item *copy_of(struct module *copies, const struct item *it)
{
    struct module one;
    struct source *src = ARENA_NEW(&it->ctx->arena, struct source);
    struct item *copy = NULL;
    struct out o;
    out_memory(&o);
    print_item(&o, it);
    source_borrow(src, "<replay>", arena_copy(&it->ctx->arena, o.data, o.n), o.n);
    out_free(&o);
    if (parse_module(&one, it->ctx, src) && one.n == 1 && digest_equal(item_digest_now(one.items[0]), item_digest_now(it))) {
        copy = one.items[0];
        module_add(copies, copy);
        one.n = 0;
    }
    module_free(&one);
    return copy;
}

static bool same_products(const struct analyses *a, const struct analyses *b)
{
    if (a->n != b->n)
        return false;
    for (u32 i = 0; i < a->n; i++)
        if (a->list[i].key != b->list[i].key || !digest_equal(a->list[i].digest, b->list[i].digest))
            return false;
    return true;
}

static bool run_again(struct pass_run *again, const struct pass_run *r)
{
    if (!again->pass->run(again))
        return internal_error(r, "is not deterministic: a second run fails");
    if (!digest_equal(item_digest_now(again->output), item_digest_now(r->output)))
        return internal_error(r, "is not deterministic: a second run has another digest");
    return same_products(again->products, r->products) || internal_error(r, "is not deterministic: a second run publishes other analyses");
}

bool replay_check(const struct pass_run *r, struct item *twin)
{
    struct pass_run again = *r;
    struct module copies;
    struct analyses products = { .ctx = r->ctx };
    module_init(&copies, r->ctx, NULL);
    again.output = twin;
    again.products = &products;
    again.input = copy_of(&copies, r->input);
    bool good = again.input != NULL;
    for (int b = 0; b < BINDINGS; b++)
        if (good && r->session.items[b])
            good = (again.session.items[b] = copy_of(&copies, r->session.items[b])) != NULL;
    good = good ? run_again(&again, r) : internal_error(r, "can't be replayed: its input does not survive print and parse");
    if (products.list)
        block_free(products.list, products.cap * sizeof *products.list);
    module_free(&copies);
    return good;
}
