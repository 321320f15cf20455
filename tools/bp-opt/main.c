/* bp-opt: reads items, runs passes, verifies, prints. */
#include "driver.h"
#include "show.h"

#include <fcntl.h>
#include <stdlib.h>

/* A standard stream that is closed must not become the next file that is opened. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            exit(STATUS_MISUSED);
}

int main(int argc, char **argv)
{
    struct options options;
    struct arena arena;
    int status = STATUS_MISUSED;
    hold_standard_streams();
    arena_init(&arena);
    if (options_parse(&options, argc, argv, &arena) && !show(&options, &arena, &status))
        status = (int)driver_run(&options);
    arena_free(&arena);
    return status;
}
