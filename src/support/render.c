/* How a diagnostic looks on a terminal and as JSON. */
#include "support/diag.h"

enum { TAB = 8, WINDOW = 120, MARGIN = 40 };

static const char *const severity_names[] = { "error", "warning", "remark", "note" };
static const char *const severity_colors[] = { "\033[1;31m", "\033[1;35m", "\033[1;34m", "\033[1;36m" };

/* The code point at TEXT; a sequence that breaks off counts as a plain character. The NUL behind a text ends it. */
static u32 code_point(const unsigned char *text)
{
    bool second = (text[0] & 0xc0) == 0xc0 && (text[1] & 0xc0) == 0x80, third = second && (text[2] & 0xc0) == 0x80;
    if (text[0] < 0x80 || !second)
        return text[0];
    if (text[0] < 0xe0)
        return (u32)(text[0] & 0x1f) << 6 | (text[1] & 0x3f);
    if (text[0] < 0xf0 && third)
        return (u32)(text[0] & 0x0f) << 12 | (u32)(text[1] & 0x3f) << 6 | (text[2] & 0x3f);
    return text[0] < 0xf0 ? text[0] : 0x1f300;
}

/* Columns of a terminal that the code point at TEXT takes: 2 for wide East Asian and emoji, 0 for combining. */
static int display_width(const unsigned char *text)
{
    u32 c = code_point(text);
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || c == 0xfeff)
        return 0;
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
           c >= 0x1f300 ? 2 : 1;
}

static bool continues(const char *text, u32 at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* Writes [from, to) with tabs expanded, or as many blanks (FILL ' ') or `^~~~` marks. Returns the column after. */
static int emit(struct out *o, const struct source *s, u32 from, u32 to, int column, char fill)
{
    bool first = true;
    for (u32 i = from; i < to; i++) {
        if (continues(s->text, i)) {
            if (!fill)
                out_char(o, s->text[i]);
            continue;
        }
        bool tab = s->text[i] == '\t', control = (unsigned char)s->text[i] < 0x20;
        int width = tab ? TAB - column % TAB : display_width((const unsigned char *)s->text + i);
        column += width;
        if (!fill && !tab)
            out_char(o, control ? ' ' : s->text[i]);
        else
            for (int k = 0; k < width; k++, first = false)
                out_char(o, fill == '~' && first ? '^' : fill ? fill : ' ');
    }
    return column;
}

/* The line of a location, clipped to a window around it, and the caret range below. */
static void render_excerpt(struct out *o, const struct loc *at, struct diag_style style)
{
    const struct source *s = at->src;
    struct position p = source_position(s, at->begin);
    u32 begin = at->begin < s->size ? at->begin : s->size;
    u32 end = at->end > p.line_end ? p.line_end : at->end;
    u32 from = p.line_begin, to = p.line_end;
    if (to > from && s->text[to - 1] == '\r')
        to--;
    if (begin - from > WINDOW)
        from = begin - MARGIN;
    if (to - from > 2 * WINDOW)
        to = from + 2 * WINDOW;
    while (from < begin && continues(s->text, from))
        from++;
    while (to < p.line_end && continues(s->text, to))
        to++;
    if (end > to)
        end = to;
    const char *lead = from > p.line_begin ? "... " : "", *tail = to < p.line_end && s->text[to] != '\r' ? " ..." : "";
    out_string(o, "  ");
    out_string(o, lead);
    emit(o, s, from, to, 0, 0);
    out_string(o, tail);
    out_string(o, "\n  ");
    out_string(o, *lead ? "    " : "");
    int column = emit(o, s, from, begin, 0, ' ');
    if (style.color)
        out_string(o, "\033[1;32m");
    if (end > begin)
        emit(o, s, begin, end, column, '~');
    else
        out_char(o, '^');
    if (style.color)
        out_string(o, "\033[0m");
    out_char(o, '\n');
}

static void render_one(struct out *o, const struct diag *g, struct diag_style style, const struct loc *of)
{
    bool note = g->severity == SEVERITY_NOTE;
    bool placed = g->loc.src && !(note && of && of->src == g->loc.src && of->begin == g->loc.begin);
    if (note && !placed)
        out_string(o, "  ");
    if (placed) {
        struct position p = source_position(g->loc.src, g->loc.begin);
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
    if (placed)
        render_excerpt(o, &g->loc, style);
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
            render_one(o, n, style, &g->loc);
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

void diags_render_json(struct diags *d, struct out *o)
{
    u32 errors = 0;
    diags_sort(d);
    for (struct diag *g = d->first; g; g = g->next) {
        if (g->severity == SEVERITY_ERROR && ++errors > d->max_errors)
            continue;
        json_body(o, g);
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
