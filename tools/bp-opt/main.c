/* temporary */
#include "dialects/registry.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    struct diags d; struct context ctx; struct module m; struct source src; struct out o, e;
    diags_init(&d);
    context_init(&ctx, all_dialects, &d);
    const char *fault = source_read(&src, argc > 1 ? argv[1] : "-");
    if (fault) { fprintf(stderr, "%s\n", fault); return 2; }
    bool ok = parse_module(&m, &ctx, &src);
    ok = verify_module(&m) && ok;
    out_fd(&e, 2);
    diags_render(&d, &e, (struct diag_style){0});
    out_flush(&e);
    if (ok) { out_fd(&o, 1); print_module(&o, &m, argc <= 2); out_flush(&o); }
    return !ok;
}
