/*
 * What the grammar's actions call. Values of a statement's head and of a clause are pushed as a flat stream, brackets
 * and commas included; when the clause ends, decode.c reads the stream by the kind of the table's field.
 */
#ifndef PARSER_BUILD_H
#define PARSER_BUILD_H

#include "ir/sharding.h"
#include "parser/repeat.h"

enum tag {
    TAG_END, TAG_NONE, TAG_SYMBOL, TAG_VALUE, TAG_DOLLAR, TAG_WORD, TAG_STRING, TAG_QUANTITY, TAG_FLOAT, TAG_TYPE,
    TAG_OPEN, TAG_CLOSE, TAG_COMMA, TAG_EQUAL, TAG_DOTS, TAG_ARROW,
};

struct tagged {
    u64 value;              /* atom, qty, float bits, type or bracket character */
    struct span at;
    u8 tag;
};

enum { NO_FIELD = 0xff };

/* For one entity of an item kind: which field a clause word names, by atom, and which fields must be written. */
struct field_map {
    const u8 *field_of;     /* n_known entries; NO_FIELD: none */
    u32 required;           /* bit i: the i-th field */
};

/* Lookups by atom that are the same for every statement of an item kind; made when the kind is first met. */
struct kind_map {
    const struct item_kind *kind;
    struct field_map *fields;       /* by entity */
    const u8 *entity_of;            /* keyword to entity, n_known entries; NO_FIELD: none */
};

/* The last place where a word was found in an enumeration. */
struct word_cache {
    const struct enumeration *in;
    int index;
};

struct parser {
    struct context *ctx;
    struct module *module;
    struct lexer lexer;
    const struct source *src;
    const u16 *keyword;
    const u8 *keyword_layers;
    u32 n_known;
    u32 max_errors;
    u32 released;                   /* see source_release */

    struct item *item;
    struct span name_at;            /* its name in the text; an item declared twice has none of its own */
    const struct kind_map *map;     /* of the current item kind */
    struct kind_map maps[16];
    struct word_cache *words;       /* by atom, n_known entries */

    struct stmt *stmt;              /* the statement being built, or NULL after an error */
    struct span stmt_at;
    bool head_done;
    struct stmt *result;            /* the result value being built, or NULL */
    u32 result_mark;
    struct tagged *stream;
    u32 n, cap;
    u32 pushed;                     /* where the text of the last value pushed ends */
    struct repeatable repeatable;   /* the statement being built */
    struct repeats *repeats;

    const struct field *clause;     /* NULL: its name was refused, the value is skipped */
    const struct field *attribute;  /* the operation's own clause, instead of `clause` */
    atom clause_name;
    struct span clause_at;
    u32 clause_mark;
    u32 refused;                    /* where the newest value that was refused ends: what follows it follows from it */
    bool in_refused;                /* in the value of a clause that was refused itself */
    bool doubled;                   /* since it is written twice */
    bool partial;                   /* the clause is `partial`, a part of the sharding */

    struct sharding sharding;       /* pending: written when its value ends */
    bool has_sharding;
    struct span sharding_at;
    u32 axes[64];                   /* storage of the pending sharding's axes */
    u32 n_axes;

    u32 attributes[64];             /* atom, handle pairs of the statement */
    u32 n_attributes;

    qty dims[MAX_RANK];
    u8 layout[MAX_RANK];
    u32 n_dims, n_layout;

    struct pin pins[64];
    u32 n_pins;
    struct pin pin;
    u32 *scratch;                   /* words of a list being decoded */
    u32 n_scratch, cap_scratch;
};

void build_item(struct parser *p, u64 kind, u64 name, struct span at, struct span name_at);
void build_session(struct parser *p, struct span at);
void build_schema(struct parser *p, struct span at);
void build_pin(struct parser *p, u64 name, struct span at, struct span digest);
void build_parent(struct parser *p);
void build_using(struct parser *p);
void build_by(struct parser *p, u64 pass, u64 revision, struct span at);
void build_header(struct parser *p);
void build_item_end(struct parser *p, u32 end);

void build_stmt(struct parser *p, u64 keyword, struct span at);
/* Operands are left out behind the operation. False: that is a clause's word, so that the operation is what is missing. */
bool build_no_operands(struct parser *p);
void build_stmt_head(struct parser *p);      /* gives the pushed values to the head fields */
void build_head_words(struct parser *p);     /* behind a syntax error: judges what was read of a head */
void build_stmt_end(struct parser *p, struct span at);
void build_stmt_enter(struct parser *p, u32 at, bool settled);  /* its last step: declares the name, settles; AT is read up to */
void build_stmt_drop(struct parser *p);
void build_result(struct parser *p, u64 name, struct span at);
void build_result_end(struct parser *p, struct span at);
void build_result_enter(struct parser *p, struct stmt *s, u32 end);     /* declares its name, which stands up to END */
void build_clause(struct parser *p, u64 name, struct span at);
void build_clause_end(struct parser *p, struct span at);
static inline void build_push(struct parser *p, enum tag tag, u64 value, struct span at)
{
    *VEC_PUSH(p->stream, p->n, p->cap) = (struct tagged){ .value = value, .at = at, .tag = (u8)tag };
    p->pushed = at.end;
}

/* The end of an entry of a group: its last value, and the comma that decode.c finds between entries and at the end. */
static inline void build_entry(struct parser *p, enum tag tag, u64 value, struct span at)
{
    build_push(p, tag, value, at);
    build_push(p, TAG_COMMA, 0, (struct span){ at.end, at.end });
}

void build_type_begin(struct parser *p);
void build_dim(struct parser *p, u64 size, struct span at);
void build_layout(struct parser *p, u64 dimension, struct span at);
void build_type(struct parser *p, u64 element, struct span element_at, struct span at);
u64 build_dollar(struct parser *p, u64 name, struct span at);
u64 build_expr(struct parser *p, int operator, u64 left, u64 right, struct span at);
void build_exhausted(struct parser *p, struct span at, const char *message);

/* Always false; marks the item as damaged. */
bool build_error(struct parser *p, struct span at, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);
void build_note(struct parser *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* What mends the newest error: TEXT instead of what stands AT. */
void build_fix(struct parser *p, struct span at, const char *text);

/* "did you mean NEAR?", as a note and a fix. */
void build_near(struct parser *p, struct span at, const char *near);

/* A word where a statement should begin; the note names the layer's nearest keyword. */
void build_unknown_statement(struct parser *p, struct span at);
const char *build_near_statement(const struct parser *p, struct span at);   /* or NULL */

/* At END something is missing: NEXT begins the next statement or field. */
void build_unfinished(struct parser *p, u32 end, struct span next);

bool enum_has(const struct parser *p, const struct enumeration *e, u64 word);

/* decode.c: reads FIELD's value at *AT (up to END, a TAG_END) into S and moves on; false: reported. */
bool decode_field(struct parser *p, struct stmt *s, const struct field *f, const struct tagged **at);

/* decode_attr.c: a free value, or an operation's own clause, as an attr handle; 0: reported. */
u32 decode_attr(struct parser *p, const struct tagged **at);
u32 decode_attribute(struct parser *p, const struct field *f, const struct tagged **at);

/* The current statement's operation, or NULL. */
const struct operation *build_operation(const struct parser *p);

/* report.c: EXPECTED are symbol names of the grammar. */
void report_syntax_error(struct parser *p, struct span at, bool invalid, const char **expected, int n);

/* What a pushed value looks like in the text, for messages. */
const char *build_text(const struct parser *p, struct span at);

#endif
