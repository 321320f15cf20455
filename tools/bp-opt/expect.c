#include "expect.h"

#include "directive.h"
#include "lines.h"

#include <regex.h>

/* A message or note, and where it counts as being. */
struct finding {
    const struct diag *diag;
    const struct diag *of;  /* of a note: its message */
    enum severity severity;
    u32 line;               /* NO_LINE: not in this part */
    const char *text;       /* "[code] message" */
    bool expected;
};

struct findings {
    struct finding *list;
    u32 n, cap;
};

static u32 line_of(struct line_counter *c, const struct source *part, struct loc at, u32 otherwise)
{
    if (at.src != part)
        return at.src ? NO_LINE : otherwise;
    line_counter_seek(c, part, at.begin);
    return c->line;
}

static void add(struct findings *f, const struct diag *g, const struct diag *of, u32 line, struct arena *arena)
{
    const char *text = g->code ? arena_format(arena, "[%s] %s", g->code, g->message) : g->message;
    *VEC_PUSH(f->list, f->n, f->cap) = (struct finding){ g, of, g->severity, line, text, false };
}

/* A note without a place stands where its message does. */
static struct findings collect(const struct source *part, const struct diags *found, struct arena *arena)
{
    struct findings f = { 0 };
    struct line_counter c = { 0 };
    for (const struct diag *g = found->first; g; g = g->next) {
        u32 line = line_of(&c, part, g->loc, NO_LINE);
        add(&f, g, NULL, line, arena);
        for (const struct diag *n = g->notes; n; n = n->next)
            add(&f, n, g, line_of(&c, part, n->loc, line), arena);
    }
    return f;
}

static bool text_matches(const struct expectation *e, const char *text)
{
    regex_t r;
    if (!e->regex)
        return strstr(text, e->text) != NULL;
    if (regcomp(&r, e->text, REG_EXTENDED | REG_NOSUB))
        return false;
    bool matches = regexec(&r, text, 0, NULL, 0) == 0;
    regfree(&r);
    return matches;
}

static bool meet(struct expectations *list, struct finding *f)
{
    for (u32 i = 0; i < list->n; i++) {
        struct expectation *e = &list->list[i];
        if (e->count && e->severity == f->severity && e->line == f->line && text_matches(e, f->text)) {
            e->count--;
            return true;
        }
    }
    return false;
}

/* Notes of an unexpected message are shown with it. */
static void report_unexpected(const struct finding *f, const struct findings *all, struct diags *failures)
{
    const struct diag *place = f->of && !f->diag->loc.src ? f->of : f->diag;
    diag_error(failures, place->loc, "driver.expectation.unexpected", "unexpected %s: %s", severity_words[f->severity], f->text);
    if (place->context)
        diag_context(failures, "%s", place->context);
    for (const struct finding *n = f + 1; n < all->list + all->n && n->of == f->diag; n++)
        if (!n->expected)
            diag_note(failures, n->diag->loc, "%s", n->text);
}

static void report_all_unexpected(const struct findings *f, struct diags *failures)
{
    bool reported = false;
    for (u32 i = 0; i < f->n; i++) {
        const struct finding *g = &f->list[i];
        reported = g->of ? reported : !g->expected;
        if (!g->expected && (!g->of || !reported))
            report_unexpected(g, f, failures);
    }
}

/* The message was made, but on another line. */
static const struct finding *elsewhere(const struct findings *found, const struct expectation *e)
{
    for (u32 i = 0; i < found->n; i++)
        if (!found->list[i].expected && found->list[i].severity == e->severity && text_matches(e, found->list[i].text))
            return &found->list[i];
    return NULL;
}

static void report_missing(const struct expectation *e, const struct findings *found, struct diags *failures)
{
    const char *word = severity_words[e->severity];
    if (e->count > 1)
        diag_error(failures, e->at, "driver.expectation.missing", "%u expected %ss were not reported: %s", e->count, word, e->text);
    else
        diag_error(failures, e->at, "driver.expectation.missing", "expected %s was not reported: %s", word, e->text);
    const struct finding *f = elsewhere(found, e);
    if (!f)
        return;
    u32 here = source_position(e->at.src, e->at.begin).line;
    if (f->line == NO_LINE)
        diag_note(failures, e->at, "it was reported without a line of this file: write @unknown");
    else if (f->line == here)
        diag_note(failures, e->at, "it was reported on this line: leave out the @place");
    else
        diag_note(failures, e->at, "it was reported on line %u: write @%+d", f->line, (int)f->line - (int)here);
}

bool expect_check(const struct source *part, const struct diags *found, bool only_expected, struct diags *failures)
{
    struct arena arena;
    u32 before = failures->errors;
    arena_init(&arena);
    struct expectations expected = expectations_read(part, &arena, failures);
    struct findings findings = collect(part, found, &arena);
    for (u32 i = 0; i < findings.n; i++)
        findings.list[i].expected = meet(&expected, &findings.list[i]);
    if (!only_expected)
        report_all_unexpected(&findings, failures);
    for (u32 i = 0; i < expected.n; i++)
        if (expected.list[i].count)
            report_missing(&expected.list[i], &findings, failures);
    expectations_free(&expected);
    if (findings.list)
        block_free(findings.list, findings.cap * sizeof *findings.list);
    arena_free(&arena);
    return failures->errors == before;
}
