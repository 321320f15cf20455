/*
 * What is done when the process crashes: a file that was written ahead is renamed, so that it stays. Signals are the
 * process's, so this is too: the one state that is not in a context.
 */
#ifndef SUPPORT_CRASH_H
#define SUPPORT_CRASH_H

#include "support/base.h"

/*
 * From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT rename FROM to TO, say so on standard error, and then end the
 * process as they would have. Both names are copied. False: a name is too long; nothing was changed.
 */
bool crash_arm(const char *from, const char *to);

/* The signals do what they did before. */
void crash_disarm(void);

#endif
