/*
 * Conformance checkers: what a verifier can't say of a statement alone, proved of whole programs. A checker reads
 * snapshots only and shares no code with the passes that made them; it says what it proved, what it could not check
 * and why, and what it refuses.
 */
#ifndef CONFORMANCE_CHECKER_H
#define CONFORMANCE_CHECKER_H

#include "ir/verify.h"

/* One run of one checker on one program. */
struct check {
    struct verifier v;              /* `verify_error(&c->v, …)` reports; item and module stand here */
    const struct checker *checker;
    struct check_note *notes;       /* in order; texts lie in v.scratch */
    u32 n_notes, cap_notes;
};

struct check_note {
    bool proved;                    /* else: could not be checked */
    const char *text;
};

struct checker {
    const char *name;               /* as on the command line: "work-conservation" */
    u32 layers;                     /* bit `1u << LAYER_…`: the programs that it reads */
    bool (*run)(struct check *c);   /* false: refused, reported under the codes `check.<name>.…` */
    const char *doc;
};

extern const struct checker *const all_checkers[];      /* NULL at the end; their names are in checkers.def */
const struct checker *checker_find(const char *name, size_t length);    /* or NULL */

void check_proved(struct check *c, const char *format, ...) PRINTF_LIKE(2, 3);
void check_skipped(struct check *c, const char *format, ...) PRINTF_LIKE(2, 3);     /* what was not checked, and why */

/*
 * The nearest program of LAYER that IT was derived from, IT itself included, as far as the module holds the chain; or
 * NULL. What a header lists under `using`, by the kind of item ("session.strategy"); or NULL.
 */
const struct item *check_source(const struct check *c, const struct item *it, enum layer layer);
const struct item *check_using(const struct check *c, const struct item *it, const char *kind);

/*
 * Runs a checker on an item of a module whose items are verified (parents are looked up there). False when it is
 * refused. Notes are valid until check_free, which must be called in any case. A checker that doesn't read the
 * item's layer is not run: CHECK has no notes, and the result is true.
 */
bool check_run(struct check *check, const struct checker *checker, const struct item *it, const struct module *in);
void check_free(struct check *check);

extern const struct rule check_rules[];
extern const u32 n_check_rules;

#endif
