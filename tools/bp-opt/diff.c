#include "diff.h"

#include "ir/verify.h"
#include "parser/parse.h"

#include "diff_write.h"
#include "messages.h"
#include "request.h"

/* ---- Which items are compared ---- */

static bool load(struct driver *d, const char *path, struct module *m)
{
    struct source *src = &d->session_sources[d->n_session_sources];
    const char *fault = source_read(src, path);
    if (fault)
        return cannot_read(d, path, fault);
    d->n_session_sources++;
    bool good = parse_module(m, &d->ctx, src);
    return verify_module(m) && good;
}

/* Programs and plans of unlike names are one item renamed, when each file has just one of their kind left. */
static struct item *only_left(const struct module *m, const struct module *other, const struct item_kind *kind)
{
    struct item *found = NULL;
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i]->kind == kind && !module_find(other, m->items[i]->name)) {
            if (found)
                return NULL;
            found = m->items[i];
        }
    return found;
}

static struct item *counterpart(struct item *it, const struct module *own, const struct module *other)
{
    struct item *twin = module_find(other, it->name);
    if (twin)
        return twin->kind == it->kind ? twin : NULL;
    twin = only_left(other, own, it->kind);
    return twin && only_left(own, other, it->kind) == it ? twin : NULL;
}

static u32 pair_items(struct driver *d, struct module *a, struct module *b, struct diff_pair **pairs)
{
    u32 n = 0;
    *pairs = ARENA_ARRAY(&d->arena, struct diff_pair, a->n + b->n + 1);
    for (u32 i = 0; i < a->n; i++)
        (*pairs)[n++] = (struct diff_pair){ a->items[i], counterpart(a->items[i], a, b) };
    for (u32 i = 0; i < b->n; i++)
        if (!counterpart(b->items[i], b, a))
            (*pairs)[n++] = (struct diff_pair){ NULL, b->items[i] };
    return n;
}

static struct item *named(struct driver *d, const struct module *m, const char *path, atom name)
{
    struct item *it = module_find(m, name);
    if (!it)
        diag_error(&d->diags, nowhere, "driver.item.unknown", "%s has no item @%s", path, context_text(&d->ctx, name));
    return it;
}

/* Two items by name: --item=@a is one in each file, --item=@a,@b the first in the first, the second in the last. */
static bool choose_items(struct driver *d, struct module *a, struct module *b, struct diff_pair *pair)
{
    const struct options *o = d->options;
    *pair = (struct diff_pair){ named(d, a, o->input, d->item), named(d, b, o->second ? o->second : o->input, d->item_to ? d->item_to : d->item) };
    if (!pair->a || !pair->b)
        return false;
    return pair->a->kind == pair->b->kind ||
           usage_error("--diff compares items of one kind: %s is a %s, %s a %s", symbol_text(pair->a, pair->a->name),
                       pair->a->kind->name, symbol_text(pair->b, pair->b->name), pair->b->kind->name);
}

/* ---- The run ---- */

static bool compare(struct driver *d, struct module *a, struct module *b, struct diff_report *r)
{
    struct diff_pair one, *pairs = &one;
    u32 n = 1;
    if (d->item && !choose_items(d, a, b, &one))
        return false;
    if (!d->item)
        n = pair_items(d, a, b, &pairs);
    diff_write(r, pairs, n);
    return true;
}

enum status diff_run(struct driver *d)
{
    enum { TEXT, JSON };
    const struct options *o = d->options;
    struct module modules[2];
    struct diff_report r = { .d = d, .o = &d->output.out, .json = o->number[OPT_DIFF] == JSON };
    const char *fault = NULL;
    module_init(&modules[0], &d->ctx, NULL);
    module_init(&modules[1], &d->ctx, NULL);
    d->session_sources = ARENA_ARRAY(&d->arena, struct source, 2);
    bool good = request_item(d) && request_output(d);
    good = good && load(d, o->input, &modules[0]);
    good = good && (!o->second || load(d, o->second, &modules[1]));
    if (good && (fault = output_open(&d->output, &d->arena)))
        good = cannot_write(d, &d->output, fault);
    else if (good) {
        good = compare(d, &modules[0], o->second ? &modules[1] : &modules[0], &r);
        fault = output_close(&d->output);
        good = (!fault || cannot_write(d, &d->output, fault)) && good;
    }
    module_free(&modules[0]);
    module_free(&modules[1]);
    return !good ? STATUS_MISUSED : r.any ? STATUS_REFUSED : STATUS_SUCCESS;
}
