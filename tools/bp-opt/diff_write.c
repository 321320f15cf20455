#include "diff_write.h"

#include "ir/attr.h"
#include "ir/implied.h"
#include "ir/json.h"
#include "ir/print.h"
#include "ir/verify.h"

/* ---- Places and values ---- */

static u32 column_at(const struct line_counter *c, u32 offset)
{
    u32 column = 1;
    for (u32 i = c->line_begin; i < offset; i++)
        column += ((unsigned char)c->src->text[i] & 0xc0) != 0x80;
    return column;
}

static void out_place(struct diff_report *r, bool second, const struct item *it, u32 offset)
{
    struct line_counter *c = second ? &r->lines_b : &r->lines_a;
    line_counter_seek(c, it->src, offset);
    if (r->json)
        out_printf(r->o, "\"line\":%u,\"column\":%u", c->line, column_at(c, offset));
    else
        out_printf(r->o, "%s:%u:%u", it->src->name, c->line, column_at(c, offset));
}

/* Where a field is written: in its statement, so that no line is counted twice. Nothing where it is there by default. */
static void out_clause_place(struct diff_report *r, bool second, const struct stmt *s, const char *clause, const char *fact)
{
    struct line_counter c = second ? r->lines_b : r->lines_a;
    const struct item *it = second ? r->diff->b : r->diff->a;
    struct loc at = it->ctx->locate(it, s, clause, fact);
    if (!r->json || !at.src || at.begin < c.offset)
        return;
    line_counter_seek(&c, at.src, at.begin);
    out_printf(r->o, ",\"%s\":{\"line\":%u,\"column\":%u}", second ? "b" : "a", c.line, column_at(&c, at.begin));
}

static void out_field_place(struct diff_report *r, bool second, const struct stmt *s, const struct field *f, const struct field *fact)
{
    bool head = f->place == PLACE_HEAD && r->diff->a->kind->layer != LAYER_SESSION;
    out_clause_place(r, second, s, head ? NULL : f->name, fact ? fact->name : NULL);
}

static void out_json_text(struct out *o, const struct out *text)
{
    out_json_string(o, text->data ? text->data : "", text->n);
}

/* A sharding and a lineage bring their word along; it stands before the value already. */
static size_t own_words(const struct out *text, const struct field *f)
{
    size_t skip = 0;
    while (skip < text->n && text->data[skip] == ' ')
        skip++;
    bool word = text->n > skip + f->length && !memcmp(text->data + skip, f->name, f->length) && text->data[skip + f->length] == ' ';
    return word ? skip + f->length + 1u : skip;
}

/* A field's value, or `absent` where it says what is so by default. */
static void out_value(struct diff_report *r, const struct item *it, const struct stmt *s, const struct field *f, const struct field *fact)
{
    const struct field *shown = fact ? fact : f;
    struct out text;
    u64 number = fact ? field_get(s, fact) : 0;
    bool absent = fact ? fact->kind == FIELD_INTEGER && number == fact->fallback
                       : f->presence == OPTIONAL && f->kind != FIELD_INTEGER && f->kind != FIELD_RANKS && field_is_unsaid(it, s, f);
    bool numeric = shown->kind == FIELD_QUANTITY || shown->kind == FIELD_INTEGER;
    if (absent) {
        out_string(r->o, r->json ? "null" : "absent");
    } else if (r->json && numeric) {
        json_quantity(r->o, it->ctx->exprs, shown->kind == FIELD_INTEGER ? qty_number(it->ctx->exprs, field_get(s, shown)) : field_get(s, shown));
    } else {
        out_memory(&text);
        print_field(&text, it, s, shown);
        size_t skip = own_words(&text, shown);
        if (r->json)
            out_json_string(r->o, text.data + skip, text.n - skip);
        else
            out_bytes(r->o, text.data + skip, text.n - skip);
        out_free(&text);
    }
}

