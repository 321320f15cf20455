/* Items of other dialects, read through their tables, by the names of their fields. */
#ifndef DIALECTS_CONCRETE_PARENT_H
#define DIALECTS_CONCRETE_PARENT_H

#include "dialects/concrete/verify.h"

static inline bool is_keyword(const struct item *it, const struct stmt *s, const char *keyword)
{
    return !strcmp(stmt_entity(it, s)->keyword, keyword);
}

static inline const struct field *field_named(const struct item *it, const struct stmt *s, const char *name)
{
    const struct field *f = field_find(stmt_entity(it, s)->fields, name, strlen(name));
    assert(f);
    return f;
}

static inline u64 get(const struct item *it, const struct stmt *s, const char *name)
{
    return field_get(s, field_named(it, s, name));
}

static inline const char *get_word(const struct item *it, const struct stmt *s, const char *name)
{
    const struct field *f = field_named(it, s, name);
    return ((const struct enumeration *)f->aux)->words[field_get(s, f)].text;
}

static inline void note_parent(struct plan *p, const struct stmt *s, const char *field, const char *what)
{
    if (p->v->ctx->locate)
        diag_note(p->v->ctx->diags, p->v->ctx->locate(p->parent, s, field, NULL), "%s is here", what);
}

/* The buffer of the parent that a binding holds, or NULL: its only source, else its namesake. */
const struct stmt *parent_buffer(const struct plan *p, u32 bind);

/* Ranks of the portable plan: of its mesh (EXACT), else one past the highest that a task names. 0: not to be told. */
u64 parent_ranks(const struct item *parent, bool *exact);

#endif
