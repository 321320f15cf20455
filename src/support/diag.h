/*
 * Diagnostics: collected, counted, sorted by place, and shown with the line and a caret. A code is stable and
 * stands in one of the rule tables (`struct rule`), from which --explain and the tests read.
 */
#ifndef SUPPORT_DIAG_H
#define SUPPORT_DIAG_H

#include "support/arena.h"
#include "support/out.h"
#include "support/source.h"

#include <stdarg.h>

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_REMARK, SEVERITY_NOTE };

/* A row of a rule table: what a code means and how to mend it. */
struct rule {
    const char *code;           /* "dist.sharding.axis_unknown" */
    const char *explanation;    /* one or two sentences, ending with the mend */
};

/* A change that makes the text legal. Those of one diagnostic belong together. */
struct fixit {
    struct loc at;              /* what is replaced; empty: an insertion */
    const char *text;           /* empty: a removal */
    struct fixit *next;
};

struct diag {
    enum severity severity;
    const char *code;
    struct loc loc;
    const char *context;        /* where, when there is no place in a text: "@plan, task @x"; or NULL */
    const char *message;
    struct diag *notes, *last_note, *next;  /* notes have no notes */
    struct fixit *fixes;        /* in order of place */
};

struct diags {
    struct arena arena;         /* owner of every message */
    struct diag *first, *last;
    u32 errors, warnings;
    u32 max_errors;             /* errors shown by diags_render; the rest are counted */
};

void diags_init(struct diags *d);
void diags_free(struct diags *d);
void diags_clear(struct diags *d);      /* forgets all messages and counts */

/* Always false, so that a check can end with `return diag_error(…)`. */
bool diag_error(struct diags *d, struct loc at, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);
bool diag_warning(struct diags *d, struct loc at, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);
bool diag_remark(struct diags *d, struct loc at, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);

/* A message in a buffer; one that is too long is cut between two characters and ends with "...". */
void diag_format(char *buffer, size_t size, const char *format, va_list args) PRINTF_LIKE(3, 0);

/* Hangs a note on the newest diagnostic. */
void diag_note(struct diags *d, struct loc at, const char *format, ...) PRINTF_LIKE(3, 4);

/* A change that mends the newest diagnostic: only where it is the one legal thing, or the nearest to what was written. */
void diag_fix(struct diags *d, struct loc at, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same of the newest diagnostic's own range, but only if that reads FOUND. */
void diag_fix_found(struct diags *d, const char *found, const char *format, ...) PRINTF_LIKE(3, 4);

/* Names the place of the newest diagnostic in words, for programs that have no text. */
void diag_context(struct diags *d, const char *format, ...) PRINTF_LIKE(2, 3);

/* Stable sort by source and offset. */
void diags_sort(struct diags *d);

struct diag_style {
    bool color;
};

/* All messages, sorted; at most max_errors errors, then a line that says how many more. */
void diags_render(struct diags *d, struct out *o, struct diag_style style);

/* The same as JSON, one line a diagnostic. */
void diags_render_json(struct diags *d, struct out *o);

/*
 * The nearest of N names by edit distance, or NULL when none is near (distance over a third of the length, but 2 are
 * always allowed). Case and the difference between `-` and `_` cost less. Whole parts that dotted names share at their
 * begin and end don't count as length: `mlp.gate.forward` is not near to `mlp.expand.forward`.
 */
const char *nearest_name(const char *name, const char *const *names, size_t n);

/* NEAR can stand for NAME without asking: very short names, and those that differ in a number, are near to too many others. */
bool is_sure_name(const char *name, const char *near);

#endif
