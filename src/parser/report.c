#define _GNU_SOURCE
/* Syntax errors in words: what was found, what could stand there, and the nearest spelling. */
#include "parser/build.h"

#include "ir/verify.h"
#include "lexer/text.h"

#include <stdlib.h>

/* What could stand there, in the words of a message. */
struct expected {
    const char *names[32];
    size_t n;
    bool item, value, operand, statement, clause, word, operation;     /* kinds of things, each made of many tokens */
};

/* "'schema'" -> "schema"; other names are descriptions. */
static const char *quoted_text(struct parser *p, const char *name)
{
    size_t n = strlen(name);
    return n > 2 && name[0] == '\'' ? arena_copy(&p->ctx->diags->arena, name + 1, n - 2) : NULL;
}

static bool is_keyword(const char *text)
{
    return text && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, COUNT(names))

static bool has(const char *const *names, int n, const char *name)
{
    return is_one_of(name, names, (size_t)n);
}

/* The grammar is one for all layers: keywords of the others can't stand here. */
static bool belongs_here(const struct parser *p, const char *keyword)
{
    atom a = intern_find(&p->ctx->names, keyword, strlen(keyword));
    u32 scope = !p->item ? 0 : !p->item->body ? 1u << LAYERS : IN(p->item->kind->layer);
    return a && a < p->n_known && p->keyword_layers[a] & scope;
}

static void classify(struct parser *p, struct expected *e, const char *const *names, int n)
{
    bool session = p->item && p->item->kind->layer == LAYER_SESSION;
    e->item = has(names, n, "a layer, as `model.program`");
    e->word = has(names, n, "a word");
    e->value = has(names, n, "a string") && has(names, n, "a number");
    e->operation = !e->value && e->word && has(names, n, "a dotted name");
    e->operand = !e->value && has(names, n, "a number") && has(names, n, "a $symbol");
    e->statement = !session && has(names, n, "'task'") && has(names, n, "'op'") && has(names, n, "'}'");
    e->clause = e->word && has(names, n, "'from'") && has(names, n, "'}'");
}

/* Tokens that are part of a kind of thing, or that could always follow. */
static bool is_covered(const struct parser *p, const struct expected *e, const char *name, const char *keyword)
{
    static const char *const values[] = {
        "a dotted name", "a number", "a decimal number", "a string", "a @symbol", "a %value", "a $symbol",
        "a type, as `tensor<4x8xf16>`", "'('", "'['", "'{'", "'-'", "a word",
    };
    static const char *const operators[] = { "'+'", "'-'", "'*'", "'floordiv'", "'ceildiv'" };
    static const char *const operands[] = { "a number", "a decimal number", "a $symbol", "'('", "'max'", "'min'" };
    static const char *const kinds[] = { "a lineage, as `generated`", "a role, as `input`" };
    static const char *const clauses[] = { "a word", "'from'", "'implement'", "'sharding'", "'partial'", "'owners'", "'updates'" };
    static const char *const operations[] = { "a word", "a dotted name" };
    static const char *const never[] = { "the next statement", "an invalid token", "a repeated statement" };
    if (IS_ONE_OF(name, never) || (e->value && IS_ONE_OF(name, values)) || (e->clause && IS_ONE_OF(name, clauses)))
        return true;
    if (e->operation && IS_ONE_OF(name, operations))
        return true;
    if (IS_ONE_OF(name, operators) || (e->operand && IS_ONE_OF(name, operands)))
        return true;
    if ((e->word || e->statement) && (is_keyword(keyword) || IS_ONE_OF(name, kinds)))
        return true;
    return is_keyword(keyword) && !belongs_here(p, keyword);
}

static void add(struct expected *e, const char *name)
{
    if (e->n < COUNT(e->names))
        e->names[e->n++] = name;
}

static int rank_of(const char *name)
{
    static const char *const closers[] = { "')'", "']'", "'}'", "'>'", "'{'" };
    return IS_ONE_OF(name, closers) ? 2 : !strcmp(name, "','");
}

