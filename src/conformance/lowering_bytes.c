/* What holds bytes: buffers against the values that they stand for, bindings against buffers. */
#include "conformance/lowering.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "ir/sharding.h"

/* ---- Portable: buffers of values ---- */

/* The size of a mesh axis, or 0. */
static u64 axis_size(const struct item *program, atom axis)
{
    for (u32 i = 0; i < program->n_stmts; i++) {
        if (program->stmts[i]->entity != DIST_MESH)
            continue;
        u32 axes = ((const struct dist_mesh *)program->stmts[i])->axes;
        for (u32 k = 0; k + 2 < list_n(program, axes); k += 3)
            if (list_at(program, axes)[k] == axis)
                return pair_get(list_at(program, axes) + k + 1);
    }
    return 0;
}

/* Bytes of a value on one rank: its type's, divided by each axis that splits it. False: they are not exact. */
static bool rank_bytes(const struct item *program, const struct dist_value *v, qty *bytes)
{
    struct exprs *x = program->ctx->exprs;
    struct sharding s;
    sharding_read(program, v->sharding, &s);
    if (type_bytes(x, type_get(program->ctx->types, v->type), bytes) != EXPR_OK)
        return false;
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++) {
            u64 size = axis_size(program, s.dims[i].axes[k]);
            if (!size || qty_div_exact(x, *bytes, qty_number(x, size), bytes) != EXPR_OK)
                return false;
        }
    return true;
}

static bool leaves(const struct item *program, atom value)
{
    for (u32 i = 0; i < program->n_stmts; i++)
        if (program->stmts[i]->entity == DIST_OUTPUT && ((const struct dist_output *)program->stmts[i])->value == value)
            return true;
    return false;
}

/* Which roles a buffer may have that stands for a value; bits. */
static u32 legal_roles(const struct item *program, const struct dist_value *v)
{
    u32 output = leaves(program, v->s.name) ? 1u << PORTABLE_OUTPUT : 0;
    switch ((enum dist_role)v->role) {
    case DIST_INPUT: return 1u << PORTABLE_INPUT;
    case DIST_PARAMETER: return 1u << PORTABLE_STATE | 1u << PORTABLE_CONSTANT;
    case DIST_CONSTANT: return 1u << PORTABLE_CONSTANT;
    case DIST_STATE: case DIST_KV_CACHE: case DIST_OPTIMIZER_STATE: return 1u << PORTABLE_STATE | output;
    case DIST_ACTIVATION: return output ? output : 1u << PORTABLE_VALUE | 1u << PORTABLE_COMMUNICATION;
    }
    return 0;
}

static const char *first_word(u32 roles)
{
    for (u32 i = 0; i < portable_role_enum.n; i++)
        if (roles >> i & 1)
            return portable_role_enum.words[i].text;
    return "";
}

static void check_buffer(struct lowering *l, const struct portable_buffer *b, const struct dist_value *v)
{
    const struct context *ctx = l->it->ctx;
    struct verifier *to = &l->c->v;
    u32 roles = legal_roles(l->parent, v);
    qty bytes;
    bool lasts = v->role != DIST_INPUT && v->role != DIST_ACTIVATION;
    if (!(roles >> b->role & 1) && !v->updates)
        verify_error(to, &b->s, "role", NULL, "check.lowering.buffer", "%s is %s, but it stands for %s, which is %s: write `%s`",
                     stmt_text(l->it, &b->s), portable_role_enum.words[b->role].text, stmt_text(l->parent, &v->s),
                     dist_role_enum.words[v->role].text, first_word(roles));
    if ((b->storage == PORTABLE_PERSISTENT) != lasts && !v->updates)
        verify_error(to, &b->s, "storage", NULL, "check.lowering.buffer", "%s is %s, but %s, for which it stands, %s", stmt_text(l->it, &b->s),
                     portable_storage_enum.words[b->storage].text, stmt_text(l->parent, &v->s),
                     lasts ? "lives across iterations: `persistent`" : "doesn't live across iterations");
    if (!rank_bytes(l->parent, v, &bytes))
        check_skipped(l->c, "the size of %s: the bytes of its value on one rank are not exact", stmt_text(l->it, &b->s));
    else if (bytes != b->size) {
        const char *is = qty_text(ctx, b->size);
        verify_error(to, &b->s, "size", NULL, "check.lowering.buffer", "%s has %s bytes, but %s, for which it stands, has %s on one rank",
                     stmt_text(l->it, &b->s), is, stmt_text(l->parent, &v->s), qty_text(ctx, bytes));
    }
}

void lowering_check_buffers(struct lowering *l)
{
    u32 n = 0, before = l->c->v.errors;
    for (u32 i = 0; i < l->it->n_stmts; i++) {
        const struct stmt *s = l->it->stmts[i], *value = s->entity == PORTABLE_BUFFER ? lowering_origin(l, s) : NULL;
        if (!value || value->entity != DIST_VALUE)
            continue;
        check_buffer(l, (const struct portable_buffer *)s, (const struct dist_value *)value);
        n++;
    }
    if (l->c->v.errors == before)
        check_proved(l->c, "%u buffers hold their values' bytes", n);
}

/* ---- Concrete: bindings of buffers ---- */

/* Whether a command writes the binding. */
static bool is_written(const struct lowering *l, atom name)
{
    return l->child.maker[name] != 0;
}

static void check_bind(struct lowering *l, const struct concrete_bind *b, const struct portable_buffer *from)
{
    bool lasts = from->storage == PORTABLE_PERSISTENT;
    if (b->size != from->size) {
        const char *is = qty_text(l->it->ctx, b->size);
        verify_error(&l->c->v, &b->s, "size", NULL, "check.lowering.bind", "%s has %s bytes, and its buffer %s", stmt_text(l->it, &b->s), is,
                     qty_text(l->it->ctx, from->size));
    }
    if (lasts && (b->lives == CONCRETE_USED || (b->lives == CONCRETE_INFERRED && is_written(l, b->s.name))))
        verify_error(&l->c->v, &b->s, "lives", NULL, "check.lowering.bind", "%s is persistent in the portable plan, but its bytes are taken only %s: `lives always`",
                     stmt_text(l->it, &b->s), b->lives == CONCRETE_USED ? "while it is used" : "as inferred");
    else if (b->lives == CONCRETE_USED && from->role != PORTABLE_VALUE && from->role != PORTABLE_WORKSPACE && from->role != PORTABLE_COMMUNICATION)
        verify_error(&l->c->v, &b->s, "lives", NULL, "check.lowering.bind", "%s is %s of the portable plan, and not scratch: leave `lives used` out",
                     stmt_text(l->it, &b->s), portable_role_enum.words[from->role].text);
    if (!lasts && b->lives == CONCRETE_ALWAYS)
        verify_error(&l->c->v, &b->s, "lives", NULL, "check.lowering.bind", "%s lives always, but its buffer is %s, not persistent",
                     stmt_text(l->it, &b->s), portable_storage_enum.words[from->storage].text);
}

void lowering_check_binds(struct lowering *l)
{
    u32 n = 0, before = l->c->v.errors;
    for (u32 i = 0; i < l->it->n_stmts; i++) {
        const struct stmt *s = l->it->stmts[i], *buffer = s->entity == CONCRETE_BIND ? lowering_origin(l, s) : NULL;
        if (!buffer || buffer->entity != PORTABLE_BUFFER)
            continue;
        check_bind(l, (const struct concrete_bind *)s, (const struct portable_buffer *)buffer);
        n++;
    }
    if (l->c->v.errors == before)
        check_proved(l->c, "%u bindings are as large and live as long as their buffers", n);
}
