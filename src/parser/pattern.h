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
    const struct field *field;
    u8 kind;
};

/* A result that is declared where it arises, and so has a struct of its own. */
struct pattern_result {
    struct stmt *like;
    u32 size;
    u32 slot;                   /* of its name */
};

struct pattern {
    u32 head, tail, end;        /* TEXT: newline, indent, keyword, sigil; up to TAIL the name from its first dot on; the rest */
    u32 size;                   /* of *like */
    struct stmt *like;          /* what it became, not settled */
    struct stmt *settled;       /* and settled, if all are that have its tail and fillings and the same ORIGIN; or NULL */
    u32 origin;
    bool namesake;              /* it is from its namesake by default */
    bool is_word;               /* TAIL may be part of a word */
    u32 n, n_results;
    u32 seen;                   /* 1 + the place in the past where it stood last; 0: nowhere */
    struct slot slots[MOST_SLOTS];          /* in order of place; those of a list are neighbours */
    struct pattern_result results[MOST_RESULTS];
    struct pattern *in_bucket, *in_tails;
    char text[];
};

/* What stands in a slot. */
struct filling {
    u64 number;
    struct interned name;
    bool same;                  /* the name is as in the pattern: nothing to do */
};

/* A repeated statement: its name, and what differs. */
struct found {
    struct pattern *like;
    struct interned name;
    u32 begin, end;             /* of its text */
    u32 place;                  /* in the past */
    bool same, same_names;      /* all fillings; those that are names */
    bool same_tail;
    struct filling fillings[MOST_SLOTS];
};

enum { PAST = 4096 };           /* a power of 2 */

struct patterns {
    struct arena arena;
    struct pattern *buckets[256], *tails[256];      /* by the line behind the name; by the name's tail, if it has one */
    u32 n, n_variants;
    u32 found, missed;          /* looks that did, and did not, find a repetition */
    /* A statement is expected to follow as it followed before: at AT, in the ring of those that were read. */
    u32 n_past, at;
    struct pattern *past[PAST];
};

void patterns_forget(struct patterns *ps);

/* Whether another pattern is worth its time. */
bool patterns_want(const struct patterns *ps);

/* The name of a statement begins behind its sigil, if AT are a keyword, a blank and a name; else NULL. */
const char *pattern_name(const char *at);

/* Of the statement FROM to END, whose NAME stands behind its sigil up to BEHIND; no slots. pattern_add enters it as read. */
struct pattern *pattern_new(struct patterns *ps, const char *from, const char *name, const char *behind, const char *end);
void pattern_add(struct patterns *ps, struct pattern *t);

/* A pattern of the statement that F found, if that is worth its time: it will be expected where F was. Or NULL. */
struct pattern *pattern_variant(struct patterns *ps, const struct source *src, const struct found *f);

/* The statement that F found was read. */
void pattern_follow(struct patterns *ps, struct found *f);

/* Looks for a repeated statement behind the newline at FROM, and fetches what NAMES knows of its names from memory. */
bool pattern_find(struct patterns *ps, const struct source *src, u32 from, const struct interner *names, struct found *f);

#endif
