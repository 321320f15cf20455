/* Lines of places that mostly rise: counted from the last one on, where source_position begins anew each time. */
#ifndef BP_OPT_LINES_H
#define BP_OPT_LINES_H

#include "support/source.h"

struct line_counter {
    const struct source *src;
    u32 offset, line, line_begin;
};

/* Moves to OFFSET; the line's number and first byte are then in *c. A new counter is all zero. */
static inline void line_counter_seek(struct line_counter *c, const struct source *src, u32 offset)
{
    if (src != c->src || offset < c->offset)
        *c = (struct line_counter){ src, 0, src->first_line, 0 };
    if (offset > src->size)
        offset = src->size;
    for (const char *hit; (hit = memchr(src->text + c->offset, '\n', offset - c->offset)); c->line++)
        c->offset = c->line_begin = (u32)(hit + 1 - src->text);
    c->offset = offset;
}

#endif
