#include "conformance/checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CHECKER(symbol) extern const struct checker symbol;
#include "conformance/checkers.def"

const struct checker *const all_checkers[] = {
#define CHECKER(symbol) &symbol,
#include "conformance/checkers.def"
    NULL,
};

const struct checker *checker_find(const char *name, size_t length)
{
    for (const struct checker *const *c = all_checkers; *c; c++)
        if (strlen((*c)->name) == length && !memcmp((*c)->name, name, length))
            return *c;
    return NULL;
}

static void add_note(struct check *c, bool proved, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t n = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = arena_alloc(&c->v.scratch, n);
    vsnprintf(text, n, format, args);
    if (c->n_notes == c->cap_notes) {
        struct check_note *old = c->notes;
        c->cap_notes = c->cap_notes ? 2 * c->cap_notes : 8;
        c->notes = ARENA_ARRAY(&c->v.scratch, struct check_note, c->cap_notes);
        if (old)
            memcpy(c->notes, old, c->n_notes * sizeof *old);
    }
    c->notes[c->n_notes++] = (struct check_note){ proved, text };
}

void check_proved(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(c, true, format, args);
    va_end(args);
}

void check_skipped(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(c, false, format, args);
    va_end(args);
}

const struct item *check_source(const struct check *c, const struct item *it, enum layer layer)
{
    u32 steps = c->v.module ? c->v.module->n : 0;       /* parents that go round were refused, but not in other files */
    while (it && it->kind->layer != layer)
        it = steps-- && it->header.parent.item ? module_find(c->v.module, it->header.parent.item) : NULL;
    return it;
}

const struct item *check_using(const struct check *c, const struct item *it, const char *kind)
{
    for (u32 i = 0; c->v.module && i < it->header.n_using; i++) {
        const struct item *used = module_find(c->v.module, it->header.using[i].item);
        if (used && !strcmp(used->kind->name, kind))
            return used;
    }
    return NULL;
}

bool check_run(struct check *check, const struct checker *checker, const struct item *it, const struct module *in)
{
    *check = (struct check){ .v = { .item = it, .ctx = it->ctx, .module = in }, .checker = checker };
    arena_init(&check->v.scratch);
    if (!(checker->layers & 1u << it->kind->layer))
        return true;
    bool good = checker->run(check);
    return good && check->v.errors == 0;
}

void check_free(struct check *check)
{
    arena_free(&check->v.scratch);
}