/* Descriptions first, then the comma, then what closes. */
static void collect(struct parser *p, struct expected *e, const char *const *names, int n)
{
    classify(p, e, names, n);
    if (e->item)
        add(e, "an item, as `model.program @name`");
    if (e->value)
        add(e, "a value");
    if (e->operand)
        add(e, "an expression");
    if (e->operation)
        add(e, "an operation");
    if (e->clause)
        add(e, p->item->kind->layer == LAYER_SESSION ? "a field, as `name = value`" : "a clause");
    if (e->statement)
        add(e, "a statement");
    for (int rank = 0; rank < 3 && !e->item; rank++)
        for (int i = 0; i < n; i++)
            if (rank_of(names[i]) == rank && !is_covered(p, e, names[i], quoted_text(p, names[i])))
                add(e, names[i]);
}

static const char *nearest_keyword(struct parser *p, const char *found, const char *const *expected, int n)
{
    static const char *const roles[] = { "input", "parameter", "constant", "state", "kv_cache", "optimizer_state" };
    const char *names[128];
    size_t k = 0;
    for (int i = 0; i < n && k < COUNT(names) - COUNT(roles); i++) {
        const char *keyword = quoted_text(p, expected[i]);
        if (is_keyword(keyword) && belongs_here(p, keyword))
            names[k++] = keyword;
        for (size_t r = 0; !strncmp(expected[i], "a role", 6) && r < COUNT(roles); r++)
            if (belongs_here(p, roles[r]))
                names[k++] = roles[r];
    }
    for (const struct dialect *const *d = p->ctx->dialects; !p->item && *d; d++)
        for (u32 i = 0; i < (*d)->n_kinds && k < COUNT(names); i++)
            names[k++] = (*d)->kinds[i].name;
    return nearest_name(found, names, k);
}

static bool new_line_between(const struct parser *p, u32 from, u32 to)
{
    return from < to && memchr(p->src->text + from, '\n', to - from);
}

/* "a, b or c" */
static const char *list_text(struct parser *p, const struct expected *e)
{
    struct out o;
    out_memory(&o);
    for (size_t i = 0; i < e->n; i++) {
        out_string(&o, i == 0 ? "" : i + 1 == e->n ? " or " : ", ");
        out_string(&o, e->names[i]);
    }
    const char *text = arena_copy(&p->ctx->diags->arena, o.data ? o.data : "", o.n);
    out_free(&o);
    return text;
}

static void note_unclosed(struct parser *p)
{
    const struct item *it = p->item;
    diag_note(p->ctx->diags, (struct loc){ p->src, it->begin, it->begin + (u32)strlen(it->kind->name) },
              "the %s that begins here is not closed", it->kind->name);
}

/* What stands behind an item belongs into it, or closes it once more: a `}` is too much. */
static void note_stray(struct parser *p, struct span at)
{
    const struct module *m = p->module;
    struct item *last = m->n ? m->items[m->n - 1] : NULL;
    atom word = intern_find(&p->ctx->names, p->src->text + at.begin, at.end - at.begin);
    if (p->item || !last || !last->end)
        return;
    if (p->src->text[at.begin] == '}') {
        diag_fix(p->ctx->diags, (struct loc){ p->src, at.begin, at.end }, "%s", "");
        return;
    }
    bool session = last->kind->layer == LAYER_SESSION;
    if (!word || word >= p->n_known || (session ? p->map->fields[0].field_of[word] : p->map->entity_of[word]) == NO_FIELD)
        return;
    last->damaged = true;
    struct loc brace = { p->src, last->end - 1, last->end };
    diag_note(p->ctx->diags, brace, "%s ends here; this `}` may be too much", symbol_text(last, last->name));
    diag_fix(p->ctx->diags, brace, "%s", "");
}

/* The one thing that can stand behind what was read is a bracket that closes, or an item's brace. */
static void fix_unclosed(struct parser *p, const struct expected *e, bool ends)
{
    u32 end = p->lexer.previous_end;
    const char *only = e->n == 1 ? quoted_text(p, e->names[0]) : NULL;
    if (ends && p->item && p->item->body && p->lexer.nesting == 1)
        build_fix(p, (struct span){ end, end }, "\n}");
    else if (only && strchr(")]}>", *only))
        build_fix(p, (struct span){ end, end }, only);
}

/* A comma behind the last of a list. */
static void fix_comma(struct parser *p, struct span at)
{
    u32 end = p->lexer.previous_end;
    if (at.begin < p->src->size && strchr(")]}", p->src->text[at.begin]) && end && p->src->text[end - 1] == ',') {
        diag_note(p->ctx->diags, (struct loc){ 0 }, "no comma stands behind the last of a list");
        build_fix(p, (struct span){ end - 1, end }, "");
    }
}

