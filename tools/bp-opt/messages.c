#include "messages.h"

#include <stdlib.h>
#include <unistd.h>

static bool colored(const struct options *o)
{
    enum { AUTO, ALWAYS };
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (o->number[OPT_COLOR] != AUTO)
        return o->number[OPT_COLOR] == ALWAYS;
    return isatty(STDERR_FILENO) && !(off && *off) && terminal && strcmp(terminal, "dumb");
}

void messages_show(const struct driver *d, struct diags *diags)
{
    enum { TEXT, JSON };
    struct out o;
    out_fd(&o, STDERR_FILENO);
    if (d->options->number[OPT_DIAGNOSTICS] == JSON)
        diags_render_json(diags, &o);
    else
        diags_render(diags, &o, (struct diag_style){ .color = colored(d->options) });
    out_flush(&o);
    out_free(&o);
}

bool cannot_read(struct driver *d, const char *path, const char *fault)
{
    return diag_error(&d->diags, nowhere, "driver.input", "can't read '%s': %s", path, fault);
}

bool cannot_write(struct driver *d, const struct output *p, const char *fault)
{
    const char *path = p->path ? arena_format(&d->arena, "'%s'", p->path) : "to standard output";
    return diag_error(&d->diags, nowhere, "driver.output", "can't write %s: %s", path, fault);
}
