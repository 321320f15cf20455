/* Which session items a pass consumes: the file's, those of --session, an option's choice, and overridden facts. */
#ifndef PASSES_BINDING_H
#define PASSES_BINDING_H

#include "passes/pass.h"

/*
 * Fills r->session. `{strategy=@x}` chooses among several; `{strategy.tensor=4}` makes an effective item, which is
 * added to FRESH under the name @x.tensor_4. False: reported.
 */
bool bind_session(struct pass_run *r, const struct step *step, const struct module *file, const struct module *session,
                  struct module *fresh);

/* "workload", "strategy", …: the option's name of a binding, and the item kind behind it. */
const char *binding_name(enum binding b);
const char *binding_kind(enum binding b);

/* The field that an option `strategy.tensor` names, or NULL. Sets *b. */
const struct field *binding_field(const struct context *ctx, const char *option, enum binding *b);

#endif
