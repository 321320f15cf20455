#include "explain.h"

#include "support/width.h"

#include "options.h"
#include "rules.h"

enum { WIDTH = 100 };

struct search {
    struct out *o;
    const char *code;       /* or the dotted beginning of several */
    const char **codes;
    size_t n, found;
};

static bool covers(const char *prefix, const char *code)
{
    size_t n = strlen(prefix);
    return !strncmp(prefix, code, n) && (!code[n] || code[n] == '.' || (n && prefix[n - 1] == '.'));
}

/* Words from column 4 on, lines of at most WIDTH bytes. */
static void out_wrapped(struct out *o, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (!column || column + 1 + n > WIDTH) {
            out_string(o, column ? "\n    " : "    ");
            column = 4;
        } else {
            out_char(o, ' ');
            column++;
        }
        out_bytes(o, text, n);
        column += n;
        text += n;
        text += *text == ' ';
    }
    out_char(o, '\n');
}

/* ---- Examples ---- */

static const char mended_line[] = "// ----- mended\n", options_line[] = "// bp-opt ";

static const struct example *example_of(const char *code)
{
    for (unsigned i = 0; i < n_examples; i++)
        if (!strcmp(code, examples[i].code))
            return &examples[i];
    return NULL;
}

/* The lines from TEXT to END, indented; what would act on the terminal is shown by its number. */
static void out_lines(struct out *o, const char *text, const char *end)
{
    bool begins = true;
    while (text < end) {
        struct glyph g = glyph_at(text);
        out_string(o, begins && *text != '\n' ? "    " : "");
        if (*text == '\n' || g.kind == GLYPH_PLAIN)
            out_bytes(o, text, g.size);
        else
            out_printf(o, g.kind == GLYPH_BYTE ? "<%02X>" : "<U+%04X>", g.point);
        begins = *text == '\n';
        text += g.size;
    }
}

/* One part of an example: a first line says how it is read. FILE in it is the example itself. */
static void out_part(struct out *o, const char *what, const char *text, const char *end)
{
    out_printf(o, "\n%s", what);
    if (!strncmp(text, options_line, strlen(options_line))) {
        const char *stop = strchr(text, '\n');
        out_string(o, ", with `bp-opt ");
        out_bytes(o, text + strlen(options_line), (size_t)(stop - text) - strlen(options_line));
        out_char(o, '`');
        text = stop + 1;
    }
    out_string(o, ":\n\n");
    out_lines(o, text, end);
}

static void out_example(struct out *o, const char *code)
{
    const struct example *e = example_of(code);
    if (!e)
        return;
    const char *mended = strstr(e->text, mended_line), *end = e->text + strlen(e->text);
    out_part(o, "An input that has it", e->text, mended ? mended : end);
    if (mended)
        out_part(o, "Mended", mended + strlen(mended_line), end);
}

/* ---- Search ---- */

static void visit(void *state, const struct rule *r)
{
    struct search *s = state;
    if (s->codes)
        s->codes[s->n] = r->code;
    s->n++;
    if (s->codes || !covers(s->code, r->code))
        return;
    s->found++;
    out_printf(s->o, "%s\n", r->code);
    out_wrapped(s->o, r->explanation);
    if (!strcmp(s->code, r->code))
        out_example(s->o, r->code);
}

/* Messages show codes in brackets: these are taken off. */
bool explain(struct out *o, const char *code, struct arena *arena)
{
    bool bracket = code[0] == '[';
    size_t length = strlen(code) - bracket;
    length -= length && code[bracket + length - 1] == ']';
    struct search s = { .o = o, .code = arena_copy(arena, code + bracket, length) };
    rules_visit(visit, &s);
    if (s.found)
        return true;
    s.codes = ARENA_ARRAY(arena, const char *, s.n);
    s.n = 0;
    rules_visit(visit, &s);
    const char *near = nearest_name(s.code, s.codes, s.n);
    return near ? usage_error("no message has the code '%s'; did you mean '%s'?", s.code, near)
                : usage_error("no message has the code '%s'", s.code);
}
