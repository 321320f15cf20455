/*
 * Statements of one shape print alike but for name and numbers: the text of the first is kept, cut at these, and the
 * others are put together from it.
 */
#ifndef IR_PRINT_SHAPE_H
#define IR_PRINT_SHAPE_H

#include "ir/shape.h"
#include "support/out.h"

struct shape_printer;

/* For the statements of IT, in any order. NULL for a short item, which is a printer, too. */
struct shape_printer *shape_printer_new(const struct item *it);
void shape_printer_free(struct shape_printer *p);

/* As print_stmt. */
void print_shaped(struct out *o, struct shape_printer *p, const struct item *it, const struct stmt *s);

#endif
