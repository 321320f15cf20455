#include "passes/emit.h"

#include "ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

atom emit_atom(const struct pass_run *r, const char *text)
{
    return intern_string(&r->ctx->names, text);
}

u32 emit_one(struct item *it, u32 element)
{
    return item_list(it, &element, 1);
}

void emit_from(struct item *it, struct stmt *s, u32 ref)
{
    s->lineage_kind = LINEAGE_LOWERED;
    s->lineage = emit_one(it, ref);
}

static void preserve(struct pass_run *r, const struct stmt *s)
{
    struct item *out = r->output;
    const struct entity *e = stmt_entity(r->input, s);
    struct stmt *to = s->is_result ? item_add_result(out, s->entity) : item_add(out, s->entity);
    bool lineage = (e->flags & ENTITY_LINEAGE || s->lineage_kind) && !s->is_result;
    stmt_copy(out, to, s);
    to->begin = NO_PLACE;
    to->written = 0;
    to->lineage_kind = lineage ? LINEAGE_PRESERVED : LINEAGE_NONE;
    to->lineage = lineage ? emit_one(out, e->flags & ENTITY_VALUE ? REF_VALUE(s->name) : REF_SYMBOL(s->name)) : 0;
    if (s->name)
        item_declare(out, to);
}

/* Values that arise where they are made are no statements of their own. */
static void preserve_results(struct pass_run *r, const struct stmt *s)
{
    for (const struct field *f = stmt_entity(r->input, s)->fields; f->kind != FIELD_END; f++) {
        u32 handle = f->kind == FIELD_RESULTS ? (u32)field_get(s, f) : 0;
        for (u32 i = 0; handle && i < list_n(r->input, handle); i++) {
            const struct stmt *v = item_value(r->input, list_at(r->input, handle)[i]);
            if (v && v->is_result)
                preserve(r, v);
        }
    }
}

void emit_preserved(struct pass_run *r)
{
    struct item *out = r->output;
    out->pool = block_grow(out->pool, out->cap_pool * sizeof *out->pool, r->input->cap_pool * sizeof *out->pool);
    out->cap_pool = r->input->cap_pool;
    out->n_pool = r->input->n_pool;
    out->last_list = 0;
    memcpy(out->pool, r->input->pool, out->n_pool * sizeof *out->pool);
    for (u32 i = 0; i < r->input->n_stmts; i++) {
        if (stmt_entity(r->input, r->input->stmts[i])->flags & ENTITY_ORIGIN)
            continue;       /* the operation is of another parent */
        preserve_results(r, r->input->stmts[i]);
        preserve(r, r->input->stmts[i]);
    }
}

bool mesh_size(const struct item *it, u32 axes, u64 *out)
{
    u64 size = 1;
    for (u32 i = 0; i + 2 < list_n(it, axes); i += 3)
        if (__builtin_mul_overflow(size, pair_get(list_at(it, axes) + i + 1), &size) || size >= UINT32_MAX)
            return false;
    *out = size;
    return true;
}

bool pass_error(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *field, const char *text,
                const char *code, const char *format, ...)
{
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct loc at = r->ctx->locate ? r->ctx->locate(it, s, field, text) : (struct loc){ 0 };
    diag_error(r->ctx->diags, at, code, "%s", message);
    if (!at.src)
        diag_context(r->ctx->diags, "%s (made by %s)", symbol_text(it, it->name),
                     it->header.pass ? context_text(it->ctx, it->header.pass) : "hand");
    return false;
}

void pass_note(const struct pass_run *r, const char *format, ...)
{
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_note(r->ctx->diags, (struct loc){ 0 }, "%s", message);
}
