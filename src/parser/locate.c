#include "parser/locate.h"

#include "grammar.h"
#include "lexer/lexer.h"

/* Tokens of one statement. */
struct walk {
    struct lexer lexer;
    const struct item *item;
    u64 value;
    struct span at;
    int kind;
    int depth;
    u32 stmts;
};

static bool is_keyword(const struct walk *w)
{
    return w->kind > BP_UNDEF && w->kind < SYNC;
}

/* The next token of the statement; false at its end. */
static bool advance(struct walk *w)
{
    w->kind = lexer_next(&w->lexer, &w->value, &w->at);
    if (w->kind == END || w->kind == BAD || w->at.begin >= w->item->end)
        return false;
    if (w->depth == 0 && (w->kind == RBRACE || (is_keyword(w) && w->stmts++)))
        return false;
    w->depth += w->kind == LPAREN || w->kind == LBRACKET || w->kind == LBRACE;
    w->depth -= w->kind == RPAREN || w->kind == RBRACKET || w->kind == RBRACE;
    return true;
}

static bool token_is(const struct walk *w, const char *text)
{
    const char *from = w->item->src->text + w->at.begin;
    size_t n = w->at.end - w->at.begin, length = strlen(text);
    bool sigil = n && strchr("%@$", from[0]) && text[0] != from[0];
    return n == length + sigil && !memcmp(from + sigil, text, length);
}

static void begin(struct walk *w, const struct item *it, u32 offset)
{
    const u16 *keyword;
    const u8 *layers;
    *w = (struct walk){ .item = it };
    lexer_keywords(it->ctx, &keyword, &layers);
    lexer_init(&w->lexer, it->ctx, it->src, NULL, keyword, layers);
    w->lexer.cursor = it->src->text + offset;
    w->lexer.layer = (u8)it->kind->layer;
    w->lexer.braces = 1;
}

/* From the token behind the clause's word to the last token of its value; nested text is part of it. */
static struct loc clause_span(struct walk *w, struct span word, const char *text)
{
    struct loc whole = { w->item->src, word.begin, word.end };
    bool first = true;
    while (advance(w)) {
        if (text && token_is(w, text))
            return (struct loc){ w->item->src, w->at.begin, w->at.end };
        bool opens = w->kind == LPAREN || w->kind == LBRACKET || w->kind == LBRACE;
        if (!first && !opens && w->depth == 0 && (w->kind == WORD || w->kind == KW_FROM || w->kind == LINEAGE || w->kind == ARROW))
            break;
        whole.end = w->at.end;
        if (w->kind != EQUAL)
            first = false;
    }
    return whole;
}

static struct loc token_anywhere(const struct item *it, u32 offset, const char *text, struct loc otherwise)
{
    struct walk w;
    begin(&w, it, offset);
    if (it->kind->layer == LAYER_SESSION)
        w.stmts = 1;
    while (text && advance(&w))
        if (token_is(&w, text))
            return (struct loc){ it->src, w.at.begin, w.at.end };
    return otherwise;
}

static struct loc head_span(const struct item *it, u32 offset)
{
    struct walk w;
    struct loc span = { it->src, offset, offset };
    begin(&w, it, offset);
    for (int i = 0; i < 2 && advance(&w); i++) {
        span.end = w.at.end;
        if (w.kind == VALUE || w.kind == SYMBOL)
            break;
    }
    return span;
}

static struct loc locate_header(const struct item *it, const char *text)
{
    struct loc name = { it->src, it->header.begin, it->header.begin };
    const struct interned *n = &it->ctx->names.atoms[it->name];
    name.end += n->length + 1;
    if (!text)
        return name;
    struct walk w;
    begin(&w, it, it->begin);
    w.lexer.braces = 0;
    w.lexer.layer = LAYERS;
    while ((w.kind = lexer_next(&w.lexer, &w.value, &w.at)) != END && w.kind != LBRACE)
        if (token_is(&w, text))
            return (struct loc){ it->src, w.at.begin, w.at.end };
    return name;
}

/* What a statement writes: among its results, or in a clause behind them. */
static struct loc behind_arrow(struct walk *w, const char *text, struct loc otherwise)
{
    while (text && advance(w))
        if (token_is(w, text))
            return (struct loc){ w->item->src, w->at.begin, w->at.end };
    return otherwise;
}

/* A clause's word, or the arrow of the field "results". */
static bool is_field(const struct walk *w, const char *field)
{
    if (w->kind == ARROW)
        return !strcmp(field, "results");
    return w->kind != VALUE && w->kind != SYMBOL && w->kind != DOLLAR && token_is(w, field);
}

struct loc locate(const struct item *it, const struct stmt *s, const char *field, const char *text)
{
    if (!it->src)
        return (struct loc){ 0 };
    if (!s)
        return locate_header(it, text);
    if (s->begin == NO_PLACE)
        return (struct loc){ 0 };
    bool session = it->kind->layer == LAYER_SESSION;
    u32 offset = session ? it->body : s->begin;
    struct loc head = session ? (struct loc){ it->src, s->begin, s->begin + (u32)strlen(it->kind->name) } : head_span(it, offset);
    struct walk w;
    begin(&w, it, offset);
    w.stmts = session;
    while (field && advance(&w))
        if (w.depth == 0 && is_field(&w, field))
            return w.kind == ARROW ? behind_arrow(&w, text, head) : clause_span(&w, w.at, text);
    return token_anywhere(it, offset, text, head);
}
