/* What is printed of a file once everything has succeeded. */
#ifndef BP_OPT_EMIT_H
#define BP_OPT_EMIT_H

#include "ir/item.h"
#include "observers.h"
#include "options.h"
#include "summary.h"

/*
 * The items as OPTIONS ask: text, canonical text, with locations, or JSON. ONLY (NULL: all) restricts it to some
 * items, each in its place among the file's comments.
 */
void emit_items(struct out *o, const struct module *m, const struct follower *only, const struct options *options);

/* The report that OPTIONS ask for, --digest or --summary; summaries that are DONE come first. False: reported. */
bool emit_report(struct out *o, const struct module *m, const struct follower *only, const struct checkpoints *done, const struct options *options);

#endif
