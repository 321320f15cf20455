#include "parser/parse.h"

#include "parser/build.h"
#include "parser/locate.h"

enum { TEXT_OF_A_NAME = 256 };     /* bytes of a text to a name in it, at the most likely */

int bp_parse(struct parser *p);

bool parse_module(struct module *m, struct context *ctx, const struct source *src)
{
    u32 errors = ctx->diags->errors;
    struct parser *p = ARENA_NEW(&ctx->arena, struct parser);
    module_init(m, ctx, src);
    ctx->locate = locate;
    p->ctx = ctx;
    p->module = m;
    p->src = src;
    lexer_keywords(ctx, &p->keyword, &p->keyword_layers);
    p->n_known = ctx->n_known;
    p->repeats = repeats_new(&ctx->arena);
    p->words = ARENA_ARRAY(&ctx->arena, struct word_cache, p->n_known);
    lexer_init(&p->lexer, ctx, src, m, p->keyword, p->keyword_layers);
    interner_expect(&ctx->names, src->size / TEXT_OF_A_NAME);
    bp_parse(p);
    repeats_free(p->repeats);
    if (p->item)
        p->item->damaged = true;
    if (p->stream)
        block_free(p->stream, p->cap * sizeof *p->stream);
    if (p->scratch)
        block_free(p->scratch, p->cap_scratch * sizeof *p->scratch);
    return ctx->diags->errors == errors;
}
