/*
 * A folder that is written whole or not at all: its files go to a folder beside it, which is renamed when all are on the
 * disk. It may be there already, if it is empty.
 */
#ifndef BP_OPT_FOLDER_H
#define BP_OPT_FOLDER_H

#include "support/arena.h"
#include "support/digest.h"

struct folder_file {
    const char *name;
    u64 size;
    struct digest digest;       /* of the bytes */
};

struct folder {
    const char *path;
    const char *staging;        /* while it exists */
    struct arena *arena;
    struct folder_file *files;
    u32 n, cap;
};

/* Each returns NULL, or a message about the fault (static or strerror's). */

/* Looks, before any work, whether the folder can be made. */
const char *folder_check(const char *path, struct arena *arena);

const char *folder_begin(struct folder *f, const char *path, struct arena *arena);

/* NAME lives as long as the arena. The file is on the disk then. */
const char *folder_add(struct folder *f, const char *name, const char *bytes, size_t n);

/* Then it is there. */
const char *folder_publish(struct folder *f);

/* Leaves nothing behind, unless it was published. */
void folder_drop(struct folder *f);

#endif
