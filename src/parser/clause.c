#define _GNU_SOURCE
/* The grammar's actions for clauses, types and expressions. */
#include "parser/build.h"

#include "lexer/text.h"
#include "support/quantity.h"

const struct operation *build_operation(const struct parser *p)
{
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_OPERATION)
            return context_operation(p->ctx, (atom)field_get(p->stmt, f));
    return NULL;
}

/* A statement of another layer, or a misspelt one: a word at a line's beginning, and a name behind it. */
static bool is_statement(const struct parser *p, struct span at)
{
    const char *next = p->src->text + at.end;
    while (*next == ' ' || *next == '\t')
        next++;
    return *next && strchr("%@$", *next) && text_first_on_line(p->src, at.begin) &&
           (lexer_is_keyword(&p->lexer, p->clause_name) || build_near_statement(p, at));
}

/* Only blanks stand between the word and a value that was refused: it belongs to that mistake. */
static bool follows_refused(const struct parser *p, struct span at)
{
    u32 from = p->refused;
    while (from && from < at.begin && (p->src->text[from] == ' ' || p->src->text[from] == '\t'))
        from++;
    return from == at.begin;
}

/* False where the word begins a statement of its own, which is not known. */
static bool unknown_clause(struct parser *p, const struct entity *e, const struct operation *op, struct span at)
{
    const char *names[96];
    size_t n = 0;
    bool session = p->item->kind->layer == LAYER_SESSION;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        if (f->place != PLACE_HEAD || session)
            names[n++] = f->name;
    for (const struct field *f = op ? op->attributes : NULL; f && f->kind != FIELD_END; f++)
        names[n++] = f->name;
    const char *word = build_text(p, at), *near = nearest_name(word, names, n);
    if (follows_refused(p, at))
        return true;
    if (!session && !near && !p->result && is_statement(p, at))
        return false;
    const char *owner = session ? p->item->kind->name : e->keyword[0] ? e->keyword : p->result ? "result" : build_text(p, p->stmt_at);
    build_error(p, at, "syntax.clause.unknown", "`%s` has no %s `%s`", owner, session ? "field" : "clause", word);
    if (near)
        build_near(p, at, near);
    else
        build_note(p, "`bp-opt --show-ops` lists what it has");
    return true;
}

static struct stmt *target(const struct parser *p)
{
    return p->result ? p->result : p->stmt;
}

/* The head is complete when the first clause begins. */
void build_clause(struct parser *p, u64 name, struct span at)
{
    if (!p->result && !p->head_done)
        build_stmt_head(p);
    p->clause = p->attribute = NULL;
    p->clause_name = (atom)name;
    p->clause_at = at;
    p->clause_mark = p->n;
    p->in_refused = p->doubled = false;
    struct stmt *s = target(p);
    if (!s && is_statement(p, at))
        build_unknown_statement(p, at);
    if (!s)
        return;
    const struct entity *e = stmt_entity(p->item, s);
    p->partial = intern_is(&p->ctx->names, (atom)name, "partial");
    atom word = p->partial ? intern_string(&p->ctx->names, "sharding") : (atom)name;
    u8 index = word < p->n_known ? p->map->fields[s->entity].field_of[word] : NO_FIELD;
    if (index != NO_FIELD) {
        p->clause = &e->fields[index];
        bool repeats = p->clause->kind == FIELD_IMPLEMENT || p->partial || (p->clause->kind == FIELD_SHARDING && p->has_sharding && !p->sharding.rank);
        if (s->written >> index & 1 && !repeats) {
            build_error(p, at, "syntax.clause.doubled", "`%s` is written twice", build_text(p, at));
            p->clause = NULL;
            p->in_refused = p->doubled = true;
        }
        s->written |= 1u << index;
        return;
    }
    const struct operation *op = p->result ? NULL : build_operation(p);
    if (op && op->attributes)
        p->attribute = field_find(op->attributes, p->ctx->names.atoms[name].text, p->ctx->names.atoms[name].length);
    p->in_refused = !p->attribute;
    if (!p->attribute && !unknown_clause(p, e, op, at)) {
        build_stmt_end(p, at);
        build_unknown_statement(p, at);
    }
}

