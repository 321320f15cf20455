#include "replay.h"

#include "manifest.h"
#include "messages.h"
#include "parts.h"
#include "record.h"
#include "replay_compare.h"
#include "replay_files.h"
#include "request.h"
#include "session.h"

/* The options of the run that was recorded, and those of this one that say how to watch it. */
static const struct options *recorded_options(const struct replay *r)
{
    struct options *o = ARENA_NEW(&r->d->arena, struct options);
    const struct manifest *m = &r->manifest;
    u32 given = r->d->options->n_repeated;
    *o = *r->d->options;
    o->on[OPT_PASS_PIPELINE] = m->pipeline != NULL;
    o->text[OPT_PASS_PIPELINE] = m->pipeline;
    o->on[OPT_ITEM] = m->item != NULL;
    o->text[OPT_ITEM] = m->item;
    o->on[OPT_SPLIT_INPUT_FILE] = m->marker != NULL;
    o->text[OPT_SPLIT_INPUT_FILE] = m->marker && *m->marker ? m->marker : NULL;
    o->on[OPT_KEEP_SOURCES] = m->keep_sources;
    o->input = replay_path(r, MANIFEST_INPUT);
    o->repeated = ARENA_ARRAY(&r->d->arena, struct argument, given + m->n_sessions + 1);
    memcpy(o->repeated, r->d->options->repeated, given * sizeof *o->repeated);
    for (u32 i = 0; i < m->n_sessions; i++)
        o->repeated[o->n_repeated++] = (struct argument){ OPT_SESSION, "session", replay_path(r, manifest_session(&r->d->arena, i)) };
    return o;
}

static bool run_again(struct replay *r)
{
    struct driver *d = r->d;
    d->options = recorded_options(r);
    bool good = request_prepare(d) && session_parse(d);
    if (good) {
        parts_split(d);
        good = parts_process(d);
    }
    if (!good)
        return diag_error(&d->diags, nowhere, "driver.replay.differs", "'%s': the run that was recorded succeeded, and this one fails", r->folder);
    return replay_compare_end(r);
}

static bool say_so(const struct replay *r)
{
    struct output standard = { 0 };
    output_open(&standard, &r->d->arena);
    out_printf(&standard.out, "%s: %u checkpoints replayed, every digest is the same\n", r->folder, r->manifest.n_checkpoints);
    const char *fault = output_close(&standard);
    return !fault || cannot_write(r->d, &standard, fault);
}

enum status replay_run(struct driver *d)
{
    struct replay *r = d->replay = ARENA_NEW(&d->arena, struct replay);
    *r = (struct replay){ .d = d, .folder = d->options->text[OPT_REPLAY] };
    enum status status = replay_open(r);
    if (status != STATUS_SUCCESS)
        return status;
    bool whole = replay_check_files(r);
    bool good = r->runnable && run_again(r);
    return whole && good && say_so(r) ? STATUS_SUCCESS : STATUS_REFUSED;
}
