/*
 * A file that does again what failed: the items as they stood before the pass, those of the session files among them,
 * below the flags that run that pass on that item. It is written ahead of each pass beside its place, and moves there
 * when the pass fails, or when the process crashes.
 *
 *     // bp-opt reproducer of bp-opt 0.1.0: plan-transformer-training on @gpt3.block
 *     // flag: --pass-pipeline=plan-transformer-training{strategy=@tp8}
 *     // flag: --item=@gpt3.block
 */
#ifndef PASSES_REPRODUCER_H
#define PASSES_REPRODUCER_H

#include "passes/pass.h"

enum { MAX_REPRODUCER_FLAGS = 256 };

struct reproducer {
    const char *path;
    const char *version;                /* of bp-opt */
    const struct module *session;       /* items of session files, or NULL */
    const char *const *flags;           /* what else the run depends on: "--verify-replay"; NULL at the end */
    struct arena *arena;
    const char *staging, *ready;        /* names beside PATH: while it is written, when it is whole */
    const struct step *step;            /* what READY is of; NULL: there is none */
    const struct item *input;
    bool kept;
};

/* The caller has filled in the first five. Guards against crashes from here on. NULL, or what is wrong. */
const char *reproducer_begin(struct reproducer *r);

struct observer reproducer_observer(struct reproducer *r);

/* The pass failed: the first such file of a run stays. NULL, or what is wrong. */
const char *reproducer_keep(struct reproducer *r);

/* Leaves nothing behind but what was kept. */
void reproducer_end(struct reproducer *r);

/* The flags of a reproducer, in ARENA; false: the text is none. */
bool reproducer_flags(const struct source *text, struct arena *arena, const char **flags, u32 *n);

#endif
