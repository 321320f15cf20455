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

/* ---- With analyses ---- */

extern struct analyses known;

/* The module as PASS takes it, nothing known of it, and PASS with a fault. forget() is the fixture behind it. */
void begin(const struct pass *pass, void (*fault)(struct pass_run *r));
void forget(void);

/* Verified, publishing into `known`. */
struct run_options all(void);

/* The faulty pass is refused for a reason whose message has this part; nothing was published. */
void refused_by(const char *part, struct run_options options);
void refused(const struct pass *pass, void (*fault)(struct pass_run *r), const char *part);

struct stmt *nth(struct item *it, u32 entity, u32 n);
struct item *layer_item(enum layer layer);

/* Some faults. */
void repeat_task(struct pass_run *r);
bool gate_unseen(const struct pass_run *r);

#endif
