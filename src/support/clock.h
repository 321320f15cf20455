/* The host's time: for reports about bp-opt itself. It is no fact, and enters no digest. */
#ifndef SUPPORT_CLOCK_H
#define SUPPORT_CLOCK_H

#include "support/base.h"

struct host_time {
    u64 wall, cpu;              /* nanoseconds; of all threads */
};

struct host_time host_now(void);
struct host_time host_since(struct host_time start);

/* Bytes of memory that the process had at most, so far. */
u64 host_peak_memory(void);

#endif
