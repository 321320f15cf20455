/* The grammar's actions for items and statements. */
#include "parser/build.h"

#include "ir/attr.h"
#include "ir/implied.h"
#include "lexer/text.h"

#include <stdarg.h>
#include <stdio.h>

static struct loc place(const struct parser *p, struct span at)
{
    return (struct loc){ p->src, at.begin, at.end };
}

bool build_error(struct parser *p, struct span at, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[1024];
    diag_format(text, sizeof text, format, args);
    va_end(args);
    if (p->item)
        p->item->damaged = true;
    return diag_error(p->ctx->diags, place(p, at), code, "%s", text);
}

void build_note(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[1024];
    diag_format(text, sizeof text, format, args);
    va_end(args);
    diag_note(p->ctx->diags, (struct loc){ 0 }, "%s", text);
}

void build_fix(struct parser *p, struct span at, const char *text)
{
    diag_fix(p->ctx->diags, place(p, at), "%s", text);
}

void build_near(struct parser *p, struct span at, const char *near)
{
    build_note(p, "did you mean `%s`?", near);
    if (is_sure_name(build_text(p, at), near))
        build_fix(p, at, near);
}

const char *build_text(const struct parser *p, struct span at)
{
    enum { LONGEST = 60 };
    const char *from = p->src->text + at.begin;
    u32 n = at.end - at.begin, whole = n;
    if (n > LONGEST)
        for (n = LONGEST; n && ((unsigned char)from[n] & 0xc0) == 0x80;)
            n--;
    char *text = arena_format(&p->ctx->diags->arena, n < whole ? "%.*s..." : "%.*s", (int)n, from);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return text;
}

bool enum_has(const struct parser *p, const struct enumeration *e, u64 word)
{
    return enumeration_find(e, p->ctx->names.atoms[word].text, p->ctx->names.atoms[word].length) >= 0;
}

void build_unfinished(struct parser *p, u32 end, struct span next)
{
    build_error(p, (struct span){ end, end }, "syntax.unfinished", "something is missing here: `%s` begins the next %s",
                build_text(p, next), p->item->kind->layer == LAYER_SESSION ? "field" : "statement");
}

const char *build_near_statement(const struct parser *p, struct span at)
{
    const char *names[64];
    size_t n = 0;
    for (atom a = 0; a < p->n_known && n < COUNT(names); a++)
        if (p->map->entity_of[a] != NO_FIELD)
            names[n++] = context_text(p->ctx, a);
    return nearest_name(build_text(p, at), names, n);
}

void build_unknown_statement(struct parser *p, struct span at)
{
    const char *near = build_near_statement(p, at);
    build_error(p, at, "syntax.statement.unknown", "`%s` is not a statement of %s", build_text(p, at), p->item->kind->name);
    if (near)
        build_near(p, at, near);
    else
        build_note(p, "`bp-opt --show-ops` lists what it has");
}

/* ---- Items ---- */

static u8 *new_map(struct parser *p)
{
    u8 *map = ARENA_ARRAY(&p->ctx->arena, u8, p->n_known);
    memset(map, NO_FIELD, p->n_known);
    return map;
}

static struct field_map map_fields(struct parser *p, const struct item_kind *kind, const struct entity *e)
{
    u8 *map = new_map(p);
    u32 i = 0, required = 0;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++, i++) {
        atom a = intern_find(&p->ctx->names, f->name, f->length);
        required |= (u32)(f->presence == REQUIRED) << i;
        if (f->kind != FIELD_ATTRIBUTES && a && (f->place != PLACE_HEAD || kind->layer == LAYER_SESSION))
            map[a] = (u8)i;
    }
    return (struct field_map){ map, required };
}

static void map_keyword(struct parser *p, u8 *map, const char *word, u32 entity)
{
    atom a = intern_find(&p->ctx->names, word, strlen(word));
    if (a)
        map[a] = (u8)entity;
}

/* Keywords of a kind's statements: an entity's own word, or the words of its role. */
static u8 *map_keywords(struct parser *p, const struct item_kind *kind)
{
    u8 *map = new_map(p);
    for (u32 e = 0; e < kind->n_entities; e++) {
        const struct entity *row = &kind->entities[e];
        const struct enumeration *roles = row->flags & ENTITY_ROLE_KEYWORD ? row->fields[0].aux : NULL;
        if (!roles)
            map_keyword(p, map, row->keyword, e);
        for (u32 w = 0; roles && w < roles->n; w++)
            map_keyword(p, map, roles->words[w].text, e);
    }
    return map;
}

