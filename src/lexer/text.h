/* Helpers of the lexer on plain bytes. */
#ifndef LEXER_TEXT_H
#define LEXER_TEXT_H

#include "ir/item.h"
#include "support/quantity.h"

/* Only blanks stand before OFFSET on its line. */
bool text_first_on_line(const struct source *src, u32 offset);

/* The next byte from OFFSET on that is neither blank nor in a comment. */
u32 text_next(const struct source *src, u32 offset);

/* The word at OFFSET names an item kind. */
bool text_begins_item(const struct context *ctx, const struct source *src, u32 offset);

bool text_valid_utf8(const char *from, const char *to);
bool text_is_number(const char *from, const char *to);

/* Correctly rounded; false when it overflows to infinity. */
bool text_float(const char *from, const char *to, u64 *bits);

/* The atom of a quoted text (both quotes included); on a bad escape or bad UTF-8, *FAULT says what. */
atom text_unquote(struct context *ctx, const char *from, const char *to, const char **fault);

#endif