static void add_attribute(struct parser *p, u32 handle)
{
    for (u32 i = 0; i < p->n_attributes; i += 2)
        if (p->attributes[i] == p->clause_name) {
            build_error(p, p->clause_at, "syntax.clause.doubled", "`%s` is written twice", build_text(p, p->clause_at));
            return;
        }
    if (p->n_attributes + 2 > COUNT(p->attributes))
        return;
    p->attributes[p->n_attributes++] = p->clause_name;
    p->attributes[p->n_attributes++] = handle;
}

static bool decode_clause(struct parser *p, const struct tagged **v)
{
    if (!p->attribute)
        return p->clause && decode_field(p, target(p), p->clause, v);
    u32 handle = decode_attribute(p, p->attribute, v);
    if (handle)
        add_attribute(p, handle);
    return handle != 0;
}

/* The clause has no value, and the statement behind it was taken for one. */
static bool value_missing(struct parser *p)
{
    const struct tagged *v = &p->stream[p->clause_mark];
    if (p->n != p->clause_mark + 1 || v->tag != TAG_WORD || v->at.begin != p->lexer.last_begin || !lexer_begins_statement(&p->lexer, v->at))
        return false;
    const struct field *f = p->attribute ? p->attribute : p->clause;
    return f && f->kind != FIELD_WORD && f->kind != FIELD_OPERATION && (f->kind != FIELD_ENUM || !enum_has(p, f->aux, v->value));
}

static void refuse_extra(struct parser *p, const struct tagged *extra, struct span last)
{
    u32 from = extra->at.begin;
    while (from > p->clause_at.end && (p->src->text[from - 1] == ' ' || p->src->text[from - 1] == '\t'))
        from--;
    build_error(p, extra->at, "syntax.value.extra", "`%s` takes one value; `%s` is too much", build_text(p, p->clause_at),
                build_text(p, extra->at));
    build_fix(p, (struct span){ from, last.end }, "");
}

/* A clause that stands twice alike: nothing is lost with the second. */
static void fix_doubled(struct parser *p, u32 end)
{
    const char *text = p->src->text, *first = text + (p->item->kind->layer == LAYER_SESSION ? p->item->body : p->stmt_at.begin);
    u32 from = p->clause_at.begin;
    size_t n = end - from;
    const char *twin = memmem(first, (size_t)(text + from - first), text + from, n);
    if (!twin || !strchr(" \t\n{", twin[-1]) || !strchr(" \t\r\n", twin[n]))
        return;
    bool alone = text_first_on_line(p->src, from) && source_line_end(p->src, end) == end;
    while (from && strchr(alone ? " \t" : " \t\n", text[from - 1]))
        from--;
    build_fix(p, (struct span){ from, end + alone }, "");
}

void build_clause_end(struct parser *p, struct span at)
{
    struct span end = p->n > p->clause_mark ? p->stream[p->n - 1].at : p->clause_at;
    p->in_refused = false;
    if (p->doubled)
        fix_doubled(p, end.end);
    p->doubled = false;
    if (value_missing(p)) {
        build_error(p, (struct span){ p->clause_at.begin, p->clause_at.end }, "syntax.value.missing", "`%s` has no value",
                    build_text(p, p->clause_at));
        lexer_again(&p->lexer);
        p->n = p->clause_mark;
        return;
    }
    build_push(p, TAG_END, 0, (struct span){ end.end, end.end });
    const struct tagged *v = &p->stream[p->clause_mark];
    bool ok = decode_clause(p, &v);
    if (!ok)
        p->refused = end.end;
    else if (ok && v->tag != TAG_END)
        refuse_extra(p, v, end);
    p->n = p->clause_mark;
    (void)at;
}

/* ---- Types ---- */