/* `schema 1` */
static void fix_whole(struct parser *p, struct span at, const char *word, const char *const *names, int n)
{
    if (has(names, n, "a decimal number") && !has(names, n, "a number") && strspn(word, "0123456789") == strlen(word))
        build_fix(p, at, arena_format(&p->ctx->diags->arena, "%s.0", word));
}

/* Results behind the clauses, or in front of the operation. */
static void note_results(struct parser *p, const struct expected *e, const char *word)
{
    struct diags *d = p->ctx->diags;
    if (!e->statement || !e->clause)
        return;
    if (!strcmp(word, "->"))
        diag_note(d, (struct loc){ 0 }, "results stand behind the operands, before all clauses");
    else if (*word == '%')
        diag_note(d, (struct loc){ 0 }, "a statement begins with its keyword; results stand behind the operands, as `(%%x) -> %%y : tensor<4x8xf16>`");
}

/* `task @a local work (operations 4)`: where the operation is missing, the first clause is taken for one. */
static void note_operation(struct parser *p)
{
    const struct tagged *end = p->n < 4 ? NULL : &p->stream[p->n - 1];        /* name, body, operation */
    if (!p->stmt || !end || end->tag != TAG_END || end[-1].tag != TAG_WORD)
        return;
    const struct interned *word = &p->ctx->names.atoms[end[-1].value];
    if (is_clause(stmt_entity(p->item, p->stmt), word->text, word->length))
        build_note(p, "`%s` is a clause: an operation or `()` is missing before it", build_text(p, end[-1].at));
}

static void report_unexpected(struct parser *p, struct span at, const char *const *names, int n)
{
    struct expected e = { 0 };
    bool at_end = at.begin >= p->src->size, item = text_begins_item(p->ctx, p->src, at.begin);
    const char *word = build_text(p, at), *near = at_end ? NULL : nearest_keyword(p, word, names, n);
    const char *found = at_end ? "the end of the file" : arena_format(&p->ctx->diags->arena, "`%s`", word);
    collect(p, &e, names, n);
    if (e.statement && !e.clause && !item && is_keyword(word) && text_first_on_line(p->src, at.begin)) {
        build_unknown_statement(p, at);
        return;
    }
    const char *list = list_text(p, &e);
    u32 end = p->lexer.previous_end;
    struct span shown = at;
    if (new_line_between(p, end, at.begin) && !(e.statement && !item) && !at_end && p->item)
        shown = (struct span){ end, end };      /* something is missing at the line's end */
    build_error(p, shown, "syntax.expected", "expected %s, found %s", e.n ? list : "something else", found);
    note_results(p, &e, word);
    note_operation(p);
    fix_comma(p, at);
    fix_whole(p, at, word, names, n);
    if (!near)
        fix_unclosed(p, &e, at_end || item);
    if (p->item && (at_end || item))
        note_unclosed(p);
    else if (!p->item)
        note_stray(p, at);
    if (near && !(p->item && (at_end || item)))
        build_near(p, at, near);
}

/* ---- Mends of what the lexer refused ---- */

/* Digits with too many `_`, hexadecimal, or a point without a digit before it. */
static void fix_number(struct parser *p, struct span at)
{
    char text[64];
    size_t n = 0;
    const char *from = p->src->text + at.begin, *to = p->src->text + at.end;
    bool behind = at.begin && strchr("0123456789_.", from[-1]);      /* the token before is a part of it */
    bool hex = to - from > 2 && to - from <= 18 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X');
    if (behind || (size_t)(to - from) >= sizeof text - 1)
        return;
    if (hex && strspn(from + 2, "0123456789abcdefABCDEF") == (size_t)(to - from - 2)) {
        build_fix(p, at, arena_format(&p->ctx->diags->arena, "%llu", strtoull(from, NULL, 16)));
        return;
    }
    if (*from == '.')
        text[n++] = '0';
    for (const char *c = from; c < to; c++)
        if (*c != '_' && !(*c >= '0' && *c <= '9') && !(*c == '.' && c == from && to - from > 1))
            return;
        else if (*c != '_' || (c > from && c + 1 < to && c[1] != '_'))
            text[n++] = *c;
    text[n] = '\0';
    if (n)
        build_fix(p, at, arena_copy(&p->ctx->diags->arena, text, n));
}

