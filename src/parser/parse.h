/* From text to items. */
#ifndef PARSER_PARSE_H
#define PARSER_PARSE_H

#include "ir/item.h"

/*
 * Parses SRC, which must outlive the context (names point into it), and adds its items to M. False when something was
 * reported; what was parsed is in M all the same, items with an error marked `damaged`. Also sets ctx->locate.
 */
bool parse_module(struct module *m, struct context *ctx, const struct source *src);

#endif
