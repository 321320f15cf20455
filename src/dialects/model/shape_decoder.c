/* The coarse operations: a decoder's fields, its boundary [batch, sequence, hidden], and the KV cache beside it. */
#include "dialects/model/shape.h"

#include <inttypes.h>

static bool check_positive(struct model_shape *s)
{
    bool good = true;
    u64 n = 1;
    for (const struct field *f = s->row->attributes; f && f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_INTEGER || !model_shape_number(s, f->name, &n) || n > 0)
            continue;
        good = verify_error(s->c->v, &s->op->s, f->name, NULL, "model.decoder.positive",
                            "%s: `%s` is at least 1, found 0", f->doc, f->name);
        s->refused = true;
    }
    return good;
}

/* A number in the type is the field's; a symbol takes it. */
static bool check_boundary(struct model_shape *s, u32 dim, const char *field)
{
    u64 n = 0;
    qty size = s->types[0]->dims[dim];
    if (!model_shape_number(s, field, &n) || model_size_fits(s->c, size, n))
        return true;
    if (!qty_is_constant(s->c->ctx->exprs, size)) {
        model_shape_refuse(s, s->in[0], "model.decoder.boundary", "dimension %u of %s is the %s, %" PRIu64 ", which %s can't be: it is a multiple of %" PRIu64,
                           dim, model_shape_value(s, s->in[0]), field, n, qty_text(s->c->ctx, size), model_multiple_of(s->c, size));
        model_shape_legal(s, s->in[0], "legal with a `multiple_of` that divides %" PRIu64, n);
        return false;
    }
    model_shape_refuse(s, s->in[0], "model.decoder.boundary", "dimension %u of %s is the %s, %" PRIu64 ", found %s", dim,
                       model_shape_value(s, s->in[0]), field, n, qty_text(s->c->ctx, size));
    model_shape_legal(s, s->in[0], "legal with %" PRIu64 " as dimension %u", n, dim);
    return false;
}

/* New tokens are a part of the sequence. */
static bool check_tokens(struct model_shape *s)
{
    u64 n = 0;
    u128 tokens;
    if (!model_shape_number(s, "sequence", &n) || !qty_value(s->c->ctx->exprs, s->types[0]->dims[1], &tokens) || tokens <= n)
        return true;
    model_shape_refuse(s, s->in[0], "model.decoder.boundary",
                       "dimension 1 of %s is at most the sequence, %" PRIu64 ", found %s", model_shape_value(s, s->in[0]),
                       n, qty_text(s->c->ctx, s->types[0]->dims[1]));
    model_shape_legal(s, s->in[0], "legal with 1 to %" PRIu64 " as dimension 1", n);
    return false;
}

/* Heads that have keys and values of their own: all, or `kv_heads`. */
static bool kv_heads(struct model_shape *s, u64 *out)
{
    u64 heads = 0;
    if (!model_shape_number(s, "heads", &heads) || !model_shape_number(s, "kv_heads", out)) {
        *out = heads;
        return heads != 0;
    }
    if (heads % *out == 0)
        return true;
    s->refused = true;
    verify_error(s->c->v, &s->op->s, "kv_heads", NULL, "model.decoder.kv_heads",
                 "heads %" PRIu64 " is not divisible by kv_heads %" PRIu64 ": remainder %" PRIu64, heads, *out, heads % *out);
    verify_note_legal(s->c->v, "each head of keys and values serves the same number of heads");
    return false;
}

static bool check_cache(struct model_shape *s, u64 heads)
{
    u64 blocks = 0, sequence = 0, size = 0;
    const struct type *cache = s->types[1];
    struct exprs *x = s->c->ctx->exprs;
    qty dims[5] = { 0, 2, s->types[0]->dims[0], 0, 0 };
    if (!model_shape_number(s, "blocks", &blocks) || !model_shape_number(s, "sequence", &sequence) ||
        !model_shape_number(s, "head_size", &size) || !model_shape_rank(s, 1, 5))
        return false;
    dims[0] = qty_number(x, blocks);
    dims[3] = qty_number(x, sequence);
    dims[4] = qty_number(x, (u128)heads * size);
    bool good = model_same_size(s->c, cache->dims[2], dims[2]);
    for (u32 i = 0; i < 5; i++) {
        u128 n;
        good = good && (i == 2 || (qty_value(x, dims[i], &n) && model_size_fits(s->c, cache->dims[i], n)));
    }
    if (good)
        return true;
    const char *legal = model_shape_type(s, &(struct type){ .element = cache->element, .rank = 5, .dims = dims });
    model_shape_refuse(s, s->in[1], "model.decoder.cache", "the cache of this decoder is %s, found %s", legal,
                       model_shape_value(s, s->in[1]));
    model_shape_legal(s, s->in[1], "legal is [blocks, 2, batch, sequence, kv heads x head_size]: %s", legal);
    return false;
}

void model_shape_decoder(struct model_shape *s)
{
    bool inference = s->n_in > 1, good = model_shape_rank(s, 0, 3);
    if (!check_positive(s) || !good)
        return;
    good = inference ? check_tokens(s) : check_boundary(s, 1, "sequence");
    good = check_boundary(s, 2, "hidden") && good;
    if (good)
        model_shape_result(s, 0, s->types[0]);
    u64 heads = 0;
    if (kv_heads(s, &heads) && inference && check_cache(s, heads) && s->n_out > 1)
        model_shape_result(s, 1, s->types[1]);
}
