/* The one lexer of all layers; see lexer.h. A NUL behind the text is the sentinel. */
#include "lexer/lexer.h"

#include "grammar.h"
#include "lexer/text.h"

enum { LONGEST_TOKEN = 16 << 20 };

static int bad(struct lexer *l, const char *code, const char *message)
{
    l->fault_code = code;
    l->fault = message;
    return BAD;
}

/* The atom of a text of the source. A mapped file may leave memory behind the lexer: new names are then copied. */
static atom name_of(struct lexer *l, const char *text, size_t length)
{
    return l->src->is_file ? intern(&l->ctx->names, text, length) : intern_borrowed(&l->ctx->names, text, length);
}

static atom word_of(struct lexer *l)
{
    size_t length = (size_t)(l->cursor - l->token);
    u8 index = (u8)(length * 31 + (u8)l->token[0] * 7 + (u8)l->cursor[-1]);
    const struct interned *recent = &l->ctx->names.atoms[l->recent[index]];
    if (recent->length != length || memcmp(recent->text, l->token, length))
        l->recent[index] = name_of(l, l->token, length);
    return l->recent[index];
}

static void record(struct lexer *l, enum trivia_kind kind, const char *from, const char *to)
{
    u32 begin = (u32)(from - l->src->text);
    if (!l->module || begin < l->trivia_until)
        return;
    while (to > from && kind == TRIVIA_COMMENT && (to[-1] == '\r' || to[-1] == ' ' || to[-1] == '\t'))
        to--;
    struct trivia t = { begin, (u32)(to - l->src->text), (u8)kind, text_first_on_line(l->src, begin) };
    *VEC_PUSH(l->module->trivia, l->module->n_trivia, l->module->cap_trivia) = t;
    l->trivia_until = begin + 1;
}

static int word(struct lexer *l, u64 *value)
{
    atom a = word_of(l);
    *value = a;
    if (a >= l->ctx->n_known || !l->keyword[a])
        return WORD;
    u32 scope = l->in_header ? 1u << LAYERS : l->layer < LAYERS ? IN(l->layer) : 0;
    return l->keyword_layers[a] & scope ? l->keyword[a] : WORD;
}

/* Between items, a dotted word may name an item kind, and then decides which keywords follow. */
static int dotted(struct lexer *l, u64 *value)
{
    *value = word_of(l);
    if (l->braces)
        return DOTTED;
    const struct item_kind *kind = context_item_kind(l->ctx, l->token, (size_t)(l->cursor - l->token));
    if (!kind)
        return DOTTED;
    l->layer = (u8)kind->layer;
    l->in_header = kind->layer != LAYER_SESSION;
    return kind->layer == LAYER_SESSION ? SESSION : ITEM;
}

static int number(struct lexer *l, u64 *value)
{
    u128 n;
    if (!u128_parse(l->token, (size_t)(l->cursor - l->token), &n))
        return text_is_number(l->token, l->cursor)
                   ? bad(l, "syntax.number.range", "this number does not fit in 128 bits")
                   : bad(l, "syntax.number.form", "`_` may stand only between two digits");
    *value = qty_number(l->ctx->exprs, n);
    return INTEGER;
}

static int floating(struct lexer *l, u64 *value)
{
    return text_float(l->token, l->cursor, value)
               ? FLOAT : bad(l, "syntax.number.range", "this number does not fit in 64-bit floating point");
}

/* A name behind a sigil, or a string: quoted text is unescaped into the context. */
static int quoted(struct lexer *l, u64 *value, int kind)
{
    const char *fault = NULL, *at = l->token + (kind == STRING ? 0 : 1);
    atom a = text_unquote(l->ctx, at, l->cursor, &fault);
    if (fault)
        return bad(l, "syntax.string.form", fault);
    if (kind != STRING && l->ctx->names.atoms[a].length == 0)
        return bad(l, "syntax.name.empty", "a name can't be empty");
    *value = a;
    return kind;
}

static int name(struct lexer *l, u64 *value, int kind)
{
    *value = name_of(l, l->token + 1, (size_t)(l->cursor - l->token - 1));
    return kind;
}

static int open(struct lexer *l, int kind)
{
    if (l->nesting >= MAX_NESTING)
        return bad(l, "syntax.nesting", "brackets nest deeper than 256");
    l->nesting++;
    if (kind == LBRACE) {
        l->braces++;
        l->in_header = false;
    }
    if (kind == LPAREN && l->shape) {
        l->shape_nesting = (u8)l->nesting;
        l->shape = 0;
    }
    return kind;
}

