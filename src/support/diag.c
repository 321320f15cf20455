#include "support/diag.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_MAX_ERRORS = 100 };

void diags_init(struct diags *d)
{
    *d = (struct diags){ .max_errors = DEFAULT_MAX_ERRORS };
    arena_init(&d->arena);
}

void diags_free(struct diags *d)
{
    arena_free(&d->arena);
}

void diags_clear(struct diags *d)
{
    u32 max_errors = d->max_errors;
    diags_free(d);
    diags_init(d);
    d->max_errors = max_errors;
}

static char *format_message(struct diags *d, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_alloc(&d->arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

static struct diag *new_diag(struct diags *d, enum severity severity, struct loc at, const char *code,
                             const char *format, va_list args)
{
    struct diag *g = ARENA_NEW(&d->arena, struct diag);
    g->severity = severity;
    g->code = code;
    g->loc = at;
    g->message = format_message(d, format, args);
    return g;
}

static void append(struct diags *d, struct diag *g)
{
    if (d->last)
        d->last->next = g;
    else
        d->first = g;
    d->last = g;
    d->errors += g->severity == SEVERITY_ERROR;
    d->warnings += g->severity == SEVERITY_WARNING;
}

#define DEFINE_REPORT(name, severity) \
    bool name(struct diags *d, struct loc at, const char *code, const char *format, ...) \
    { \
        va_list args; \
        va_start(args, format); \
        append(d, new_diag(d, severity, at, code, format, args)); \
        va_end(args); \
        return false; \
    }

DEFINE_REPORT(diag_error, SEVERITY_ERROR)
DEFINE_REPORT(diag_warning, SEVERITY_WARNING)
DEFINE_REPORT(diag_remark, SEVERITY_REMARK)

void diag_format(char *buffer, size_t size, const char *format, va_list args)
{
    static const char tail[] = "...";
    if ((size_t)vsnprintf(buffer, size, format, args) < size)
        return;
    size_t n = size - sizeof tail;
    while (n && ((unsigned char)buffer[n] & 0xc0) == 0x80)
        n--;
    memcpy(buffer + n, tail, sizeof tail);
}

void diag_note(struct diags *d, struct loc at, const char *format, ...)
{
    assert(d->last);
    va_list args;
    va_start(args, format);
    struct diag *note = new_diag(d, SEVERITY_NOTE, at, NULL, format, args), *of = d->last;
    va_end(args);
    if (of->last_note)
        of->last_note->next = note;
    else
        of->notes = note;
    of->last_note = note;
}

static void add_fix(struct diags *d, struct loc at, const char *text)
{
    struct fixit *f = ARENA_NEW(&d->arena, struct fixit), **to = &d->last->fixes;
    *f = (struct fixit){ at, text, NULL };
    while (*to && (*to)->at.begin <= at.begin)
        to = &(*to)->next;
    f->next = *to;
    *to = f;
}

void diag_fix(struct diags *d, struct loc at, const char *format, ...)
{
    va_list args;
    assert(d->last);
    va_start(args, format);
    if (at.src)
        add_fix(d, at, format_message(d, format, args));
    va_end(args);
}

void diag_fix_found(struct diags *d, const char *found, const char *format, ...)
{
    va_list args;
    struct loc at = d->last->loc;
    size_t n = strlen(found);
    if (!at.src || at.end - at.begin != n || memcmp(at.src->text + at.begin, found, n))
        return;
    va_start(args, format);
    add_fix(d, at, format_message(d, format, args));
    va_end(args);
}

void diag_context(struct diags *d, const char *format, ...)
{
    assert(d->last);
    va_list args;
    va_start(args, format);
    d->last->context = format_message(d, format, args);
    va_end(args);
}

/* Where a diagnostic sorts: those without a place keep their order, behind the others. */
static int compare(const void *left, const void *right)
{
    const struct diag *a = *(struct diag *const *)left, *b = *(struct diag *const *)right;
    if (!a->loc.src || !b->loc.src || a->loc.src != b->loc.src)
        return (a->loc.src == NULL) - (b->loc.src == NULL);
    return (a->loc.begin > b->loc.begin) - (a->loc.begin < b->loc.begin);
}

static void merge_sort(struct diag **v, struct diag **scratch, size_t n)
{
    if (n < 2)
        return;
    size_t half = n / 2, i = 0, j = half, k = 0;
    merge_sort(v, scratch, half);
    merge_sort(v + half, scratch, n - half);
    while (i < half || j < n)
        scratch[k++] = j == n || (i < half && compare(&v[i], &v[j]) <= 0) ? v[i++] : v[j++];
    memcpy(v, scratch, n * sizeof *v);
}

void diags_sort(struct diags *d)
{
    size_t n = 0, i = 0;
    for (struct diag *g = d->first; g; g = g->next)
        n++;
    if (n < 2)
        return;
    struct diag **v = calloc(2 * n, sizeof *v);
    if (!v)
        abort();
    for (struct diag *g = d->first; g; g = g->next)
        v[i++] = g;
    merge_sort(v, v + n, n);
    d->first = d->last = NULL;
    for (i = 0; i < n; i++) {
        v[i]->next = NULL;
        if (d->last)
            d->last->next = v[i];
        else
            d->first = v[i];
        d->last = v[i];
    }
    free(v);
}