void build_type_begin(struct parser *p)
{
    p->n_dims = p->n_layout = 0;
}

void build_dim(struct parser *p, u64 size, struct span at)
{
    at.end -= p->src->text[at.end - 1] == 'x';
    if (qty_is_below(p->ctx->exprs, size, 1))
        build_error(p, at, "type.dimension", "a dimension is at least 1, found %s", build_text(p, at));
    if (p->n_dims == MAX_RANK)
        build_error(p, at, "type.rank", "a tensor has at most %d dimensions", MAX_RANK);
    if (p->n_dims <= MAX_RANK)
        p->dims[p->n_dims < MAX_RANK ? p->n_dims : MAX_RANK - 1] = size;
    p->n_dims++;
}

void build_layout(struct parser *p, u64 dimension, struct span at)
{
    u128 n;
    bool good = qty_value(p->ctx->exprs, dimension, &n) && n < p->n_dims && p->n_layout < MAX_RANK;
    for (u32 i = 0; good && i < p->n_layout; i++)
        good = p->layout[i] != n;
    if (!good)
        build_error(p, at, "type.layout", "a layout is a permutation of 0..%u, and %s does not belong there",
                    p->n_dims ? p->n_dims - 1 : 0, build_text(p, at));
    else
        p->layout[p->n_layout] = (u8)n;
    if (p->n_layout < MAX_RANK)
        p->n_layout++;
}

void build_type(struct parser *p, u64 element, struct span element_at, struct span at)
{
    static const char *const known[] = { "f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i64", "i32", "i8", "i4", "i1", "ui8" };
    const struct interned *text = &p->ctx->names.atoms[element];
    struct type t = { .element = (u8)element_find(text->text, text->length), .rank = (u8)(p->n_dims > MAX_RANK ? MAX_RANK : p->n_dims),
                      .dims = p->dims, .layout = p->n_layout ? p->layout : NULL };
    if (!t.element) {
        const char *near = nearest_name(build_text(p, element_at), known, COUNT(known));
        build_error(p, element_at, "type.element", "`%s` is not an element type", build_text(p, element_at));
        if (near)
            build_near(p, element_at, near);
        else
            build_note(p, "legal are f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i8 i4 i1 ui8");
        t.element = ELEMENT_F16;
    }
    if (p->n_layout && p->n_layout < t.rank)
        build_error(p, at, "type.layout", "the layout names %u of the %u dimensions", p->n_layout, t.rank);
    bool identity = true;
    for (u32 i = 0; i < p->n_layout; i++)
        identity = identity && p->layout[i] == i;
    if (identity || p->n_layout != t.rank)
        t.layout = NULL;
    build_push(p, TAG_TYPE, type_intern(p->ctx->types, &t), at);
}

/* ---- Expressions ---- */

u64 build_dollar(struct parser *p, u64 name, struct span at)
{
    (void)at;
    return qty_symbol(p->ctx->exprs, (atom)name);
}

u64 build_expr(struct parser *p, int operator, u64 left, u64 right, struct span at)
{
    struct exprs *x = p->ctx->exprs;
    qty out = 0;
    enum expr_status status = operator == '+' ? qty_add(x, left, right, &out)
                              : operator == '-' ? qty_sub(x, left, right, &out)
                              : operator == '*' ? qty_mul(x, left, right, &out)
                              : operator == 'f' ? qty_floordiv(x, left, right, &out)
                              : operator == 'c' ? qty_ceildiv(x, left, right, &out)
                              : operator == '>' ? qty_max(x, left, right, &out)
                                                : qty_min(x, left, right, &out);
    if (status == EXPR_OK)
        return out;
    build_error(p, at, "quantity.arithmetic", "this expression %s", expr_status_text(status));
    return qty_number(x, 1);        /* which every clause takes: nothing else is wrong */
}

void build_exhausted(struct parser *p, struct span at, const char *message)
{
    (void)message;
    build_error(p, at, "syntax.nesting", "the text nests too deeply here");
}
