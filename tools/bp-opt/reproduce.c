#include "reproduce.h"

#include "messages.h"

/* ---- --crash-reproducer ---- */

static bool cannot(struct driver *d, const char *fault)
{
    return diag_error(&d->diags, nowhere, "driver.output", "can't write '%s': %s", d->options->text[OPT_CRASH_REPRODUCER], fault);
}

bool reproduce_check(struct driver *d)
{
    struct output p;
    const char *path = d->options->text[OPT_CRASH_REPRODUCER], *fault = path ? output_check(&p, path, &d->arena) : NULL;
    if (path && !fault && !p.target)
        fault = "it is not a file that can be replaced";
    return !fault || cannot(d, fault);
}

/* The flags that a pass's success depends on. */
static const char *const *watched_flags(struct driver *d)
{
    static const enum option asks[] = { OPT_VERIFY_REPLAY, OPT_VERIFY_ROUNDTRIP };
    const struct options *o = d->options;
    const char **flags = ARENA_ARRAY(&d->arena, const char *, COUNT(asks) + 2 + o->n_repeated);
    u32 n = 0;
    for (u32 i = 0; i < COUNT(asks); i++)
        if (o->on[asks[i]])
            flags[n++] = arena_format(&d->arena, "--%s", option_rows[asks[i]].name);
    if (!o->on[OPT_VERIFY_EACH])
        flags[n++] = "--verify-each=0";
    for (u32 i = 0; i < o->n_repeated; i++)
        if (o->repeated[i].id == OPT_CHECK)
            flags[n++] = arena_format(&d->arena, "--check=%s", o->repeated[i].text);
    return flags;
}

bool reproduce_begin(struct driver *d)
{
    if (!d->options->on[OPT_CRASH_REPRODUCER])
        return true;
    d->reproducer = (struct reproducer){
        .path = d->options->text[OPT_CRASH_REPRODUCER], .version = BP_OPT_VERSION, .session = &d->session, .flags = watched_flags(d), .arena = &d->arena,
    };
    const char *fault = reproducer_begin(&d->reproducer);
    return !fault || cannot(d, fault);
}

void reproduce_keep(struct driver *d)
{
    if (!d->options->on[OPT_CRASH_REPRODUCER] || d->reproducer.kept)
        return;
    const char *fault = reproducer_keep(&d->reproducer);
    if (fault)
        cannot(d, fault);
    else if (d->reproducer.kept)
        diag_note(&d->diags, nowhere, "`bp-opt --run-reproducer %s` does it again", d->reproducer.path);
}

/* ---- --run-reproducer ---- */

static bool is_flag(const char *word, const char *name)
{
    word += strspn(word, "-");
    size_t n = strlen(name);
    return !strncmp(word, name, n) && (!word[n] || word[n] == '=');
}

/* The command line with the file's flags in front, and without the one that led here. */
static bool parse_again(struct driver *d, const char *const *flags, u32 n)
{
    const struct options *o = d->options;
    struct options *again = ARENA_NEW(&d->arena, struct options);
    char **argv = ARENA_ARRAY(&d->arena, char *, (size_t)o->argc + n + 1);
    int argc = 0;
    argv[argc++] = o->argv[0];
    for (u32 i = 0; i < n; i++)
        argv[argc++] = (char *)flags[i];
    for (int i = 1; i < o->argc; i++)
        if (!(o->argv[i][0] == '-' && is_flag(o->argv[i], option_rows[OPT_RUN_REPRODUCER].name)))
            argv[argc++] = o->argv[i];
    if (!options_parse(again, argc, argv, &d->arena))
        return false;
    d->options = again;
    return true;
}

enum status reproduce_options(struct driver *d)
{
    const char *flags[MAX_REPRODUCER_FLAGS], *fault = source_read(&d->source, d->options->input);
    u32 n;
    if (fault) {
        cannot_read(d, d->options->input, fault);
        return STATUS_MISUSED;
    }
    if (!reproducer_flags(&d->source, &d->arena, flags, &n)) {
        diag_error(&d->diags, (struct loc){ &d->source, 0, 0 }, "driver.reproducer.form", "this is no file of --crash-reproducer");
        diag_note(&d->diags, nowhere, "it begins with `// bp-opt reproducer of …`, and lines `// flag: …`");
        return STATUS_REFUSED;
    }
    return parse_again(d, flags, n) ? STATUS_SUCCESS : STATUS_MISUSED;
}
