/* The files of a folder that --replay reads: are they those that were written? */
#ifndef BP_OPT_REPLAY_FILES_H
#define BP_OPT_REPLAY_FILES_H

#include "driver.h"
#include "manifest.h"

struct replay {
    struct driver *d;
    const char *folder;
    struct manifest manifest;
    struct source *sources;     /* of the manifest's files, in its order; no text: it can't be read */
    bool runnable;              /* the input and the session files are whole */
    u32 n;                      /* checkpoints that were compared */
    bool differs;               /* and the first difference was told */
};

/* Reads the manifest. STATUS_SUCCESS, or what the run ends with: reported. */
enum status replay_open(struct replay *r);

/* Reads the files and holds them against the manifest; tells all that is missing, edited, swapped or too much. */
bool replay_check_files(struct replay *r);

const char *replay_path(const struct replay *r, const char *name);

/* What the file says, or NULL. */
const struct source *replay_source(const struct replay *r, const char *name);

/* Messages may show its files until then. */
void replay_close(struct replay *r);

#endif
