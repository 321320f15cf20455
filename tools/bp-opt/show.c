#include "show.h"

#include "conformance/checker.h"
#include "dialects/registry.h"
#include "passes/pass.h"

#include "explain.h"
#include "help.h"
#include "output.h"

const char *layer_name(enum layer layer)
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        if ((*d)->kinds[0].layer == layer)
            return (*d)->name;
    return "none";
}

static void show_help(struct out *o, u32 form)
{
    static void (*const forms[])(struct out *) = { help_text, help_man, help_bash, help_zsh };
    forms[form](o);
}

static void show_analyses(struct out *o, const char *what, const struct analysis *const *list)
{
    for (u32 i = 0; list && list[i]; i++)
        out_printf(o, i ? ", %s" : "%s %s", i ? list[i]->name : what, list[i]->name);
    out_string(o, list && *list ? "\n" : "");
}

/* The rest of the contract: what may be from what, and the analyses. */
static void show_contract(struct out *o, const struct pass *p)
{
    for (const struct relation *r = p->relations; r && r->target; r++)
        out_printf(o, "    %s %s from %s: %s\n", r->target, r->kind == LINEAGE_LOWERED ? "lowered" : lineage_enum.words[r->kind].text, r->source, r->keeps);
    show_analyses(o, "    requires", p->requires);
    show_analyses(o, "    preserves", p->preserves);
    show_analyses(o, "    produces", p->produces);
}

static void show_passes(struct out *o)
{
    static const char *const needs[] = { "workload", "strategy", "target", "deployment" };
    for (const struct pass *const *p = all_passes; *p; p++) {
        out_printf(o, "%s\n    %s to %s, revision %u; needs", (*p)->name, layer_name((*p)->from), layer_name((*p)->to),
                   (*p)->revision);
        bool any = false;
        for (u32 b = 0; b < BINDINGS; b++)
            if ((*p)->bindings & NEEDS(b)) {
                out_printf(o, "%s %s", any ? "," : "", needs[b]);
                any = true;
            }
        out_printf(o, "%s\n    %s\n", any ? "" : " nothing", (*p)->doc);
        show_contract(o, *p);
    }
}

static void show_checks(struct out *o)
{
    for (const struct checker *const *c = all_checkers; *c; c++) {
        const char *between = " ";
        out_printf(o, "%s\n    reads", (*c)->name);
        for (u32 layer = 0; layer < LAYERS; layer++)
            if ((*c)->layers & IN(layer)) {
                out_printf(o, "%s%s", between, layer_name((enum layer)layer));
                between = ", ";
            }
        out_printf(o, "\n    %s\n", (*c)->doc);
    }
}

static void show_dialects(struct out *o)
{
    for (const struct dialect *const *d = all_dialects; *d; d++) {
        out_printf(o, "%s: %s\n", (*d)->name, (*d)->doc);
        for (u32 i = 0; i < (*d)->n_kinds; i++)
            out_printf(o, "    %s: %s\n", (*d)->kinds[i].name, (*d)->kinds[i].doc);
    }
}

/* ---- --show-ops ---- */

/* A statement's example on one line. */
static void out_joined(struct out *o, const char *text)
{
    for (; *text; text++)
        if (*text == '\n') {
            out_char(o, ' ');
            text += strspn(text + 1, " ");
        } else {
            out_char(o, *text);
        }
}

static void show_entities(struct out *o, const struct item_kind *k)
{
    for (u32 i = 0; i < k->n_entities; i++) {
        const struct entity *e = &k->entities[i];
        if (k->layer == LAYER_SESSION && strcmp(e->keyword, k->name))
            continue;
        if (k->layer == LAYER_SESSION)
            out_printf(o, "%s @name { ", k->name);
        out_joined(o, e->example);
        out_printf(o, "%s  // %s\n", k->layer == LAYER_SESSION ? " }" : "", e->doc);
    }
}

