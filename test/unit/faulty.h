/* A module to run passes on, and passes that are faulty on purpose: they do what a real one does, then one thing wrong. */
#ifndef UNIT_FAULTY_H
#define UNIT_FAULTY_H

#include "passes/passes.h"

extern struct diags diags;
extern struct context ctx;
extern struct module m, session;

/* The module holds a small model and one session item of each kind, then what leads to PASS's input. */
void prepare(const struct pass *pass);
void teardown(void);

/* More clauses of the model's decoder. */
extern const char *block;

/* `faulty` becomes PASS, with FAULT behind its function. */
extern struct pass faulty;
void make_faulty(const struct pass *pass, void (*fault)(struct pass_run *r));
void change_nothing(struct pass_run *r);

/* Options of the pass under test, and of distribution ahead of it. */
extern struct step_option own[2], symbolic[1];
extern u32 n_own, n_symbolic;

extern const struct run_options checked, gate_only;
bool run_pass(const struct pass *pass, struct run_options options);

/* Some message has this code; or this part in its text. */
bool has_code(const char *code);
bool has_message(const char *part);

struct snapshot {
    struct item *items[16];
    struct digest digests[16];
    u32 n;
};

struct snapshot snapshot(void);
void assert_untouched(const struct snapshot *before);

#endif
