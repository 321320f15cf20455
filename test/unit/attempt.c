#define _GNU_SOURCE
#include "attempt.h"

#include "dialects/registry.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lexer/text.h"
#include "parser/parse.h"
#include "parser/roundtrip.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

void attempt_parse(struct attempt *a, const char *text, size_t size)
{
    a->copy = malloc(size + 1);
    if (!a->copy)
        abort();
    memcpy(a->copy, text, size);
    a->copy[size] = '\0';
    diags_init(&a->diags);
    context_init(&a->ctx, all_dialects, &a->diags);
    source_borrow(&a->source, "test.bpir", a->copy, size);
    a->parsed = a->verified = parse_module(&a->module, &a->ctx, &a->source);
}

void attempt_begin(struct attempt *a, const char *text, size_t size)
{
    attempt_parse(a, text, size);
    a->verified = verify_module(&a->module) && a->parsed;
}

void attempt_end(struct attempt *a)
{
    module_free(&a->module);
    context_free(&a->ctx);
    diags_free(&a->diags);
    free(a->copy);
}

static const char *render(struct attempt *a)
{
    struct out o;
    out_memory(&o);
    diags_render(&a->diags, &o, (struct diag_style){ .color = false });
    const char *text = arena_copy(&a->ctx.arena, o.n ? o.data : "", o.n);
    out_free(&o);
    return text;
}

static const char *misplaced(struct attempt *a)
{
    bool valid = text_valid_utf8(a->copy, a->copy + a->source.size);
    for (const struct diag *d = a->diags.first; d; d = d->next) {
        if (!d->loc.src)
            return arena_format(&a->ctx.arena, "no place: %s", d->message);
        if (d->loc.begin > d->loc.end || d->loc.end > a->source.size)
            return arena_format(&a->ctx.arena, "a place outside of the text: %s", d->message);
        if (!d->code || !strchr(d->code, '.'))
            return arena_format(&a->ctx.arena, "no code: %s", d->message);
        if (strchr(d->message, '\n') || (valid && !text_valid_utf8(d->message, d->message + strlen(d->message))))
            return arena_format(&a->ctx.arena, "a message of odd bytes: %s", d->message);
    }
    return NULL;
}

const char *attempt_fault(struct attempt *a)
{
    const char *fault = misplaced(a), *shown = render(a);
    if (fault)
        return fault;
    if (!a->verified != (a->diags.errors > 0))
        return arena_format(&a->ctx.arena, "accepted with errors, or refused without:\n%s", shown);
    if (a->diags.errors && !strstr(shown, "error: ["))
        return "an error that is not shown";
    if (a->parsed && !verify_roundtrip(&a->module) && a->verified)     /* what is refused need only print */
        return arena_format(&a->ctx.arena, "the round trip fails:\n%s", render(a));
    return NULL;
}

static void must_be_accepted(struct attempt *a, const char *text)
{
    ck_assert_msg(a->verified, "refused:\n%s\n%s", text, render(a));
    const char *fault = attempt_fault(a);
    ck_assert_msg(!fault, "%s\n%s", fault, text);
    attempt_end(a);
}

void assert_parses(const char *text)
{
    struct attempt a;
    attempt_parse(&a, text, strlen(text));
    must_be_accepted(&a, text);
}

void assert_accepted(const char *text)
{
    struct attempt a;
    attempt_begin(&a, text, strlen(text));
    must_be_accepted(&a, text);
}

char *attempt_print(struct attempt *a, bool trivia)
{
    struct out o;
    out_memory(&o);
    print_module(&o, &a->module, trivia);
    char *text = strndup(o.n ? o.data : "", o.n);
    out_free(&o);
    return text;
}

void assert_prints(const char *text, const char *expected)
{
    struct attempt a;
    attempt_parse(&a, text, strlen(text));
    ck_assert_msg(a.parsed, "refused:\n%s\n%s", text, render(&a));
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s\n%s", fault, text);
    char *printed = attempt_print(&a, true);
    ck_assert_str_eq(printed, expected);
    free(printed);
    attempt_end(&a);
}

void assert_errors(const char *text, unsigned n, const char *code, const char *at, const char *message)
{
    struct attempt a;
    attempt_parse(&a, text, strlen(text));
    const char *fault = attempt_fault(&a), *shown = render(&a), *place = *at ? strstr(text, at) : text + strlen(text);
    const struct diag *d = a.diags.first;
    while (d && d->severity != SEVERITY_ERROR)
        d = d->next;
    ck_assert_msg(!fault, "%s\n%s", fault, text);
    ck_assert_msg(d && place, "accepted, or no `%s` in it:\n%s\n%s", at, text, shown);
    ck_assert_str_eq(d->code, code);
    ck_assert_msg(strstr(d->message, message), "no `%s` in:\n%s", message, shown);
    ck_assert_msg(d->loc.begin == place - text, "not at `%s`:\n%s", at, shown);
    ck_assert_msg(a.diags.errors == n, "not %u errors:\n%s", n, shown);
    attempt_end(&a);
}

/* ---- Files: nftw takes no state of its own ---- */

static struct {
    const char *suffix;
    void (*visit)(const char *path, const char *text, size_t size);
    unsigned n;
} walk;

static int visit_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    size_t n = strlen(path), m = strlen(walk.suffix);
    (void)status, (void)where;
    if (kind != FTW_F || n < m || strcmp(path + n - m, walk.suffix))
        return 0;
    struct source s;
    const char *fault = source_read(&s, path);
    ck_assert_msg(!fault, "%s: %s", path, fault);
    walk.n++;
    walk.visit(path, s.text, s.size);
    source_free(&s);
    return 0;
}

void each_file(const char *folder, const char *suffix, void (*visit)(const char *path, const char *text, size_t size))
{
    const char *root = getenv("BP_SOURCE");
    char *path;
    ck_assert_int_gt(asprintf(&path, "%s/%s", root ? root : ".", folder), 0);
    walk.suffix = suffix;
    walk.visit = visit;
    walk.n = 0;
    ck_assert_int_eq(nftw(path, visit_file, 16, FTW_PHYS), 0);
    ck_assert_msg(walk.n > 0, "no %s in %s", suffix, path);
    free(path);
}
