#include "directive.h"

#include <regex.h>

const char *const severity_words[] = { "error", "warning", "remark", "note" };

/* One directive that is being read. */
struct scanner {
    const struct source *part;
    struct arena *arena;
    struct diags *failures;
    const char *at, *end;   /* end of the line */
    const char *begin;      /* of the directive */
    u32 line, first_line, last_line;
};

static bool fault(struct scanner *s, const char *code, const char *message)
{
    struct loc where = { s->part, (u32)(s->begin - s->part->text), (u32)(s->at - s->part->text) };
    return diag_error(s->failures, where, code, "%s", message);
}

static bool take(struct scanner *s, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n))
        return false;
    s->at += n;
    return true;
}

static bool is_digit(const struct scanner *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

/* Saturates far above any line or count. */
static u32 number(struct scanner *s)
{
    u32 n = 0;
    for (; is_digit(s); s->at++)
        n = n < 100000000 ? n * 10 + (u32)(*s->at - '0') : n;
    return n;
}

static bool read_kind(struct scanner *s, struct expectation *e)
{
    for (u32 i = 0; i < COUNT(severity_words); i++)
        if (take(s, severity_words[i])) {
            e->severity = (enum severity)i;
            e->regex = take(s, "-re");
            return true;
        }
    return false;
}

/* `@+N`, `@-N`, `@above`, `@below`, `@unknown`, or nothing: this line. */
static bool read_place(struct scanner *s, struct expectation *e)
{
    e->line = s->line;
    if (!take(s, "@"))
        return true;
    bool down = take(s, "+"), up = !down && take(s, "-");
    if ((down || up) && is_digit(s)) {
        u32 n = number(s);
        e->line = down ? s->line + n : n < s->line ? s->line - n : 0;
    } else if (!down && !up && take(s, "above")) {
        e->line = s->line - 1;
    } else if (!down && !up && take(s, "below")) {
        e->line = s->line + 1;
    } else {
        e->line = NO_LINE;
        return !down && !up && take(s, "unknown");
    }
    return (e->line >= s->first_line && e->line <= s->last_line) ||
           fault(s, "driver.expectation.place", "this expects something outside of its file or part");
}

/* The `}}` that ends the text; of a run of braces the last two. In a regular expression, pieces are skipped. */
static const char *text_end(const struct scanner *s, bool regex)
{
    bool piece = false;
    for (const char *c = s->at; c + 1 < s->end; c++) {
        if (regex && !piece && c[0] == '{' && c[1] == '{') {
            piece = true;
            c++;
        } else if (c[0] == '}' && c[1] == '}') {
            size_t run = 2;
            while (c + run < s->end && c[run] == '}')
                run++;
            if (!piece || run >= 4)
                return c + run - 2;
            piece = false;
            c += run - 1;
        }
    }
    return NULL;
}

/* Literal text with its special characters escaped; what stands in {{…}} becomes a group. */
static const char *pattern(const char *from, const char *to, struct arena *arena)
{
    struct out o;
    out_memory(&o);
    for (bool piece = false; from < to; from++)
        if (!piece && to - from >= 2 && !memcmp(from, "{{", 2)) {
            piece = true;
            out_char(&o, '(');
            from++;
        } else if (piece && to - from >= 2 && !memcmp(from, "}}", 2) && (to - from == 2 || from[2] != '}')) {
            piece = false;
            out_char(&o, ')');
            from++;
        } else {
            if (!piece && strchr(".[]{}()*+?|^$\\", *from))
                out_char(&o, '\\');
            out_char(&o, *from);
        }
    char *text = arena_copy(arena, o.data ? o.data : "", o.n);
    out_free(&o);
    return text;
}

static bool compiles(struct scanner *s, const char *text)
{
    regex_t r;
    char message[200];
    int status = regcomp(&r, text, REG_EXTENDED | REG_NOSUB);
    if (status) {
        regerror(status, &r, message, sizeof message);
        return fault(s, "driver.expectation.regex", arena_format(s->arena, "bad regular expression: %s", message));
    }
    regfree(&r);
    return true;
}

static bool read_text(struct scanner *s, struct expectation *e)
{
    const char *from = s->at, *to = text_end(s, e->regex);
    if (!to)
        return false;
    s->at = to + 2;
    if (from == to)
        return fault(s, "driver.expectation.empty", "an expectation without text matches any message");
    if (!e->regex) {
        e->text = arena_copy(s->arena, from, (size_t)(to - from));
        return true;
    }
    e->text = pattern(from, to, s->arena);
    return compiles(s, e->text);
}

/* Behind "expected-". False: reported. */
static bool read_directive(struct scanner *s, struct expectation *e)
{
    u32 before = s->failures->errors;
    bool good = read_kind(s, e) && read_place(s, e);
    skip_blanks(s);
    e->count = 1;
    if (good && is_digit(s)) {
        e->count = number(s);
        good = e->count > 0 && e->count < 100000000;
        skip_blanks(s);
    }
    good = good && take(s, "{{") && read_text(s, e);
    e->at = (struct loc){ s->part, (u32)(s->begin - s->part->text), (u32)(s->at - s->part->text) };
    if (!good && s->failures->errors == before)
        fault(s, "driver.expectation.form",
              "this looks like an expectation but is none: write `expected-error@+1 {{text}}`, "
              "with error, warning, note or remark and an optional -re, @place and count");
    return good;
}

/* A first word such as `expeted-error@+1` before `{{`: meant as a directive, but not one. */
static bool misspelt(const struct scanner *s, const char *from)
{
    static const char *const words[] = { "expected-error", "expected-warning", "expected-note", "expected-remark" };
    const char *to = from;
    while (to < s->end && (*to == '-' || *to == '_' || (*to >= 'A' && *to <= 'Z') || (*to >= 'a' && *to <= 'z')))
        to++;
    const char *braces = memchr(to, '{', (size_t)(s->end - to));
    return braces && memchr(from, '-', (size_t)(to - from)) &&
           nearest_name(arena_copy(s->arena, from, (size_t)(to - from)), words, COUNT(words));
}

/* The next "expected-" in the comment from AT on that is meant as a directive; NULL: none. FIRST: AT begins the comment. */
static const char *find_directive(const struct scanner *s, const char *at, bool first)
{
    static const char head[] = "expected-";
    while (first && at < s->end && (*at == ' ' || *at == '\t'))
        at++;
    if (first && misspelt(s, at))
        return at;
    for (const char *c = at; s->end - c >= (ptrdiff_t)(sizeof head - 1); c++)
        if (!memcmp(c, head, sizeof head - 1) && ((first && c == at) || memchr(c, '{', (size_t)(s->end - c))))
            return c;
    return NULL;
}

/* The comment's text behind `//` on a line, quoted text skipped; NULL: none. */
static const char *comment_of(const char *at, const char *end)
{
    for (bool quoted = false; at < end; at++)
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && end - at >= 2 && at[0] == '/' && at[1] == '/')
            return at + 2;
    return NULL;
}

static void read_line(struct scanner *s, struct expectations *list, const char *at)
{
    const char *comment = comment_of(at, s->end);
    for (bool first = true; comment; first = false) {
        struct expectation e = { 0 };
        if (!(s->begin = find_directive(s, comment, first)))
            return;
        s->at = s->begin;
        take(s, "expected-");
        if (read_directive(s, &e))
            *VEC_PUSH(list->list, list->n, list->cap) = e;
        comment = s->at > s->begin ? s->at : s->begin + 1;
    }
}

struct expectations expectations_read(const struct source *part, struct arena *arena, struct diags *failures)
{
    struct expectations list = { 0 };
    const char *end = part->text + part->size;
    struct scanner s = { .part = part, .arena = arena, .failures = failures, .line = part->first_line };
    s.first_line = part->first_line;
    s.last_line = source_position(part, part->size).line;
    for (const char *at = part->text; at < end; at = s.end + 1, s.line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        s.end = stop ? stop : end;
        read_line(&s, &list, at);
    }
    return list;
}

void expectations_free(struct expectations *e)
{
    if (e->list)
        block_free(e->list, e->cap * sizeof *e->list);
}
