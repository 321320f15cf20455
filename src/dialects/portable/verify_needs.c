/* Rules of what a task needs: resources and capabilities. */
#include "dialects/portable/verify.h"

#include <strings.h>

static void check_require(struct plan *p, const struct portable_task *t)
{
    u32 seen = 0;
    const u32 *at = list_at(p->it, t->more->require);
    for (u32 i = 0; i + 3 < list_n(p->it, t->more->require); i += 4) {
        const char *kind = resource_enum.words[at[i]].text;
        if (seen >> at[i] & 1)
            verify_error(p->v, &t->s, "require", kind, "portable.require.duplicate", "%s requires `%s` twice", stmt_text(p->it, &t->s), kind);
        seen |= 1u << at[i];
        if (pair_get(at + i + 2) == 0) {
            verify_error(p->v, &t->s, "require", kind, "portable.require.zero", "%s requires 0 of `%s`", stmt_text(p->it, &t->s), kind);
            verify_note_legal(p->v, "leave it out: a resource that is not named is what the work says");
        }
    }
}

/* The target dialect that a word begins with, or NULL. */
static const char *target_of(const struct interned *word)
{
    static const char *const targets[] = { "cuda", "nccl", "rocm", "rccl", "lpu" };
    for (u32 i = 0; i < COUNT(targets); i++) {
        size_t n = strlen(targets[i]);
        if (word->length >= n && !strncasecmp(word->text, targets[i], n) &&
            (word->length == n || word->text[n] == '-' || word->text[n] == '_' || word->text[n] == '.'))
            return targets[i];
    }
    return NULL;
}

static void check_target(struct plan *p, const struct portable_task *t, atom word)
{
    const char *target = target_of(&p->v->ctx->names.atoms[word]);
    if (!target)
        return;
    const char *text = context_text(p->v->ctx, word);
    verify_error(p->v, &t->s, "implement", text, "portable.implement.target", "`%s` names the target `%s`, and a portable plan is for any", text, target);
    verify_note_legal(p->v, "name the capability, as `matrix-multiply` or `tensor-core`; a concrete plan chooses the implementation");
}

/* The capability of a collective is what the task asks of its library: that one, and only of a collective. */
static void check_collective(struct plan *p, const struct portable_task *t, atom capability)
{
    if (!portable_is_collective(p, capability) || (t->body == PORTABLE_COLLECTIVE && t->operation == capability))
        return;
    const char *word = context_text(p->v->ctx, capability);
    verify_error(p->v, &t->s, "implement", word, "portable.implement.collective", "%s is a %s of %s, and asks for the collective `%s`", stmt_text(p->it, &t->s),
                 portable_body_enum.words[t->body].text, t->operation ? context_text(p->v->ctx, t->operation) : "nothing", word);
}

static void check_capability(struct plan *p, const struct portable_task *t, const u32 *begin, const u32 *r)
{
    check_target(p, t, r[0]);
    check_collective(p, t, r[0]);
    for (const u32 *other = begin; other < r; other += IMPLEMENT_SIZE(other)) {
        if (other[0] != r[0])
            continue;
        const char *word = context_text(p->v->ctx, r[0]);
        verify_error(p->v, &t->s, "implement", word, "portable.implement.duplicate", "%s asks twice for `%s`", stmt_text(p->it, &t->s), word);
        verify_note_legal(p->v, "write one list of alternatives");
        return;
    }
}

static void check_alternative(struct plan *p, const struct portable_task *t, const u32 *r, u32 i)
{
    bool twice = false;
    check_target(p, t, r[2 + i]);
    for (u32 k = 0; k < i; k++)
        twice = twice || r[2 + k] == r[2 + i];
    if (!twice)
        return;
    const char *word = context_text(p->v->ctx, r[2 + i]);
    verify_error(p->v, &t->s, "implement", word, "portable.implement.alternative", "`%s` is an alternative of `%s` twice", word,
                 context_text(p->v->ctx, r[0]));
}

static void check_implement(struct plan *p, const struct portable_task *t)
{
    const u32 *begin = list_at(p->it, t->implement), *end = begin + list_n(p->it, t->implement);
    for (const u32 *r = begin; r < end; r += IMPLEMENT_SIZE(r)) {
        check_capability(p, t, begin, r);
        for (u32 i = 0; i < r[1]; i++)
            check_alternative(p, t, r, i);
    }
}

void portable_verify_needs(struct plan *p)
{
    for (u32 i = 0; i < p->n_tasks; i++) {
        check_require(p, p->tasks[i]);
        check_implement(p, p->tasks[i]);
    }
}
