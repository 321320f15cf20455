#include "checkpoint.h"

#include "ir/print.h"

#include "driver.h"
#include "manifest.h"
#include "messages.h"
#include "record.h"

static bool cannot(struct recorder *r, const char *fault)
{
    return diag_error(&r->d->diags, nowhere, "driver.output", "can't write '%s': %s", r->d->options->text[OPT_CHECKPOINT_DIR], fault);
}

static bool add(struct recorder *r, const char *name, const struct out *text)
{
    const char *fault = folder_add(&r->folder, name, text->data, text->n);
    return !fault || cannot(r, fault);
}

static bool add_source(struct recorder *r, const char *name, const struct source *src)
{
    const char *fault = folder_add(&r->folder, name, src->text, src->size);
    return !fault || cannot(r, fault);
}

bool recorder_begin(struct recorder *r, struct driver *d)
{
    *r = (struct recorder){ .d = d, .on = d->options->on[OPT_CHECKPOINT_DIR] };
    if (!r->on)
        return true;
    const char *fault = folder_begin(&r->folder, d->options->text[OPT_CHECKPOINT_DIR], &d->arena);
    if (fault)
        return cannot(r, fault);
    bool good = add_source(r, MANIFEST_INPUT, &d->source);
    for (u32 i = 0; good && i < d->n_session_sources; i++)
        good = add_source(r, manifest_session(&d->arena, i), &d->session_sources[i]);
    return good;
}

/* The snapshot, the record, and what this host took. */
static bool after(void *state, const struct checkpoint *c)
{
    struct recorder *r = state;
    const struct pass *pass = c->step->pass;
    struct arena *arena = &r->d->arena;
    struct out text;
    out_memory(&text);
    r->n++;
    print_item(&text, c->output);
    bool good = add(r, record_name(arena, r->n, pass, "bpir"), &text);
    text.n = 0;
    record_print(&text, c);
    good = good && add(r, record_name(arena, r->n, pass, "record"), &text);
    text.n = 0;
    out_printf(&text, "wall_nanoseconds %llu\ncpu_nanoseconds %llu\n", (unsigned long long)c->wall, (unsigned long long)c->cpu);
    good = good && add(r, record_name(arena, r->n, pass, "host"), &text);
    out_free(&text);
    return good;
}

struct observer recorder_observer(struct recorder *r)
{
    return (struct observer){ .name = "--checkpoint-dir", .state = r, .after = after };
}

static const char *text_of(struct recorder *r, struct out *o)
{
    const char *text = arena_copy(&r->d->arena, o->data, o->n);
    out_free(o);
    return text;
}

static const char *pipeline_text(struct recorder *r)
{
    struct out o;
    out_memory(&o);
    out_pipeline(&o, &r->d->pipeline);
    return text_of(r, &o);
}

static const char *results_of(struct recorder *r)
{
    struct out o;
    out_memory(&o);
    for (u32 i = 0; i < r->d->n_parts; i++)
        record_results(&o, &r->d->parts[i].module);
    return text_of(r, &o);
}

bool recorder_finish(struct recorder *r)
{
    if (!r->on)
        return true;
    const struct driver *d = r->d;
    const struct options *o = d->options;
    struct out text;
    struct manifest m = {
        .version = BP_OPT_VERSION, .pipeline = d->pipeline.n ? pipeline_text(r) : NULL, .item = o->text[OPT_ITEM],
        .marker = !o->on[OPT_SPLIT_INPUT_FILE] ? NULL : o->text[OPT_SPLIT_INPUT_FILE] ? o->text[OPT_SPLIT_INPUT_FILE] : "",
        .keep_sources = o->on[OPT_KEEP_SOURCES], .input = d->source.name, .n_sessions = d->n_session_sources, .n_checkpoints = r->n,
        .files = r->folder.files, .n_files = r->folder.n, .results = results_of(r),
    };
    out_memory(&text);
    manifest_print(&text, &m);
    bool good = add(r, MANIFEST_NAME, &text);
    out_free(&text);
    return good;
}

bool recorder_publish(struct recorder *r)
{
    const char *fault = r->on ? folder_publish(&r->folder) : NULL;
    return !fault || cannot(r, fault);
}

void recorder_free(struct recorder *r)
{
    folder_drop(&r->folder);
}
