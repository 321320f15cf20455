/*
 * What a dialect says about itself: its entities (statements), their fields, its enumerations, operations and rules.
 * One const table a dialect, made from its .def; parser, printer, generic verifier, digest, JSON, documentation and
 * tests are loops over it. A field row says how its value is written and where it lives in the C struct.
 */
#ifndef IR_SCHEMA_H
#define IR_SCHEMA_H

#include "support/diag.h"

struct item;
struct stmt;
struct verifier;

struct word {
    const char *text;
    const char *doc;
};

/* A closed set of words; the C enum counts in the same order. */
struct enumeration {
    const char *name;
    const struct word *words;
    u32 n;
};

/* How a field is written, and the C type that holds it. Handles index the item's list pool (ir/item.h); 0 is "none". */
enum field_kind {
    FIELD_END,              /* closes a field list */
    FIELD_SYMBOL_NAME,      /* @name: the entity's own name      stmt.name */
    FIELD_VALUE_NAME,       /* %name: the entity's own name      stmt.name */
    FIELD_DOLLAR_NAME,      /* $name: the entity's own name      stmt.name */
    FIELD_ENUM,             /* a word of `aux` (enumeration)     u8 */
    FIELD_BOOL,             /* true or false                     u8 */
    FIELD_WORD,             /* any word, dots allowed            atom */
    FIELD_STRING,           /* "text"                            atom */
    FIELD_INTEGER,          /* a number                          u64 */
    FIELD_QUANTITY,         /* a number or expression >= 0       qty */
    FIELD_FLOAT,            /* evidence and weights only         double */
    FIELD_TYPE,             /* tensor<…>                         u32 type */
    FIELD_SHARDING,         /* [{tp}, {}] partial sum {dp}       u32 handle (ir/sharding.h) */
    FIELD_AXES,             /* {tp, dp}                          u32 handle: atoms */
    FIELD_AXIS_SIZES,       /* [tp = 8, dp = 2]                  u32 handle: atom, size low, size high */
    FIELD_RANKS,            /* all or [0..3, 7]                  u32 handle: first, last pairs; 0 is all */
    FIELD_REF,              /* @x                                atom */
    FIELD_VALUE_REF,        /* %x                                atom */
    FIELD_REFS,             /* @x or (@x, %y)                    u32 handle: refs */
    FIELD_LINEAGE,          /* from …, generated from …          stmt.lineage_kind, stmt.lineage */
    FIELD_OPERATION,        /* model.linear                      atom */
    FIELD_OPERANDS,         /* (%x, %w)                          u32 handle: value names (atoms) */
    FIELD_RESULTS,          /* -> %y or -> (%y : type, …)        u32 handle: value names (atoms) */
    FIELD_FACTS,            /* (operations 1, read 2): `aux` is the list of the group's own fields */
    FIELD_EFFECTS,          /* (read %x, random %s)              u32 handle: effect kind, ref */
    FIELD_REQUIRE,          /* (compute 5, network 2 shared)     u32 handle: kind, scope, qty low, qty high */
    FIELD_IMPLEMENT,        /* capability [alternatives]         u32 handle: see ir/item.h */
    FIELD_WORDS,            /* [a, b]                            u32 handle: atoms */
    FIELD_INTEGERS,         /* 4 or [4, 4]                       u32 handle: low, high pairs */
    FIELD_DICT,             /* {k = v, …}                        u32 handle (ir/attr.h) */
    FIELD_ATTRIBUTES,       /* clauses that the operation's own row declares; u32 handle: atom, attr pairs */
};

/* Where a field stands in its statement: in the head (no word of its own), as a clause, or as a clause on the
 * continuation line. Session items print every field as `name = value` on a line of its own. */
enum field_place { PLACE_HEAD, PLACE_CLAUSE, PLACE_LINE };

enum field_presence {
    REQUIRED,
    OPTIONAL,               /* absent means none, all, `fallback`, or what is implied */
};

