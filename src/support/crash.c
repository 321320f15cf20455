#define _GNU_SOURCE
#include "support/crash.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static struct {
    char from[PATH_MAX], to[PATH_MAX];
    struct sigaction before[COUNT(signals)];
    char stack[64 << 10];               /* a stack that overflowed can't be used */
    stack_t old_stack;
    bool armed;
} guard;

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* rename and write are async-signal-safe. The signal's own action is back already, and follows. */
static void on_crash(int signal)
{
    if (!rename(guard.from, guard.to)) {
        say("bp-opt: crashed; what it was about to do is kept in '");
        say(guard.to);
        say("': bp-opt --run-reproducer does it again\n");
    }
    raise(signal);
}

bool crash_arm(const char *from, const char *to)
{
    struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK };
    stack_t stack = { .ss_sp = guard.stack, .ss_size = sizeof guard.stack };
    if (guard.armed || strlen(from) >= sizeof guard.from || strlen(to) >= sizeof guard.to)
        return false;
    strcpy(guard.from, from);
    strcpy(guard.to, to);
    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, &guard.old_stack);
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, &guard.before[i]);
    guard.armed = true;
    return true;
}

void crash_disarm(void)
{
    if (!guard.armed)
        return;
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &guard.before[i], NULL);
    sigaltstack(&guard.old_stack, NULL);
    guard.armed = false;
}
