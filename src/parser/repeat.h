/*
 * Repeated statements. A program of a million tasks says the same few things again and again: a statement mostly differs
 * from an earlier one of its item in its own name, the numbers of its facts and some names that it refers to, and in
 * nothing else of its text. Then it need not be parsed: what the earlier one became is copied. Everything else, and every
 * error, is the grammar's. Such statements come in runs, and a run is one token of the grammar.
 */
#ifndef PARSER_REPEAT_H
#define PARSER_REPEAT_H

#include "parser/pattern.h"

struct parser;

/* What the actions note of the statement they build, for repeat_learn. */
struct repeatable {
    struct span name;           /* its own @name */
    struct slot slots[MOST_SLOTS];
    u32 n_slots;
    struct stmt *results[MOST_RESULTS];
    u32 n_results;
    const struct diag *reported;    /* the newest diagnostic before it */
    bool never;                 /* more comes of it than is noted here */
};

struct repeats;

struct repeats *repeats_new(struct arena *arena);
void repeats_free(struct repeats *r);
void repeats_forget(struct repeats *r);         /* at the start of an item */

void repeat_begin(struct parser *p);            /* at the start of a statement */

/* What is read AT goes to F's place in the statement (not in a result), for a list as its WORD-th word. */
void repeat_slot(struct parser *p, enum slot_kind kind, struct span at, const struct field *f, u32 word);

/* S is complete, a result that is declared in the statement. */
void repeat_result(struct parser *p, struct stmt *s);

/*
 * The statement is complete, but for what its kind drops in the end (settle). AT is its text; nothing is learned when it
 * is only the place up to which the text was read.
 */
void repeat_learn(struct parser *p, struct span at);
void repeat_learn_settled(struct parser *p);    /* and that, too, is done */

/* True when the lexer stands before a run of repeated statements; AT is the first one's keyword. The text is not moved on. */
bool repeat_ahead(struct parser *p, struct span *at);

/* Makes the statements of that run, and moves behind them. */
void repeat_build(struct parser *p);

#endif
