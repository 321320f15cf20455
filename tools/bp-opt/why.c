#include "why.h"

#include "ir/verify.h"
#include "lexer/text.h"

#include "messages.h"
#include "why_numbers.h"
#include "why_place.h"

/* ---- What it is from ---- */

static const char *keyword_of(const struct place *p)
{
    const struct entity *e = stmt_entity(p->it, p->s);
    return e->flags & ENTITY_ROLE_KEYWORD ? ((const struct enumeration *)e->fields[0].aux)->words[field_get(p->s, &e->fields[0])].text : e->keyword;
}

static void note_layer(struct why *w, struct place p)
{
    struct place *slot = p.it->kind->layer == LAYER_DIST ? &w->dist : p.it->kind->layer == LAYER_PORTABLE ? &w->portable
                         : p.it->kind->layer == LAYER_MODEL ? &w->model : NULL;
    if (slot && !slot->s)
        *slot = p;
}

static void out_step(struct why *w, struct place p, u32 depth)
{
    for (u32 i = 0; i < depth; i++)
        out_string(w->o, "  ");
    out_string(w->o, depth ? "from " : "");
    out_printf(w->o, "%s %s of %s", keyword_of(&p), stmt_text(p.it, p.s), symbol_text(p.it, p.it->name));
    out_where(w->o, p.it, p.s, NULL);
    out_char(w->o, '\n');
}

/* A source by default: what has the same name in the parent. */
static const struct stmt *namesake(const struct place *p, const struct item *parent)
{
    bool value = stmt_entity(p->it, p->s)->flags & ENTITY_VALUE;
    return !p->s->name ? NULL : value ? item_value(parent, p->s->name) : NULL;
}

static void out_missing(struct why *w, const struct item *it, u32 depth)
{
    for (u32 i = 0; i < depth; i++)
        out_string(w->o, "  ");
    out_printf(w->o, "%s, of which %s is made, is not in the file: keep it there (--keep-sources), or add it to this file\n",
               symbol_text(it, it->header.parent.item), symbol_text(it, it->name));
}

static void climb(struct why *w, struct place p, u32 depth)
{
    enum { MOST = 16 };
    const struct item *parent = p.it->header.parent.item ? module_find(w->m, p.it->header.parent.item) : NULL;
    note_layer(w, p);
    out_step(w, p, depth);
    if (!p.it->header.parent.item || depth == MOST)
        return;
    if (!parent) {
        out_missing(w, p.it, depth + 1);
        return;
    }
    if (p.s->lineage_kind == LINEAGE_NONE) {
        const struct stmt *s = namesake(&p, parent);
        if (s)
            climb(w, (struct place){ parent, s }, depth + 1);
        return;
    }
    u32 n = list_n(p.it, p.s->lineage);
    for (u32 i = 0; i < n && i < MOST; i++) {
        const struct stmt *s = item_ref(parent, list_at(p.it, p.s->lineage)[i]);
        if (s)
            climb(w, (struct place){ parent, s }, depth + 1);
    }
    if (n > MOST)
        out_printf(w->o, "%*sand %u more\n", 2 * (int)depth + 2, "", n - MOST);
}

/* ---- The whole ---- */

static struct place find(const struct part *part, u32 ref)
{
    for (u32 i = part->module.n; i-- > 0;) {
        const struct item *it = part->module.items[i];
        const struct stmt *s = item_ref(it, ref);
        if (s && follower_holds(&part->items, it->name))
            return (struct place){ it, s };
    }
    return (struct place){ 0 };
}

static void unknown(struct driver *d, const struct part *part, u32 ref)
{
    const char *near = NULL;
    const struct item *whole = ref_is_value(ref) ? NULL : module_find(&part->module, ref_atom(ref));
    if (whole) {
        diag_error(&d->diags, nowhere, "driver.why.unknown", "@%s is a whole %s: name one of its statements",
                   context_text(&d->ctx, whole->name), whole->kind->name);
        return;
    }
    diag_error(&d->diags, nowhere, "driver.why.unknown", "no item declares %s%s", ref_is_value(ref) ? "%" : "@", context_text(&d->ctx, ref_atom(ref)));
    for (u32 i = part->module.n; !near && i-- > 0;)
        near = ref_is_value(ref) ? nearest_value(part->module.items[i], ref_atom(ref)) : nearest_symbol(part->module.items[i], ref_atom(ref));
    if (near)
        diag_note(&d->diags, nowhere, "did you mean %s%s?", ref_is_value(ref) ? "%" : "@", near);
}

static bool read_ref(struct driver *d, u32 *ref)
{
    const char *text = d->options->text[OPT_WHY], *fault = NULL;
    bool value = *text == '%';
    text += *text == '@' || *text == '%';
    size_t n = strlen(text);
    bool quoted = n > 2 && text[0] == '"' && text[n - 1] == '"';
    atom name = quoted ? text_unquote(&d->ctx, text, text + n, &fault) : intern(&d->ctx.names, text, n);
    *ref = value ? REF_VALUE(name) : REF_SYMBOL(name);
    return !fault || usage_error("option '--why': %s", fault);
}

bool why_report(struct out *o, struct driver *d, const struct part *part)
{
    struct why w = { .o = o, .m = &part->module, .session = &d->session, .arena = &d->arena };
    u32 ref;
    if (!read_ref(d, &ref))
        return false;
    struct place p = find(part, ref);
    if (!p.s) {
        unknown(d, part, ref);
        return false;
    }
    w.account = ARENA_NEW(&d->arena, struct account);
    climb(&w, p, 0);
    why_numbers(&w);
    return true;
}