static const struct kind_map *map_kind(struct parser *p, const struct item_kind *kind)
{
    struct kind_map *m = p->maps;
    while (m->kind && m->kind != kind)
        m++;
    if (m->kind)
        return m;
    m->kind = kind;
    m->fields = ARENA_ARRAY(&p->ctx->arena, struct field_map, kind->n_entities);
    for (u32 e = 0; e < kind->n_entities; e++)
        m->fields[e] = map_fields(p, kind, &kind->entities[e]);
    m->entity_of = map_keywords(p, kind);
    return m;
}

void build_item(struct parser *p, u64 kind, u64 name, struct span at, struct span name_at)
{
    const struct interned *text = &p->ctx->names.atoms[kind];
    const struct item_kind *k = context_item_kind(p->ctx, text->text, text->length);
    struct item *twin = module_find(p->module, (atom)name), *it = item_new(p->ctx, k, twin ? 0 : (atom)name);
    it->src = p->src;
    it->begin = at.begin;
    it->header.begin = name_at.begin;
    it->header.major = 0;
    p->item = it;
    p->name_at = name_at;
    p->map = map_kind(p, k);
    p->stmt = NULL;
    repeats_forget(p->repeats);
    if (twin) {
        build_error(p, name_at, "ir.item.duplicate", "%s is declared twice in this file", build_text(p, name_at));
        diag_note(p->ctx->diags, (struct loc){ twin->src, twin->header.begin, twin->header.begin + 1 }, "first declared here");
    }
    module_add(p->module, it);
}

void build_session(struct parser *p, struct span at)
{
    p->stmt = item_add(p->item, 0);
    p->stmt->begin = at.begin;
    p->stmt_at = at;
    p->head_done = true;
    p->n = p->n_attributes = 0;
}

void build_schema(struct parser *p, struct span at)
{
    const struct item_kind *k = p->item->kind;
    char known[16];
    snprintf(known, sizeof known, "%u.%u", k->major, k->minor);
    p->item->header.major = k->major;
    p->item->header.minor = k->minor;
    if (strcmp(build_text(p, at), known)) {
        build_error(p, at, "ir.schema.version", "%s schema %s is not known", k->name, build_text(p, at));
        build_note(p, "this bp-opt reads schema %s", known);
        build_fix(p, at, known);
    }
}

void build_pin(struct parser *p, u64 name, struct span at, struct span digest)
{
    p->pin = (struct pin){ .item = (atom)name, .begin = at.begin };
    if (digest.end)
        digest_parse(p->src->text + digest.begin + 7, digest.end - digest.begin - 7, &p->pin.digest);
}

void build_parent(struct parser *p)
{
    p->item->header.parent = p->pin;
}

void build_using(struct parser *p)
{
    if (p->n_pins == COUNT(p->pins))
        build_error(p, (struct span){ p->pin.begin, p->pin.begin + 1 }, "syntax.value.extra", "`using` names at most %zu items",
                    COUNT(p->pins));
    else
        p->pins[p->n_pins++] = p->pin;
}

void build_by(struct parser *p, u64 pass, u64 revision, struct span at)
{
    struct header *h = &p->item->header;
    u128 n;
    h->pass = (atom)pass;
    if (!qty_value(p->ctx->exprs, revision, &n) || n == 0 || n > UINT32_MAX)
        build_error(p, at, "ir.header.revision", "a pass's revision is a number from 1 to 4294967295, found %s", build_text(p, at));
    else
        h->revision = (u32)n;
    h->using = ARENA_ARRAY(&p->item->arena, struct pin, p->n_pins);
    memcpy(h->using, p->pins, p->n_pins * sizeof *p->pins);
    h->n_using = p->n_pins;
}

void build_header(struct parser *p)
{
    struct item *it = p->item;
    if (!it->header.major) {
        struct span at = { p->name_at.end, p->name_at.end };
        build_error(p, at, "ir.schema.missing", "the schema version is missing: write `%s %s schema %u.%u {`", it->kind->name,
                    build_text(p, p->name_at), it->kind->major, it->kind->minor);
        build_fix(p, at, arena_format(&p->ctx->diags->arena, " schema %u.%u", it->kind->major, it->kind->minor));
    }
    p->n_pins = 0;
}

static void check_required(struct parser *p, struct span at)
{
    u32 required = p->map->fields[p->stmt->entity].required;
    if (p->item->damaged || (p->stmt->written & required) == required)
        return;
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; f->kind != FIELD_END; f++)
        if (f->presence == REQUIRED && !field_is_written(p->item, p->stmt, f))
            build_error(p, at, "syntax.clause.missing", "`%s` is missing: %s", f->name, f->doc);
}

/* A field or another brace follows the `}`: it was one too many, and what is missing may stand behind it. */
static bool ends_too_early(const struct parser *p, u32 end)
{
    const char *at = p->src->text + text_next(p->src, end);
    if (*at == '}')
        return true;
    at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    at += strspn(at, " \t");
    return *at == '=';
}