/* ` (+5)`: what the second number has more than the first. Expressions that nothing is known of have a difference, too. */
static void out_qty_difference(struct diff_report *r, qty from, qty to)
{
    struct exprs *x = r->d->ctx.exprs;
    qty more, less;
    if (qty_sub(x, to, from, &more) || qty_sub(x, from, to, &less))
        return;
    bool falls = qty_is_negative(x, more);
    struct out text;
    out_memory(&text);
    out_string(&text, falls ? "-" : qty_is_constant(x, more) ? "+" : "");
    out_qty(&text, x, falls ? less : more);
    if (r->json) {
        out_string(r->o, ",\"difference\":");
        out_json_text(r->o, &text);
    } else {
        out_string(r->o, " (");
        out_bytes(r->o, text.data, text.n);
        out_char(r->o, ')');
    }
    out_free(&text);
}

static void out_difference(struct diff_report *r, const struct stmt *a, const struct stmt *b, const struct field *f)
{
    struct exprs *x = r->d->ctx.exprs;
    bool quantity = f->kind == FIELD_QUANTITY;
    if (!quantity && f->kind != FIELD_INTEGER)
        return;
    u64 from = field_get(a, f), to = field_get(b, f);
    bool absent = !quantity && f->fallback == UINT64_MAX && (from == UINT64_MAX || to == UINT64_MAX);
    if (!absent)
        out_qty_difference(r, quantity ? from : qty_number(x, from), quantity ? to : qty_number(x, to));
}

/* "%h type", "work operations": a value declared in its maker's results says its own name. */
static void out_field_name(struct out *o, const struct item *it, const struct stmt *s, const struct field *f, const struct field *fact)
{
    if (s->is_result)
        out_printf(o, "%s ", stmt_text(it, s));
    if (!fact || f->place != PLACE_HEAD)
        out_string(o, f->name);
    if (fact)
        out_printf(o, f->place == PLACE_HEAD ? "%s" : " %s", fact->name);
}

static void begin_change(struct diff_report *r, const struct out *name)
{
    if (r->json) {
        out_string(r->o, r->fields ? ",{\"field\":" : "{\"field\":");
        out_json_text(r->o, name);
        out_string(r->o, ",\"from\":");
    } else {
        out_string(r->o, "    ");
        out_bytes(r->o, name->data, name->n);
        out_string(r->o, ": ");
    }
    r->fields++;
}

static void between_values(struct diff_report *r)
{
    out_string(r->o, r->json ? ",\"to\":" : " -> ");
}

static void end_change(struct diff_report *r)
{
    out_string(r->o, r->json ? "}" : "\n");
}

/* ---- An operation's own clauses, one by one ---- */

static void out_clause(struct diff_report *r, const struct item *it, u32 handle)
{
    struct attr v = { .kind = ATTR_NONE };
    if (handle)
        v = attr_get(it, handle);
    if (!handle) {
        out_string(r->o, r->json ? "null" : "absent");
    } else if (r->json && v.kind == ATTR_QUANTITY) {
        json_quantity(r->o, it->ctx->exprs, v.quantity);
    } else if (!r->json) {
        out_attr(r->o, it, handle);
    } else {
        struct out text;
        out_memory(&text);
        out_attr(&text, it, handle);
        out_json_text(r->o, &text);
        out_free(&text);
    }
}

/* WORD's values: X in S, Y in T; 0 where it is not written. */
static void out_clause_change(struct diff_report *r, const struct stmt *s, const struct stmt *t, atom word, u32 x, u32 y)
{
    const struct item *a = r->diff->a, *b = r->diff->b;
    const char *text = context_text(b->ctx, word);
    struct out name;
    if (x && y && attr_equal(a, x, b, y))
        return;
    out_memory(&name);
    out_string(&name, text);
    begin_change(r, &name);
    out_clause(r, a, x);
    between_values(r);
    out_clause(r, b, y);
    if (x && y && attr_get(a, x).kind == ATTR_QUANTITY && attr_get(b, y).kind == ATTR_QUANTITY)
        out_qty_difference(r, attr_get(a, x).quantity, attr_get(b, y).quantity);
    if (x)
        out_clause_place(r, false, s, text, NULL);
    if (y)
        out_clause_place(r, true, t, text, NULL);
    end_change(r);
    out_free(&name);
}

