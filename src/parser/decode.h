/* Shared by the files that read the stream of pushed values: decode.c single values, decode_list.c lists and groups. */
#ifndef PARSER_DECODE_H
#define PARSER_DECODE_H

#include "parser/build.h"

/* Reports that F takes something else than what stands AT. Always false. */
bool decode_wrong(struct parser *p, const struct field *f, const struct tagged *at, const char *expected);

/* The position of the word AT in E; -1: reported. */
int decode_word(struct parser *p, const struct enumeration *e, const struct tagged *at);

/* A number below 2^64 - 1, and a quantity that is not negative; NAME is the field's, for messages. */
bool decode_number(struct parser *p, const char *name, const struct tagged *at, u64 *out);
bool decode_expr(struct parser *p, const char *name, const struct tagged *at, qty *out);

bool decode_integer(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at);
bool decode_quantity(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at);

/* Fields of several values. */
bool decode_compound(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at);

static inline bool is_word(const struct tagged *at)
{
    return at->tag == TAG_WORD || at->tag == TAG_STRING;
}

#endif