/* What a task says by its name where it does not write the field (ir/implied.h). */
enum field_implied { NOT_IMPLIED, IMPLIED_PHASE, IMPLIED_LAYER };

struct field {
    const char *name;       /* the clause word; of a head field, what messages call it */
    u8 length;              /* of name */
    u8 kind, place, presence, implied;
    u8 width;               /* bytes of the C member */
    u16 offset;
    u16 more;               /* 0, or where the statement points at the record that OFFSET is in (item.h) */
    const void *aux;        /* enumeration (of a layer, that of the phases), or fields of a group, or NULL */
    u64 fallback;           /* the value that is not printed */
    const char *doc;
};

/* Which layers an operation may stand in. */
enum layer { LAYER_SESSION, LAYER_MODEL, LAYER_DIST, LAYER_PORTABLE, LAYER_CONCRETE, LAYERS };
#define IN(layer) (1u << (layer))
#define TASK_LAYERS (IN(LAYER_DIST) | IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE))
#define ALL_LAYERS (IN(LAYER_MODEL) | TASK_LAYERS)

/* How an operation's result types follow from its operands' (dialects/model/shape_rules.c). */
enum shape_rule {
    SHAPE_ANY,              /* not checked: a coarse or target-near operation */
    SHAPE_SAME,             /* all operands and results have one type */
    SHAPE_LINEAR,           /* …xK, KxN [, N] -> …xN */
    SHAPE_MATMUL,           /* batch dims equal: …xMxK, …xKxN -> …xMxN */
    SHAPE_NORM,             /* x, scale of the last dimension [, shift] -> x */
    SHAPE_EMBEDDING,        /* integer tokens, VxH table -> tokens' shape x H */
    SHAPE_RESHAPE,          /* same number of elements */
    SHAPE_TRANSPOSE,        /* `permutation` */
    SHAPE_SPLIT,            /* `axis`: the results' sizes add up to the operand's */
    SHAPE_CONCAT,           /* `axis`: the operands' sizes add up to the result's */
    SHAPE_CROSS_ENTROPY,    /* logits …xV, integer labels … -> scalar */
    SHAPE_DECODER,          /* hidden state in and out of one type; a cache beside it in inference */
    SHAPE_CAST,             /* the same shape, another element type */
    SHAPE_WRITE,            /* a state and a part of it along `axis` -> the state */
};

enum { MANY = 255 };

struct operation {
    const char *name;       /* "model.linear" */
    u8 layers;              /* mask of IN(…) */
    u8 min_operands, max_operands, min_results, max_results;    /* MANY: no limit */
    u8 shape;               /* the dialect's shape rule */
    const struct field *attributes;     /* own clauses; offsets are not used; of words and flags, the fallback is not printed */
    const char *sample;     /* "(4x8xf16, 8x16xf16) -> 4x16xf16 axis 1": what --show-ops and the tests build */
    const char *doc;
};

enum entity_flags {
    ENTITY_ONCE = 1,        /* at most one in an item */
    ENTITY_VALUE = 2,       /* its name is a %name */
    ENTITY_TASK = 4,        /* runs, has a lineage, may be depended upon */
    ENTITY_LINEAGE = 8,     /* needs lineage in a derived item */
    ENTITY_ROLE_KEYWORD = 16,   /* the keyword is the word of the first field, an enumeration */
    ENTITY_NAMESAKE = 32,   /* in a derived item it is lowered from what has its name, where it does not write `from` */
    ENTITY_ORIGIN = 64,     /* its @reference, into the parent, is what all else is lowered from that does not write `from` */
};

struct entity {
    const char *keyword;
    u16 size;               /* of its C struct, whose first member is a struct stmt */
    u8 flags;
    const struct field *fields;     /* closed by FIELD_END, in print order */
    const char *example;    /* a statement, as printed */
    const char *doc;
};

/* One more statement to paste, beside the entities' examples: of a body that those don't show. */
struct sample {
    const char *text;       /* as printed */
    const char *doc;
};

