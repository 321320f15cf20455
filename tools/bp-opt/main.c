/* bp-opt: reads items, runs passes, verifies, prints. */
#define _GNU_SOURCE
#include "driver.h"
#include "show.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A standard stream that is closed must not become the next file that is opened. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            exit(STATUS_MISUSED);
}

/* A large input is mapped: the bytes of one that was made shorter meanwhile are gone. Any other SIGBUS is a fault of ours. */
static void say_cut(int number, siginfo_t *info, void *context)
{
    static const char text[] = "bp-opt: error: [driver.input] the input became shorter while it was read\n";
    (void)context;
    if (info->si_code == BUS_ADRERR && write(STDERR_FILENO, text, sizeof text - 1) > 0)
        _exit(STATUS_MISUSED);
    signal(number, SIG_DFL);
}

static void expect_cuts(void)
{
    struct sigaction action = { .sa_sigaction = say_cut, .sa_flags = SA_SIGINFO };
    sigaction(SIGBUS, &action, NULL);
}

int main(int argc, char **argv)
{
    struct options options;
    struct arena arena;
    int status = STATUS_MISUSED;
    hold_standard_streams();
    expect_cuts();
    arena_init(&arena);
    if (options_parse(&options, argc, argv, &arena) && !show(&options, &arena, &status))
        status = (int)driver_run(&options);
    arena_free(&arena);
    return status;
}
