/* Places of clauses and names, found by reading a statement's text again: only messages need them. */
#ifndef PARSER_LOCATE_H
#define PARSER_LOCATE_H

#include "ir/item.h"

/*
 * The span of FIELD's clause in S (NULL: of the whole statement's head) or, if TEXT is given, of the first token in it
 * that is TEXT, sigil or not. S NULL is the item's header. Falls back to the statement's keyword and name.
 */
struct loc locate(const struct item *it, const struct stmt *s, const char *field, const char *text);

#endif
