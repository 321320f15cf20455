/* What the files of the checker collective-matching share. */
#ifndef CONFORMANCE_MATCHING_H
#define CONFORMANCE_MATCHING_H

#include "conformance/schedule.h"

struct matching {
    struct check *check;
    struct schedule schedule;
    u32 collectives, groups, pairs;
    u32 open;                           /* pairs without an order that were told */
    u32 whole;                          /* transfers that name no value */
};

/* matching_sends.c: transfers that only send or only receive. */
void matching_sends(struct matching *m);

#endif
