/*
 * Plain statements, read without the grammar: a program of a million tasks is nearly all of them. What is plain is a
 * small regular part of what the grammar takes,
 *
 *     task @name word [word] ( [%value, ...] )          and, behind a blank or on a continuation line, any number of
 *     word value                                        where a value is a word, a number, a @name, facts
 *                                                       `(word number, ...)` or axes `{word, ...}`,
 *
 * laid out as the printer does it and followed by another statement or the item's end. Anything else is left to the
 * grammar, with nothing done; so is every syntax error. The actions are the grammar's own.
 */
#include "parser/build.h"

#include "grammar.h"

enum { LONGEST_NAME = 4096, MOST_DIGITS = 18 };

struct reader {
    struct parser *p;
    const char *text, *end;     /* of the source */
    const char *at;
};

static inline void put(struct reader *r, enum tag tag, u64 value, const char *from, const char *to)
{
    struct plain *plain = &r->p->plain;
    struct span at = { (u32)(from - r->text), (u32)(to - r->text) };
    *VEC_PUSH(plain->values, plain->n, plain->cap) = (struct tagged){ value, at, (u8)tag };
}

static void put_end(struct reader *r)
{
    put(r, TAG_END, 0, r->at, r->at);
}

static inline bool starts(const char *at, const char *with)
{
    while (*with && *at == *with)
        at++, with++;
    return !*with;
}

static inline bool skip(struct reader *r, const char *text)
{
    if (!starts(r->at, text))
        return false;
    r->at += strlen(text);
    return true;
}

static inline bool punctuation(struct reader *r, enum tag tag, char c)
{
    if (*r->at != c)
        return false;
    put(r, tag, tag == TAG_COMMA ? 0 : (u64)c, r->at, r->at + 1);
    r->at++;
    return true;
}

/* ---- Words and names ---- */

/* Moves over a run that has FORM. */
static bool run(struct reader *r, u32 form, u32 *found)
{
    const char *from = r->at;
    r->at = form_scan(from, r->end, found);
    return *found & form && r->at - from <= LONGEST_NAME;
}

static bool name(struct reader *r, enum tag tag, char sigil)
{
    const char *from = r->at;
    u32 found;
    if (*r->at++ != sigil || !run(r, FORM_NAME, &found))
        return false;
    put(r, tag, lexer_name(&r->p->lexer, from + 1, (size_t)(r->at - from - 1)), from, r->at);
    return true;
}

/* The statement's own name: a new one, mostly. */
static bool own_name(struct reader *r)
{
    const char *from = r->at;
    u32 found;
    if (*r->at++ != '@' || !run(r, FORM_NAME, &found))
        return false;
    r->p->plain.name = intern_ahead(&r->p->ctx->names, from + 1, (size_t)(r->at - from - 1), found);
    put(r, TAG_SYMBOL, 0, from, r->at);
    return true;
}

static int keyword_of(const struct reader *r, atom word)
{
    const struct lexer *l = &r->p->lexer;
    return word < r->p->n_known && l->keyword_layers[word] & IN(l->layer) ? l->keyword[word] : 0;
}

/* A word that is no keyword, or the one that is allowed. */
static bool word(struct reader *r, bool dots, int allowed)
{
    const char *from = r->at;
    u32 found;
    if (!run(r, FORM_WORD, &found) || (found & FORM_DOTTED && !dots))
        return false;
    atom a = lexer_word(&r->p->lexer, from, (size_t)(r->at - from));
    int keyword = keyword_of(r, a);
    put(r, TAG_WORD, a, from, r->at);
    return !keyword || keyword == allowed;
}

/* ---- Values ---- */

static bool number(struct reader *r)
{
    const char *from = r->at;
    u64 value = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        value = value * 10 + (u64)(*r->at - '0');
    if (r->at == from || r->at - from > MOST_DIGITS)
        return false;
    put(r, TAG_QUANTITY, qty_number(r->p->ctx->exprs, value), from, r->at);
    return true;
}

/* Commas are put where the grammar's actions put them: behind each fact, but between axes. */
static bool facts(struct reader *r)
{
    punctuation(r, TAG_OPEN, '(');
    do {
        if (!word(r, false, 0) || !skip(r, " ") || !number(r))
            return false;
        put(r, TAG_COMMA, 0, r->at, r->at);
    } while (skip(r, ", "));
    return punctuation(r, TAG_CLOSE, ')');
}

static bool axes(struct reader *r)
{
    punctuation(r, TAG_OPEN, '{');
    while (word(r, false, 0))
        if (!punctuation(r, TAG_COMMA, ',') || !skip(r, " "))
            return punctuation(r, TAG_CLOSE, '}');
    return false;
}

