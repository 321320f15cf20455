/* The options of a step, read by passes and gates alike: apart from what parses them, which knows all passes. */
#include "passes/pass.h"

const struct step_option *step_option(const struct step *s, const char *name)
{
    for (u32 i = 0; i < s->n_options; i++)
        if (!strcmp(s->options[i].name, name))
            return &s->options[i];
    return NULL;
}