void build_item_end(struct parser *p, u32 end)
{
    p->item->end = end;
    if (p->item->kind->layer == LAYER_SESSION) {
        p->item->damaged = p->item->damaged || ends_too_early(p, end);
        check_required(p, p->stmt_at);
    }
    p->item = NULL;
    p->stmt = NULL;
    p->n_pins = 0;
}

/* ---- Statements ---- */

void build_stmt(struct parser *p, u64 keyword, struct span at)
{
    u8 e = keyword < p->n_known ? p->map->entity_of[keyword] : NO_FIELD;
    p->n = p->n_attributes = p->n_axes = 0;
    p->head_done = p->has_sharding = p->in_refused = false;
    p->result = NULL;
    p->stmt_at = at;
    p->stmt = NULL;
    if (e == NO_FIELD) {
        build_unknown_statement(p, at);
        return;
    }
    p->stmt = item_add(p->item, e);
    p->stmt->begin = at.begin;
    repeat_begin(p);
}

static void end_stream(struct parser *p)
{
    struct span at = p->n ? p->stream[p->n - 1].at : p->stmt_at;
    build_push(p, TAG_END, 0, (struct span){ at.end, at.end });
}

static bool head_absent(const struct field *f, const struct tagged *at)
{
    return f->presence == OPTIONAL && ((f->kind == FIELD_SYMBOL_NAME && at->tag != TAG_SYMBOL) ||
                                       (f->kind == FIELD_OPERANDS && at->tag != TAG_OPEN) ||
                                       (f->kind == FIELD_RESULTS && at->tag != TAG_ARROW));
}

/* The head ends too early, and the statement behind it was taken for its last word: that is read again. */
static bool is_unfinished(struct parser *p, const struct field *f, const struct tagged *at)
{
    if (f->kind != FIELD_ENUM || at->tag != TAG_WORD || at->at.begin != p->lexer.last_begin ||
        enum_has(p, f->aux, at->value) || !lexer_begins_statement(&p->lexer, at->at))
        return false;
    build_unfinished(p, p->lexer.previous_end, at->at);
    lexer_again(&p->lexer);
    return true;
}

bool build_no_operands(struct parser *p)
{
    const struct tagged *operation = &p->stream[p->n - 1];
    const struct interned *word = &p->ctx->names.atoms[operation->value];
    if (!p->stmt || !is_clause(stmt_entity(p->item, p->stmt), word->text, word->length))
        return true;
    build_error(p, operation->at, "syntax.expected", "expected an operation or '(', found the clause `%s`", build_text(p, operation->at));
    lexer_panic(&p->lexer, false);
    return false;
}

/* Gives the pushed values to the head fields, in the order of the table. */
void build_stmt_head(struct parser *p)
{
    if (p->head_done || !p->stmt)
        return;
    p->head_done = true;
    end_stream(p);
    const struct tagged *at = p->stream;
    u32 i = 0;
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; f->kind != FIELD_END; f++, i++) {
        if (f->place != PLACE_HEAD || head_absent(f, at))
            continue;
        if (at->tag == TAG_NONE && at++)
            continue;
        if (is_unfinished(p, f, at))
            break;
        if (decode_field(p, p->stmt, f, &at))
            p->stmt->written |= 1u << i;
        else if (f->kind == FIELD_ENUM)
            p->refused = at++->at.end;
        else
            break;
    }
    p->n = 0;
}

void build_head_words(struct parser *p)
{
    if (p->head_done || !p->stmt)
        return;
    end_stream(p);
    p->head_done = true;
    const struct tagged *at = p->stream;
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; f->kind != FIELD_END && at->tag != TAG_END; f++) {
        bool word = f->kind == FIELD_ENUM && at->tag == TAG_WORD;
        if (f->place != PLACE_HEAD || head_absent(f, at))
            continue;
        if (!word && f->kind != FIELD_SYMBOL_NAME && f->kind != FIELD_VALUE_NAME && f->kind != FIELD_DOLLAR_NAME)
            break;
        if (word && !decode_field(p, p->stmt, f, &at))
            p->refused = at++->at.end;
        else if (!word)
            at++;
    }
}

static void finish_sharding(struct parser *p, struct stmt *s)
{
    if (!p->has_sharding)
        return;
    p->has_sharding = false;
    u32 rank = 0;
    const struct field *f = stmt_entity(p->item, s)->fields;
    for (; f->kind != FIELD_SHARDING; f++)
        if (f->kind == FIELD_TYPE)
            rank = type_get(p->ctx->types, (u32)field_get(s, f))->rank;
    field_set(p->item, s, f, sharding_write(p->item, &p->sharding, rank));
    p->n_axes = 0;
}

