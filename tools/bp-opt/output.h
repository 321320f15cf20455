/*
 * Where output goes. A regular file or a new name is written beside itself and renamed when all is there, so that it is
 * never seen half done; anything else (a device, a pipe, a dangling link) is written through.
 */
#ifndef BP_OPT_OUTPUT_H
#define BP_OPT_OUTPUT_H

#include "support/arena.h"
#include "support/out.h"

struct output {
    const char *path;           /* as given; NULL is standard output */
    const char *target;         /* what is renamed onto, links resolved; NULL: written through */
    const char *temporary;      /* while one exists */
    u32 mode;                   /* permissions of the file that is replaced; 0: a new one */
    struct out out;
};

/* Each returns NULL, or a message about the fault (strerror's). */

/* Looks, before any work, whether PATH (NULL or "-" is standard output) can be written. */
const char *output_check(struct output *p, const char *path, struct arena *arena);

/* Then p->out may be written to. */
const char *output_open(struct output *p, struct arena *arena);

/* Ends: all is in its place, or the file is as it was. */
const char *output_close(struct output *p);

#endif
