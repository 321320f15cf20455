#include "request.h"

#include "lexer/text.h"

#include "host_report.h"
#include "messages.h"
#include "observers.h"
#include "reproduce.h"

#include <stdio.h>
#include <unistd.h>

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

/* `@name`, `name` or `@"any name"` from *TEXT on, which is moved behind it. */
static atom read_name(struct driver *d, const char **text, const char **fault)
{
    const char *from = *text + (**text == '@'), *to = from;
    bool quoted = *from == '"', pair = d->options->on[OPT_DIFF];
    for (to += quoted; *to && (quoted ? *to != '"' : !(pair && *to == ',')); to++)
        to += quoted && to[0] == '\\' && to[1];
    *text = to + (quoted && *to);
    if (!quoted)
        return intern(&d->ctx.names, from, (size_t)(to - from));
    if (!*to || to == from + 1) {
        *fault = "its quote is not closed, or empty";
        return 0;
    }
    return text_unquote(&d->ctx, from, to + 1, fault);
}

bool request_item(struct driver *d)
{
    const char *text = d->options->text[OPT_ITEM], *fault = NULL;
    if (!text)
        return true;
    d->item = read_name(d, &text, &fault);
    if (!fault && *text == ',' && d->options->on[OPT_DIFF]) {
        text++;
        d->item_to = read_name(d, &text, &fault);
    }
    if (!fault && *text)
        fault = "something follows the name";
    return !fault || usage_error("option '--item': %s", fault);
}

atom request_name(struct driver *d, const char *text)
{
    const char *fault = NULL;
    atom name = read_name(d, &text, &fault);
    return fault || *text ? 0 : name;
}

bool request_output(struct driver *d)
{
    const char *fault = output_check(&d->output, d->options->text[OPT_OUTPUT], &d->arena);
    return !fault || cannot_write(d, &d->output, fault);
}

static bool request_folder(struct driver *d)
{
    const char *path = d->options->text[OPT_CHECKPOINT_DIR], *fault = path ? folder_check(path, &d->arena) : NULL;
    return !fault || diag_error(&d->diags, nowhere, "driver.output", "can't write '%s': %s", path, fault);
}

/* What was read already, to look for flags in it, is not read again. */
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
    if (d->source.text)
        return true;
    if (!strcmp(o->input, "-") && isatty(STDIN_FILENO))
        fputs("bp-opt: reading from standard input; end it with Ctrl-D\n", stderr);
    timeline_begin(&d->timeline, "read", o->input);
    fault = source_read(&d->source, o->input);
    timeline_end(&d->timeline);
    return !fault || cannot_read(d, o->input, fault);
}

bool request_prepare(struct driver *d)
{
    if (!parse_pipeline(d) || !printer_check(d->options, &d->arena) || !checks_choose(&d->checks, d->options, &d->arena) ||
        !executor_choose(&d->executor, d->options, &d->ctx) || !request_item(d) || !request_output(d) || !request_folder(d) ||
        !host_report_check(d) || !reproduce_check(d) || !read_sources(d))
        return false;
    if (d->options->on[OPT_DUMP_PASS_PIPELINE])
        dump_pipeline(d);
    return true;
}
