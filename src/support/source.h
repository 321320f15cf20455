/* A text and its places: a location is two byte offsets; lines and columns are computed when a message needs them. */
#ifndef SUPPORT_SOURCE_H
#define SUPPORT_SOURCE_H

#include "support/base.h"

struct source {
    const char *name;       /* as messages show it */
    const char *text;       /* text[size] is NUL */
    u32 size;
    u32 first_line;         /* number of the first line: 1, or later in a split file */
    u32 first_byte;         /* where the text begins in its file: 0, or later in a split file */
    size_t mapped;          /* bytes to give back in source_free; 0 when the text is borrowed */
    bool is_file;           /* the text is the file itself, mapped: see source_release */
};

/* [begin, end) in a source; src NULL is "nowhere". */
struct loc {
    const struct source *src;
    u32 begin, end;
};

struct position {
    u32 line, column;       /* both from 1; columns count code points */
    u32 line_begin, line_end;
};

/* Reads a file, or standard input for "-". Returns NULL, or a message about the fault (static or strerror). */
const char *source_read(struct source *s, const char *path);
void source_borrow(struct source *s, const char *name, const char *text, size_t size);
void source_free(struct source *s);

/*
 * Says that the text before OFFSET was read: of a large file it need not stay in memory, and is fetched again when a
 * message or a comment asks for it. Costs nothing otherwise. RELEASED is the caller's, how far it was said before.
 */
void source_release(const struct source *s, u32 offset, u32 *released);

struct position source_position(const struct source *s, u32 offset);

/* Offset of the newline that ends the line of OFFSET, or the text's end. */
u32 source_line_end(const struct source *s, u32 offset);

#endif
