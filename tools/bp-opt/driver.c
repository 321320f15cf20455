#include "driver.h"

#include "dialects/registry.h"

#include "diff.h"
#include "fix.h"
#include "host_report.h"
#include "messages.h"
#include "parts.h"
#include "replay.h"
#include "replay_files.h"
#include "reproduce.h"
#include "request.h"
#include "session.h"
#include "write.h"

static enum status run(struct driver *d)
{
    if (!request_prepare(d))
        return STATUS_MISUSED;
    if (!session_parse(d))
        return STATUS_REFUSED;
    if (!recorder_begin(&d->recorder, d) || !reproduce_begin(d))
        return STATUS_REFUSED;
    parts_split(d);
    return parts_process(d) && recorder_finish(&d->recorder) && write_all(d) && recorder_publish(&d->recorder) ? STATUS_SUCCESS : STATUS_REFUSED;
}

static enum status run_reproducer(struct driver *d)
{
    enum status status = reproduce_options(d);
    return status == STATUS_SUCCESS ? run(d) : status;
}

/* What is done, by the first option of these that was given; a plain run, if none was. */
static const struct {
    enum option option;
    enum status (*run)(struct driver *d);
} modes[] = {
    { OPT_DIFF, diff_run },
    { OPT_FIX, fix_run },
    { OPT_REPLAY, replay_run },
    { OPT_RUN_REPRODUCER, run_reproducer },
    { OPTIONS, run },
};

static enum status run_mode(struct driver *d)
{
    u32 i = 0;
    while (modes[i].option != OPTIONS && !d->options->on[modes[i].option])
        i++;
    return modes[i].run(d);
}

static void driver_init(struct driver *d, const struct options *o)
{
    *d = (struct driver){ .options = o };
    arena_init(&d->arena);
    timeline_init(&d->timeline, &d->arena, timing_asked(o));
    d->printer = (struct printer){ .options = o, .arena = &d->arena };
    statistics_init(&d->statistics, &d->arena);
    diags_init(&d->diags);
    diags_init(&d->failures);
    if (o->on[OPT_MAX_ERRORS])
        d->diags.max_errors = d->failures.max_errors = o->number[OPT_MAX_ERRORS] ? o->number[OPT_MAX_ERRORS] : UINT32_MAX;
    context_init(&d->ctx, all_dialects, &d->diags);
    module_init(&d->session, &d->ctx, NULL);
}

static void driver_free(struct driver *d)
{
    for (u32 i = 0; i < d->n_parts; i++)
        part_free(d, &d->parts[i]);
    if (d->replay)
        replay_close(d->replay);
    reproducer_end(&d->reproducer);
    recorder_free(&d->recorder);
    statistics_free(&d->statistics);
    timeline_free(&d->timeline);
    module_free(&d->session);
    context_free(&d->ctx);
    source_free(&d->source);
    for (u32 i = 0; i < d->n_session_sources; i++)
        source_free(&d->session_sources[i]);
    diags_free(&d->failures);
    diags_free(&d->diags);
    arena_free(&d->arena);
}

enum status driver_run(const struct options *o)
{
    struct driver d;
    driver_init(&d, o);
    enum status status = run_mode(&d);
    if (!host_report_write(&d) && status == STATUS_SUCCESS)
        status = STATUS_REFUSED;
    messages_show(&d, &d.diags);
    messages_show(&d, &d.failures);
    driver_free(&d);
    return status;
}
