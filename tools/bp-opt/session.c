#include "session.h"

#include "ir/verify.h"
#include "parser/parse.h"

static bool add_session_item(struct driver *d, struct item *it)
{
    const struct item *twin = module_find(&d->session, it->name);
    module_add(&d->session, it);
    struct loc at = d->ctx.locate(it, NULL, NULL, NULL);
    if (it->kind->layer != LAYER_SESSION)
        return diag_error(&d->diags, at, "driver.session.layer", "a %s is no session item", it->kind->name);
    if (!twin)
        return true;
    diag_error(&d->diags, at, "ir.item.duplicate", "%s stands in two session files", symbol_text(it, it->name));
    diag_note(&d->diags, d->ctx.locate(twin, NULL, NULL, NULL), "it stands here first");
    return false;
}

bool session_parse(struct driver *d)
{
    bool good = true;
    for (u32 i = 0; i < d->n_session_sources; i++) {
        struct module m;
        good = parse_module(&m, &d->ctx, &d->session_sources[i]) && good;
        good = verify_module(&m) && good;
        for (u32 k = 0; k < m.n; k++)
            good = add_session_item(d, m.items[k]) && good;
        m.n = 0;        /* they are the session's now */
        module_free(&m);
    }
    return good;
}
