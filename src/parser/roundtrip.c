#include "parser/roundtrip.h"

#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"

static struct loc place(const struct item *it)
{
    return it->src ? it->ctx->locate(it, NULL, NULL, NULL) : (struct loc){ 0 };
}

static bool refuse(const struct item *it, const char *what, const char *how)
{
    diag_error(it->ctx->diags, place(it), "ir.roundtrip", "%s does not survive printing and parsing: %s %s",
               symbol_text(it, it->name), what, how);
    if (!it->src)
        diag_context(it->ctx->diags, "%s", symbol_text(it, it->name));
    return false;
}

static bool same_item(struct item *a, struct item *b)
{
    const char *what;
    if (a->name != b->name)
        return refuse(a, "its name", "differs");
    if (!item_equal(a, b, &what))
        return refuse(a, what, "differs");
    return digest_equal(item_digest(a), item_digest(b)) || refuse(a, "its digest", "differs");
}

static bool same_items(const struct module *m, const struct module *again, const struct source *text)
{
    bool good = true;
    if (m->n != again->n)
        return diag_error(m->ctx->diags, (struct loc){ text, 0, 0 }, "ir.roundtrip", "%u items were printed, %u were parsed",
                          m->n, again->n);
    for (u32 i = 0; i < m->n; i++)
        good = same_item(m->items[i], again->items[i]) && good;
    return good;
}

/* The second print must be the text that was parsed; else the caret shows the first byte that differs. */
static bool same_bytes(const struct module *again, const struct source *text)
{
    struct out o;
    out_memory(&o);
    print_module(&o, again, true);
    u32 at = 0;
    while (at < text->size && at < o.n && o.data[at] == text->text[at])
        at++;
    bool same = at == text->size && at == o.n;
    out_free(&o);
    return same || diag_error(again->ctx->diags, (struct loc){ text, at, at }, "ir.roundtrip",
                              "printing this text again gives another byte here");
}

bool verify_roundtrip(const struct module *m)
{
    struct context *ctx = m->ctx;
    struct out o;
    out_memory(&o);
    print_module(&o, m, true);
    struct source *text = ARENA_NEW(&ctx->arena, struct source);
    source_borrow(text, "<printed>", arena_copy(&ctx->arena, o.data ? o.data : "", o.n), o.n);
    out_free(&o);
    struct module again;
    bool good = parse_module(&again, ctx, text);
    if (!good)
        diag_error(ctx->diags, (struct loc){ text, 0, 0 }, "ir.roundtrip", "what was printed does not parse");
    good = good && same_items(m, &again, text);
    good = good && same_bytes(&again, text);
    module_free(&again);
    return good;
}
