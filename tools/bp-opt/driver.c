#include "driver.h"

#include "dialects/registry.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lexer/text.h"
#include "parser/parse.h"
#include "parser/roundtrip.h"

#include "emit.h"
#include "expect.h"
#include "observers.h"
#include "output.h"
#include "split.h"
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One part of the input; the whole, where it is not split. */
struct part {
    struct source source;
    struct module module;
    atom item;                  /* what --item names, or what passes made of it; 0: not asked for, or not here */
    bool good;
    struct checkpoints summaries;       /* with --summary: of what the passes made */
};

struct driver {
    const struct options *options;
    struct arena arena;
    struct diags diags, failures;       /* failures: of --verify-diagnostics */
    struct context ctx;
    struct source source;
    struct part *parts;
    u32 n_parts;
    struct source *session_sources;
    u32 n_session_sources;
    struct module session;
    struct pipeline pipeline;
    struct output output;
    atom item;
};

static const struct loc nowhere;

/* ---- Messages ---- */

static bool colored(const struct options *o)
{
    enum { AUTO, ALWAYS };
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (o->number[OPT_COLOR] != AUTO)
        return o->number[OPT_COLOR] == ALWAYS;
    return isatty(STDERR_FILENO) && !(off && *off) && terminal && strcmp(terminal, "dumb");
}

static void show_messages(const struct driver *d, struct diags *diags)
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

static bool cannot_read(struct driver *d, const char *path, const char *fault)
{
    return diag_error(&d->diags, nowhere, "driver.input", "can't read '%s': %s", path, fault);
}

static bool cannot_write(struct driver *d, const struct output *p, const char *fault)
{
    const char *path = p->path ? arena_format(&d->arena, "'%s'", p->path) : "to standard output";
    return diag_error(&d->diags, nowhere, "driver.output", "can't write %s: %s", path, fault);
}

/* ---- What the command line asks for: false is exit status 2 ---- */

/* A pass flag is the pipeline `PASS{OPTIONS}`, and no more than that. */
static bool parse_flag(struct driver *d, const struct argument *a)
{
    u32 before = d->pipeline.n;
    const char *text = a->text ? arena_format(&d->arena, "%s{%s}", a->name, a->text) : a->name;
    struct source *src = ARENA_NEW(&d->arena, struct source);
    source_borrow(src, "<pipeline>", text, strlen(text));
    if (!pipeline_parse(&d->pipeline, &d->ctx, src))
        return false;
    return d->pipeline.n == before + 1 ||
           diag_error(&d->diags, (struct loc){ src, 0, src->size }, "driver.pass.options", "--%s takes options only", a->name);
}

static bool parse_pipeline(struct driver *d)
{
    const struct options *o = d->options;
    if (o->on[OPT_PASS_PIPELINE]) {
        struct source *src = ARENA_NEW(&d->arena, struct source);
        source_borrow(src, "<pipeline>", o->text[OPT_PASS_PIPELINE], strlen(o->text[OPT_PASS_PIPELINE]));
        return pipeline_parse(&d->pipeline, &d->ctx, src);
    }
    for (u32 i = 0; i < o->n_repeated; i++)
        if (o->repeated[i].id == OPT_PASS && !parse_flag(d, &o->repeated[i]))
            return false;
    return true;
}

static void dump_pipeline(const struct driver *d)
{
    struct out o;
    out_fd(&o, STDERR_FILENO);
    out_pipeline(&o, &d->pipeline);
    out_char(&o, '\n');
    out_flush(&o);
    out_free(&o);
}

/* `@name`, `name` or `@"any name"`. */
static bool parse_item(struct driver *d)
{
    const char *text = d->options->text[OPT_ITEM], *fault = NULL;
    if (!text)
        return true;
    text += *text == '@';
    size_t n = strlen(text);
    if (*text != '"')
        d->item = intern(&d->ctx.names, text, n);
    else if (n < 3 || text[n - 1] != '"')
        fault = "its quote is not closed, or empty";
    else
        d->item = text_unquote(&d->ctx, text, text + n, &fault);
    return !fault || usage_error("option '--item': %s", fault);
}

static bool check_output(struct driver *d)
{
    const char *fault = output_check(&d->output, d->options->text[OPT_OUTPUT], &d->arena);
    return !fault || cannot_write(d, &d->output, fault);
}

