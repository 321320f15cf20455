#include "parts.h"

#include "ir/verify.h"
#include "parser/parse.h"
#include "parser/roundtrip.h"
#include "passes/derivation.h"

#include "expect.h"
#include "host_report.h"
#include "messages.h"
#include "observers.h"
#include "replay_compare.h"
#include "reproduce.h"
#include "split.h"

void parts_split(struct driver *d)
{
    const struct options *o = d->options;
    const char *marker = o->text[OPT_SPLIT_INPUT_FILE] ? o->text[OPT_SPLIT_INPUT_FILE] : SPLIT_MARKER;
    struct source *sources =
        split_source(&d->source, o->on[OPT_SPLIT_INPUT_FILE] ? marker : NULL, &d->arena, &d->n_parts);
    d->parts = ARENA_ARRAY(&d->arena, struct part, d->n_parts);
    for (u32 i = 0; i < d->n_parts; i++) {
        d->parts[i].source = sources[i];
        checkpoints_init(&d->parts[i].summaries, o->number[OPT_SUMMARY] == 1, &d->session);
        out_memory(&d->parts[i].executed);
    }
}

static bool run_passes(struct driver *d, struct part *part)
{
    const struct options *o = d->options;
    struct stopwatch stopwatch;
    struct observer observers[12];       /* each is held to what it watches, which costs a print: only those that are needed */
    u32 n = 0;
    if (printer_prints(o))
        observers[n++] = print_observer(&d->printer);
    if (part->item)
        observers[n++] = follow_observer(&part->items);
    if (d->checks.n)
        observers[n++] = checks_observer(&d->checks);
    if (d->replay)
        observers[n++] = replay_observer(d->replay);
    if (d->recorder.on)
        observers[n++] = recorder_observer(&d->recorder);
    if (d->reproducer.ready)
        observers[n++] = reproducer_observer(&d->reproducer);
    if (statistics_asked(o))
        observers[n++] = statistics_observer(&d->statistics);
    if (o->on[OPT_SUMMARY])
        observers[n++] = summary_observer(&part->summaries);
    struct run_options run = {
        .verify_each = o->on[OPT_VERIFY_EACH],
        .keep_sources = o->on[OPT_KEEP_SOURCES],
        .verify_replay = o->on[OPT_VERIFY_REPLAY],
        .only = part->item,
        .observers = observers,
        .n_observers = n,
        .stopwatch = timeline_stopwatch(&d->timeline, &stopwatch),
    };
    bool good = pipeline_run(&part->module, &d->session, &d->pipeline, &run);
    if (!good)
        reproduce_keep(d);
    return good;
}

/* What the file holds is checked first, then what each pass makes of it. */
static bool check_and_run(struct driver *d, struct part *part)
{
    bool good = checks_module(&d->checks, &part->module, part->item);
    if (good && d->pipeline.n)
        good = run_passes(d, part) && (!d->options->on[OPT_VERIFY_ROUNDTRIP] || verify_roundtrip(&part->module));
    checks_end(&d->checks, &d->ctx);
    return good;
}

static bool parse_and_verify(struct driver *d, struct part *part)
{
    timeline_begin(&d->timeline, "parse", part->source.name);
    bool parsed = parse_module(&part->module, &d->ctx, &part->source);
    timeline_end(&d->timeline);
    timeline_begin(&d->timeline, "verify", part->source.name);
    bool good = verify_module(&part->module);
    good = derivation_check_headers(&part->module) && good;
    timeline_end(&d->timeline);
    return parsed && good;
}

static bool process(struct driver *d, struct part *part)
{
    const struct options *o = d->options;
    if (o->on[OPT_SPLIT_INPUT_FILE])
        split_warn(&part->source, &d->diags);
    if (!parse_and_verify(d, part))
        return false;
    part->item = d->item && module_find(&part->module, d->item) ? d->item : 0;
    follower_begin(&part->items, part->item);
    if (o->on[OPT_VERIFY_ROUNDTRIP] && !verify_roundtrip(&part->module))
        return false;
    if (o->on[OPT_VERIFY_DERIVATION] && !derivation_check(&part->module, &d->session, part->item))
        return false;
    if (d->item && !part->item)
        return true;
    return check_and_run(d, part) && (!o->on[OPT_EXECUTE] || executor_run(&d->executor, &part->module, follower_first(&part->items), &part->executed));
}

static void note_items(struct driver *d, const char *const *names, size_t n)
{
    enum { MOST = 12 };
    struct out o;
    out_memory(&o);
    for (size_t i = 0; i < n && i < MOST; i++)
        out_printf(&o, "%s@%s", i ? ", " : "", names[i]);
    if (n)
        diag_note(&d->diags, nowhere, "it has %.*s%s", (int)o.n, o.data, n > MOST ? " and others" : "");
    out_free(&o);
}

/* No part has the item that --item names. */
static bool check_item(struct driver *d)
{
    const char *names[256];
    size_t n = 0;
    if (!d->item)
        return true;
    for (u32 i = 0; i < d->n_parts; i++) {
        if (d->parts[i].item)
            return true;
        for (u32 k = 0; k < d->parts[i].module.n && n < COUNT(names); k++)
            names[n++] = context_text(&d->ctx, d->parts[i].module.items[k]->name);
    }
    const char *near = nearest_name(context_text(&d->ctx, d->item), names, n);
    diag_error(&d->diags, nowhere, "driver.item.unknown", "%s has no item @%s", d->source.name, context_text(&d->ctx, d->item));
    if (near)
        diag_note(&d->diags, nowhere, "did you mean @%s?", near);
    else
        note_items(d, names, n);
    return false;
}

bool parts_process(struct driver *d)
{
    const struct options *o = d->options;
    bool all = true, expecting = o->on[OPT_VERIFY_DIAGNOSTICS];
    if (expecting) {
        messages_show(d, &d->diags);
        diags_clear(&d->diags);
    }
    for (u32 i = 0; i < d->n_parts; i++) {
        struct part *part = &d->parts[i];
        bool good = part->good = process(d, part);
        if (expecting) {
            good = expect_check(&part->source, &d->diags, o->number[OPT_VERIFY_DIAGNOSTICS] == 1, &d->failures);
            diags_clear(&d->diags);
        }
        all = all && good;
    }
    return all && (expecting || (check_item(d) && executor_end(&d->executor, &d->ctx)));
}

/* Session items that a pass used stand in the parts too, but belong to the session. */
void part_free(const struct driver *d, struct part *part)
{
    struct module *m = &part->module;
    u32 kept = 0;
    for (u32 i = 0; i < m->n; i++)
        if (module_find(&d->session, m->items[i]->name) != m->items[i])
            m->items[kept++] = m->items[i];
    m->n = kept;
    module_free(m);
    follower_free(&part->items);
    checkpoints_free(&part->summaries);
    out_free(&part->executed);
}
