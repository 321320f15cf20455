/* bp-opt: reads a file of items, verifies it and prints it. */
#include "dialects/registry.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include "expect.h"
#include "options.h"
#include "output.h"
#include "split.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SUCCESS, REFUSED, MISUSED };

/* One part of the input. */
struct part {
    struct module module;
    bool good;
};

struct driver {
    const struct options *options;
    struct arena arena;
    struct diags diags, failures;       /* failures: of --verify-diagnostics */
    struct context ctx;
    struct source source;
    struct source *sources;             /* of the parts */
    struct part *parts;
    u32 n_parts;
    struct output output;
};

/* A closed standard stream must not be taken by the next file that is opened. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            exit(MISUSED);
}

static bool colored(const struct options *o)
{
    enum { AUTO, ALWAYS };
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (o->on[OPT_COLOR])
        if (o->number[OPT_COLOR] != AUTO)
            return o->number[OPT_COLOR] == ALWAYS;
    return isatty(STDERR_FILENO) && !(off && *off) && terminal && strcmp(terminal, "dumb");
}

static void show_messages(const struct driver *d, struct diags *diags)
{
    struct out o;
    out_fd(&o, STDERR_FILENO);
    if (d->options->number[OPT_DIAGNOSTICS])
        diags_render_json(diags, &o);
    else
        diags_render(diags, &o, (struct diag_style){ .color = colored(d->options) });
    out_flush(&o);
    out_free(&o);
}

static bool process(struct driver *d, struct part *part, const struct source *source)
{
    if (d->options->on[OPT_SPLIT_INPUT_FILE])
        split_warn(source, &d->diags);
    bool parsed = parse_module(&part->module, &d->ctx, source);
    return verify_module(&part->module) && parsed;
}

/* True when all parts are as they should be. */
static bool process_all(struct driver *d)
{
    bool all = true, expecting = d->options->on[OPT_VERIFY_DIAGNOSTICS];
    for (u32 i = 0; i < d->n_parts; i++) {
        struct part *part = &d->parts[i];
        bool good = part->good = process(d, part, &d->sources[i]);
        if (expecting) {
            good = expect_check(&d->sources[i], &d->diags, d->options->number[OPT_VERIFY_DIAGNOSTICS] == 1, &d->failures);
            diags_clear(&d->diags);
        }
        all = all && good;
    }
    return all;
}

static void print_all(struct driver *d, struct out *o)
{
    const char *marker = d->options->text[OPT_SPLIT_INPUT_FILE];
    bool first = true;
    for (u32 i = 0; i < d->n_parts; i++) {
        if (!d->parts[i].good)
            continue;
        if (!first)
            out_printf(o, "%s\n", marker ? marker : SPLIT_MARKER);
        first = false;
        print_module(o, &d->parts[i].module, !d->options->on[OPT_CANONICAL]);
    }
}

static int run(struct driver *d)
{
    const struct options *o = d->options;
    const char *fault = source_read(&d->source, o->input);
    if (fault) {
        usage_error("can't read '%s': %s", o->input, fault);
        return MISUSED;
    }
    const char *marker = o->text[OPT_SPLIT_INPUT_FILE] ? o->text[OPT_SPLIT_INPUT_FILE] : SPLIT_MARKER;
    d->sources = split_source(&d->source, o->on[OPT_SPLIT_INPUT_FILE] ? marker : NULL, &d->arena, &d->n_parts);
    d->parts = ARENA_ARRAY(&d->arena, struct part, d->n_parts);
    bool good = process_all(d);
    show_messages(d, &d->diags);
    show_messages(d, &d->failures);
    if (!good)
        return REFUSED;
    if (o->on[OPT_VERIFY_ONLY])
        return SUCCESS;
    if (!output_open(&d->output, &d->arena))
        return REFUSED;
    print_all(d, &d->output.out);
    return output_close(&d->output) ? SUCCESS : REFUSED;
}

static void driver_init(struct driver *d, const struct options *o)
{
    *d = (struct driver){ .options = o };
    arena_init(&d->arena);
    diags_init(&d->diags);
    diags_init(&d->failures);
    if (o->on[OPT_MAX_ERRORS])
        d->diags.max_errors = o->number[OPT_MAX_ERRORS] ? o->number[OPT_MAX_ERRORS] : UINT32_MAX;
    context_init(&d->ctx, all_dialects, &d->diags);
}

static void driver_free(struct driver *d)
{
    for (u32 i = 0; i < d->n_parts; i++)
        module_free(&d->parts[i].module);
    context_free(&d->ctx);
    source_free(&d->source);
    diags_free(&d->failures);
    diags_free(&d->diags);
    arena_free(&d->arena);
}

int main(int argc, char **argv)
{
    struct options options;
    struct driver d;
    struct arena arena;
    hold_standard_streams();
    arena_init(&arena);
    int status = MISUSED;
    if (options_parse(&options, argc, argv, &arena)) {
        driver_init(&d, &options);
        if (output_check(&d.output, options.text[OPT_OUTPUT], &d.arena))
            status = run(&d);
        driver_free(&d);
    }
    arena_free(&arena);
    return status;
}