static bool read_sources(struct driver *d)
{
    const struct options *o = d->options;
    const char *fault;
    d->session_sources = ARENA_ARRAY(&d->arena, struct source, o->n_repeated + 1);
    for (u32 i = 0; i < o->n_repeated; i++) {
        if (o->repeated[i].id != OPT_SESSION)
            continue;
        if ((fault = source_read(&d->session_sources[d->n_session_sources], o->repeated[i].text)))
            return cannot_read(d, o->repeated[i].text, fault);
        d->n_session_sources++;
    }
    if (!strcmp(o->input, "-") && isatty(STDIN_FILENO))
        fputs("bp-opt: reading from standard input; end it with Ctrl-D\n", stderr);
    fault = source_read(&d->source, o->input);
    return !fault || cannot_read(d, o->input, fault);
}

static bool prepare(struct driver *d)
{
    if (!parse_pipeline(d) || !printer_check(d->options, &d->arena) || !parse_item(d) || !check_output(d) || !read_sources(d))
        return false;
    if (d->options->on[OPT_DUMP_PASS_PIPELINE])
        dump_pipeline(d);
    return true;
}

/* ---- Session files ---- */

static bool add_session_item(struct driver *d, struct item *it)
{
    const struct item *twin = module_find(&d->session, it->name);
    module_add(&d->session, it);
    struct loc at = d->ctx.locate(it, NULL, NULL, NULL);
    if (it->kind->layer != LAYER_SESSION)
        return diag_error(&d->diags, at, "driver.session.layer", "a %s is no session item", it->kind->name);
    if (!twin)
        return true;
    diag_error(&d->diags, at, "ir.item.duplicate", "%s stands in two session files", symbol_text(it, it->name));
    diag_note(&d->diags, d->ctx.locate(twin, NULL, NULL, NULL), "it stands here first");
    return false;
}

static bool parse_session(struct driver *d)
{
    bool good = true;
    for (u32 i = 0; i < d->n_session_sources; i++) {
        struct module m;
        good = parse_module(&m, &d->ctx, &d->session_sources[i]) && good;
        good = verify_module(&m) && good;
        for (u32 k = 0; k < m.n; k++)
            good = add_session_item(d, m.items[k]) && good;
        m.n = 0;        /* they are the session's now */
        module_free(&m);
    }
    return good;
}

/* ---- Parts ---- */

static void split(struct driver *d)
{
    const struct options *o = d->options;
    const char *marker = o->text[OPT_SPLIT_INPUT_FILE] ? o->text[OPT_SPLIT_INPUT_FILE] : SPLIT_MARKER;
    struct source *sources =
        split_source(&d->source, o->on[OPT_SPLIT_INPUT_FILE] ? marker : NULL, &d->arena, &d->n_parts);
    d->parts = ARENA_ARRAY(&d->arena, struct part, d->n_parts);
    for (u32 i = 0; i < d->n_parts; i++) {
        d->parts[i].source = sources[i];
        checkpoints_init(&d->parts[i].summaries, o->number[OPT_SUMMARY] == 1);
    }
}

static bool run_passes(struct driver *d, struct part *part)
{
    const struct options *o = d->options;
    struct printer printer = { o };
    struct observer observers[] = { print_observer(&printer), follow_observer(&part->item), summary_observer(&part->summaries) };
    struct run_options run = {
        .verify_each = o->on[OPT_VERIFY_EACH],
        .keep_sources = o->on[OPT_KEEP_SOURCES],
        .verify_replay = o->on[OPT_VERIFY_REPLAY],
        .only = part->item,
        .observers = observers,
        .n_observers = COUNT(observers) - !o->on[OPT_SUMMARY],
    };
    return pipeline_run(&part->module, &d->session, &d->pipeline, &run);
}

static bool process(struct driver *d, struct part *part)
{
    const struct options *o = d->options;
    if (o->on[OPT_SPLIT_INPUT_FILE])
        split_warn(&part->source, &d->diags);
    bool parsed = parse_module(&part->module, &d->ctx, &part->source);
    if (!verify_module(&part->module) || !parsed)
        return false;
    part->item = d->item && module_find(&part->module, d->item) ? d->item : 0;
    if (o->on[OPT_VERIFY_ROUNDTRIP] && !verify_roundtrip(&part->module))
        return false;
    if (!d->pipeline.n || (d->item && !part->item))
        return true;
    return run_passes(d, part) && (!o->on[OPT_VERIFY_ROUNDTRIP] || verify_roundtrip(&part->module));
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
    return false;
}

