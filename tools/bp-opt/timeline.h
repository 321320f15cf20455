/* --timing: what bp-opt spends the host's time on, as nested spans. It is no fact, and enters no digest. */
#ifndef BP_OPT_TIMELINE_H
#define BP_OPT_TIMELINE_H

#include "passes/pass.h"
#include "support/clock.h"

struct timed {
    const char *name, *detail;  /* detail: the pass, the file; or NULL */
    struct host_time start, spent;
    u64 peak;                   /* bytes of memory at its end, at most so far */
    u32 depth;
};

struct timeline {
    bool on;
    struct arena *arena;        /* owner of the details */
    struct host_time start;
    struct timed *list;         /* in the order of their beginnings */
    u32 n, cap;
    u32 open[16];
    u32 depth;
};

void timeline_init(struct timeline *t, struct arena *arena, bool on);
void timeline_free(struct timeline *t);

/* Each beginning has one end. Nothing is done unless it is on. */
void timeline_begin(struct timeline *t, const char *name, const char *detail);
void timeline_end(struct timeline *t);

/* For run_options: the parts of a pass as spans. W must live as long as the run. */
const struct stopwatch *timeline_stopwatch(struct timeline *t, struct stopwatch *w);

enum report_form { FORM_TEXT, FORM_JSON, FORM_TRACE };

/* A table; an object of JSON on one line; or events that chrome://tracing and Perfetto read. */
void timeline_print(struct out *o, const struct timeline *t, enum report_form form);

#endif