/* A row with words of its own, or a flag, isn't written where it says its fallback. */
static bool is_default(const struct parser *p, const struct field *a, u32 value)
{
    if (a->presence == REQUIRED || (a->kind != FIELD_ENUM && a->kind != FIELD_BOOL))
        return false;
    const char *word = a->kind == FIELD_BOOL ? (a->fallback ? "true" : "false")
                                             : ((const struct enumeration *)a->aux)->words[a->fallback].text;
    return intern_is(&p->ctx->names, attr_get(p->item, value).text, word);
}

static void finish_attributes(struct parser *p, struct span at)
{
    const struct operation *op = build_operation(p);
    u32 words[64], n = 0;
    for (const struct field *a = op ? op->attributes : NULL; a && a->kind != FIELD_END; a++) {
        u32 found = 0;
        for (u32 i = 0; i + 1 < p->n_attributes; i += 2)
            if (intern_is(&p->ctx->names, p->attributes[i], a->name)) {
                found++;
                if (is_default(p, a, p->attributes[i + 1]))
                    continue;
                words[n++] = p->attributes[i];
                words[n++] = p->attributes[i + 1];
            }
        if (!found && a->presence == REQUIRED && !p->item->damaged)
            build_error(p, at, "syntax.clause.missing", "`%s` is missing: %s", a->name, a->doc);
    }
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; n && f->kind != FIELD_END; f++)
        if (f->kind == FIELD_ATTRIBUTES)
            field_set(p->item, p->stmt, f, item_list(p->item, words, n));
}

static void declared_twice(struct parser *p, const struct stmt *twin, struct span at)
{
    build_error(p, at, "ir.name.duplicate", "%s is declared twice", build_text(p, at));
    diag_note(p->ctx->diags, (struct loc){ p->src, twin->begin, twin->begin + 1 }, "first declared here");
}

static struct span name_span(const struct parser *p)
{
    /* The name is the first name behind the keyword. */
    u32 at = p->stmt->begin;
    const char *text = p->src->text;
    while (at < p->src->size && text[at] != '%' && text[at] != '@' && text[at] != '$' && text[at] != '\n')
        at++;
    u32 end = at + 1;
    while (end < p->src->size && text[end] > ' ' && !strchr("(){}[],:", text[end]))
        end++;
    return (struct span){ at, end };
}

void build_stmt_enter(struct parser *p, u32 at, bool settled)
{
    struct stmt *twin = p->stmt->name ? item_declare(p->item, p->stmt) : NULL;
    if (twin)
        declared_twice(p, twin, name_span(p));
    if (!settled)
        item_settle(p->item, p->stmt);
    repeat_learn_settled(p);
    p->stmt = NULL;
    source_release(p->src, at, &p->released);
}

void build_stmt_end(struct parser *p, struct span at)
{
    build_stmt_head(p);
    if (!p->stmt)
        return;
    finish_sharding(p, p->stmt);
    finish_attributes(p, p->stmt_at);
    check_required(p, p->stmt_at);
    repeat_learn(p, at);
    build_stmt_enter(p, at.begin, false);
}

/* The statement had a syntax error. What stands of it stays, in an item that is damaged and not verified. */
void build_stmt_drop(struct parser *p)
{
    if (p->item)
        p->item->damaged = true;
    if (p->item && p->item->kind->layer == LAYER_SESSION)
        return;
    p->stmt = p->result = NULL;
}

void build_result(struct parser *p, u64 name, struct span at)
{
    build_push(p, TAG_VALUE, name, at);
    p->result_mark = p->n;
    if (!p->stmt)
        return;
    for (const struct field *f = stmt_entity(p->item, p->stmt)->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_RESULTS && !f->fallback) {
            build_error(p, at, "syntax.result.typed", "results of %s are buffers declared elsewhere: no type here", p->item->kind->name);
            return;
        } else if (f->kind == FIELD_RESULTS) {
            p->result = item_add_result(p->item, (u32)f->fallback);
            p->result->name = (atom)name;
            p->result->begin = at.begin;
            const struct field *role = stmt_entity(p->item, p->result)->fields;
            field_set(p->item, p->result, role, ((const struct enumeration *)role->aux)->n - 1);
        }
}

void build_result_enter(struct parser *p, struct stmt *s, u32 end)
{
    struct stmt *twin = item_declare(p->item, s);
    if (twin)
        declared_twice(p, twin, (struct span){ s->begin, end });
}

void build_result_end(struct parser *p, struct span at)
{
    struct stmt *s = p->result;
    p->result = NULL;
    if (s && p->n > p->result_mark) {
        const struct field *f = stmt_entity(p->item, s)->fields;
        while (f->kind != FIELD_TYPE)
            f++;
        field_set(p->item, s, f, p->stream[p->result_mark].value);
        finish_sharding(p, s);
        repeat_result(p, s);
        build_result_enter(p, s, p->stream[p->result_mark - 1].at.end);
    }
    p->n = p->result_mark;
    (void)at;
}
