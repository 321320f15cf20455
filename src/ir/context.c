#include "ir/context.h"

/* The dialects' own words come first, so that they have small atoms: the lexer and the tables are arrays over them. */
static void intern_fields(struct context *ctx, const struct field *fields)
{
    for (const struct field *f = fields; f && f->kind != FIELD_END; f++) {
        intern_borrowed(&ctx->names, f->name, f->length);
        if (f->kind == FIELD_FACTS)
            intern_fields(ctx, f->aux);
    }
}

static void intern_dialect(struct context *ctx, const struct dialect *d)
{
    for (u32 k = 0; k < d->n_kinds; k++) {
        intern_borrowed(&ctx->names, d->kinds[k].name, strlen(d->kinds[k].name));
        for (u32 e = 0; e < d->kinds[k].n_entities; e++) {
            const struct entity *entity = &d->kinds[k].entities[e];
            intern_borrowed(&ctx->names, entity->keyword, strlen(entity->keyword));
            intern_fields(ctx, entity->fields);
        }
    }
    for (u32 i = 0; i < d->n_enumerations; i++)
        for (u32 w = 0; w < d->enumerations[i]->n; w++)
            intern_borrowed(&ctx->names, d->enumerations[i]->words[w].text, strlen(d->enumerations[i]->words[w].text));
    for (u32 i = 0; i < d->n_operations; i++) {
        intern_borrowed(&ctx->names, d->operations[i].name, strlen(d->operations[i].name));
        intern_fields(ctx, d->operations[i].attributes);
    }
}

void context_init(struct context *ctx, const struct dialect *const *dialects, struct diags *diags)
{
    *ctx = (struct context){ .diags = diags, .dialects = dialects };
    arena_init(&ctx->arena);
    interner_init(&ctx->names, &ctx->arena);
    ctx->exprs = exprs_new(&ctx->arena, &ctx->names);
    ctx->types = types_new(&ctx->arena);
    for (const struct dialect *const *d = dialects; *d; d++)
        intern_dialect(ctx, *d);
    ctx->n_known = ctx->names.n;
    ctx->n_operations = ctx->n_known;
    ctx->operation_of = ARENA_ARRAY(&ctx->arena, const struct operation *, ctx->n_known);
    for (const struct dialect *const *d = dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_operations; i++)
            ctx->operation_of[intern_string(&ctx->names, (*d)->operations[i].name)] = &(*d)->operations[i];
}

void context_free(struct context *ctx)
{
    if (ctx->item_of)
        block_free(ctx->item_of, ctx->n_item_of * sizeof *ctx->item_of);
    ctx->item_of = NULL;
    types_free(ctx->types);
    interner_free(&ctx->names);
    arena_free(&ctx->arena);
}

const struct item_kind *context_item_kind(const struct context *ctx, const char *name, size_t length)
{
    for (const struct dialect *const *d = ctx->dialects; *d; d++)
        for (u32 k = 0; k < (*d)->n_kinds; k++)
            if (strlen((*d)->kinds[k].name) == length && !memcmp((*d)->kinds[k].name, name, length))
                return &(*d)->kinds[k];
    return NULL;
}

const struct operation *context_operation(const struct context *ctx, atom name)
{
    return name < ctx->n_operations ? ctx->operation_of[name] : NULL;
}

const char *context_text(const struct context *ctx, atom name)
{
    return intern_text(&ctx->names, name, (struct arena *)&ctx->arena);
}

static const char *finish_text(const struct context *ctx, struct out *o)
{
    const char *text = arena_copy((struct arena *)&ctx->arena, o->data, o->n);
    out_free(o);
    return text;
}

const char *qty_text(const struct context *ctx, qty q)
{
    struct out o;
    out_memory(&o);
    out_qty(&o, ctx->exprs, q);
    return finish_text(ctx, &o);
}

const char *type_text(const struct context *ctx, u32 type)
{
    struct out o;
    out_memory(&o);
    out_type(&o, ctx->exprs, type_get(ctx->types, type));
    return finish_text(ctx, &o);
}
