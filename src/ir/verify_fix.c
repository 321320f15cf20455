/* Fixes of what verifiers refuse; the text around the newest diagnostic is read for them. */
#include "ir/print.h"
#include "ir/verify.h"

void verify_near(struct verifier *v, char sigil, const char *found, const char *near)
{
    atom name = intern(&v->ctx->names, near, strlen(near));
    struct out o;
    out_memory(&o);
    if (sigil)
        out_name(&o, &v->ctx->names, sigil, name);
    else
        out_word(&o, &v->ctx->names, name);
    const char *text = arena_copy(&v->scratch, o.data, o.n);
    out_free(&o);
    verify_note_legal(v, sigil ? "did you mean %s?" : "did you mean `%s`?", text);
    if (is_sure_name(found + (sigil != 0), near))
        diag_fix_found(v->ctx->diags, found, "%s", text);
}

static u32 skip_blanks(const struct source *s, u32 at)
{
    while (at < s->size && (s->text[at] == ' ' || s->text[at] == '\t'))
        at++;
    return at;
}

void verify_fix_type(struct verifier *v, const char *type)
{
    struct loc at = v->ctx->diags->last->loc;
    if (!at.src)
        return;
    u32 from = skip_blanks(at.src, at.end), to;
    if (at.src->text[from] != ':')
        return;
    from = skip_blanks(at.src, from + 1);
    if (strncmp(at.src->text + from, "tensor<", 7))
        return;
    for (to = from; to < at.src->size && at.src->text[to] != '>' && at.src->text[to] != '"'; to++)
        ;
    if (at.src->text[to] == '>')
        diag_fix(v->ctx->diags, (struct loc){ at.src, from, to + 1 }, "%s", type);
}

void verify_fix_duplicate(struct verifier *v, const char *word)
{
    struct loc at = v->ctx->diags->last->loc;
    size_t n = strlen(word);
    u32 found = 0, from;
    for (u32 i = at.begin; at.src && i + n <= at.end; i++) {
        const char *here = at.src->text + i;
        bool whole = strchr("( ,[\t", here[-1]) && here[n] && strchr(",)] \t", here[n]);
        if (*here == '"' || *here == '/')
            return;     /* a comment or a quoted name: not worth reading again */
        if (!i || !whole || memcmp(here, word, n) || found++ == 0)
            continue;
        for (from = i; from > at.begin && strchr(" \t\n", at.src->text[from - 1]); from--)
            ;
        if (from > at.begin && at.src->text[from - 1] == ',')
            diag_fix(v->ctx->diags, (struct loc){ at.src, from - 1, i + (u32)n }, "%s", "");
        return;
    }
}
