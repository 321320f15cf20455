/*
 * One run of bp-opt: read, verify, run passes, print. What its steps share; each step is a file: messages, request,
 * session, parts, write.
 */
#ifndef BP_OPT_DRIVER_H
#define BP_OPT_DRIVER_H

#include "checkpoint.h"
#include "checks.h"
#include "execute.h"
#include "observers.h"
#include "options.h"
#include "output.h"
#include "passes/pass.h"
#include "passes/reproducer.h"
#include "statistics.h"
#include "summary.h"
#include "timeline.h"

enum status { STATUS_SUCCESS, STATUS_REFUSED, STATUS_MISUSED };

/* One part of the input; the whole, where it is not split. */
struct part {
    struct source source;
    struct module module;
    atom item;                  /* what --item names; 0: not asked for, or not here */
    struct follower items;      /* it, or what passes made of it */
    bool good;
    struct checkpoints summaries;       /* with --summary: of what the passes made */
    struct out executed;        /* with --execute: what was run */
};

struct driver {
    const struct options *options;
    struct arena arena;
    struct diags diags, failures;       /* failures: of --verify-diagnostics */
    struct context ctx;
    struct source source;
    struct part *parts;
    u32 n_parts;
    struct source *session_sources;
    u32 n_session_sources;
    struct module session;
    struct pipeline pipeline;
    struct checks checks;       /* of --check */
    struct executor executor;   /* of --execute */
    struct output output;
    struct printer printer;             /* of --print-ir-… */
    struct timeline timeline;           /* of --timing */
    struct statistics statistics;       /* of --pass-statistics */
    struct reproducer reproducer;       /* of --crash-reproducer */
    struct recorder recorder;   /* of --checkpoint-dir */
    struct replay *replay;      /* of --replay, or NULL */
    atom item;                  /* of --item, 0: none */
    atom item_to;               /* the second one of `--item=@a,@b`, for --diff; 0: none */
};

/* All of it; messages go to standard error, nothing to standard output unless all succeeded. */
enum status driver_run(const struct options *o);

#endif
