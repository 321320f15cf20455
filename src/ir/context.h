/* A context: interned names, types and expressions, the dialects it knows, and its diagnostics. Two can live side by side. */
#ifndef IR_CONTEXT_H
#define IR_CONTEXT_H

#include "ir/schema.h"
#include "ir/type.h"
#include "support/intern.h"

struct item;
struct locator;
struct stmt;

struct context {
    struct arena arena;
    struct interner names;
    struct exprs *exprs;
    struct types *types;
    struct diags *diags;                    /* not owned */
    const struct dialect *const *dialects;  /* NULL at the end */
    const struct operation **operation_of;  /* by atom, for atoms below n_operations */
    u32 n_operations;
    u32 n_known;                            /* atoms of the dialects' own words */
    struct item **item_of;                  /* by atom, below n_item_of: the newest item of that name, see module_find */
    u32 n_item_of;
    /*
     * Finds the text of a part of a statement for a message: the clause FIELD (or NULL: the statement's first line),
     * and in it the INDEX-th occurrence of the token TEXT (or NULL: the whole clause). Set by the parser.
     */
    struct loc (*locate)(const struct item *it, const struct stmt *s, const char *field, const char *text);
    struct locator *locator;                /* what it keeps between two calls */
};

void context_init(struct context *ctx, const struct dialect *const *dialects, struct diags *diags);
void context_free(struct context *ctx);

const struct item_kind *context_item_kind(const struct context *ctx, const char *name, size_t length);
const struct operation *context_operation(const struct context *ctx, atom name);

/* NUL-terminated, in the context's arena or a literal: for messages. */
const char *context_text(const struct context *ctx, atom name);

/* An expression as text, for messages. */
const char *qty_text(const struct context *ctx, qty q);
const char *type_text(const struct context *ctx, u32 type);

#endif