/* "4x8xf16, 8xf16" as `%a, %b` or `%a : tensor<4x8xf16>, …`; returns how many. */
static void out_values(struct out *o, const char *from, const char *to, char first, bool typed)
{
    for (u32 i = 0; from < to; i++) {
        const char *end = memchr(from, ',', (size_t)(to - from));
        end = end ? end : to;
        out_printf(o, "%s%%%c", i ? ", " : "", (char)(first + (char)i));
        if (typed)
            out_printf(o, " : tensor<%.*s>", (int)(end - from), from);
        for (from = end; from < to && strchr(", ", *from); from++)
            ;
    }
}

/* From a sample `(4x8xf16, 8xf16) -> 4x8xf16 axis 1` a statement of the layer: `op @linear model.linear(%a, %b) -> %r : …`. */
static void show_operation(struct out *o, const struct operation *op, bool model)
{
    const char *operands = op->sample + 1, *close = strchr(operands, ')'), *results = strstr(close, "-> ");
    out_printf(o, "%s @%s %s%s(", model ? "op" : "task", strrchr(op->name, '.') ? strrchr(op->name, '.') + 1 : op->name,
               model ? "" : "local ", op->name);
    out_values(o, operands, close, 'a', false);
    out_char(o, ')');
    const char *rest = close + 1;
    if (results) {
        bool several = results[3] == '(';
        const char *from = results + 3 + several;
        rest = from + strcspn(from, several ? ")" : " ");
        out_string(o, several ? " -> (" : " -> ");
        out_values(o, from, rest, 'r', true);
        out_string(o, several ? ")" : "");
        rest += several;
    }
    out_printf(o, "%s  // %s\n", rest, op->doc);
}

static void show_dialect_ops(struct out *o, const struct dialect *d)
{
    for (u32 i = 0; i < d->n_kinds; i++)
        show_entities(o, &d->kinds[i]);
    for (u32 i = 0; i < d->n_samples; i++) {
        out_joined(o, d->samples[i].text);
        out_printf(o, "  // %s\n", d->samples[i].doc);
    }
    for (u32 i = 0; i < d->n_operations; i++)
        if (d->operations[i].name)
            show_operation(o, &d->operations[i], d->operations[i].layers & IN(LAYER_MODEL));
}

static bool show_ops(struct out *o, const char *dialect)
{
    const char *names[16];
    size_t n = 0;
    bool any = false;
    for (const struct dialect *const *d = all_dialects; *d; d++) {
        names[n++] = (*d)->name;
        if (dialect && strcmp(dialect, (*d)->name))
            continue;
        any = true;
        show_dialect_ops(o, *d);
    }
    if (any)
        return true;
    const char *near = nearest_name(dialect, names, n);
    return near ? usage_error("no dialect is called '%s'; did you mean '%s'?", dialect, near)
                : usage_error("no dialect is called '%s'; --show-dialects lists them", dialect);
}

static bool show_into(struct out *out, const struct options *o, struct arena *arena)
{
    if (o->on[OPT_HELP])
        show_help(out, o->number[OPT_HELP]);
    else if (o->on[OPT_VERSION])
        out_string(out, "bp-opt " BP_OPT_VERSION "\n");
    else if (o->on[OPT_LIST_PASSES])
        show_passes(out);
    else if (o->on[OPT_LIST_CHECKS])
        show_checks(out);
    else if (o->on[OPT_SHOW_DIALECTS])
        show_dialects(out);
    else if (o->on[OPT_SHOW_OPS])
        return show_ops(out, o->text[OPT_SHOW_OPS]);
    else
        return explain(out, o->text[OPT_EXPLAIN], arena);
    return true;
}

bool show(const struct options *o, struct arena *arena, int *status)
{
    static const enum option asked[] = { OPT_HELP, OPT_VERSION, OPT_LIST_PASSES, OPT_LIST_CHECKS, OPT_SHOW_DIALECTS, OPT_SHOW_OPS, OPT_EXPLAIN };
    bool any = false;
    for (u32 i = 0; i < COUNT(asked); i++)
        any = any || o->on[asked[i]];
    if (!any)
        return false;
    struct out out;
    out_fd(&out, 1);
    if (!show_into(&out, o, arena))
        *status = 2;
    else if (out_flush(&out))
        *status = 0;
    else
        *status = usage_error("can't write to standard output: %s", strerror(out.error)) ? 0 : 1;
    out_free(&out);
    return true;
}
