/* What a terminal makes of a text: how many columns each character takes, and which ones must not reach it as they are. */
#ifndef SUPPORT_WIDTH_H
#define SUPPORT_WIDTH_H

#include "support/base.h"

enum glyph_kind {
    GLYPH_PLAIN,            /* goes out as it is */
    GLYPH_CONTROL,          /* shown as <U+0007>: it would act on the terminal, or reorder the line */
    GLYPH_BYTE,             /* shown as <E4>: no part of UTF-8 */
};

struct glyph {
    u32 point;              /* the code point, or the byte */
    u8 size;                /* bytes of the text */
    u8 width;               /* columns, of the shown form; 0 for marks that combine with what is before them */
    u8 kind;
};

/* The character at TEXT, which a NUL ends: none reaches past it. */
struct glyph glyph_at(const char *text);

#endif
