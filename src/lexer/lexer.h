/*
 * Bytes to tokens. Keywords are contextual: a word is a keyword only in the layers that have it, and the lexer learns
 * the layer itself when it meets an item's keyword. Comments and blank lines go to the module's trivia.
 */
#ifndef LEXER_LEXER_H
#define LEXER_LEXER_H

#include "ir/item.h"

struct span {
    u32 begin, end;
};

enum { MAX_NESTING = 256 };     /* brackets of all kinds */

enum { RECENT_WORDS = 256 };

struct lexer {
    struct context *ctx;
    const struct source *src;
    struct module *module;      /* takes the trivia; NULL: none is kept */
    const char *cursor;
    const char *token;          /* start of the token being read */
    const u16 *keyword;         /* token of a known word, by atom; 0: none */
    const u8 *keyword_layers;   /* in which layers it is one */
    u8 layer;                   /* of the item we are in, or LAYERS between items */
    u8 in_header;
    u8 shape;                   /* 1 in a tensor's shape, 2 behind a `(…)` dimension */
    u8 shape_nesting;           /* nesting at which a shape's parenthesis closes; 0: none open */
    u32 braces, nesting;        /* before the token last read: see last_* */
    u32 last_braces, last_nesting;
    u32 last_begin, last_end;   /* place of the token last read */
    u32 previous_begin, previous_end, before_end;   /* of the one before it, and the end of the one before that */
    u32 trivia_until;           /* trivia before this place is recorded already */
    bool panic;                 /* the next token is SYNC */
    bool in_head;               /* the error was before the `{` of an item that has a name */
    u32 synced_at;              /* where the last SYNC was */
    bool open_virtual, close_virtual;       /* a `{` or `}` that is missing is delivered before the next token */
    atom recent[RECENT_WORDS];  /* words met lately, by length and first and last byte: most words are one of a few */
    const char *fault;          /* of a BAD token: the message; the diagnostic is the parser's */
    const char *fault_code;
};

/* KEYWORD and KEYWORD_LAYERS are arrays over the context's known atoms: lexer_keywords makes them once. */
void lexer_keywords(struct context *ctx, const u16 **keyword, const u8 **layers);
void lexer_init(struct lexer *l, struct context *ctx, const struct source *src, struct module *module,
                const u16 *keyword, const u8 *layers);

/* The next token's kind (grammar.h); *VALUE is its atom, qty or float bits. */
int lexer_next(struct lexer *l, u64 *value, struct span *at);

/* The token at AT was read by other means. */
void lexer_moved(struct lexer *l, struct span at);

/*
 * After a syntax error at the token last read: the next call skips to the next statement and returns SYNC. IN_HEAD: an
 * item's name was read, so its body can be gone on with.
 */
void lexer_panic(struct lexer *l, bool in_head);

/* Reads the token that was last read again: it was taken for a value, but begins what follows. */
void lexer_again(struct lexer *l);

/* Forgets the token last read, so that lexer_panic and lexer_again mean the one before it, in an item's body. */
void lexer_step_back(struct lexer *l);

/* BEGIN to END is first on its line, and there a keyword of a statement of this layer, or a session item's field. */
bool lexer_begins_statement(const struct lexer *l, struct span at);

/* Whether WORD is the keyword of a statement in some layer. */
bool lexer_is_keyword(const struct lexer *l, atom word);

#endif
