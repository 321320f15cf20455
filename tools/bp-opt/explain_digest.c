#include "explain_digest.h"

#include "ir/print.h"

#include "messages.h"
#include "request.h"

struct explanation {
    struct out *o;
    const struct module *m;
    bool *inside;               /* by the module's items: it goes into the digest */
};

enum { MOST_LEVELS = 32 };

static void indent(const struct explanation *e, u32 depth)
{
    out_printf(e->o, "%*s", (int)depth * 2, "");
}

/* ---- One item's own text ---- */

static void out_statements(struct explanation *e, const struct item *it)
{
    const char *between = "";
    for (u32 i = 0; i < it->kind->n_entities; i++) {
        u32 n = item_count(it, i);
        if (n)
            out_printf(e->o, "%s%u %s", between, n, entity_word(&it->kind->entities[i]));
        between = n ? ", " : between;
    }
}

/* A session item is short: all of its facts. */
static void out_facts(struct explanation *e, const struct item *it, u32 depth)
{
    for (const struct field *f = it->kind->entities[it->stmts[0]->entity].fields; f->kind != FIELD_END; f++) {
        if (field_is_default(it, it->stmts[0], f) && f->presence != REQUIRED)
            continue;
        indent(e, depth);
        print_session_field(e->o, it, it->stmts[0], f);
        out_char(e->o, '\n');
    }
}

static void out_text(struct explanation *e, const struct item *it, u32 depth)
{
    indent(e, depth);
    out_printf(e->o, "%s", it->kind->name);
    if (it->header.major || it->header.minor)
        out_printf(e->o, " schema %u.%u", it->header.major, it->header.minor);
    if (it->header.pass)
        out_printf(e->o, ", made by %s revision %u", context_text(it->ctx, it->header.pass), it->header.revision);
    out_printf(e->o, ": %llu bytes of canonical text", (unsigned long long)item_text_size(it));
    if (it->kind->layer != LAYER_SESSION) {
        out_string(e->o, ", ");
        out_statements(e, it);
    }
    out_char(e->o, '\n');
    if (it->kind->layer == LAYER_SESSION && it->n_stmts)
        out_facts(e, it, depth);
}

/* ---- What it pins, which its text holds by digest ---- */

static void out_item(struct explanation *e, struct item *it, u32 depth);

static void out_pin(struct explanation *e, const char *how, const struct item *of, const struct pin *pin, u32 depth)
{
    struct item *it = module_find(e->m, pin->item);
    indent(e, depth);
    out_printf(e->o, "%s ", how);
    out_name(e->o, &of->ctx->names, '@', pin->item);
    if (digest_is_none(pin->digest)) {
        out_string(e->o, ", its name only: no digest is pinned\n");
        return;
    }
    out_char(e->o, ' ');
    out_digest_text(e->o, pin->digest);
    out_string(e->o, it ? "\n" : ", which is not in this file\n");
    if (it && depth < MOST_LEVELS)
        out_item(e, it, depth + 1);
}

static void out_item(struct explanation *e, struct item *it, u32 depth)
{
    u32 at = 0;
    while (e->m->items[at] != it)
        at++;
    if (e->inside[at]) {
        indent(e, depth);
        out_string(e->o, "as above\n");
        return;
    }
    e->inside[at] = true;
    out_text(e, it, depth);
    if (it->header.parent.item)
        out_pin(e, "from", it, &it->header.parent, depth);
    for (u32 i = 0; i < it->header.n_using; i++)
        out_pin(e, "using", it, &it->header.using[i], depth);
}

/* ---- What is not in it ---- */

static void out_rest(struct explanation *e)
{
    bool any = false;
    for (u32 i = 0; i < e->m->n; i++) {
        if (e->inside[i])
            continue;
        out_string(e->o, any ? ", " : "  not in it: ");
        out_name(e->o, &e->m->ctx->names, '@', e->m->items[i]->name);
        any = true;
    }
    out_string(e->o, any ? "; and of no item" : "  not in it:");
    out_string(e->o, " comments, blank lines, places, how a number was spelled\n");
}

static void explain(struct out *o, struct driver *d, const struct module *m, struct item *it)
{
    struct explanation e = { o, m, ARENA_ARRAY(&d->arena, bool, m->n) };
    out_name(o, &it->ctx->names, '@', it->name);
    out_char(o, ' ');
    out_digest_text(o, item_digest(it));
    out_char(o, '\n');
    out_item(&e, it, 1);
    out_rest(&e);
}

bool explain_digest_report(struct out *o, struct driver *d)
{
    const char *names[256], *near;
    size_t n = 0;
    atom name = request_name(d, d->options->text[OPT_EXPLAIN_DIGEST]);
    for (u32 i = 0; i < d->n_parts; i++) {
        const struct module *m = &d->parts[i].module;
        struct item *it = d->parts[i].good && name ? module_find(m, name) : NULL;
        if (it) {
            explain(o, d, m, it);
            return true;
        }
        for (u32 k = 0; k < m->n && n < COUNT(names); k++)
            names[n++] = context_text(&d->ctx, m->items[k]->name);
    }
    near = name ? nearest_name(context_text(&d->ctx, name), names, n) : NULL;
    diag_error(&d->diags, nowhere, "driver.item.unknown", "%s has no item %s", d->source.name, d->options->text[OPT_EXPLAIN_DIGEST]);
    if (near)
        diag_note(&d->diags, nowhere, "did you mean @%s?", near);
    return false;
}
