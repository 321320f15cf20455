/* Syntax errors in words: what was found, what could stand there, and the nearest spelling. */
#include "parser/build.h"

enum { FEW = 6 };

/* "'schema'" -> "schema"; other names are descriptions. */
static const char *keyword_text(struct parser *p, const char *name)
{
    size_t n = strlen(name);
    return n > 2 && name[0] == '\'' ? arena_copy(&p->ctx->diags->arena, name + 1, n - 2) : NULL;
}

static bool is_punctuation(const char *keyword)
{
    return !((keyword[0] >= 'a' && keyword[0] <= 'z') || (keyword[0] >= 'A' && keyword[0] <= 'Z'));
}

static void out_expected(struct out *o, const char **expected, int n)
{
    for (int i = 0; i < n; i++) {
        out_string(o, i == 0 ? "" : i + 1 == n ? " or " : ", ");
        out_string(o, expected[i]);
    }
    out_char(o, '\0');
}

/* Drops what only clutters: keywords where a plain word would do, and the recovery token. */
static int reduce_expected(struct parser *p, const char **expected, int n)
{
    bool word = false;
    int kept = 0;
    for (int i = 0; i < n; i++)
        word = word || !strcmp(expected[i], "a word");
    for (int i = 0; i < n; i++) {
        const char *keyword = keyword_text(p, expected[i]);
        bool clutter = !strcmp(expected[i], "the next statement") || !strcmp(expected[i], "an invalid token") ||
                       (word && keyword && !is_punctuation(keyword)) || (word && !strncmp(expected[i], "a lineage", 9)) ||
                       (word && !strncmp(expected[i], "a role", 6));
        if (!clutter)
            expected[kept++] = expected[i];
    }
    return kept;
}

static const char *nearest_keyword(struct parser *p, const char *found, const char **expected, int n)
{
    static const char *const roles[] = { "input", "parameter", "constant", "state", "kv_cache", "optimizer_state" };
    const char *names[128];
    size_t k = 0;
    for (int i = 0; i < n && k < COUNT(names) - COUNT(roles); i++) {
        const char *keyword = keyword_text(p, expected[i]);
        if (keyword && !is_punctuation(keyword))
            names[k++] = keyword;
        for (size_t r = 0; !strncmp(expected[i], "a role", 6) && r < COUNT(roles); r++)
            names[k++] = roles[r];
    }
    if (!p->item)
        for (const struct dialect *const *d = p->ctx->dialects; *d; d++)
            for (u32 i = 0; i < (*d)->n_kinds && k < COUNT(names); i++)
                names[k++] = (*d)->kinds[i].name;
    return nearest_name(found, names, k);
}

static bool new_line_between(const struct parser *p, u32 from, u32 to)
{
    return from < to && memchr(p->src->text + from, '\n', to - from);
}

void report_syntax_error(struct parser *p, struct span at, bool invalid, const char **expected, int n)
{
    if (invalid) {
        build_error(p, at, p->lexer.fault_code, "%s", p->lexer.fault);
        lexer_panic(&p->lexer);
        return;
    }
    bool at_end = at.begin >= p->src->size;
    const char *found = at_end ? "the end of the file" : arena_format(&p->ctx->diags->arena, "`%s`", build_text(p, at));
    const char *near = at_end ? NULL : nearest_keyword(p, build_text(p, at), expected, n);
    n = reduce_expected(p, expected, n);
    bool statement = false;
    for (int i = 0; i < n; i++)
        statement = statement || !strcmp(expected[i], "'task'") || !strcmp(expected[i], "'op'");
    struct out o;
    out_memory(&o);
    if (n && n <= FEW)
        out_expected(&o, expected, n);
    struct span shown = at;
    if (new_line_between(p, p->lexer.previous_end, at.begin) && !statement && !at_end)
        shown = (struct span){ p->lexer.previous_end, p->lexer.previous_end };     /* something is missing at a line's end */
    if (o.n)
        build_error(p, shown, "syntax.expected", "expected %s, found %s", o.data, found);
    else
        build_error(p, shown, "syntax.unexpected", p->item ? "%s can't stand here" : "%s does not begin an item", found);
    if (near)
        build_note(p, "did you mean `%s`?", near);
    else if (at_end && p->item)
        diag_note(p->ctx->diags, (struct loc){ p->src, p->item->begin, p->item->begin + (u32)strlen(p->item->kind->name) },
                  "the item that begins here is not closed");
    out_free(&o);
    lexer_panic(&p->lexer);
}