/* True when all parts are as they should be. Messages so far are of no part: expectations don't concern them. */
static bool process_all(struct driver *d)
{
    const struct options *o = d->options;
    bool all = true, expecting = o->on[OPT_VERIFY_DIAGNOSTICS];
    if (expecting) {
        show_messages(d, &d->diags);
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
    return all && (expecting || check_item(d));
}

/* ---- Output ---- */

static void print_parts(struct driver *d, struct out *o)
{
    const char *marker = d->options->text[OPT_SPLIT_INPUT_FILE];
    bool first = true;
    for (u32 i = 0; i < d->n_parts; i++) {
        const struct part *part = &d->parts[i];
        bool whole = !d->item || (d->pipeline.n && !d->options->on[OPT_CANONICAL] && !d->options->number[OPT_EMIT]);
        if (!part->good || (!whole && !part->item))
            continue;
        if (!first)
            out_printf(o, "%s\n", marker ? marker : SPLIT_MARKER);
        first = false;
        emit_items(o, &part->module, whole ? 0 : part->item, d->options);
    }
}

/* A report is small: it is made in memory, so that a sum that fails leaves nothing behind. */
static bool make_report(struct driver *d, struct out *report)
{
    bool good = true;
    out_memory(report);
    for (u32 i = 0; i < d->n_parts; i++)
        if (d->parts[i].good && (!d->item || d->parts[i].item))
            good = emit_report(report, &d->parts[i].module, d->parts[i].item, &d->parts[i].summaries, d->options) && good;
    return good;
}

static bool write_text(struct driver *d)
{
    const char *fault = output_open(&d->output, &d->arena);
    if (fault)
        return cannot_write(d, &d->output, fault);
    print_parts(d, &d->output.out);
    fault = output_close(&d->output);
    return !fault || cannot_write(d, &d->output, fault);
}

static bool write_report(struct driver *d)
{
    struct output standard = { 0 };
    struct out report;
    bool good = make_report(d, &report);
    if (good && d->options->on[OPT_OUTPUT])
        good = write_text(d);
    if (good) {
        output_open(&standard, &d->arena);
        out_bytes(&standard.out, report.data, report.n);
        const char *fault = output_close(&standard);
        good = !fault || cannot_write(d, &standard, fault);
    }
    out_free(&report);
    return good;
}

static bool write_all(struct driver *d)
{
    enum { BPIR, JSON, NONE };
    const struct options *o = d->options;
    if (o->on[OPT_VERIFY_ONLY])
        return true;
    if (o->on[OPT_DIGEST] || o->on[OPT_SUMMARY])
        return write_report(d);
    return o->number[OPT_EMIT] == NONE || write_text(d);
}

/* ---- The run ---- */

static enum status run(struct driver *d)
{
    if (!prepare(d))
        return STATUS_MISUSED;
    if (!parse_session(d))
        return STATUS_REFUSED;
    split(d);
    return process_all(d) && write_all(d) ? STATUS_SUCCESS : STATUS_REFUSED;
}

static void driver_init(struct driver *d, const struct options *o)
{
    *d = (struct driver){ .options = o };
    arena_init(&d->arena);
    diags_init(&d->diags);
    diags_init(&d->failures);
    if (o->on[OPT_MAX_ERRORS])
        d->diags.max_errors = d->failures.max_errors = o->number[OPT_MAX_ERRORS] ? o->number[OPT_MAX_ERRORS] : UINT32_MAX;
    context_init(&d->ctx, all_dialects, &d->diags);
    module_init(&d->session, &d->ctx, NULL);
}

/* Session items that a pass used stand in the parts too, but belong to the session. */
static void free_part(const struct driver *d, struct part *part)
{
    struct module *m = &part->module;
    u32 kept = 0;
    for (u32 i = 0; i < m->n; i++)
        if (module_find(&d->session, m->items[i]->name) != m->items[i])
            m->items[kept++] = m->items[i];
    m->n = kept;
    module_free(m);
    checkpoints_free(&part->summaries);
}

static void driver_free(struct driver *d)
{
    for (u32 i = 0; i < d->n_parts; i++)
        free_part(d, &d->parts[i]);
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
    enum status status = run(&d);
    show_messages(&d, &d.diags);
    show_messages(&d, &d.failures);
    driver_free(&d);
    return status;
}
