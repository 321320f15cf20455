/* One try at a text: parse, verify, print, compare. Shared by the suites that feed bp-opt with odd texts. */
#ifndef TEST_UNIT_ATTEMPT_H
#define TEST_UNIT_ATTEMPT_H

#include "ir/item.h"

struct attempt {
    struct diags diags;
    struct context ctx;
    struct source source;
    struct module module;
    char *copy;             /* exactly the text and a NUL, so that a sanitizer sees what reads past it */
    bool parsed;
    bool verified;          /* accepted as far as was asked: parsed, and also legal where verification was asked for */
};

/* Parses SIZE bytes of TEXT in a context of its own; attempt_begin verifies them, too. */
void attempt_parse(struct attempt *a, const char *text, size_t size);
void attempt_begin(struct attempt *a, const char *text, size_t size);
void attempt_end(struct attempt *a);

/*
 * What must hold of any text: it parses, and then what is printed reads back as the same; or errors say where it is
 * wrong. Every message renders. NULL, or what is broken (in A's context).
 */
const char *attempt_fault(struct attempt *a);

/* The text parses and survives the round trip; and is legal, or the test fails with the messages. */
void assert_parses(const char *text);
void assert_accepted(const char *text);

/* The whole text, printed with its comments, or canonically. Freed by the caller. */
char *attempt_print(struct attempt *a, bool trivia);

/* The text parses, survives the round trip and prints as EXPECTED. */
void assert_prints(const char *text, const char *expected);

/*
 * Parsing reports N errors, of which the first is CODE, at the first place of AT in the text ("": its end), with
 * MESSAGE in it.
 */
void assert_errors(const char *text, unsigned n, const char *code, const char *at, const char *message);

/* Calls VISIT with the path and text of every .bpir below FOLDER of the source tree whose path ends with SUFFIX. */
void each_file(const char *folder, const char *suffix, void (*visit)(const char *path, const char *text, size_t size));

#endif
