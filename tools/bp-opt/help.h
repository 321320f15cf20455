/* What options.def becomes for readers and shells. */
#ifndef BP_OPT_HELP_H
#define BP_OPT_HELP_H

#include "support/out.h"

void help_text(struct out *o);      /* --help: at most 100 columns */
void help_man(struct out *o);       /* the man page, in roff */
void help_bash(struct out *o);      /* completion */
void help_zsh(struct out *o);

#endif
