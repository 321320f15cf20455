/*
 * Analyses: what is known about one item, kept beside it. Each is addressed by the item's digest, its key, and a
 * fingerprint of the session items that it depends on; nothing is changed under an address, and a digest of the value is
 * held against it whenever it is looked up.
 */
#ifndef PASSES_ANALYSIS_H
#define PASSES_ANALYSIS_H

#include "ir/item.h"

enum binding { BIND_WORKLOAD, BIND_STRATEGY, BIND_TARGET, BIND_DEPLOYMENT, BINDINGS };
#define NEEDS(binding) (1u << (binding))

/* What a pass may consume besides its input; NULL where the file has none. Effective items: overrides are applied. */
struct session {
    struct item *items[BINDINGS];
};

/* A key. Its value is frozen once it is published. */
struct analysis {
    const char *name;           /* "work.totals" */
    u32 bindings;               /* the session items that the value depends on: NEEDS(…) */
    /* The value, in ARENA, from the item alone; NULL: reported. No such function: only a pass can make it. */
    const void *(*compute)(const struct item *it, struct arena *arena);
    /* Every fact of the value, a line each: what its digest is made of. */
    void (*print)(struct out *o, const struct context *ctx, const void *value);
    const char *doc;
};

struct finding {
    const struct analysis *key;
    struct digest item, session;        /* the rest of the address */
    const void *value;
    struct digest digest;               /* of what `print` prints */
    u32 older;                          /* 1 + the index of the one before it in its bucket; 0: none */
};

struct analyses {
    struct context *ctx;
    struct arena arena;                 /* owner of the values */
    struct finding *list;
    u32 n, cap;
    u32 newest[256];                    /* by the item's digest: as `older` */
};

void analyses_init(struct analyses *a, struct context *ctx);
void analyses_free(struct analyses *a);

/* Of the session items in the mask BINDINGS. */
struct digest session_fingerprint(const struct session *s, u32 bindings);

struct digest finding_digest(const struct context *ctx, const struct analysis *key, const void *value);

/* NULL: there is none at this address. SESSION NULL: the newest of any. */
const struct finding *analyses_find(const struct analyses *a, const struct analysis *key, struct digest item, const struct digest *session);

/* Enters F, whose value must be in the arena. False: there is another value at its address; nothing is reported. */
bool analyses_add(struct analyses *a, const struct finding *f);

/* True while the value is what its digest says. */
bool finding_is_whole(const struct context *ctx, const struct finding *f);

/* ---- Those that there are ---- */

extern const struct analysis *const all_analyses[];     /* NULL at the end */

extern const struct analysis work_totals;       /* operations, bytes and messages by phase and engine; struct sums */
extern const struct analysis engine_counts;     /* how many steps each engine takes; struct engine_counts */
extern const struct analysis buffer_totals;     /* how many buffers there are and their bytes; struct buffer_totals */
extern const struct analysis training_totals;   /* of a stage and an iteration; struct training_report */
extern const struct analysis inference_totals;  /* of a stage and the model; struct inference_report */

#endif
