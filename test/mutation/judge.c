#include "judge.h"

#include "conformance/checker.h"
#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <stdio.h>

const char *const judge_names[] = { "parser", "verifiers", "checkers", "nobody" };

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
                  : !verify_module(&m)               ? JUDGE_VERIFIER
                  : !checkers_accept(&m)             ? JUDGE_CHECKER
                                                     : JUDGE_NONE;
    snprintf(code, n, "%s", by != JUDGE_NONE && diags.first ? diags.first->code : "");
    module_free(&m);
    context_free(&ctx);
    diags_free(&diags);
    return by;
}
