/* Who refuses a text: the parser, a verifier, a checker, the derivation done again, or nobody. */
#ifndef TEST_MUTATION_JUDGE_H
#define TEST_MUTATION_JUDGE_H

#include "support/base.h"

enum judge { JUDGE_PARSER, JUDGE_VERIFIER, JUDGE_CHECKER, JUDGE_DERIVATION, JUDGES, JUDGE_NONE = JUDGES };

extern const char *const judge_names[];         /* of the judges, then of nobody */

/* Writes the code of the first message, or "", to CODE. */
enum judge judge_text(const char *text, size_t size, char *code, size_t n);

#endif
