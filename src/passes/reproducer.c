#define _GNU_SOURCE
#include "passes/reproducer.h"

#include "ir/print.h"
#include "support/crash.h"
#include "support/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char title[] = "// bp-opt reproducer of ", flag[] = "// flag: ";

/* ---- Writing ---- */

static void out_flag(struct out *o, const char *text, size_t n)
{
    out_string(o, flag);
    out_line(o, text, n);
    out_char(o, '\n');
}

static void out_header(struct out *o, const struct reproducer *r, const struct checkpoint *c)
{
    struct out text;
    struct step step = *c->step;
    out_printf(o, "%sbp-opt %s: %s on ", title, r->version, c->step->pass->name);
    out_name(o, &c->input->ctx->names, '@', c->input->name);
    out_char(o, '\n');
    out_memory(&text);
    out_string(&text, "--pass-pipeline=");
    out_pipeline(&text, &(struct pipeline){ &step, 1 });
    out_flag(o, text.data, text.n);
    text.n = 0;
    out_string(&text, "--item=");
    out_name(&text, &c->input->ctx->names, '@', c->input->name);
    out_flag(o, text.data, text.n);
    out_free(&text);
    for (const char *const *f = r->flags; f && *f; f++)
        out_flag(o, *f, strlen(*f));
}

static void out_items(struct out *o, const struct reproducer *r, const struct checkpoint *c)
{
    for (u32 i = 0; i < c->module->n; i++) {
        out_char(o, '\n');
        print_item(o, c->module->items[i]);
    }
    for (u32 i = 0; r->session && i < r->session->n; i++) {
        if (module_find(c->module, r->session->items[i]->name))
            continue;
        out_char(o, '\n');
        print_item(o, r->session->items[i]);
    }
}

/* Replaces READY when all is on the disk: a crash finds it whole. */
static int write_ahead(struct reproducer *r, const struct checkpoint *c)
{
    struct out o;
    int fd = open(r->staging, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    out_fd(&o, fd);
    out_header(&o, r, c);
    out_items(&o, r, c);
    int error = out_flush(&o) ? 0 : o.error;
    out_free(&o);
    if (!error && fsync(fd))
        error = errno;
    if (close(fd) && !error)
        error = errno;
    if (!error && rename(r->staging, r->ready))
        error = errno;
    if (error)
        unlink(r->staging);
    return error;
}

/* ---- Observing ---- */

static bool show(struct reproducer *r, const struct checkpoint *c)
{
    if (r->kept || (r->step == c->step && r->input == c->input))
        return true;
    int error = write_ahead(r, c);
    if (error)
        return diag_error(c->input->ctx->diags, (struct loc){ 0 }, "pass.reproducer", "can't write '%s': %s", r->path, strerror(error));
    r->step = c->step;
    r->input = c->input;
    return true;
}

static bool before(void *state, const struct checkpoint *c)
{
    return show(state, c);
}

/* A pass may be refused before it was shown: a session item is missing. */
static void failed(void *state, const struct checkpoint *c)
{
    show(state, c);
}

struct observer reproducer_observer(struct reproducer *r)
{
    return (struct observer){ .name = "--crash-reproducer", .state = r, .before = before, .failed = failed };
}

const char *reproducer_begin(struct reproducer *r)
{
    r->staging = arena_format(r->arena, "%s.bp-opt-%ld.staging", r->path, (long)getpid());
    r->ready = arena_format(r->arena, "%s.bp-opt-%ld", r->path, (long)getpid());
    return crash_arm(r->ready, r->path) ? NULL : strerror(ENAMETOOLONG);
}

const char *reproducer_keep(struct reproducer *r)
{
    if (r->kept || !r->step)
        return NULL;
    r->kept = true;
    return rename(r->ready, r->path) ? strerror(errno) : NULL;
}

void reproducer_end(struct reproducer *r)
{
    if (!r->ready)
        return;
    crash_disarm();
    if (r->step && !r->kept)
        unlink(r->ready);
}

/* ---- Reading ---- */

static bool begins(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) >= strlen(word) && !memcmp(at, word, strlen(word));
}

bool reproducer_flags(const struct source *text, struct arena *arena, const char **flags, u32 *n)
{
    const char *at = text->text, *end = at + text->size;
    *n = 0;
    if (!begins(at, end, title))
        return false;
    for (;;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
        if (!begins(at, end, flag) || *n == MAX_REPRODUCER_FLAGS)
            return *n > 0;
        at += strlen(flag);
        stop = memchr(at, '\n', (size_t)(end - at));
        flags[(*n)++] = line_text(at, (size_t)((stop ? stop : end) - at), arena);
    }
}