/* Each of an operation's own clauses, in the order of its table; what only T has stands behind. */
static void out_clause_changes(struct diff_report *r, const struct stmt *s, const struct stmt *t, const struct field *f)
{
    const struct item *a = r->diff->a, *b = r->diff->b;
    u32 x = (u32)field_get(s, f), y = (u32)field_get(t, f);
    for (u32 i = 0; i + 1 < list_n(a, x); i += 2)
        out_clause_change(r, s, t, list_at(a, x)[i], list_at(a, x)[i + 1], item_attribute(b, y, list_at(a, x)[i]));
    for (u32 i = 0; i + 1 < list_n(b, y); i += 2)
        if (!item_attribute(a, x, list_at(b, y)[i]))
            out_clause_change(r, s, t, list_at(b, y)[i], 0, list_at(b, y)[i + 1]);
}

static void out_field_change(void *state, const struct stmt *a, const struct stmt *b, const struct field *f, const struct field *fact)
{
    struct diff_report *r = state;
    struct out name;
    if (f->kind == FIELD_ATTRIBUTES) {
        out_clause_changes(r, a, b, f);
        return;
    }
    out_memory(&name);
    out_field_name(&name, r->diff->b, b, f, fact);
    begin_change(r, &name);
    out_value(r, r->diff->a, a, f, fact);
    between_values(r);
    out_value(r, r->diff->b, b, f, fact);
    out_difference(r, a, b, fact ? fact : f);
    out_field_place(r, false, a, f, fact);
    out_field_place(r, true, b, f, fact);
    end_change(r);
    out_free(&name);
}

/* ---- Statements ---- */

static const char *keyword_of(const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    return e->flags & ENTITY_ROLE_KEYWORD ? ((const struct enumeration *)e->fields[0].aux)->words[field_get(s, &e->fields[0])].text : e->keyword;
}

static const char *name_of(const struct item *it, const struct stmt *s)
{
    return s->name ? stmt_text(it, s) : NULL;
}

/* The statement on one line, for what one file has and the other has not. */
static void out_statement(struct out *o, const struct item *it, const struct stmt *s)
{
    struct out text;
    out_memory(&text);
    print_stmt(&text, it, s);
    for (size_t i = 0; i < text.n; i++)
        if (text.data[i] == '\n') {
            out_char(o, ' ');
            while (i + 1 < text.n && text.data[i + 1] == ' ')
                i++;
        } else {
            out_char(o, text.data[i]);
        }
    out_free(&text);
}

static void out_json_place(struct diff_report *r, const char *key, const struct item *it, const struct stmt *s, bool second)
{
    const char *name = name_of(it, s);
    out_printf(r->o, ",\"%s\":{", key);
    if (name) {
        out_string(r->o, "\"name\":");
        out_json_string(r->o, name, strlen(name));
        out_char(r->o, ',');
    }
    out_place(r, second, it, s->begin);
    out_char(r->o, '}');
}

/* "added"; "renamed, moved, changed": in JSON the first of them, which has the others beside it. */
static void out_what(struct out *o, const struct stmt_change *c, bool json)
{
    const char *const words[] = { !c->a ? "added" : !c->b ? "removed" : NULL, c->renamed ? "renamed" : NULL,
                                  c->moved ? "moved" : NULL, c->changed ? "changed" : NULL };
    for (u32 i = 0, n = 0; i < COUNT(words) && !(json && n); i++)
        if (words[i])
            out_printf(o, n++ ? ", %s" : "%s", words[i]);
}

static void write_json_change(struct diff_report *r, const struct stmt_change *c, bool first)
{
    const struct item *x = r->diff->a, *y = r->diff->b;
    out_string(r->o, first ? "\n{\"change\":\"" : ",\n{\"change\":\"");
    out_what(r->o, c, true);
    out_string(r->o, "\",\"entity\":");
    const char *keyword = c->b ? keyword_of(y, c->b) : keyword_of(x, c->a);
    out_json_string(r->o, keyword, strlen(keyword));
    if (c->a)
        out_json_place(r, "a", x, c->a, false);
    if (c->b)
        out_json_place(r, "b", y, c->b, true);
    if (c->a && c->b) {
        out_printf(r->o, ",\"renamed\":%s,\"moved\":%s,\"fields\":[", c->renamed ? "true" : "false", c->moved ? "true" : "false");
        r->fields = 0;
        if (c->changed)
            stmt_diff(r->diff, c->a, c->b, out_field_change, r);
        out_char(r->o, ']');
    } else {
        struct out text;
        out_memory(&text);
        out_statement(&text, c->b ? y : x, c->b ? c->b : c->a);
        out_string(r->o, ",\"text\":");
        out_json_text(r->o, &text);
        out_free(&text);
    }
    out_char(r->o, '}');
}

