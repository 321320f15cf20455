#define _POSIX_C_SOURCE 200809L
#include "replay_files.h"

#include "messages.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

const char *replay_path(const struct replay *r, const char *name)
{
    return arena_format(&r->d->arena, "%s/%s", r->folder, name);
}

/* ---- The manifest ---- */

enum status replay_open(struct replay *r)
{
    struct source src;
    struct driver *d = r->d;
    const char *path = replay_path(r, MANIFEST_NAME), *fault = source_read(&src, path);
    if (fault) {
        cannot_read(d, path, fault);
        return STATUS_MISUSED;
    }
    fault = manifest_read(&r->manifest, src.text, src.size, &d->arena);
    source_free(&src);
    if (fault) {
        diag_error(&d->diags, nowhere, "driver.replay.manifest", "'%s': %s", path, fault);
        return STATUS_REFUSED;
    }
    if (strcmp(r->manifest.version, BP_OPT_VERSION))
        diag_warning(&d->diags, nowhere, "driver.replay.version", "'%s' was written by bp-opt %s, and this is %s", r->folder, r->manifest.version,
                     BP_OPT_VERSION);
    return STATUS_SUCCESS;
}

/* ---- Its files ---- */

static bool bad_file(const struct replay *r, const char *name, const char *what)
{
    return diag_error(&r->d->diags, nowhere, "driver.replay.file", "'%s' %s", replay_path(r, name), what);
}

static struct digest digest_of(const struct source *s)
{
    struct out o;
    out_digest(&o);
    out_bytes(&o, s->text, s->size);
    return digest_finish(&o);
}

/* It may be another file's text. */
static void note_swapped(const struct replay *r, u32 i, struct digest now)
{
    for (u32 k = 0; k < r->manifest.n_files; k++)
        if (k != i && digest_equal(r->manifest.files[k].digest, now))
            diag_note(&r->d->diags, nowhere, "it is what '%s' was: were they swapped?", r->manifest.files[k].name);
}

static bool check_file(const struct replay *r, u32 i)
{
    const struct folder_file *f = &r->manifest.files[i];
    const char *path = replay_path(r, f->name), *fault = NULL;
    struct stat st;
    if (stat(path, &st))
        fault = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        fault = "it is no file";
    else
        fault = source_read(&r->sources[i], path);
    if (fault)
        return bad_file(r, f->name, arena_format(&r->d->arena, "can't be read: %s", fault));
    struct digest now = digest_of(&r->sources[i]);
    if (digest_equal(now, f->digest))
        return true;
    bad_file(r, f->name, arena_format(&r->d->arena, "is not what was written: the manifest has another digest, of %llu bytes, and it has %u",
                                      (unsigned long long)f->size, r->sources[i].size));
    note_swapped(r, i, now);
    return false;
}

static bool is_listed(const struct replay *r, const char *name)
{
    if (!strcmp(name, MANIFEST_NAME) || !strcmp(name, ".") || !strcmp(name, ".."))
        return true;
    for (u32 i = 0; i < r->manifest.n_files; i++)
        if (!strcmp(r->manifest.files[i].name, name))
            return true;
    return false;
}

static bool check_strangers(const struct replay *r)
{
    DIR *folder = opendir(r->folder);
    bool good = true;
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (!is_listed(r, e->d_name))
            good = bad_file(r, arena_format(&r->d->arena, "%s", e->d_name), "is not in the manifest");
    if (folder)
        closedir(folder);
    return good;
}

/* Everything but the input and the session files is written anew by the replay. */
static bool is_source(const struct replay *r, const char *name)
{
    bool source = !strcmp(name, MANIFEST_INPUT);
    for (u32 i = 0; i < r->manifest.n_sessions; i++)
        source = source || !strcmp(name, manifest_session(&r->d->arena, i));
    return source;
}

bool replay_check_files(struct replay *r)
{
    bool good = true;
    r->runnable = is_listed(r, MANIFEST_INPUT);
    r->sources = ARENA_ARRAY(&r->d->arena, struct source, r->manifest.n_files + 1);
    for (u32 i = 0; i < r->manifest.n_files; i++) {
        bool whole = check_file(r, i);
        r->runnable = r->runnable && (whole || !is_source(r, r->manifest.files[i].name));
        good = good && whole;
    }
    return check_strangers(r) && good;
}

const struct source *replay_source(const struct replay *r, const char *name)
{
    for (u32 i = 0; i < r->manifest.n_files; i++)
        if (!strcmp(r->manifest.files[i].name, name))
            return r->sources[i].text ? &r->sources[i] : NULL;
    return NULL;
}

void replay_close(struct replay *r)
{
    for (u32 i = 0; r->sources && i < r->manifest.n_files; i++)
        source_free(&r->sources[i]);
}
