/* measure COMMAND...: runs it and prints its wall time and its processor time, in seconds, and its peak memory in kB.
 * Small itself, since a process that was just started counts the memory of the one that started it. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
    struct rusage used;
    pid_t child;
    int status, error;
    if (argc < 2)
        return 2;
    double start = now();
    if ((error = posix_spawnp(&child, argv[1], NULL, NULL, argv + 1, environ))) {
        fprintf(stderr, "measure: %s: %s\n", argv[1], strerror(error));
        return 2;
    }
    while (wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR)
            return 2;
    double wall = now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "measure: %s failed\n", argv[1]);
        return 1;
    }
    printf("%.6f %.6f %ld\n", wall, seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return 0;
}