/* Thirty-two digits in capitals. */
static void fix_digest(struct parser *p, struct span at)
{
    enum { PREFIX = 7 };
    struct digest d;
    char *text = arena_copy(&p->ctx->diags->arena, p->src->text + at.begin, at.end - at.begin);
    for (char *c = text; *c; c++)
        if (*c >= 'A' && *c <= 'F')
            *c = (char)(*c + 32);
    if (at.end - at.begin == PREFIX + DIGEST_HEX && digest_parse(text + PREFIX, DIGEST_HEX, &d))
        build_fix(p, at, text);
}

/* A comment between slashes and stars that ends with its line. */
static void fix_comment(struct parser *p, struct span at)
{
    u32 line_end = source_line_end(p->src, at.begin), end = line_end;
    while (end > at.begin && strchr(" \t\r", p->src->text[end - 1]))
        end--;
    if (end < at.begin + 4 || memcmp(p->src->text + end - 2, "*/", 2) || memmem(p->src->text + at.begin, end - 2 - at.begin, "*/", 2))
        return;
    u32 close = end - 2;
    while (close > at.begin + 2 && p->src->text[close - 1] == ' ')
        close--;
    build_fix(p, (struct span){ at.begin, at.begin + 2 }, "//");
    build_fix(p, (struct span){ close, end }, "");
}

/* Marks of other languages: `;` behind a statement, `#` before a comment. */
static void fix_byte(struct parser *p, struct span at)
{
    char mark = p->src->text[at.begin];
    if (mark == ';')
        build_fix(p, at, "");
    else if (mark == '#')
        build_fix(p, at, "//");
}

static void fix_token(struct parser *p, struct span at)
{
    const char *code = p->lexer.fault_code;
    if (!strcmp(code, "syntax.number.form"))
        fix_number(p, at);
    else if (!strcmp(code, "syntax.digest.form"))
        fix_digest(p, at);
    else if (!strcmp(code, "syntax.comment.form"))
        fix_comment(p, at);
    else if (!strcmp(code, "syntax.byte"))
        fix_byte(p, at);
}

/* ---- The error ---- */

/* What a head field begins with. */
static bool fits(const struct field *f, char first)
{
    switch (f->kind) {
    case FIELD_SYMBOL_NAME:
    case FIELD_REF: return first == '@';
    case FIELD_VALUE_NAME:
    case FIELD_VALUE_REF: return first == '%';
    case FIELD_DOLLAR_NAME: return first == '$';
    case FIELD_FACTS: return first == '(';
    default: return first >= 'a' && first <= 'z';
    }
}

/*
 * The token before the faulty one begins a statement, which goes on as it should: so it was taken for the last word
 * of the statement above it.
 */
static bool is_unfinished(const struct parser *p, struct span at)
{
    struct span before = { p->lexer.previous_begin, p->lexer.previous_end };
    char first = p->src->text[at.begin];
    if (!p->item || !p->item->body || !lexer_begins_statement(&p->lexer, before))
        return false;
    if (p->item->kind->layer == LAYER_SESSION)
        return first == '=';
    atom word = intern_find(&p->ctx->names, p->src->text + before.begin, before.end - before.begin);
    u8 e = p->map->entity_of[word];
    if (e == NO_FIELD)
        return false;
    const struct entity *entity = &p->item->kind->entities[e];
    const struct field *f = entity->fields + (entity->flags & ENTITY_ROLE_KEYWORD ? 1 : 0);
    return fits(f, first) || (f->presence == OPTIONAL && fits(f + 1, first));
}

void report_syntax_error(struct parser *p, struct span at, bool invalid, const char **expected, int n)
{
    bool unfinished = !invalid && is_unfinished(p, at);
    p->n -= unfinished && p->n;     /* the keyword was no word of the head */
    build_head_words(p);
    bool behind = p->refused && p->refused == p->lexer.previous_end && !new_line_between(p, p->refused, at.begin);
    bool follows = behind || (p->in_refused && !text_begins_item(p->ctx, p->src, at.begin));
    if (invalid) {
        build_error(p, at, p->lexer.fault_code, "%s", p->lexer.fault);
        fix_token(p, at);
    } else if (unfinished && !p->in_refused && p->refused != p->lexer.previous_end)
        build_unfinished(p, p->lexer.before_end, (struct span){ p->lexer.previous_begin, p->lexer.previous_end });
    else if (!unfinished && !follows)
        report_unexpected(p, at, expected, n);
    if (unfinished)
        lexer_step_back(&p->lexer);
    lexer_panic(&p->lexer, p->item && !p->item->body);
}
