/*
 * Passes and their transactions. A pass derives one item of the next layer from one item and the session; it sees an
 * immutable input and a fresh output, and nothing that it does is seen before every check has passed.
 */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "passes/analysis.h"

/* An option of a pass's own; `strategy=@x` and `strategy.tensor=4` follow from its bindings. */
struct pass_option {
    const char *name;           /* NULL closes the list; "*" takes any name, as symbols are named by the input */
    const char *doc;
};

/* A kind of relation between a target entity and its sources, which the pass's gate proves. */
struct relation {
    const char *source, *target;        /* keywords; "value" for values, whatever their role; NULL closes the list */
    enum lineage_kind kind;
    const char *keeps;                  /* what of the source is in the target, in words */
};

struct version {
    u16 major, minor;
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
    const struct analyses *analyses;    /* what is known of the input: see pass_analysis */
    struct item *output;                /* empty, header filled in; the pass adds statements */
    struct arena *arena;                /* for values of analyses */
    struct analyses *products;          /* see pass_publish */
    u32 *proven;                        /* by the rows of the contract's relations: how many hold */
};

/* A pass and its contract. What is not said is none, and the contract is held against what the pass does. */
struct pass {
    const char *name;
    u32 revision;               /* counts up when its output changes for the same input */
    enum layer from, to;
    struct version accepts[2];  /* the oldest and the newest schema of its input; 0.0: the layer's own */
    u32 bindings;               /* NEEDS(…) */
    const char *operation;      /* the model operation that it takes, or NULL */
    const char *suffix;         /* of the derived program's name */
    const struct pass_option *options;  /* own options, or NULL */
    const char *const *const *choices;  /* of each own option, all values but the default, NULL at the end; headers don't say which */
    const char *(*part)(const struct pass_run *r);  /* of several outputs, the suffix of r->part; NULL behind the last */
    const struct relation *relations;   /* all lineage that its output may declare */
    const struct analysis *const *requires;     /* of its input; each list ends with NULL, or is NULL */
    const struct analysis *const *preserves;    /* of its input, and true of its output just so */
    const struct analysis *const *produces;     /* of its output */
    bool random;                /* two runs may differ: it can be neither replayed nor checkpointed */
    bool (*run)(struct pass_run *r);
    /* Proves the output apart from `run`; of R it sees the input, the output, the session and the options. */
    bool (*gate)(const struct pass_run *r);
    const char *doc;
};

/* The value of an analysis of the input that the contract requires; never NULL then. */
const void *pass_analysis(const struct pass_run *r, const struct analysis *key);

/* What is known of the input, or NULL. */
const struct finding *pass_finding(const struct pass_run *r, const struct analysis *key);

/* Publishes a value, in r->arena, of an analysis of the output; it is seen when the output is. */
void pass_publish(struct pass_run *r, const struct analysis *key, const void *value);

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

/* What an observer is shown. All of it is the transaction's, and ends with the call. */
struct checkpoint {
    const struct step *step;
    const struct item *input, *output;  /* output: NULL ahead of the pass, or of a pass that failed without one */
    const struct module *module;        /* as it would be with the input */
    const struct session *session;
    struct digest fingerprint;          /* of the session items that the pass consumes */
    const u32 *proven;                  /* by the rows of the contract's relations */
    const struct finding *findings;     /* of the output: produced and preserved */
    u32 n_findings;
    u64 wall, cpu;                      /* host's nanoseconds in the pass; no fact */
};

/* Watches a run and may refuse; it can change nothing, and is held to that. Any function may be NULL. */
struct observer {
    const char *name;
    void *state;
    bool (*before)(void *state, const struct checkpoint *c);
    bool (*after)(void *state, const struct checkpoint *c);
    void (*failed)(void *state, const struct checkpoint *c);
};

/* What a run spends its time on, in order; see run_options. A span lies in the one that is open. */
enum span { SPAN_PASS, SPAN_RUN, SPAN_VERIFY, SPAN_RELATIONS, SPAN_ANALYSES, SPAN_GATE, SPAN_REPLAY, SPAN_OBSERVERS, SPANS };

struct stopwatch {
    void *state;
    void (*begin)(void *state, enum span span, const struct step *step, const struct item *input);
    void (*end)(void *state, enum span span);
};

struct run_options {
    bool verify_each;
    bool keep_sources;
    bool verify_replay;                 /* runs each pass twice and compares digests */
    atom only;                          /* --item: 0 is every item of the pass's layer */
    const struct observer *observers;
    u32 n_observers;
    const struct stopwatch *stopwatch;  /* or NULL */
    struct analyses *analyses;          /* takes what is published, and may hold what is known; or NULL */
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
