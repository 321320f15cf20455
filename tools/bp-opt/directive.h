/* Reading expectations from comments; see expect.h. */
#ifndef BP_OPT_DIRECTIVE_H
#define BP_OPT_DIRECTIVE_H

#include "support/diag.h"

enum { NO_LINE = 0 };

struct expectation {
    enum severity severity;
    u32 line;               /* as messages number it; NO_LINE: @unknown */
    u32 count;              /* how many are still to come */
    const char *text;       /* of a regular expression: the whole pattern */
    bool regex;
    struct loc at;
};

struct expectations {
    struct expectation *list;
    u32 n, cap;
};

/* All that PART's comments expect, texts in ARENA. What only looks like an expectation is an error in FAILURES. */
struct expectations expectations_read(const struct source *part, struct arena *arena, struct diags *failures);
void expectations_free(struct expectations *e);

extern const char *const severity_words[];     /* by enum severity */

#endif
