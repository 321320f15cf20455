/* What the two halves of the schema's verifier share: the fields of a statement (verify.c), and items (verify_item.c). */
#ifndef IR_VERIFY_FIELDS_H
#define IR_VERIFY_FIELDS_H

#include "ir/verify.h"

void verify_fields(struct verifier *v, const struct stmt *s);

/* Words that stand twice in a list of S; SIGIL `@`: refs, `%`: values, 0: words. */
void verify_duplicates(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle, char sigil);

/* At TEXT in the header. */
void verify_remark(struct verifier *v, const char *text, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);

/* "%x" or "@task". */
const char *ref_text(const struct item *it, u32 ref);

#endif
