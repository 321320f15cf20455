#include "host_report.h"

#include "messages.h"

#include <unistd.h>

/* Neither flag needs the other: a file alone is one of text. */
bool timing_asked(const struct options *o)
{
    return o->on[OPT_TIMING] || o->on[OPT_TIMING_FILE];
}

bool statistics_asked(const struct options *o)
{
    return o->on[OPT_PASS_STATISTICS] || o->on[OPT_STATISTICS_FILE];
}

static bool check(struct driver *d, enum option file)
{
    struct output p;
    const char *path = d->options->text[file], *fault = path ? output_check(&p, path, &d->arena) : NULL;
    return !fault || diag_error(&d->diags, nowhere, "driver.output", "can't write '%s': %s", path, fault);
}

bool host_report_check(struct driver *d)
{
    return check(d, OPT_TIMING_FILE) && check(d, OPT_STATISTICS_FILE);
}

/* Standard error, when no file was asked for. */
static bool open_report(struct driver *d, enum option file, struct output *p)
{
    const char *fault = output_check(p, d->options->text[file], &d->arena);
    if (!fault && p->path)
        fault = output_open(p, &d->arena);
    else if (!fault)
        out_fd(&p->out, STDERR_FILENO);
    return !fault || cannot_write(d, p, fault);
}

static bool close_report(struct driver *d, struct output *p)
{
    const char *fault = output_close(p);
    return !fault || cannot_write(d, p, fault);
}

bool host_report_write(struct driver *d)
{
    const struct options *o = d->options;
    struct output p;
    bool good = true;
    if (statistics_asked(o)) {
        good = open_report(d, OPT_STATISTICS_FILE, &p);
        if (good)
            statistics_print(&p.out, &d->statistics, (enum report_form)o->number[OPT_PASS_STATISTICS]);
        good = good && close_report(d, &p);
    }
    if (!d->timeline.on)
        return good;
    if (!open_report(d, OPT_TIMING_FILE, &p))
        return false;
    timeline_print(&p.out, &d->timeline, (enum report_form)o->number[OPT_TIMING]);
    return close_report(d, &p) && good;
}
