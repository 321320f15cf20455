/*
 * Expectations: comments of the form
 *
 *     // expected-error@+1 {{a part of the message}}
 *
 * KIND is error, warning, note or remark; `-re` behind it makes each `{{…}}` inside the text an extended regular
 * expression; `@+N`, `@-N`, `@above`, `@below` move it to another line and `@unknown` to none; a number before the
 * text is how many are expected. The text may also match the code, which stands before the message in brackets.
 */
#ifndef BP_OPT_EXPECT_H
#define BP_OPT_EXPECT_H

#include "support/diag.h"

/*
 * Compares what was FOUND in PART with its expectations; each difference is an error in FAILURES. ONLY_EXPECTED lets
 * pass what nobody expects. True when nothing differs.
 */
bool expect_check(const struct source *part, const struct diags *found, bool only_expected, struct diags *failures);

#endif
