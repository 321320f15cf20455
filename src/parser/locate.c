#include "parser/locate.h"

#include "grammar.h"
#include "lexer/lexer.h"

struct token {
    struct span at;
    u16 kind;
    u16 depth;              /* of brackets, behind it */
    u32 hash;               /* of its text without a sigil */
};

/* The tokens of the statement that was asked about last: messages mostly come several to a statement. */
struct locator {
    const char *text;       /* where it begins */
    struct token *tokens;
    u32 n, cap;
};

/* A place among the tokens of a statement. */
struct walk {
    const struct item *item;
    const struct token *next, *end;
    struct token now;
    const char *text;       /* what is looked for, or NULL; and its hash */
    u32 hash;
};

static u32 hash_of(const char *text, size_t n)
{
    u32 hash = 2166136261u;
    size_t sigil = n && strchr("%@$", text[0]);
    for (size_t i = sigil; i < n; i++)
        hash = (hash ^ (u8)text[i]) * 16777619u;
    return hash;
}

static bool is_keyword(int kind)
{
    return kind > BP_UNDEF && kind < SYNC;
}

static void add(struct locator *l, struct arena *arena, struct token t)
{
    if (l->n == l->cap) {
        struct token *more = ARENA_ARRAY(arena, struct token, 2 * l->cap + 256);
        if (l->n)
            memcpy(more, l->tokens, l->n * sizeof *more);
        l->tokens = more;
        l->cap = 2 * l->cap + 256;
    }
    l->tokens[l->n++] = t;
}

/* Up to the statement's end: the next one's keyword, or what closes the item. A session item is one statement. */
static void read_tokens(struct locator *l, const struct item *it, u32 offset)
{
    struct lexer lexer;
    const u16 *keyword;
    const u8 *layers;
    u64 value;
    struct span at;
    bool session = it->kind->layer == LAYER_SESSION;
    int depth = 0;
    lexer_keywords(it->ctx, &keyword, &layers);
    lexer_init(&lexer, it->ctx, it->src, NULL, keyword, layers);
    lexer.cursor = it->src->text + offset;
    lexer.layer = (u8)it->kind->layer;
    lexer.braces = 1;
    l->n = 0;
    l->text = it->src->text + offset;
    for (bool first = true;; first = false) {
        int kind = lexer_next(&lexer, &value, &at);
        if (kind == END || kind == BAD || at.begin >= it->end)
            return;
        if (depth == 0 && (kind == RBRACE || (is_keyword(kind) && (session || !first))))
            return;
        depth += kind == LPAREN || kind == LBRACKET || kind == LBRACE;
        depth -= kind == RPAREN || kind == RBRACKET || kind == RBRACE;
        add(l, &it->ctx->arena, (struct token){ at, (u16)kind, (u16)depth, hash_of(it->src->text + at.begin, at.end - at.begin) });
    }
}

static struct walk begin(const struct item *it, u32 offset, const char *text)
{
    struct context *ctx = it->ctx;
    if (!ctx->locator)
        ctx->locator = ARENA_NEW(&ctx->arena, struct locator);
    struct locator *l = ctx->locator;
    if (l->text != it->src->text + offset)
        read_tokens(l, it, offset);
    return (struct walk){ .item = it, .next = l->tokens, .end = l->tokens + l->n, .text = text,
                          .hash = text ? hash_of(text, strlen(text)) : 0 };
}

/* The next token of the statement; false at its end. */
static bool advance(struct walk *w)
{
    if (w->next == w->end)
        return false;
    w->now = *w->next++;
    return true;
}

static bool span_is(const struct item *it, struct span at, const char *text)
{
    const char *from = it->src->text + at.begin;
    size_t n = at.end - at.begin;
    if (!n)
        return !*text;
    bool sigil = (from[0] == '%' || from[0] == '@' || from[0] == '$') && text[0] != from[0];
    return !strncmp(from + sigil, text, n - sigil) && !text[n - sigil];
}

static bool token_is(const struct walk *w, const char *text)
{
    return span_is(w->item, w->now.at, text);
}

/* The token is what the walk looks for. */
static bool is_found(const struct walk *w)
{
    return w->text && w->now.hash == w->hash && token_is(w, w->text);
}

static struct loc place(const struct walk *w)
{
    return (struct loc){ w->item->src, w->now.at.begin, w->now.at.end };
}

static bool opens(int kind)
{
    return kind == LPAREN || kind == LBRACKET || kind == LBRACE;
}

/* From the token behind the clause's word to the last token of its value; nested text is part of it. */
static struct loc clause_span(struct walk *w)
{
    struct loc whole = place(w);
    bool first = true;
    while (advance(w)) {
        int kind = w->now.kind;
        if (is_found(w))
            return place(w);
        if (!first && !opens(kind) && w->now.depth == 0 && (kind == WORD || kind == KW_FROM || kind == LINEAGE || kind == ARROW))
            break;
        whole.end = w->now.at.end;
        if (kind != EQUAL)
            first = false;
    }
    return whole;
}

static struct loc token_anywhere(const struct item *it, u32 offset, const char *text, struct loc otherwise)
{
    struct walk w = begin(it, offset, text);
    while (text && advance(&w))
        if (is_found(&w))
            return place(&w);
    return otherwise;
}

static struct loc head_span(const struct item *it, u32 offset)
{
    struct walk w = begin(it, offset, NULL);
    struct loc span = { it->src, offset, offset };
    for (int i = 0; i < 2 && advance(&w); i++) {
        span.end = w.now.at.end;
        if (w.now.kind == VALUE || w.now.kind == SYMBOL)
            break;
    }
    return span;
}

static struct loc locate_header(const struct item *it, const char *text)
{
    struct loc name = { it->src, it->header.begin, it->header.begin };
    struct lexer lexer;
    const u16 *keyword;
    const u8 *layers;
    u64 value;
    struct span at;
    int kind;
    name.end += it->ctx->names.atoms[it->name].length + 1;
    if (!text)
        return name;
    lexer_keywords(it->ctx, &keyword, &layers);
    lexer_init(&lexer, it->ctx, it->src, NULL, keyword, layers);
    lexer.cursor = it->src->text + it->begin;
    while ((kind = lexer_next(&lexer, &value, &at)) != END && kind != LBRACE)
        if (span_is(it, at, text))
            return (struct loc){ it->src, at.begin, at.end };
    return name;
}

/* What a statement writes: among its results, or in a clause behind them. */
static struct loc behind_arrow(struct walk *w, struct loc otherwise)
{
    while (w->text && advance(w))
        if (is_found(w))
            return place(w);
    return otherwise;
}

/* A clause's word, or the arrow of the field "results". */
static bool is_field(const struct walk *w, const char *field)
{
    int kind = w->now.kind;
    if (kind == ARROW)
        return !strcmp(field, "results");
    return kind != VALUE && kind != SYMBOL && kind != DOLLAR && token_is(w, field);
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
    struct walk w = begin(it, offset, text);
    while (field && advance(&w))
        if (w.now.depth == 0 && is_field(&w, field))
            return w.now.kind == ARROW ? behind_arrow(&w, head) : clause_span(&w);
    return token_anywhere(it, offset, text, head);
}
