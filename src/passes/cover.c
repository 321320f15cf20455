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

bool gate_is_origin(const struct pass_run *r, const struct stmt *s, atom said, atom source)
{
    return said == source || gate_refuse(r, r->output, s, "it is not the operation that the program is lowered from");
}

/* ---- Relations ---- */

/* What a contract calls an entity: values have many keywords, one for each role. */
static const char *kind_of(const struct item *it, const struct stmt *s)
{
    return entity_word(stmt_entity(it, s));
}

/* Counts a relation that the contract declares. */
static bool is_declared(const struct pass_run *r, const struct stmt *target, enum lineage_kind kind, const struct stmt *source)
{
    const char *from = source ? kind_of(r->input, source) : "nothing", *to = kind_of(r->output, target);
    const struct relation *row = r->pass->relations;
    for (u32 i = 0; row && row[i].target; i++)
        if (row[i].kind == kind && !strcmp(row[i].source, from) && !strcmp(row[i].target, to)) {
            r->proven[i]++;
            return true;
        }
    const char *word = lineage_enum.words[kind].text;
    return gate_refuse(r, r->output, target, "its lineage is not declared: no relation of the contract makes a %s %s%sfrom a %s", to, word,
                       *word ? " " : "", from);
}

/* The sources of one target are of one kind. */
static bool relate(const struct pass_run *r, const struct stmt *s)
{
    const struct item *out = r->output, *in = r->input;
    const struct stmt *first = NULL;
    for (u32 i = 0; i < list_n(out, s->lineage); i++) {
        u32 ref = list_at(out, s->lineage)[i];
        const struct stmt *source = item_ref(in, ref);
        if (!source)
            return gate_refuse(r, out, s, "its source %s is not in the input", context_text(r->ctx, ref_atom(ref)));
        first = first ? first : source;
        if (strcmp(kind_of(in, first), kind_of(in, source)))
            return gate_refuse(r, out, s, "its sources are of two kinds: %s and %s", kind_of(in, first), kind_of(in, source));
    }
    return is_declared(r, s, s->lineage_kind, first);
}

/* Marks in COVERED (by atom, @ and % apart) what the output's lineage names. */
static bool mark(const struct pass_run *r, const struct stmt *s, u8 *covered)
{
    const struct item *out = r->output;
    bool value = stmt_entity(out, s)->flags & ENTITY_VALUE;
    if (s->lineage_kind == LINEAGE_NONE && value && item_value(r->input, s->name)) {
        covered[s->name] |= 2;
        return is_declared(r, s, LINEAGE_LOWERED, item_value(r->input, s->name));
    }
    if (s->lineage_kind == LINEAGE_NONE)
        return !(stmt_entity(out, s)->flags & ENTITY_LINEAGE) || s->is_result || gate_refuse(r, out, s, "no lineage is declared");
    if (!relate(r, s))
        return false;
    for (u32 i = 0; i < list_n(out, s->lineage); i++) {
        u32 ref = list_at(out, s->lineage)[i];
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

u32 relation_count(const struct pass *p)
{
    u32 n = 0;
    while (p->relations && p->relations[n].target)
        n++;
    return n;
}

bool cover_check(const struct pass_run *r)
{
    u32 n = r->ctx->names.n;
    u8 *covered = block_grow(NULL, 0, n);
    bool good = true;
    memset(r->proven, 0, relation_count(r->pass) * sizeof *r->proven);
    for (u32 i = 0; good && i < r->output->n_stmts; i++)
        good = mark(r, r->output->stmts[i], covered);
    for (u32 i = 0; good && i < r->input->n_stmts; i++)
        good = is_covered(r, r->input->stmts[i], covered);
    block_free(covered, n);
    return good;
}
