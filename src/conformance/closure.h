/* What the files of the checker cross-rank-closure share. */
#ifndef CONFORMANCE_CLOSURE_H
#define CONFORMANCE_CLOSURE_H

#include "conformance/program.h"

/* closure_buffers.c: a portable plan's buffers, a concrete plan's bindings. */
bool closure_buffers_check(struct check *c);

#endif
