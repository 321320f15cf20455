/*
 * Repeated statements. A program of a million tasks says the same few things again and again: a statement mostly differs
 * from an earlier one of its item in its own name and in the numbers of its facts, and in nothing else of its text. Then
 * it need not be parsed: what the earlier one became is copied. Everything else, and every error, is the grammar's. Such
 * statements come in runs, and a run is one token of the grammar.
 */
#ifndef PARSER_REPEAT_H
#define PARSER_REPEAT_H

#include "lexer/lexer.h"

struct parser;

enum { MOST_SLOTS = 8 };

/* A number in a statement's text, and the 64-bit field of its struct that holds it. */
struct slot {
    struct span at;
    u32 offset;
};

/* What the actions note of the statement they build, for repeat_learn. */
struct repeatable {
    struct span name;           /* its own @name */
    struct slot slots[MOST_SLOTS];
    u32 n_slots;
    const struct diag *reported;    /* the newest diagnostic before it */
    bool never;                 /* more comes of it than its own struct */
};

struct repeats;

struct repeats *repeats_new(struct arena *arena);
void repeats_free(struct repeats *r);
void repeats_forget(struct repeats *r);         /* at the start of an item */

void repeat_begin(struct parser *p);            /* at the start of a statement */
void repeat_slot(struct parser *p, struct span at, u32 offset);

/*
 * The statement is complete, but for what its kind drops in the end (settle). AT is its text; nothing is learned when it
 * is only the place up to which the text was read.
 */
void repeat_learn(struct parser *p, struct span at);

/* True when the lexer stands before a run of repeated statements; AT is the first one's keyword. The text is not moved on. */
bool repeat_ahead(struct parser *p, struct span *at);

/* Makes the statements of that run, and moves behind them. */
void repeat_build(struct parser *p);

#endif
