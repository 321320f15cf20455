/*
 * Items: one program, plan or session item each, immutable once built. A statement is the typed C struct of its
 * entity (its first member is a struct stmt), in the item's arena; lists live in the item's pool of 32-bit words and
 * are named by handles, and what few statements of an entity say stands in a record apart, so that a task stays below a
 * hundred bytes.
 */
#ifndef IR_ITEM_H
#define IR_ITEM_H

#include "ir/context.h"
#include "support/digest.h"

enum lineage_kind {
    LINEAGE_NONE,           /* not written: see item_lineage */
    LINEAGE_LOWERED, LINEAGE_CLONED, LINEAGE_DECOMPOSED, LINEAGE_FUSED, LINEAGE_GENERATED, LINEAGE_PRESERVED,
};

extern const struct enumeration lineage_enum;       /* "", "", "cloned", … the word before `from` */
extern const struct enumeration effect_enum;        /* read write update allocate random io call */
extern const struct enumeration resource_enum;      /* compute memory_capacity … */
extern const struct enumeration scope_enum;         /* per_rank per_task shared */
extern const struct enumeration symbol_kind_enum;    /* integer */
extern const struct enumeration reduction_enum;     /* sum max min product */

enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_UPDATE, EFFECT_ALLOCATE, EFFECT_RANDOM, EFFECT_IO, EFFECT_CALL };
enum resource { RESOURCE_COMPUTE, RESOURCE_MEMORY_CAPACITY, RESOURCE_MEMORY_BANDWIDTH, RESOURCE_NETWORK,
                RESOURCE_STORAGE, RESOURCE_HOST_CONTROL, RESOURCE_SYNCHRONIZATION };
enum scope { SCOPE_PER_RANK, SCOPE_PER_TASK, SCOPE_SHARED };
enum reduction { REDUCTION_NONE, REDUCTION_SUM, REDUCTION_MAX, REDUCTION_MIN, REDUCTION_PRODUCT };

#define NO_PLACE UINT32_MAX

struct stmt {
    atom name;              /* 0: none */
    u32 begin;              /* byte offset in the item's source, or NO_PLACE */
    u32 written;            /* bit i: the i-th field of the entity was written (parsed items only) */
    u32 lineage;            /* handle: refs */
    u8 lineage_kind;
    u8 entity;              /* index in the item kind's table */
    u8 is_result;           /* a value declared as a result, not a statement of its own */
    u8 owns_more;           /* see stmt_more */
};

/* A reference: @name or %name. */
#define REF_SYMBOL(atom_) ((u32)(atom_) << 1)
#define REF_VALUE(atom_) ((u32)(atom_) << 1 | 1)
static inline atom ref_atom(u32 ref) { return ref >> 1; }
static inline bool ref_is_value(u32 ref) { return ref & 1; }

struct pin {
    atom item;
    struct digest digest;   /* none: not pinned */
    u32 begin;              /* where it is written, or NO_PLACE */
};

struct header {
    u32 major, minor;
    struct pin parent;      /* item 0: none */
    atom pass;              /* 0: no `by` */
    u32 revision;
    struct pin *using;
    u32 n_using;
    u32 begin;
};

/* By name, an atom. While all names lie within as many atoms as there are slots, each has one of its own. */
struct symtab {
    struct stmt **slots;
    u32 n, mask;
    atom first, last;
};

struct item {
    struct context *ctx;
    const struct item_kind *kind;
    atom name;
    struct header header;
    struct stmt **stmts;
    u32 n_stmts, cap_stmts;
    u32 *pool;
    u32 n_pool, cap_pool;
    u32 last_list;          /* newest list: a repeated list costs nothing */
    u32 origin;             /* handle: the ref of the item's `origin`, or 0; what is from it has this very handle */
    struct symtab symbols, values, dollars;     /* @, %, $ */
    struct arena arena;
    struct stmt **blank;            /* by entity: a statement with every fallback set, or NULL; see item_add */
    struct item *namesake;          /* an older item of the same name in the context, or NULL */
    u32 index;              /* where module_add put it: a guess for module_find */
    const struct source *src;       /* NULL: made by a pass */
    u32 begin, body, end;   /* offsets of the keyword, behind `{`, and behind `}` */
    struct digest digest;   /* none until item_digest computed it */
    bool damaged;           /* a syntax error was reported in it: it is not verified */
};

/* NAME 0: no name can find it. */
struct item *item_new(struct context *ctx, const struct item_kind *kind, atom name);
void item_free(struct item *it);

/* A new statement at the end. Fields are zero; REQUIRED head fields are the caller's to set. */
struct stmt *item_add(struct item *it, u32 entity);

/* The same as a copy of another statement of this item, of SIZE bytes; what it says apart, the two share. */
struct stmt *item_add_copy(struct item *it, const struct stmt *like, size_t size);

/* A value declared as a result of a task: an entity, but no statement of its own. */
struct stmt *item_add_result(struct item *it, u32 entity);

/* Enters the statement's name; returns the earlier holder of the name, or NULL. */
struct stmt *item_declare(struct item *it, struct stmt *s);

struct stmt *item_symbol(const struct item *it, atom name);     /* @name or NULL */
struct stmt *item_value(const struct item *it, atom name);      /* %name or NULL */
struct stmt *item_dollar(const struct item *it, atom name);     /* $name or NULL */
struct stmt *item_ref(const struct item *it, u32 ref);

