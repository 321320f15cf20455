#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path without slashes at its end: `dir/` and `dir` are one folder. */
static const char *trimmed(const char *path, struct arena *arena)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return arena_copy(arena, path, n);
}

static const char *parent_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

static const char *check_empty(const char *path)
{
    DIR *d = opendir(path);
    u32 n = 0;
    if (!d)
        return strerror(errno);
    for (const struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n ? "the folder is not empty" : NULL;
}

const char *folder_check(const char *path, struct arena *arena)
{
    struct stat st;
    path = trimmed(path, arena);
    if (stat(path, &st) == 0) {
        const char *fault = S_ISDIR(st.st_mode) ? check_empty(path) : strerror(ENOTDIR);
        if (fault)
            return fault;
        char *real = realpath(path, NULL);      /* `.` and links have a parent, too */
        path = real ? arena_copy(arena, real, strlen(real)) : path;
        free(real);
    } else if (errno != ENOENT) {
        return strerror(errno);
    }
    return access(parent_of(path, arena), W_OK | X_OK) ? strerror(errno) : NULL;
}

const char *folder_begin(struct folder *f, const char *path, struct arena *arena)
{
    char *real = realpath(path, NULL);
    *f = (struct folder){ .arena = arena, .path = real ? arena_copy(arena, real, strlen(real)) : trimmed(path, arena) };
    free(real);
    for (u32 i = 0; i < 1000; i++) {
        const char *name = arena_format(arena, "%s.bp-opt-%ld-%u", f->path, (long)getpid(), i);
        if (!mkdir(name, 0777)) {
            f->staging = name;
            return NULL;
        }
        if (errno != EEXIST)
            return strerror(errno);
    }
    return strerror(EEXIST);
}

static const char *path_of(const struct folder *f, const char *name)
{
    return arena_format(f->arena, "%s/%s", f->staging, name);
}

const char *folder_add(struct folder *f, const char *name, const char *bytes, size_t n)
{
    struct out o, hash;
    int fd = open(path_of(f, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return strerror(errno);
    out_digest(&hash);
    out_bytes(&hash, bytes, n);
    *VEC_PUSH(f->files, f->n, f->cap) = (struct folder_file){ name, n, digest_finish(&hash) };
    out_fd(&o, fd);
    out_bytes(&o, bytes, n);
    int error = out_flush(&o) ? 0 : o.error;
    if (!error && fsync(fd))
        error = errno;
    if (close(fd) && !error)
        error = errno;
    out_free(&o);
    return error ? strerror(error) : NULL;
}

static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

const char *folder_publish(struct folder *f)
{
    sync_folder(f->staging);
    if (rename(f->staging, f->path))
        return errno == EEXIST || errno == ENOTEMPTY ? "the folder is not empty" : strerror(errno);
    sync_folder(parent_of(f->path, f->arena));
    f->staging = NULL;
    return NULL;
}

void folder_drop(struct folder *f)
{
    for (u32 i = 0; f->staging && i < f->n; i++)
        unlink(path_of(f, f->files[i].name));
    if (f->staging)
        rmdir(f->staging);
    if (f->files)
        block_free(f->files, f->cap * sizeof *f->files);
    *f = (struct folder){ 0 };
}
