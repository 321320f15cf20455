#include "judge.h"

#include "conformance/checker.h"
#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"
#include "passes/derivation.h"

#include <stdio.h>

const char *const judge_names[] = { "parser", "verifiers", "checkers", "derivation", "nobody" };

/* As bp-opt does before anything else. */
static bool verifiers_accept(const struct module *m)
{
    bool good = verify_module(m);
    return derivation_check_headers(m) && good;
}

/* As --verify-derivation does: what passes made is made again. */
static bool derivation_accepts(const struct module *m, struct context *ctx)
{
    struct module session;
    module_init(&session, ctx, NULL);
    bool good = derivation_check(m, &session, 0);
    module_free(&session);
    return good;
}

/* The first error; remarks of what was proved stand before it. */
static const char *first_error(const struct diags *diags)
{
    for (const struct diag *d = diags->first; d; d = d->next)
        if (d->severity == SEVERITY_ERROR)
            return d->code;
    return "";
}

static bool checkers_accept(const struct module *m)
{
    bool good = true;
    for (u32 i = 0; good && i < m->n; i++)
        for (const struct checker *const *c = all_checkers; good && *c; c++) {
            struct check check;
            good = check_run(&check, *c, m->items[i], m);
            check_free(&check);
        }
    return good;
}

enum judge judge_text(const char *text, size_t size, char *code, size_t n)
{
    struct diags diags;
    struct context ctx;
    struct source source;
    struct module m;
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    source_borrow(&source, "mutant", text, size);
    enum judge by = !parse_module(&m, &ctx, &source) ? JUDGE_PARSER
                  : !verifiers_accept(&m)            ? JUDGE_VERIFIER
                  : !checkers_accept(&m)             ? JUDGE_CHECKER
                  : !derivation_accepts(&m, &ctx)    ? JUDGE_DERIVATION
                                                     : JUDGE_NONE;
    snprintf(code, n, "%s", first_error(&diags));
    module_free(&m);
    context_free(&ctx);
    diags_free(&diags);
    return by;
}
