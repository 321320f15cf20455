/*
 * Passes and their transactions. A pass derives one item of the next layer from one item and the session; it sees an
 * immutable input and a fresh output, and nothing that it does is seen before every check has passed.
 */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "ir/item.h"

enum binding { BIND_WORKLOAD, BIND_STRATEGY, BIND_TARGET, BIND_DEPLOYMENT, BINDINGS };
#define NEEDS(binding) (1u << (binding))

/* What a pass may consume besides its input; NULL where the file has none. Effective items: overrides are applied. */
struct session {
    struct item *items[BINDINGS];
};

/* An option of a pass's own; `strategy=@x` and `strategy.tensor=4` follow from its bindings. */
struct pass_option {
    const char *name;           /* NULL closes the list; "*" takes any name, as symbols are named by the input */
    const char *doc;
};

struct step;

/* One run of one pass, for one output. Diagnostics go to the context; a refusal returns false. */
struct pass_run {
    struct context *ctx;
    const struct pass *pass;
    const struct item *input;
    const struct module *module;        /* where the input stands: to look up its parent */
    const struct step *step;            /* its options */
    struct session session;
    u32 part;                           /* which of several outputs, from 0 */
    const char *suffix;                 /* of this output's name */
    struct item *output;                /* empty, header filled in; the pass adds statements */
};

struct pass {
    const char *name;
    u32 revision;
    enum layer from, to;
    u32 bindings;               /* NEEDS(…) */
    const char *operation;      /* the model operation that it takes, or NULL */
    const char *suffix;         /* of the derived program's name */
    const struct pass_option *options;  /* own options, or NULL */
    const char *(*part)(const struct pass_run *r);  /* of several outputs, the suffix of r->part; NULL behind the last */
    bool (*run)(struct pass_run *r);
    bool (*gate)(const struct pass_run *r);     /* proves the output against the input and session, apart from `run` */
    const char *doc;
};

extern const struct pass *const all_passes[];   /* NULL at the end */
const struct pass *pass_find(const char *name, size_t length);

/* ---- Pipelines: `p1,p2{opt=val opt2="a b"}` ---- */

enum { MAX_OPTIONS = 32 };      /* of a step */

struct step_option {
    const char *name, *value;           /* NUL-terminated, quotes and braces stripped once */
    struct loc name_at, value_at;
};

struct step {
    const struct pass *pass;
    struct loc at;
    struct step_option *options;
    u32 n_options;
};

struct pipeline {
    struct step *steps;
    u32 n;
};

/* False: reported, with places in TEXT (a source called "<pipeline>"). Steps live in the context's arena. Checks names,
 * options and that adjacent passes fit. Several texts may be appended one after another (pass flags). */
bool pipeline_parse(struct pipeline *p, struct context *ctx, const struct source *text);
const struct step_option *step_option(const struct step *s, const char *name);     /* or NULL */
bool pipeline_check(const struct pipeline *p, struct context *ctx);     /* adjacent passes fit */
void out_pipeline(struct out *o, const struct pipeline *p);             /* pasteable text */

/* ---- Running ---- */

/* Watches a run and may refuse; it can change nothing. Any function may be NULL. */
struct observer {
    void *state;
    bool (*before)(void *state, const struct step *step, const struct item *input, const struct module *m);
    bool (*after)(void *state, const struct step *step, const struct item *input, const struct item *output, const struct module *m);
    void (*failed)(void *state, const struct step *step, const struct item *input, const struct item *output);
};

struct run_options {
    bool verify_each;
    bool keep_sources;
    bool verify_replay;                 /* runs each pass twice and compares digests */
    atom only;                          /* --item: 0 is every item of the pass's layer */
    const struct observer *observers;
    u32 n_observers;
};

/*
 * Runs the pipeline on M, whose items must be verified. SESSION holds the items of --session files (may be empty); those
 * that a pass used are added to M. On false, M is as it was.
 */
bool pipeline_run(struct module *m, const struct module *session, const struct pipeline *p, const struct run_options *o);

/* Codes of passes, pipelines and contracts. */
extern const struct rule pass_rules[];
extern const u32 n_pass_rules;

#endif
