#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a path, with its last slash. */
static const char *folder_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_copy(arena, path, (size_t)(slash + 1 - path)) : "./";
}

const char *output_check(struct output *p, const char *path, struct arena *arena)
{
    struct stat st;
    *p = (struct output){ .path = path && strcmp(path, "-") ? path : NULL };
    if (!p->path)
        return NULL;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return strerror(EISDIR);
        if (access(path, W_OK))
            return strerror(errno);
        if (S_ISREG(st.st_mode)) {
            char *real = realpath(path, NULL);
            p->target = real ? arena_copy(arena, real, strlen(real)) : NULL;
            p->mode = st.st_mode & 07777;
            free(real);
        }
    } else if (errno != ENOENT) {
        return strerror(errno);
    } else if (lstat(path, &st)) {
        p->target = path;
    }
    return p->target && access(folder_of(p->target, arena), W_OK | X_OK) ? strerror(errno) : NULL;
}

static int open_temporary(struct output *p, struct arena *arena)
{
    const char *folder = folder_of(p->target, arena);
    for (u32 i = 0; i < 1000; i++) {
        const char *name = arena_format(arena, "%s.bp-opt-%ld-%u", folder, (long)getpid(), i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            p->temporary = name;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

const char *output_open(struct output *p, struct arena *arena)
{
    int fd = !p->path ? STDOUT_FILENO
             : p->target ? open_temporary(p, arena)
                         : open(p->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return strerror(errno);
    out_fd(&p->out, fd);
    return NULL;
}

static int publish(struct output *p)
{
    if (p->mode && fchmod(p->out.fd, p->mode))
        return errno;
    if (fsync(p->out.fd))
        return errno;
    return rename(p->temporary, p->target) ? errno : 0;
}

const char *output_close(struct output *p)
{
    int error = out_flush(&p->out) ? 0 : p->out.error;
    if (!error && p->temporary)
        error = publish(p);
    if (p->path && close(p->out.fd) && !error && !p->temporary)
        error = errno;
    if (error && p->temporary)
        unlink(p->temporary);
    out_free(&p->out);
    return error ? strerror(error) : NULL;
}
