#define _POSIX_C_SOURCE 200809L
#include "support/clock.h"

#include <sys/resource.h>
#include <time.h>

static u64 read_clock(clockid_t id)
{
    struct timespec t;
    return clock_gettime(id, &t) ? 0 : (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

struct host_time host_now(void)
{
    return (struct host_time){ read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID) };
}

struct host_time host_since(struct host_time start)
{
    struct host_time now = host_now();
    return (struct host_time){ now.wall - start.wall, now.cpu - start.cpu };
}

u64 host_peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (u64)usage.ru_maxrss * 1024;
}
