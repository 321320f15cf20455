/*
 * The list of a checkpoint folder: what was asked for, which files there are, and what came out. Lines of a word and
 * what it says; the last is a digest of those above.
 */
#ifndef BP_OPT_MANIFEST_H
#define BP_OPT_MANIFEST_H

#include "folder.h"

#define MANIFEST_NAME "manifest"

struct manifest {
    const char *version;                /* of the bp-opt that wrote it */
    const char *pipeline, *item, *marker;       /* NULL: not given; MARKER "": the standard one */
    bool keep_sources;
    const char *input;                  /* how the input was called: for messages */
    u32 n_sessions;                     /* files of --session */
    u32 n_checkpoints;
    struct folder_file *files;          /* all but the manifest */
    u32 n_files;
    const char *results;                /* the lines that record_results prints */
};

void manifest_print(struct out *o, const struct manifest *m);

/* TEXT is the manifest's, N bytes and a NUL. NULL, or what is wrong with it. All of it lies in ARENA. */
const char *manifest_read(struct manifest *m, const char *text, size_t n, struct arena *arena);

/* "input.bpir", "session.1.bpir" */
#define MANIFEST_INPUT "input.bpir"
const char *manifest_session(struct arena *arena, u32 i);

#endif
