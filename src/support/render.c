/* How a diagnostic looks on a terminal and as JSON. */
#include "support/diag.h"

#include "support/width.h"

enum { TAB = 8, WINDOW = 120, MARGIN = 40 };

static const char *const severity_names[] = { "error", "warning", "remark", "note" };
static const char *const severity_colors[] = { "\033[1;31m", "\033[1;35m", "\033[1;34m", "\033[1;36m" };

static bool continues(const char *text, u32 at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* A stretch of one line: [from, to) is shown, with LEAD and TAIL where it is clipped. */
struct window {
    const struct source *src;
    u32 begin, end;             /* of the whole line, without its carriage return */
    u32 from, to;
};

static const char *lead_of(const struct window *w)
{
    return w->from > w->begin ? "... " : "";
}

static struct window window_around(const struct source *s, struct position p, u32 at)
{
    struct window w = { s, p.line_begin, p.line_end, p.line_begin, p.line_end };
    if (w.end > w.begin && s->text[w.end - 1] == '\r')
        w.end--;
    w.to = w.end;
    if (at - w.from > WINDOW)
        w.from = at - MARGIN;
    if (w.to - w.from > 2 * WINDOW)
        w.to = w.from + 2 * WINDOW;
    while (w.from > w.begin && w.from < at && (continues(s->text, w.from) || !glyph_at(s->text + w.from).width))
        w.from++;
    while (w.to < w.end && continues(s->text, w.to))
        w.to++;
    return w;
}

/* Columns of the character at I, which begins at COLUMN. */
static u32 columns(const struct glyph *g, u32 column)
{
    return g->kind == GLYPH_CONTROL && g->point == '\t' ? TAB - column % TAB : g->width;
}

/* The column at which the byte AT stands. */
static u32 column_of(const struct window *w, u32 at)
{
    u32 column = 0;
    for (u32 i = w->from; i < at && i < w->to;) {
        struct glyph g = glyph_at(w->src->text + i);
        column += columns(&g, column);
        i += g.size;
    }
    return column;
}

static void out_repeated(struct out *o, char c, u32 n)
{
    while (n--)
        out_char(o, c);
}

static void out_line(struct out *o, const struct window *w)
{
    u32 column = 0;
    for (u32 i = w->from; i < w->to;) {
        struct glyph g = glyph_at(w->src->text + i);
        u32 width = columns(&g, column);
        if (g.kind == GLYPH_CONTROL && g.point == '\t')
            out_repeated(o, ' ', width);
        else if (g.kind == GLYPH_PLAIN)
            out_bytes(o, w->src->text + i, g.size);
        else
            out_printf(o, g.kind == GLYPH_BYTE ? "<%02X>" : "<U+%04X>", g.point);
        column += width;
        i += g.size;
    }
}

/* The line of a location, clipped around it, and the range below; a range over several lines ends with the first. */
static void render_excerpt(struct out *o, const struct window *w, const struct loc *at, struct diag_style style)
{
    u32 begin = at->begin < w->to ? at->begin : w->to, end = at->end < w->to ? at->end : w->to;
    u32 from = column_of(w, begin), until = end > begin ? column_of(w, end) : from;
    out_printf(o, "  %s", lead_of(w));
    out_line(o, w);
    out_printf(o, "%s\n  %*s", w->to < w->end ? " ..." : "", (int)strlen(lead_of(w)), "");
    out_repeated(o, ' ', from);
    out_string(o, style.color ? "\033[1;32m" : "");
    out_char(o, '^');
    out_repeated(o, '~', until > from + 1 ? until - from - 1 : 0);
    out_string(o, style.color ? "\033[0m" : "");
    out_char(o, '\n');
}

/* ---- What would mend it, below the caret: the new text, or dashes below what goes ---- */

static bool is_shown(const struct window *w, const struct fixit *f)
{
    return f->at.src == w->src && f->at.begin >= w->from && f->at.begin <= w->to;
}

static void out_new_text(struct out *o, const char *text)
{
    for (; *text; text++)
        out_char(o, *text == '\n' || *text == '\t' ? ' ' : *text);
}

static void render_fixes(struct out *o, const struct window *w, const struct fixit *fixes, struct diag_style style)
{
    u32 column = 0;
    bool any = false;
    for (const struct fixit *f = fixes; f; f = f->next) {
        if (!is_shown(w, f))
            continue;
        u32 from = column_of(w, f->at.begin), until = column_of(w, f->at.end < w->to ? f->at.end : w->to);
        if (!any)
            out_printf(o, "  %*s%s", (int)strlen(lead_of(w)), "", style.color ? "\033[32m" : "");
        any = true;
        out_repeated(o, ' ', from > column ? from - column : column != 0);
        column += from > column ? from - column : column != 0;
        if (*f->text)
            out_new_text(o, f->text);
        else
            out_repeated(o, '-', until - from);
        for (const char *c = f->text; *c;) {
            struct glyph g = glyph_at(c);
            column += g.width;
            c += g.size;
        }
        column += *f->text ? 0 : until - from;
    }
    if (any)
        out_string(o, style.color ? "\033[0m\n" : "\n");
}

static void render_one(struct out *o, const struct diag *g, struct diag_style style, const struct diag *of)
{
    bool note = g->severity == SEVERITY_NOTE;
    bool placed = g->loc.src && !(note && of && of->loc.src == g->loc.src && of->loc.begin == g->loc.begin);
    if (note && !placed)
        out_string(o, "  ");
    struct position p = { 0 };
    if (placed) {
        p = source_position(g->loc.src, g->loc.begin);
        out_printf(o, "%s:%u:%u: ", g->loc.src->name, p.line, p.column);
    } else if (!note) {
        out_string(o, g->context ? g->context : "bp-opt");
        out_string(o, ": ");
    }
    out_string(o, style.color ? severity_colors[g->severity] : "");
    out_string(o, severity_names[g->severity]);
    out_string(o, style.color ? ":\033[0m " : ": ");
    if (g->code)
        out_printf(o, "[%s] ", g->code);
    out_string(o, g->message);
    out_char(o, '\n');
    if (!placed)
        return;
    struct window w = window_around(g->loc.src, p, g->loc.begin < g->loc.src->size ? g->loc.begin : g->loc.src->size);
    render_excerpt(o, &w, &g->loc, style);
    if (!of)
        render_fixes(o, &w, g->fixes, style);
    else if (of->loc.src != w.src || of->loc.begin < w.begin || of->loc.begin > w.end)
        render_fixes(o, &w, of->fixes, style);
}

static bool on_line(const struct fixit *f, const struct loc *at)
{
    if (f->at.src != at->src)
        return false;
    struct position p = source_position(at->src, at->begin);
    return f->at.begin >= p.line_begin && f->at.begin <= p.line_end;
}

/* A fix on a line that neither the message nor a note shows. */
static void render_distant_fixes(struct out *o, const struct diag *g, struct diag_style style)
{
    for (const struct fixit *f = g->fixes; f; f = f->next) {
        bool shown = on_line(f, &g->loc);
        for (const struct diag *n = g->notes; n && !shown; n = n->next)
            shown = n->loc.src && on_line(f, &n->loc);
        struct fixit one = { f->at, f->text, NULL };
        struct diag mend = { .severity = SEVERITY_NOTE, .loc = f->at, .message = *f->text ? "this would mend it" : "it would be mended without this",
                             .fixes = &one };
        if (!shown)
            render_one(o, &mend, style, NULL);
    }
}

void diags_render(struct diags *d, struct out *o, struct diag_style style)
{
    u32 errors = 0;
    diags_sort(d);
    for (struct diag *g = d->first; g; g = g->next) {
        if (g->severity == SEVERITY_ERROR && ++errors > d->max_errors)
            continue;
        render_one(o, g, style, NULL);
        for (struct diag *n = g->notes; n; n = n->next)
            render_one(o, n, style, g);
        render_distant_fixes(o, g, style);
    }
    if (d->errors > d->max_errors)
        out_printf(o, "bp-opt: %u more errors are not shown (--max-errors=%u)\n", d->errors - d->max_errors,
                   d->max_errors);
}

static void json_text(struct out *o, const char *key, const char *text)
{
    out_printf(o, ",\"%s\":", key);
    out_json_string(o, text, strlen(text));
}

static void json_body(struct out *o, const struct diag *g)
{
    out_printf(o, "{\"severity\":\"%s\"", severity_names[g->severity]);
    if (g->code)
        json_text(o, "code", g->code);
    if (g->loc.src) {
        struct position b = source_position(g->loc.src, g->loc.begin), e = source_position(g->loc.src, g->loc.end);
        json_text(o, "file", g->loc.src->name);
        out_printf(o, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", b.line, b.column, e.line, e.column);
    } else if (g->context) {
        json_text(o, "context", g->context);
    }
    json_text(o, "message", g->message);
}

/* Bytes of the whole file, so that a tool can apply them. */
static void json_fixes(struct out *o, const struct fixit *fixes)
{
    out_string(o, ",\"fixes\":[");
    for (const struct fixit *f = fixes; f; f = f->next) {
        u32 base = f->at.src->first_byte;
        out_printf(o, "{\"begin\":%u,\"end\":%u", base + f->at.begin, base + f->at.end);
        json_text(o, "text", f->text);
        out_string(o, f->next ? "}," : "}");
    }
    out_char(o, ']');
}

void diags_render_json(struct diags *d, struct out *o)
{
    u32 errors = 0;
    diags_sort(d);
    for (struct diag *g = d->first; g; g = g->next) {
        if (g->severity == SEVERITY_ERROR && ++errors > d->max_errors)
            continue;
        json_body(o, g);
        if (g->fixes)
            json_fixes(o, g->fixes);
        if (g->notes)
            out_string(o, ",\"notes\":[");
        for (struct diag *n = g->notes; n; n = n->next) {
            json_body(o, n);
            out_string(o, n->next ? "}," : "}]");
        }
        out_string(o, "}\n");
    }
    if (d->errors > d->max_errors)
        out_printf(o, "{\"severity\":\"note\",\"message\":\"%u more errors are not shown (--max-errors=%u)\"}\n",
                   d->errors - d->max_errors, d->max_errors);
}
