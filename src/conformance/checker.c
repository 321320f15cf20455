#include "conformance/checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct checker *const all_checkers[] = { NULL };

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