static int close(struct lexer *l, int kind)
{
    if (kind == RPAREN && l->shape_nesting && l->nesting == l->shape_nesting) {
        l->shape = 2;
        l->shape_nesting = 0;
    }
    l->nesting -= l->nesting > 0;
    if (kind == RBRACE && l->braces && --l->braces == 0) {
        l->layer = LAYERS;
        l->nesting = 0;
    }
    return kind;
}

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;

    digit   = [0-9];
    letter  = [A-Za-z_];
    part    = [A-Za-z0-9_]+;
    name    = part ("." part)*;
    word    = letter [A-Za-z0-9_]* ("-" part)*;
    string  = ["] ([^"\\\n\x00] | "\\" [^\n\x00])* ["];
    blank   = [ \t\r];
*/

static int shape_token(struct lexer *l, u64 *value)
{
    const unsigned char *at = (const unsigned char *)l->cursor;
    if (l->shape == 2) {
        l->shape = 1;
        if (*at == 'x') {
            l->cursor++;
            return CROSS;
        }
        return bad(l, "syntax.type.form", "expected 'x' behind a dimension, as in `tensor<($b)x8xf16>`");
    }
    /*!re2c
    blank+ | "\n"       { l->cursor = (const char *)at; l->token = l->cursor; return shape_token(l, value); }
    digit+ / "x"        { l->cursor = (const char *)at;
                          int kind = number(l, value);
                          l->cursor++;
                          return kind == INTEGER ? DIM : kind; }
    letter [A-Za-z0-9]* { l->cursor = (const char *)at;
                          *value = name_of(l, l->token, (size_t)(l->cursor - l->token));
                          l->shape = 0;
                          return ELEMENT; }
    "("                 { l->cursor = (const char *)at; return open(l, LPAREN); }
    "-" digit*          { l->cursor = (const char *)at; l->shape = 0;
                          return bad(l, "syntax.type.form", "a dimension can't be negative"); }
    "?"                 { l->cursor = (const char *)at; l->shape = 0;
                          return bad(l, "syntax.type.form", "an unknown dimension is written as a symbol: `($s)`"); }
    digit+              { l->cursor = (const char *)at; l->shape = 0;
                          return bad(l, "syntax.type.form", "expected 'x' and an element type behind the dimension"); }
    *                   { l->shape = 0; return 0; }
    */
}

static int main_token(struct lexer *l, u64 *value)
{
    const unsigned char *at, *marker;
    const char *text_end = l->src->text + l->src->size;
again:
    while (*l->cursor == ' ')       /* most tokens stand behind one; a rule would cost more */
        l->cursor++;
    at = (const unsigned char *)l->cursor;
    l->token = l->cursor;
#define END_AT(result) do { l->cursor = (const char *)at; return (result); } while (0)
    /*!re2c
    blank+              { l->cursor = (const char *)at; goto again; }
    "\n"                { l->cursor = (const char *)at; goto again; }
    "\n" (blank* "\n")+ { l->cursor = (const char *)at; record(l, TRIVIA_BLANK, l->token + 1, l->cursor); goto again; }
    "//" [^\n\x00]*     { l->cursor = (const char *)at;
                          if (!text_valid_utf8(l->token, l->cursor))
                              return bad(l, "syntax.utf8", "this comment is not valid UTF-8");
                          record(l, TRIVIA_COMMENT, l->token, l->cursor); goto again; }
    "/*"                { END_AT(bad(l, "syntax.comment.form", "a comment starts with `//` and ends with its line")); }

    word                { l->cursor = (const char *)at; return word(l, value); }
    word ("." word)+    { l->cursor = (const char *)at; return dotted(l, value); }
    word "." [.]?       { END_AT(bad(l, "syntax.name.form", "a name can't end with a dot")); }
    "%" name            { l->cursor = (const char *)at; return name(l, value, VALUE); }
    "@" name            { l->cursor = (const char *)at; return name(l, value, SYMBOL); }
    "$" name            { l->cursor = (const char *)at; return name(l, value, DOLLAR); }
    "%" string          { l->cursor = (const char *)at; return quoted(l, value, VALUE); }
    "@" string          { l->cursor = (const char *)at; return quoted(l, value, SYMBOL); }
    "$" string          { l->cursor = (const char *)at; return quoted(l, value, DOLLAR); }
    string              { l->cursor = (const char *)at; return quoted(l, value, STRING); }
    [%@$]? ["] ([^"\\\n\x00] | "\\" [^\n\x00])* "\\"?
                        { END_AT(bad(l, "syntax.string.form", "this string is not closed on its line")); }
    [%@$]               { END_AT(bad(l, "syntax.name.form", "a name must follow: letters, digits, `_` and `.`, or \"quoted\"")); }

    "tensor<"           { l->cursor = (const char *)at; l->shape = 1; return TENSOR; }
    "xxh128:" [0-9a-f]{32}  { END_AT(DIGEST); }
    "xxh128:" [0-9A-Za-z]*  { END_AT(bad(l, "syntax.digest.form", "a digest is `xxh128:` and 32 digits of 0-9 a-f")); }

    digit [0-9_]*       { l->cursor = (const char *)at; return number(l, value); }
    digit+ "." digit+ ([eE] [+-]? digit+)? | digit+ [eE] [+-]? digit+
                        { l->cursor = (const char *)at; return floating(l, value); }
    digit+ "." digit+ ("." digit+)+ | digit [0-9_]* letter [A-Za-z0-9_]* | "." digit+ | digit+ "." digit* [eE] [+-]?
                        { END_AT(bad(l, "syntax.number.form", "this is not a number: write 12, 1_000 or 1.5e3")); }

    "->"                { END_AT(ARROW); }
    ".."                { END_AT(DOTS); }
    "("                 { l->cursor = (const char *)at; return open(l, LPAREN); }
    "["                 { l->cursor = (const char *)at; return open(l, LBRACKET); }
    "{"                 { l->cursor = (const char *)at; return open(l, LBRACE); }
    ")"                 { l->cursor = (const char *)at; return close(l, RPAREN); }
    "]"                 { l->cursor = (const char *)at; return close(l, RBRACKET); }
    "}"                 { l->cursor = (const char *)at; return close(l, RBRACE); }
    ">"                 { END_AT(RANGLE); }
    ","                 { END_AT(COMMA); }
    ":"                 { END_AT(COLON); }
    "="                 { END_AT(EQUAL); }
    "+"                 { END_AT(PLUS); }
    "-"                 { END_AT(MINUS); }
    "*"                 { END_AT(STAR); }

    "\x00"              { if (l->token >= text_end)
                              return END;
                          END_AT(bad(l, "syntax.byte", "a NUL byte can't stand here")); }
    "\xef\xbb\xbf"      { if (l->token != l->src->text)
                              END_AT(bad(l, "syntax.byte", "a byte order mark can stand only at the start of a file"));
                          l->cursor = (const char *)at; goto again; }
    [\xc2-\xf4] [\x80-\xbf]*    { END_AT(bad(l, "syntax.byte", "this character can stand only in strings, quoted names and comments")); }
    *                   { END_AT(bad(l, "syntax.byte", "this character has no meaning here")); }
    */
}

static int raw_token(struct lexer *l, u64 *value)
{
    l->last_braces = l->braces;
    l->last_nesting = l->nesting;
    l->token = l->cursor;
    int kind = l->shape ? shape_token(l, value) : 0;
    if (!kind)
        kind = l->shape ? BAD : main_token(l, value);
    if (l->cursor - l->token > LONGEST_TOKEN)
        return bad(l, "syntax.token.long", "a name, number or string is at most 16 MiB long");
    return kind;
}

/* Bison numbers the dialects' tokens, which are the statements' keywords, before those of head.y, which start with SYNC. */
static bool begins_statement(const struct lexer *l, int kind)
{
    return l->layer == LAYER_SESSION ? kind == WORD : kind > BP_UNDEF && kind < SYNC;
}

static char next_char(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return *at;
}

/* A word that no layer knows and a name behind it: another statement or item whose keyword is misspelt. */
static bool begins_unknown(const struct lexer *l, int kind, u64 word)
{
    char next = next_char(l->cursor);
    return (kind == WORD || kind == DOTTED) && word >= l->ctx->n_known && next && l->token != l->src->text + l->last_begin &&
           (l->braces ? strchr("%@$", next) != NULL : next == '@');
}

/* Whether the parse can go on at the token just read; BASE is the depth of braces at which the error was. */
static bool is_boundary(const struct lexer *l, int kind, u64 word, u32 base)
{
    bool first = text_first_on_line(l->src, (u32)(l->token - l->src->text));
    bool field = l->layer == LAYER_SESSION && kind == WORD && next_char(l->cursor) == '=';
    if (l->in_head && l->last_braces == 0 && (kind == LBRACE || kind == RBRACE || field || (first && begins_statement(l, kind))))
        return true;
    if (base && kind == RBRACE && (l->last_braces == base || l->braces == 0))
        return true;
    return first && (l->layer == LAYER_SESSION && base ? field : base ? begins_statement(l, kind) || begins_unknown(l, kind, word)
                                                               : begins_unknown(l, kind, word));
}

/*
 * Skips from the faulty token to where the parse can go on: a statement that is first on its line, an item, or the `}`
 * that closes the item; in an item's head also the `{` that opens its body. What is missing of a head or at the end of
 * an item is delivered as if it were there. Never the same place twice, so that the parse gets on.
 */
static int synchronize(struct lexer *l, struct span *at)
{
    u64 value = 0;
    u32 base = l->braces ? 1 : 0;
    bool head = l->in_head && !base;
    l->panic = false;
    l->in_header = false;
    l->shape = 0;
    l->shape_nesting = 0;
    for (;;) {
        int kind = raw_token(l, &value);
        u32 begin = (u32)(l->token - l->src->text);
        bool item = text_first_on_line(l->src, begin) && text_begins_item(l->ctx, l->src, begin);
        if (kind != END && (begin == l->synced_at || !(item || is_boundary(l, kind, value, base))))
            continue;
        l->cursor = l->token;
        l->nesting = l->braces = base;
        l->open_virtual = head && kind != LBRACE;
        l->close_virtual = (head || base) && (item || kind == END);
        l->synced_at = begin;
        *at = (struct span){ begin, begin };
        return SYNC;
    }
}

int lexer_next(struct lexer *l, u64 *value, struct span *at)
{
    if (l->panic)
        return synchronize(l, at);
    l->before_end = l->previous_end;
    l->previous_begin = l->last_begin;
    l->previous_end = l->last_end;
    if (l->open_virtual) {
        l->open_virtual = false;
        l->nesting = l->braces = 1;
        *at = (struct span){ l->synced_at, l->synced_at };
        return LBRACE;
    }
    if (l->close_virtual) {
        l->close_virtual = false;
        l->nesting = l->braces = 0;
        l->layer = LAYERS;
        *at = (struct span){ l->synced_at, l->synced_at };
        return RBRACE;
    }
    int kind = raw_token(l, value);
    l->last_begin = (u32)(l->token - l->src->text);
    l->last_end = (u32)(l->cursor - l->src->text);
    *at = (struct span){ l->last_begin, l->last_end };
    return kind;
}

void lexer_moved(struct lexer *l, struct span at)
{
    l->before_end = l->previous_end;
    l->previous_begin = l->last_begin;
    l->previous_end = l->last_end;
    l->last_braces = l->braces;
    l->last_nesting = l->nesting;
    l->last_begin = at.begin;
    l->last_end = at.end;
    l->token = l->src->text + at.begin;
    l->cursor = l->src->text + at.end;
}

void lexer_panic(struct lexer *l, bool in_head)
{
    l->panic = true;
    l->in_head = in_head;
    l->cursor = l->src->text + l->last_begin;
    l->nesting = l->last_nesting;
    if (l->last_braces && !l->braces)
        l->in_header = false;
    l->braces = l->last_braces;
}

void lexer_again(struct lexer *l)
{
    l->cursor = l->src->text + l->last_begin;
    l->nesting = l->last_nesting;
    l->braces = l->last_braces;
    l->last_begin = l->previous_begin;
    l->last_end = l->previous_end;
}

void lexer_step_back(struct lexer *l)
{
    l->last_begin = l->previous_begin;
    l->last_nesting = l->last_braces = 1;
}

bool lexer_begins_statement(const struct lexer *l, struct span at)
{
    const char *text = l->src->text + at.begin;
    atom a = intern_find(&l->ctx->names, text, at.end - at.begin);
    if (!a || l->last_braces != 1 || !text_first_on_line(l->src, at.begin))
        return false;
    if (l->layer == LAYER_SESSION)
        return next_char(l->src->text + at.end) == '=';
    return a < l->ctx->n_known && l->keyword_layers[a] & IN(l->layer) && begins_statement(l, l->keyword[a]);
}

bool lexer_is_keyword(const struct lexer *l, atom word)
{
    return word < l->ctx->n_known && l->keyword[word] > BP_UNDEF && l->keyword[word] < SYNC;
}

/* ---- Keywords ---- */

#define BODY_LAYERS (ALL_LAYERS)
#define HEADER (1u << LAYERS)

static const struct {
    const char *text;
    u16 token;
    u8 layers;
} keywords[] = {
    { "schema", KW_SCHEMA, HEADER }, { "by", KW_BY, HEADER }, { "using", KW_USING, HEADER },
    { "revision", KW_REVISION, HEADER }, { "from", KW_FROM, HEADER | BODY_LAYERS },
    { "cloned", LINEAGE, BODY_LAYERS }, { "decomposed", LINEAGE, BODY_LAYERS }, { "fused", LINEAGE, BODY_LAYERS },
    { "generated", LINEAGE, BODY_LAYERS }, { "preserved", LINEAGE, BODY_LAYERS },
    { "sharding", KW_SHARDING, IN(LAYER_DIST) }, { "partial", KW_PARTIAL, IN(LAYER_DIST) },
    { "owners", KW_OWNERS, IN(LAYER_DIST) }, { "updates", KW_UPDATES, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "implement", KW_IMPLEMENT, IN(LAYER_PORTABLE) }, { "layout", KW_LAYOUT, BODY_LAYERS | IN(LAYER_SESSION) },
    { "max", KW_MAX, BODY_LAYERS | IN(LAYER_SESSION) }, { "min", KW_MIN, BODY_LAYERS | IN(LAYER_SESSION) },
    { "floordiv", KW_FLOORDIV, BODY_LAYERS | IN(LAYER_SESSION) },
    { "ceildiv", KW_CEILDIV, BODY_LAYERS | IN(LAYER_SESSION) },
    { "symbol", KW_SYMBOL, BODY_LAYERS }, { "op", KW_OP, IN(LAYER_MODEL) },
    { "output", KW_OUTPUT, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "input", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) }, { "parameter", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "constant", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) }, { "state", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "kv_cache", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "optimizer_state", ROLE, IN(LAYER_MODEL) | IN(LAYER_DIST) },
    { "mesh", KW_MESH, TASK_LAYERS }, { "order", KW_ORDER, TASK_LAYERS },
    { "origin", KW_ORIGIN, IN(LAYER_DIST) },
    { "attention", KW_ATTENTION, IN(LAYER_DIST) | IN(LAYER_PORTABLE) },
    { "scale", KW_SCALE, IN(LAYER_DIST) }, { "memory", KW_MEMORY, IN(LAYER_DIST) | IN(LAYER_CONCRETE) },
    { "task", KW_TASK, IN(LAYER_DIST) | IN(LAYER_PORTABLE) },
    { "buffer", KW_BUFFER, IN(LAYER_PORTABLE) }, { "objective", KW_OBJECTIVE, IN(LAYER_PORTABLE) },
    { "library", KW_LIBRARY, IN(LAYER_CONCRETE) }, { "device", KW_DEVICE, IN(LAYER_CONCRETE) },
    { "queue", KW_QUEUE, IN(LAYER_CONCRETE) }, { "bind", KW_BIND, IN(LAYER_CONCRETE) },
    { "command", KW_COMMAND, IN(LAYER_CONCRETE) }, { "issue", KW_ISSUE, IN(LAYER_CONCRETE) },
    { "route", KW_ROUTE, IN(LAYER_CONCRETE) },
};

void lexer_keywords(struct context *ctx, const u16 **keyword, const u8 **layers)
{
    u32 top = 0;
    for (u32 i = 0; i < COUNT(keywords); i++) {
        atom a = intern_string(&ctx->names, keywords[i].text);
        top = a > top ? a : top;
    }
    if (top >= ctx->n_known)
        ctx->n_known = top + 1;
    u16 *k = ARENA_ARRAY(&ctx->arena, u16, ctx->n_known);
    u8 *y = ARENA_ARRAY(&ctx->arena, u8, ctx->n_known);
    for (u32 i = 0; i < COUNT(keywords); i++) {
        atom a = intern_string(&ctx->names, keywords[i].text);
        k[a] = keywords[i].token;
        y[a] = keywords[i].layers;
    }
    *keyword = k;
    *layers = y;
}

void lexer_init(struct lexer *l, struct context *ctx, const struct source *src, struct module *module,
                const u16 *keyword, const u8 *layers)
{
    *l = (struct lexer){ .ctx = ctx, .src = src, .module = module, .cursor = src->text, .token = src->text,
                         .keyword = keyword, .keyword_layers = layers, .layer = LAYERS, .synced_at = UINT32_MAX };
}
