#include "passes/analysis.h"

const struct analysis *const all_analyses[] = { &work_totals, &engine_counts, &buffer_totals, &training_totals, &inference_totals, NULL };

void analyses_init(struct analyses *a, struct context *ctx)
{
    *a = (struct analyses){ .ctx = ctx };
    arena_init(&a->arena);
}

void analyses_free(struct analyses *a)
{
    if (a->list)
        block_free(a->list, a->cap * sizeof *a->list);
    arena_free(&a->arena);
}

struct digest session_fingerprint(const struct session *s, u32 bindings)
{
    struct out o;
    out_digest(&o);
    for (int b = 0; b < BINDINGS; b++)
        if (bindings & NEEDS(b) && s->items[b]) {
            out_printf(&o, "%s ", s->items[b]->kind->name);
            out_digest_text(&o, item_digest(s->items[b]));
            out_char(&o, '\n');
        }
    return digest_finish(&o);
}

struct digest finding_digest(const struct context *ctx, const struct analysis *key, const void *value)
{
    struct out o;
    out_digest(&o);
    key->print(&o, ctx, value);
    return digest_finish(&o);
}

bool finding_is_whole(const struct context *ctx, const struct finding *f)
{
    return digest_equal(f->digest, finding_digest(ctx, f->key, f->value));
}

static u32 bucket_of(struct digest item)
{
    return item.low % COUNT(((struct analyses *)0)->newest);
}

const struct finding *analyses_find(const struct analyses *a, const struct analysis *key, struct digest item, const struct digest *session)
{
    for (u32 i = a->newest[bucket_of(item)]; i; i = a->list[i - 1].older) {
        const struct finding *f = &a->list[i - 1];
        if (f->key == key && digest_equal(f->item, item) && (!session || digest_equal(f->session, *session)))
            return f;
    }
    return NULL;
}

bool analyses_add(struct analyses *a, const struct finding *f)
{
    const struct finding *twin = analyses_find(a, f->key, f->item, &f->session);
    if (twin)
        return digest_equal(twin->digest, f->digest);
    u32 *newest = &a->newest[bucket_of(f->item)];
    *VEC_PUSH(a->list, a->n, a->cap) = *f;
    a->list[a->n - 1].older = *newest;
    *newest = a->n;
    return true;
}
