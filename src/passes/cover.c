#include "passes/cover.h"

#include "ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

bool gate_refuse(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(r->ctx->diags, (struct loc){ 0 }, "pass.gate", "%s: %s", s ? stmt_text(it, s) : symbol_text(it, it->name), message);
    diag_context(r->ctx->diags, "%s", r->pass->name);
    diag_note(r->ctx->diags, (struct loc){ 0 }, "the commit gate can't prove this output; nothing was published");
    return false;
}

bool gate_says_only(const struct pass_run *r, const struct item *it, const struct stmt *s, const char *allowed)
{
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++) {
        const char *at = strstr(allowed, f->name);
        while (at && (at == allowed || at[-1] != ' ' || at[f->length] != ' '))
            at = strstr(at + 1, f->name);
        if (!at && !field_is_default(it, s, f))
            return gate_refuse(r, it, s, "nothing in its source gives it `%s`", f->name);
    }
    return true;
}

bool gate_is_from(const struct pass_run *r, const struct stmt *s, u8 kind, u32 ref)
{
    return (s->lineage_kind == kind && list_n(r->output, s->lineage) == 1 && list_at(r->output, s->lineage)[0] == ref) ||
           gate_refuse(r, r->output, s, "it is not declared to be from its source");
}

/* Marks in COVERED (by atom, @ and % apart) what the output's lineage names. */
static bool mark(const struct pass_run *r, const struct stmt *s, u8 *covered)
{
    const struct item *out = r->output;
    bool value = stmt_entity(out, s)->flags & ENTITY_VALUE;
    if (s->lineage_kind == LINEAGE_NONE && value && item_value(r->input, s->name)) {
        covered[s->name] |= 2;
        return true;
    }
    if (s->lineage_kind == LINEAGE_NONE)
        return !(stmt_entity(out, s)->flags & ENTITY_LINEAGE) || s->is_result || gate_refuse(r, out, s, "no lineage is declared");
    for (u32 i = 0; i < list_n(out, s->lineage); i++) {
        u32 ref = list_at(out, s->lineage)[i];
        if (!item_ref(r->input, ref))
            return gate_refuse(r, out, s, "its source %s is not in the input", context_text(r->ctx, ref_atom(ref)));
        covered[ref_atom(ref)] |= ref_is_value(ref) ? 2 : 1;
    }
    return true;
}

static bool is_covered(const struct pass_run *r, const struct stmt *s, const u8 *covered)
{
    u8 flags = stmt_entity(r->input, s)->flags, bit = flags & ENTITY_VALUE ? 2 : 1;
    if (!(flags & (ENTITY_VALUE | ENTITY_TASK)) || (s->name && covered[s->name] & bit))
        return true;
    return gate_refuse(r, r->input, s, "nothing in the output is from it");
}

bool cover_check(const struct pass_run *r)
{
    u32 n = r->ctx->names.n;
    u8 *covered = block_grow(NULL, 0, n);
    bool good = true;
    for (u32 i = 0; good && i < r->output->n_stmts; i++)
        good = mark(r, r->output->stmts[i], covered);
    for (u32 i = 0; good && i < r->input->n_stmts; i++)
        good = is_covered(r, r->input->stmts[i], covered);
    block_free(covered, n);
    return good;
}