struct item_kind {
    const char *name;       /* "dist.program" */
    enum layer layer;
    u16 major, minor;       /* the schema version it speaks; 0.0: no header (session items) */
    const struct entity *entities;
    u32 n_entities;
    const char *const *reserved;    /* names refused in notes, lower case, NULL at the end */
    void (*verify)(struct verifier *v);     /* rules that the schema can't say */
    void (*settle)(struct item *it, struct stmt *s);    /* the dialect's part of item_settle; or NULL */
    const char *doc;
};

struct dialect {
    const char *name;
    const struct item_kind *kinds;
    u32 n_kinds;
    const struct sample *samples;
    u32 n_samples;
    const struct operation *operations;
    u32 n_operations;
    const struct enumeration *const *enumerations;
    u32 n_enumerations;
    const struct rule *rules;
    u32 n_rules;
    const char *doc;
};

/* Position of TEXT among the words, or -1. */
int enumeration_find(const struct enumeration *e, const char *text, size_t length);

const struct field *field_find(const struct field *fields, const char *name, size_t length);

/* Whether a clause of the entity begins with that word. */
bool is_clause(const struct entity *e, const char *word, size_t length);

/* ---- Macros in which the .def files are written -------------------------------------------------------------- */

#define AT_OFFSET(tag, member) (u16)offsetof(struct tag, member)
#define FIELD_ROW(place_, word_, kind_, tag, member, aux_, presence_, fallback_, doc_) \
    { .name = word_, .length = sizeof(word_) - 1, .kind = kind_, .place = place_, .presence = presence_, \
      .width = sizeof(((struct tag *)0)->member), .offset = AT_OFFSET(tag, member), .aux = aux_, .fallback = fallback_, \
      .doc = doc_ },
/* A row of what few statements say: it stands in RECORD, which the member `more` of TAG points at. */
#define MORE_ROW(place_, word_, kind_, tag, record, member, fallback_, doc_) \
    { .name = word_, .length = sizeof(word_) - 1, .kind = kind_, .place = place_, .presence = OPTIONAL, \
      .width = sizeof(((struct record *)0)->member), .offset = AT_OFFSET(record, member), .more = AT_OFFSET(tag, more), \
      .fallback = fallback_, .doc = doc_ },
#define FIELDS(...) ((const struct field[]){ __VA_ARGS__ { .kind = FIELD_END } })
#define HEAD(word_, kind_, tag, member, aux_, doc_) \
    FIELD_ROW(PLACE_HEAD, word_, kind_, tag, member, aux_, REQUIRED, 0, doc_)
#define CLAUSE(word_, kind_, tag, member, aux_, doc_) \
    FIELD_ROW(PLACE_CLAUSE, word_, kind_, tag, member, aux_, OPTIONAL, 0, doc_)
#define LINE(word_, kind_, tag, member, aux_, doc_) \
    FIELD_ROW(PLACE_LINE, word_, kind_, tag, member, aux_, OPTIONAL, 0, doc_)
#define IMPLIED_LINE(word_, kind_, tag, member, aux_, implied_, doc_) \
    { .name = word_, .length = sizeof(word_) - 1, .kind = kind_, .place = PLACE_LINE, .presence = OPTIONAL, \
      .implied = implied_, .width = sizeof(((struct tag *)0)->member), .offset = AT_OFFSET(tag, member), .aux = aux_, \
      .doc = doc_ },
#define ATTRIBUTE_ROW(word_, kind_, aux_, presence_, fallback_, doc_) \
    { .name = word_, .length = sizeof(word_) - 1, .kind = kind_, .place = PLACE_CLAUSE, .presence = presence_, \
      .aux = aux_, .fallback = fallback_, .doc = doc_ },
#define ATTRIBUTE(word_, kind_, aux_, presence_, doc_) ATTRIBUTE_ROW(word_, kind_, aux_, presence_, 0, doc_)

#endif