static bool value(struct reader *r)
{
    char c = *r->at;
    return c == '(' ? facts(r) : c == '{' ? axes(r) : c == '@' ? name(r, TAG_SYMBOL, '@')
           : c >= '0' && c <= '9' ? number(r) : word(r, true, 0);
}

/* Operands are pushed without their commas. */
static bool operands(struct reader *r)
{
    if (!punctuation(r, TAG_OPEN, '('))
        return false;
    while (*r->at != ')')
        if (!name(r, TAG_VALUE, '%') || (*r->at != ')' && (!skip(r, ", ") || *r->at == ')')))
            return false;
    return punctuation(r, TAG_CLOSE, ')');
}

static bool head(struct reader *r)
{
    if (!own_name(r) || !skip(r, " ") || !word(r, false, 0))
        return false;
    if (*r->at != ' ')
        put(r, TAG_NONE, 0, r->at, r->at);
    else if (!skip(r, " ") || !word(r, true, 0))
        return false;
    return operands(r);
}

static bool clause(struct reader *r, const struct field_map *fields)
{
    u32 first = r->p->plain.n;
    if (!word(r, false, KW_FROM) || !skip(r, " "))
        return false;
    atom a = (atom)r->p->plain.values[first].value;
    bool known = a < r->p->n_known && fields->field_of[a] != NO_FIELD;
    if (!known || !(keyword_of(r, a) ? name(r, TAG_SYMBOL, '@') : value(r)))
        return false;
    put_end(r);
    return *r->at == ' ' || *r->at == '\n';
}

/* Whether the line at AT begins what ends a statement for sure: another one that can't be taken for a clause. */
static bool ends(const char *at)
{
    return *at == '\n' && (starts(at, "\n  task @") || starts(at, "\n  output %") || starts(at, "\n}"));
}

static const char begin[] = "\n  task ";
enum { BEFORE_KEYWORD = 3 };

static bool read_statement(struct parser *p)
{
    struct reader r = { p, p->src->text, p->src->text + p->src->size, p->src->text + p->plain.end };
    u8 entity = p->map->entity_of[p->task];
    p->plain.n = 0;
    if (entity == NO_FIELD || !skip(&r, begin) || !head(&r))
        return false;
    put_end(&r);
    while (!ends(r.at))
        if (!skip(&r, *r.at == ' ' ? " " : "\n    ") || !clause(&r, &p->map->fields[entity]))
            return false;
    p->plain.values[0].value = intern_now(&p->ctx->names, &p->plain.name, p->src->is_file);
    p->plain.end = (u32)(r.at - p->src->text);
    return true;
}

bool plain_begins(struct parser *p, struct span *at)
{
    struct lexer *l = &p->lexer;
    if (*l->cursor != '\n' || p->pushed != l->last_end || !p->item || !p->item->body || l->panic || l->open_virtual || l->close_virtual ||
        l->braces != 1 || l->nesting != 1)
        return false;
    p->plain.end = (u32)(l->cursor - p->src->text);
    *at = (struct span){ p->plain.end + BEFORE_KEYWORD, p->plain.end + (u32)strlen(begin) - 1 };
    if (!read_statement(p))
        return false;
    lexer_moved(l, *at);
    return true;
}

static void build(struct parser *p, struct span at)
{
    const struct tagged *v = p->plain.values, *end = v + p->plain.n;
    build_stmt(p, p->task, at);
    build_head(p, v);
    while (v->tag != TAG_END)
        v++;
    for (v++; v < end; v++) {
        const struct tagged *word = v++, *values = v;
        while (v->tag != TAG_END)
            v++;
        build_clause(p, word->value, word->at);
        build_clause_value(p, values, v->at.end);
    }
    build_stmt_end(p, at);
}

/* The lexer stands behind the statement, as if it had read its last two tokens. */
static void leave(struct parser *p)
{
    const struct tagged *v = p->plain.values + p->plain.n, *last, *before;
    do
        last = --v;
    while (last->tag == TAG_END || last->at.begin == last->at.end);
    do
        before = --v;
    while (before->tag == TAG_END || before->at.begin == before->at.end);
    lexer_moved(&p->lexer, before->at);
    lexer_moved(&p->lexer, last->at);
}

void plain_build(struct parser *p, struct span at)
{
    do {
        build(p, at);
        leave(p);
        at.begin = p->plain.end + BEFORE_KEYWORD;
        at.end = p->plain.end + (u32)strlen(begin) - 1;
    } while (read_statement(p));
    p->pushed = NO_PLACE;       /* what follows was looked at, and is not plain */
}
