/* The command line: what options.def declares, and what was given. */
#ifndef BP_OPT_OPTIONS_H
#define BP_OPT_OPTIONS_H

#include "support/arena.h"

enum option_kind {
    OPTION_SECTION,             /* heads a part of the help: name is its title, value an example */
    OPTION_ALIAS,               /* value is the name that it stands for */
    OPTION_FLAG,                /* --x, --x=0, --x=true */
    OPTION_TEXT,                /* --x=TEXT or --x TEXT */
    OPTION_OPTIONAL,            /* --x or --x=TEXT */
    OPTION_NUMBER,              /* --x=N, 32 bits */
    OPTION_CHOICE,              /* --x=WORD, one of a comma-separated list; the first is the default */
    OPTION_OPTIONAL_CHOICE,     /* --x or --x=WORD */
    OPTION_REPEATED,            /* as TEXT, any number of times */
};

enum option {
#define SECTION(id, ...) SECTION_##id,
#define OPTION(id, ...) OPT_##id,
#define ALIAS(id, ...) ALIAS_##id,
#include "options.def"
    OPTIONS
};

struct option_row {
    const char *name;
    enum option_kind kind;
    const char *value, *help;   /* no help: hidden */
};

extern const struct option_row option_rows[OPTIONS];

/* One repeatable option, as given. A pass by its own name is OPT_PASS: NAME is the pass, TEXT its options or NULL. */
struct argument {
    enum option id;
    const char *name, *text;
};

struct options {
    const char *input;          /* "-" when none was named */
    const char *second;         /* of --diff, or NULL */
    bool on[OPTIONS];           /* given, and not as `=0`; --verify-each is on by default */
    const char *text[OPTIONS];  /* the value as written, or NULL */
    u32 number[OPTIONS];        /* of numbers; of choices the word's position, 0 when not given */
    struct argument *repeated;  /* in the order of the command line */
    u32 n_repeated;
    int argc;                   /* the command line itself */
    char **argv;
};

/* True when --pass-pipeline or a pass is given. */
bool options_have_passes(const struct options *o);

/* Reads the command line into ARENA. False: a message was written to standard error, the exit status is 2. */
bool options_parse(struct options *o, int argc, char **argv, struct arena *arena);

/* "bp-opt: error: …" on standard error; always false. */
bool usage_error(const char *format, ...) PRINTF_LIKE(1, 2);

/* The I-th word of a comma-separated list, and its length; NULL behind the last. */
const char *list_word(const char *list, u32 i, size_t *length);

#endif