static void write_text_change(struct diff_report *r, const struct stmt_change *c)
{
    const struct item *x = r->diff->a, *y = r->diff->b;
    out_string(r->o, "  ");
    out_what(r->o, c, false);
    out_char(r->o, ' ');
    if (!c->a || !c->b) {
        out_statement(r->o, c->b ? y : x, c->b ? c->b : c->a);
    } else {
        const struct stmt *s = c->b;
        out_printf(r->o, "%s", keyword_of(y, s));
        if (s->name && c->renamed)
            out_printf(r->o, " %s ->", stmt_text(x, c->a));
        if (s->name)
            out_printf(r->o, " %s", stmt_text(y, s));
    }
    out_string(r->o, "  (");
    if (c->a)
        out_place(r, false, x, c->a->begin);
    out_string(r->o, c->a && c->b ? ", " : "");
    if (c->b)
        out_place(r, true, y, c->b->begin);
    out_string(r->o, ")\n");
    if (c->a && c->b && c->changed)
        stmt_diff(r->diff, c->a, c->b, out_field_change, r);
}

static void count(struct diff_report *r, const struct stmt_change *c)
{
    r->added += !c->a;
    r->removed += !c->b;
    if (!c->a || !c->b)
        return;
    r->renamed += c->renamed;
    r->moved += c->moved;
    r->changed += c->changed;
}

/* ---- Items ---- */

static void out_pin(struct out *o, const struct item *it, const struct pin *p)
{
    if (!p->item) {
        out_string(o, "absent");
        return;
    }
    out_name(o, &it->ctx->names, '@', p->item);
    if (!digest_is_none(p->digest)) {
        out_char(o, ' ');
        out_digest_text(o, p->digest);
    }
}

enum header_part { HEADER_SCHEMA, HEADER_FROM, HEADER_BY, HEADER_USING, HEADER_PARTS };

static void out_header_part(struct out *o, const struct item *it, enum header_part part)
{
    const struct header *h = &it->header;
    if (part == HEADER_SCHEMA)
        out_printf(o, "%u.%u", h->major, h->minor);
    else if (part == HEADER_FROM)
        out_pin(o, it, &h->parent);
    else if (part == HEADER_BY && h->pass)
        out_printf(o, "%s revision %u", context_text(it->ctx, h->pass), h->revision);
    else if (part == HEADER_BY)
        out_string(o, "absent");
    else
        for (u32 i = 0; i < h->n_using; i++) {
            out_string(o, i ? ", " : "");
            out_pin(o, it, &h->using[i]);
        }
}

static void write_header(struct diff_report *r, const struct item *a, const struct item *b)
{
    static const char *const names[HEADER_PARTS] = { "schema", "from", "by", "using" };
    bool first = true;
    for (enum header_part i = 0; i < HEADER_PARTS; i++) {
        struct out x, y;
        out_memory(&x);
        out_memory(&y);
        out_header_part(&x, a, i);
        out_header_part(&y, b, i);
        bool same = x.n == y.n && (!x.n || !memcmp(x.data, y.data, x.n));
        if (!same && r->json) {
            out_printf(r->o, "%s{\"field\":\"%s\",\"from\":", first ? "" : ",", names[i]);
            out_json_text(r->o, &x);
            out_string(r->o, ",\"to\":");
            out_json_text(r->o, &y);
            out_char(r->o, '}');
        } else if (!same) {
            out_printf(r->o, "  %s: %.*s\n    -> %.*s\n", names[i], (int)x.n, x.n ? x.data : "", (int)y.n, y.n ? y.data : "");
        }
        first = first && same;
        out_free(&x);
        out_free(&y);
    }
}

