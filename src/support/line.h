/* Any text on one line: `\n`, `\r` and `\\` stand for what would end it, or begin such a word. */
#ifndef SUPPORT_LINE_H
#define SUPPORT_LINE_H

#include "support/arena.h"
#include "support/out.h"

void out_line(struct out *o, const char *bytes, size_t n);      /* no newline at its end */

/* The text again, in ARENA, NUL-terminated. */
const char *line_text(const char *line, size_t n, struct arena *arena);

#endif