static inline const struct entity *stmt_entity(const struct item *it, const struct stmt *s)
{
    return &it->kind->entities[s->entity];
}

/* The keyword of its statements; "value" where that is the word of a role. */
static inline const char *entity_word(const struct entity *e)
{
    return e->flags & ENTITY_ROLE_KEYWORD ? "value" : e->keyword;
}

u32 item_count(const struct item *it, u32 entity);      /* statements */
const struct stmt *item_once(const struct item *it, u32 entity);    /* of an entity that stands at most once, or NULL */

/* ---- Lists ---- */
u32 item_list(struct item *it, const u32 *elements, u32 n);     /* a handle; n = 0 gives a handle too (not 0) */
static inline u32 list_n(const struct item *it, u32 handle) { return it->pool[handle]; }
static inline const u32 *list_at(const struct item *it, u32 handle) { return &it->pool[handle + 1]; }

/* Pairs of words that hold 64 bits. */
static inline u64 pair_get(const u32 *at) { return at[0] | (u64)at[1] << 32; }
static inline void pair_put(u32 *at, u64 value) { at[0] = (u32)value; at[1] = (u32)(value >> 32); }

/* Rank sets are lists of first, last pairs; handle 0 is every rank. */
bool ranks_contain(const struct item *it, u32 handle, u32 rank);

/*
 * An implement list: records behind one another, each
 *     capability atom, n, n alternatives (atoms), dict handle
 */
#define IMPLEMENT_SIZE(record) ((record)[1] + 3)

/* ---- What few statements say ---- */

/*
 * The record of what few statements of an entity say: the member `more` of its struct points at it. All statements that
 * say nothing of it share one, and copies share that of what they were copied from, so that it is only read through
 * `more`. This makes one that S owns, and gives that, to be written. The entity has such a record.
 */
void *stmt_more(struct item *it, struct stmt *s);

/* Makes TO, a new statement of IT, a copy of S, one of the same entity in another item. */
void stmt_copy(struct item *it, struct stmt *to, const struct stmt *s);

/* ---- Fields by row ---- */
static inline const void *field_at(const struct stmt *s, const struct field *f)
{
    const char *at = (const char *)s;
    if (f->more)
        memcpy(&at, at + f->more, sizeof at);
    return at + f->offset;
}
/* The same place, to be written. */
static inline void *field_place(struct item *it, struct stmt *s, const struct field *f)
{
    return (char *)(f->more ? stmt_more(it, s) : s) + f->offset;
}
/* The value of an atom- or handle-sized, byte-sized or 64-bit field, widened. Not for groups, names, lineage. */
static inline u64 field_get(const struct stmt *s, const struct field *f)
{
    const void *at = field_at(s, f);
    switch (f->width) {
    case 1: return *(const u8 *)at;
    case 8: return *(const u64 *)at;
    default: return *(const u32 *)at;
    }
}
void field_set(struct item *it, struct stmt *s, const struct field *f, u64 value);
/* Whether the text that S was parsed from says a field of its entity. */
static inline bool field_is_written(const struct item *it, const struct stmt *s, const struct field *f)
{
    return s->written >> (f - stmt_entity(it, s)->fields) & 1;
}
/* True when the printer leaves the field out: absent, or equal to its fallback. */
bool group_is_default(const struct stmt *s, const struct field *facts);
static inline bool field_is_default(const struct item *it, const struct stmt *s, const struct field *f)
{
    (void)it;
    if (f->kind == FIELD_FACTS)
        return group_is_default(s, f->aux);
    if (f->kind == FIELD_LINEAGE)
        return s->lineage_kind == LINEAGE_NONE;
    return field_get(s, f) == (f->kind == FIELD_RESULTS ? 0 : f->fallback);
}

/* The value of an operation's own clause, or 0 (an attr handle, ir/attr.h). */
u32 item_attribute(const struct item *it, u32 attributes, atom name);

/* Digest of the canonical text: what `xxhsum -H2` prints for `bp-opt --canonical --item=@name`. Computed once. */
struct digest item_digest(struct item *it);

/* How many bytes that text has. */
u64 item_text_size(const struct item *it);

/* The same digest, computed again: what the item says now, whatever was computed before. */
struct digest item_digest_now(const struct item *it);

/* NULL, or the first statement (or the header) that differs, named in *what (in the item's arena). */
bool item_equal(const struct item *a, const struct item *b, const char **what);

/* The same of one field of two statements of one entity. */
bool stmt_field_equal(const struct item *a, const struct stmt *s, const struct item *b, const struct stmt *t,
                      const struct field *f);

/* ---- Files ---- */
enum trivia_kind { TRIVIA_COMMENT, TRIVIA_BLANK };

struct trivia {
    u32 begin, end;
    u8 kind;
    u8 own_line;            /* a comment that stands first on its line */
};

struct module {
    struct context *ctx;
    const struct source *src;
    struct item **items;
    u32 n, cap;
    struct trivia *trivia;  /* in order of place */
    u32 n_trivia, cap_trivia;
};

void module_init(struct module *m, struct context *ctx, const struct source *src);
void module_free(struct module *m);         /* frees its items too */
void module_add(struct module *m, struct item *it);
void module_insert(struct module *m, u32 at, struct item *it);      /* AT at most m->n */
struct item *module_find(const struct module *m, atom name);

/* Drops the comments in IT, behind it on its line, and between it and what stands before it: IT will leave M. */
void module_drop_comments(struct module *m, const struct item *it);

#endif
