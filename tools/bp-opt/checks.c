#include "checks.h"

#include "show.h"

#include <string.h>

static bool unknown(const char *word, size_t length, struct arena *arena)
{
    const char *names[MOST_CHECKERS + 1] = { "all" }, *name = arena_copy(arena, word, length);
    size_t n = 1;
    for (const struct checker *const *c = all_checkers; *c; c++)
        names[n++] = (*c)->name;
    const char *near = nearest_name(name, names, n);
    return near ? usage_error("no checker is called '%s'; did you mean '%s'?", name, near)
                : usage_error("no checker is called '%s'; --list-checks lists them", name);
}

/* The checkers of LIST as bits of the table. */
static bool choose(const char *list, u32 *bits, struct arena *arena)
{
    const char *word;
    size_t length;
    for (u32 i = 0; (word = list_word(list, i, &length)); i++) {
        bool all = length == 3 && !memcmp(word, "all", 3), found = all;
        for (u32 k = 0; all_checkers[k]; k++)
            if (all || all_checkers[k] == checker_find(word, length)) {
                *bits |= 1u << k;
                found = true;
            }
        if (!found)
            return unknown(word, length, arena);
    }
    return true;
}

bool checks_choose(struct checks *c, const struct options *o, struct arena *arena)
{
    u32 bits = 0;
    for (u32 i = 0; i < o->n_repeated; i++)
        if (o->repeated[i].id == OPT_CHECK && !choose(o->repeated[i].text, &bits, arena))
            return false;
    for (u32 k = 0; all_checkers[k]; k++)
        if (bits >> k & 1)
            c->chosen[c->n++] = all_checkers[k];
    return true;
}

/* "check.work_conservation.proved", which lives as long as the context. */
static const char *code_of(struct context *ctx, const struct checker *checker, const char *what)
{
    char *code = (char *)arena_format(&ctx->arena, "check.%s.%s", checker->name, what);
    for (char *at = code; *at; at++)
        if (*at == '-')
            *at = '_';
    return code;
}

static void tell(const struct check *check)
{
    struct context *ctx = check->v.ctx;
    for (u32 i = 0; i < check->n_notes; i++) {
        const struct check_note *note = &check->notes[i];
        diag_remark(ctx->diags, (struct loc){ 0 }, code_of(ctx, check->checker, note->proved ? "proved" : "skipped"), "%s", note->text);
        diag_context(ctx->diags, "%s", symbol_text(check->v.item, check->v.item->name));
    }
}

static bool check_item(struct checks *c, const struct item *it, const struct module *m)
{
    bool good = true;
    for (u32 i = 0; i < c->n; i++) {
        struct check check;
        if (!(c->chosen[i]->layers & IN(it->kind->layer)))
            continue;
        c->ran[i]++;
        good = check_run(&check, c->chosen[i], it, m) && good;
        tell(&check);
        check_free(&check);
    }
    return good;
}

bool checks_module(struct checks *c, const struct module *m, atom only)
{
    bool good = true;
    for (u32 i = 0; c->n && i < m->n; i++)
        if (!only || m->items[i]->name == only)
            good = check_item(c, m->items[i], m) && good;
    return good;
}

static bool after(void *state, const struct checkpoint *c)
{
    const struct module *m = c->module;
    struct module with = *m;        /* the output isn't in it yet; the list is copied, as a longer one */
    with.items = ARENA_ARRAY(&c->output->ctx->arena, struct item *, m->n + 1);
    memcpy(with.items, m->items, m->n * sizeof *m->items);
    with.items[with.n++] = (struct item *)c->output;
    return check_item(state, c->output, &with);
}

struct observer checks_observer(struct checks *c)
{
    return (struct observer){ .name = "--check", .state = c, .after = after };
}

void checks_end(struct checks *c, struct context *ctx)
{
    for (u32 i = 0; i < c->n; i++) {
        if (!c->ran[i])
            diag_remark(ctx->diags, (struct loc){ 0 }, code_of(ctx, c->chosen[i], "skipped"), "%s reads no item of this file",
                        c->chosen[i]->name);
        c->ran[i] = 0;
    }
}