static void write_json_side(struct diff_report *r, const char *key, struct item *it)
{
    out_printf(r->o, ",\"%s\":{\"name\":", key);
    json_name(r->o, &it->ctx->names, '@', it->name);
    out_string(r->o, ",\"digest\":\"");
    out_digest_text(r->o, item_digest(it));
    out_string(r->o, "\",");
    out_place(r, *key == 'b', it, it->begin);
    out_char(r->o, '}');
}

static void write_json_pair(struct diff_report *r, const struct diff_pair *p)
{
    const struct item_kind *kind = p->a ? p->a->kind : p->b->kind;
    bool renamed = p->a && p->b && p->a->name != p->b->name;
    out_printf(r->o, "%s\n{\"change\":\"%s\",\"kind\":\"%s\"", r->any ? "," : "",
               !p->a ? "added" : !p->b ? "removed" : renamed ? "renamed" : "changed", kind->name);
    if (p->a)
        write_json_side(r, "a", p->a);
    if (p->b)
        write_json_side(r, "b", p->b);
    out_string(r->o, ",\"header\":[");
    if (r->diff->header && p->a && p->b)
        write_header(r, p->a, p->b);
    out_string(r->o, "],\"statements\":[");
    for (u32 i = 0; p->a && p->b && i < r->diff->n; i++)
        write_json_change(r, &r->diff->changes[i], i == 0);
    out_string(r->o, "]}");
}

static void write_text_pair(struct diff_report *r, const struct diff_pair *p)
{
    const struct item *it = p->b ? p->b : p->a;
    out_printf(r->o, "%s%s ", r->any ? "\n" : "", it->kind->name);
    if (p->a && p->b && p->a->name != p->b->name)
        out_printf(r->o, "%s -> ", symbol_text(p->a, p->a->name));
    out_printf(r->o, "%s%s  (", symbol_text(it, it->name), !p->a ? " added" : !p->b ? " removed" : "");
    if (p->a)
        out_place(r, false, p->a, p->a->begin);
    out_string(r->o, p->a && p->b ? ", " : "");
    if (p->b)
        out_place(r, true, p->b, p->b->begin);
    out_string(r->o, ")\n");
    if (!p->a || !p->b)
        return;
    out_string(r->o, "  digest: ");
    out_digest_text(r->o, item_digest(p->a));
    out_string(r->o, " -> ");
    out_digest_text(r->o, item_digest(p->b));
    out_char(r->o, '\n');
    if (r->diff->header)
        write_header(r, p->a, p->b);
    for (u32 i = 0; i < r->diff->n; i++)
        write_text_change(r, &r->diff->changes[i]);
}

static void count_pair(struct diff_report *r, const struct diff_pair *p)
{
    r->added += !p->a;
    r->removed += !p->b;
    r->renamed += p->a && p->b && p->a->name != p->b->name;
    for (u32 i = 0; i < r->diff->n; i++)
        count(r, &r->diff->changes[i]);
}

static void write_pair(struct diff_report *r, const struct diff_pair *p)
{
    struct item_diff diff = { 0 };
    struct arena arena;
    arena_init(&arena);
    bool differ = !p->a || !p->b || item_diff(p->a, p->b, &arena, &diff) || p->a->name != p->b->name;
    r->diff = &diff;
    if (differ && r->json)
        write_json_pair(r, p);
    else if (differ)
        write_text_pair(r, p);
    count_pair(r, p);
    r->any = r->any || differ;
    arena_free(&arena);
}

void diff_write(struct diff_report *r, const struct diff_pair *pairs, u32 n)
{
    if (r->json)
        out_string(r->o, "{\"items\":[");
    for (u32 i = 0; i < n; i++)
        write_pair(r, &pairs[i]);
    if (r->json)
        out_printf(r->o, "],\"changed\":%u,\"renamed\":%u,\"moved\":%u,\"added\":%u,\"removed\":%u}\n", r->changed, r->renamed, r->moved,
                   r->added, r->removed);
    else if (r->any)
        out_printf(r->o, "\n%u changed, %u renamed, %u moved, %u added, %u removed\n", r->changed, r->renamed, r->moved, r->added,
                   r->removed);
}
