/*
 * --checkpoint-dir: a folder that holds a run. The input and the session files as they were read, the output of each
 * pass as canonical text with a record of it, the host's time apart, and a manifest. It stands there when all of the run
 * has succeeded, or not at all.
 */
#ifndef BP_OPT_CHECKPOINT_H
#define BP_OPT_CHECKPOINT_H

#include "folder.h"
#include "passes/pass.h"

struct driver;

struct recorder {
    struct driver *d;
    struct folder folder;
    u32 n;                      /* checkpoints */
    bool on;
};

/* Opens the folder, if the options ask for it, and writes the sources that were read. False: reported. */
bool recorder_begin(struct recorder *r, struct driver *d);

struct observer recorder_observer(struct recorder *r);

/* When all parts are processed: the manifest. Then the folder is whole, but not there yet. False: reported. */
bool recorder_finish(struct recorder *r);

/* It is there. False: reported. */
bool recorder_publish(struct recorder *r);

void recorder_free(struct recorder *r);

#endif
