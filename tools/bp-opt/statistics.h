/* --pass-statistics: what each pass took and made, counted. These are facts of the derivation: the same on every host. */
#ifndef BP_OPT_STATISTICS_H
#define BP_OPT_STATISTICS_H

#include "timeline.h"

struct pass_count;

struct statistics {
    struct arena *arena;
    struct pass_count *list;
    u32 n, cap;
};

void statistics_init(struct statistics *s, struct arena *arena);
void statistics_free(struct statistics *s);

struct observer statistics_observer(struct statistics *s);

/* A trace has a counter for each pass, one after another: there is no time in these facts. */
void statistics_print(struct out *o, const struct statistics *s, enum report_form form);

#endif
