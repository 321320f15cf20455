#include "fix.h"

#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"
#include "support/fix.h"

#include "messages.h"
#include "request.h"

/* A mended text may show what could not be seen before; texts that never come to rest are given up. */
enum { MOST_ROUNDS = 32 };

/* Reads SRC in a context of its own: names and messages point into it. */
static void read_text(const struct source *src, struct diags *diags)
{
    struct context ctx;
    struct module m;
    context_init(&ctx, all_dialects, diags);
    parse_module(&m, &ctx, src);
    verify_module(&m);
    module_free(&m);
    context_free(&ctx);
}

/* The text after one round, in the driver's arena; false when nothing changed. */
static bool mend(struct driver *d, struct source *src, struct fix_count *sum)
{
    struct diags diags;
    struct out o;
    diags_init(&diags);
    read_text(src, &diags);
    out_memory(&o);
    struct fix_count count = fixes_apply(&diags, src, &o);
    bool changed = count.applied && (o.n != src->size || memcmp(o.data, src->text, o.n));
    sum->applied += changed ? count.applied : 0;
    sum->left_out += changed ? count.left_out : 0;
    if (changed)
        source_borrow(src, src->name, arena_copy(&d->arena, o.data, o.n), o.n);
    out_free(&o);
    diags_free(&diags);
    return changed;
}

static bool write_text(struct driver *d, const struct source *src)
{
    const char *fault = output_open(&d->output, &d->arena);
    if (fault)
        return cannot_write(d, &d->output, fault);
    out_bytes(&d->output.out, src->text, src->size);
    fault = output_close(&d->output);
    return !fault || cannot_write(d, &d->output, fault);
}

static const char *plural(u32 n)
{
    return n == 1 ? "" : "es";
}

enum status fix_run(struct driver *d)
{
    struct fix_count sum = { 0 };
    struct source *src = ARENA_NEW(&d->arena, struct source);
    const char *fault = source_read(&d->source, d->options->input);
    if (fault)
        return cannot_read(d, d->options->input, fault) ? STATUS_SUCCESS : STATUS_MISUSED;
    if (!request_output(d))
        return STATUS_MISUSED;
    source_borrow(src, d->source.name, d->source.text, d->source.size);
    for (u32 i = 0; i < MOST_ROUNDS && mend(d, src, &sum); i++)
        ;
    read_text(src, &d->diags);
    bool clean = !d->diags.errors;
    if (sum.applied)
        diag_remark(&d->diags, nowhere, "driver.fix", "%u fix%s applied; messages are of the new text", sum.applied, plural(sum.applied));
    if (sum.left_out)
        diag_note(&d->diags, nowhere, "%u more overlapped others and had to wait for the next reading", sum.left_out);
    return write_text(d, src) && clean ? STATUS_SUCCESS : STATUS_REFUSED;
}
