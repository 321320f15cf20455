/*
 * Patterns of repeated statements (parser/repeat.h): the text of a statement that was parsed, cut at what may differ in
 * another one that is the same else, and what it became. They are found again by their text, at best by a guess at what
 * follows the statement before.
 */
#ifndef PARSER_PATTERN_H
#define PARSER_PATTERN_H

#include "lexer/lexer.h"

enum { MOST_SLOTS = 16, MOST_RESULTS = 4, INDENT = 3 /* ahead of a statement, its newline included */ };

enum slot_kind {
    SLOT_NUMBER,                /* a number: 64 bits of the statement's struct */
    SLOT_NAME,                  /* a name: an atom there */
    SLOT_ATOM,                  /* the same as a word of a list whose handle is there; its result's name, too */
    SLOT_SYMBOL, SLOT_VALUE,    /* the same as a reference: REF_SYMBOL, REF_VALUE */
};

/* What may differ: a number, or a name without its sigil. */
struct slot {
    struct span at;             /* of a pattern: in its text */
    u32 word;                   /* of a list */
    u16 offset;                 /* in the struct */
    u8 kind;
};

/* A result that is declared where it arises, and so has a struct of its own. */
struct pattern_result {
    struct stmt *like;
    u32 size;
    u32 slot;                   /* of its name */
};

struct pattern {
    struct pattern *in_bucket, *follower;   /* FOLLOWER: what came behind it the last time */
    struct stmt *like;                      /* what it became, not settled */
    u32 size;                               /* of *like */
    u32 n, n_results;
    struct slot slots[MOST_SLOTS];          /* in order of place; those of a list are neighbours */
    struct pattern_result results[MOST_RESULTS];
    u32 head, end;                          /* of TEXT: newline, indent, keyword, sigil; and what is behind the name */
    char text[];
};

/* What stands in a slot. */
struct filling {
    bool same;                  /* as in the pattern: nothing to do */
    u64 number;
    struct interned name;       /* its text is set in any case */
};

/* A repeated statement: its name, and what differs. */
struct found {
    struct pattern *like;
    struct interned name;
    u32 begin, end;             /* of its text */
    bool same;                  /* all fillings */
    struct filling fillings[MOST_SLOTS];
};

struct patterns {
    struct arena arena;
    struct pattern *buckets[256];
    u32 n;
    u32 found, missed;          /* looks that did, and did not, find a repetition */
    struct pattern *last;       /* of the statement read last, if it has one */
};

/* Whether another pattern is worth its time. */
bool patterns_want(const struct patterns *ps);

/* The name of a statement begins behind its sigil, if AT are a keyword, a blank and a name; else NULL. */
const char *pattern_name(const char *at);

/* An empty pattern with room for SIZE bytes of text; pattern_add enters it when it is complete. */
struct pattern *pattern_new(struct patterns *ps, u32 size);
void pattern_text(struct pattern *t, const char *text, u32 n);     /* more text */
void pattern_add(struct patterns *ps, struct pattern *t);

/* The statement with T was read. */
void pattern_follow(struct patterns *ps, struct pattern *t);

/* Looks for a repeated statement behind the newline at FROM, and fetches what NAMES knows of its names from memory. */
bool pattern_find(struct patterns *ps, const struct source *src, u32 from, const struct interner *names, struct found *f);

#endif
