/* Rules of session items by themselves. What workload, strategy and model must hold together is the passes' contract. */
#include "dialects/session/session.h"

#include "ir/verify.h"

#include <inttypes.h>

/* ---- Counts ---- */

static void report_count(struct verifier *v, const struct stmt *s, const struct field *f)
{
    verify_error(v, s, f->name, NULL, "session.field.positive", "`%s` is 0, and must be %s", f->name,
                 f->kind == FIELD_FLOAT ? "more" : "at least 1");
    if (f->fallback)
        verify_note_legal(v, "left out, it is %" PRIu64, f->fallback);
}

static void check_list(struct verifier *v, const struct stmt *s, const struct field *f)
{
    u32 handle = (u32)field_get(s, f);
    for (u32 i = 0; i + 1 < list_n(v->item, handle); i += 2)
        if (!pair_get(list_at(v->item, handle) + i)) {
            verify_error(v, s, f->name, "0", "session.field.positive", "`%s` holds a 0, and all must be at least 1", f->name);
            return;
        }
}

/* A 0 that stands in the text, or that no absence explains. Latencies may be 0. */
static void check_counts(struct verifier *v, const struct stmt *s)
{
    for (const struct field *f = stmt_entity(v->item, s)->fields; f->kind != FIELD_END; f++) {
        bool given = f->presence == REQUIRED || f->fallback || field_is_written(v->item, s, f);
        bool count = f->kind == FIELD_INTEGER ||
                     (f->kind == FIELD_FLOAT && f->offset != offsetof(struct session_profile, network_latency));
        if (count && given && !field_get(s, f))
            report_count(v, s, f);
        else if (f->kind == FIELD_INTEGERS)
            check_list(v, s, f);
    }
}

/* ---- Words of a closed set that another layer's table holds ---- */

static const struct enumeration *enumeration_named(const struct verifier *v, const char *name)
{
    for (const struct dialect *const *d = v->ctx->dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_enumerations; i++)
            if (!strcmp((*d)->enumerations[i]->name, name))
                return (*d)->enumerations[i];
    return NULL;
}

enum { MAX_WORDS = 32 };

/* `a, b, c` of the N words, and the nearest to WORD. */
static void note_words(struct verifier *v, const char *word, const char *const *words, u32 n)
{
    const char *near = nearest_name(word, words, n), *text = words[0];
    for (u32 i = 1; i < n; i++)
        text = arena_format(&v->scratch, "%s, %s", text, words[i]);
    if (near)
        verify_near(v, 0, word, near);
    else
        verify_note_legal(v, "legal are %s", text);
}

static void check_words(struct verifier *v, const struct stmt *s, const char *field, u32 handle, const char *const *words,
                        u32 n, const char *code)
{
    for (u32 i = 0; i < list_n(v->item, handle); i++) {
        const char *word = context_text(v->ctx, list_at(v->item, handle)[i]);
        u32 k = 0;
        while (k < n && strcmp(words[k], word))
            k++;
        if (k < n)
            continue;
        verify_error(v, s, field, word, code, "`%s` is none of the %s that there are", word, field);
        note_words(v, word, words, n);
    }
}

static u32 words_of(const struct enumeration *e, const char *words[MAX_WORDS])
{
    u32 n = 0;
    for (; e && n < e->n && n < MAX_WORDS; n++)
        words[n] = e->words[n].text;
    return n;
}

/* ---- Items ---- */

static const struct field *field_named(const struct verifier *v, const struct stmt *s, const char *name)
{
    return field_find(stmt_entity(v->item, s)->fields, name, strlen(name));
}

static bool is_written(const struct verifier *v, const struct stmt *s, const char *name)
{
    return field_is_written(v->item, s, field_named(v, s, name));
}

#define IN_MODE(mode) (1u << SESSION_##mode)

/* The fields that belong to some modes only; where MODES needs them, CODE and why. */
static const struct {
    const char *field;
    u32 modes, needs;
    const char *code, *why, *owners;
} mode_fields[] = {
    { "microbatch", IN_MODE(TRAINING), IN_MODE(TRAINING), "session.workload.microbatch",
      "how many sequences pass the pipeline together", "training has one" },
    { "context", IN_MODE(PREFILL) | IN_MODE(DECODE), IN_MODE(PREFILL) | IN_MODE(DECODE), "session.workload.context",
      "how many tokens are visible, the new ones among them", "inference, prefill or decode, has one" },
    { "prompt", IN_MODE(REQUEST), IN_MODE(REQUEST), "session.workload.request", "how many tokens are given", "a request has one" },
    { "generated", IN_MODE(REQUEST), IN_MODE(REQUEST), "session.workload.request", "how many tokens are made", "a request has some" },
    { "chunk", IN_MODE(PREFILL) | IN_MODE(REQUEST), 0, NULL, NULL, "prefill and a request have one" },
};

/* A field that is there, but 0, is reported as a count. */
static void check_workload(struct verifier *v, const struct session_workload *w)
{
    const char *mode = session_mode_enum.words[w->mode].text;
    for (u32 i = 0; i < COUNT(mode_fields); i++) {
        const char *field = mode_fields[i].field;
        u64 value = field_get(&w->s, field_named(v, &w->s, field));
        if (!value && !is_written(v, &w->s, field) && mode_fields[i].needs >> w->mode & 1)
            verify_error(v, &w->s, "mode", NULL, mode_fields[i].code, "mode %s needs `%s`: %s", mode, field, mode_fields[i].why);
        if (!value || mode_fields[i].modes >> w->mode & 1)
            continue;
        verify_error(v, &w->s, field, NULL, "session.workload.mode", "mode %s has no `%s`", mode, field);
        verify_note_legal(v, "only %s", mode_fields[i].owners);
    }
}

static void check_not_empty(struct verifier *v, const struct stmt *s, const char *field, u32 handle)
{
    if (!list_n(v->item, handle))
        verify_error(v, s, field, NULL, "session.target.empty", "`%s` lists nothing; a target has at least one", field);
}

static void check_align(struct verifier *v, const struct session_target *t)
{
    u64 below = 1;
    if (!(t->align & (t->align - 1)))
        return;     /* 0 is reported as a count */
    while (below <= t->align / 2)
        below *= 2;
    verify_error(v, &t->s, "align", NULL, "session.target.align", "`align` is a power of two, found %" PRIu64, t->align);
    if (below < (u64)1 << 63)
        verify_note_legal(v, "the nearest are %" PRIu64 " and %" PRIu64, below, below * 2);
}

static void check_target(struct verifier *v, const struct session_target *t)
{
    const char *words[MAX_WORDS];
    u32 n = words_of(enumeration_named(v, "concrete_queue_kind"), words);
    check_not_empty(v, &t->s, "engines", t->engines);
    check_not_empty(v, &t->s, "memory_spaces", t->memory_spaces);
    if (n)
        check_words(v, &t->s, "engines", t->engines, words, n, "session.target.engine");
    n = words_of(enumeration_named(v, "dist_collective"), words);
    if (n)
        check_words(v, &t->s, "collectives", t->collectives, words, n, "session.target.collective");
    for (n = 0; n + 1 < ELEMENTS; n++)
        words[n] = element_name((enum element)(n + 1));
    check_words(v, &t->s, "dtypes", t->dtypes, words, n, "session.target.dtype");
    check_align(v, t);
}

static void check_deployment(struct verifier *v, const struct session_deployment *d)
{
    u32 n = list_n(v->item, d->memory) / 2;
    if (!d->memory || n == 1 || n == d->devices || !d->devices)
        return;
    verify_error(v, &d->s, "memory_per_device", NULL, "session.deployment.memory",
                 "`memory_per_device` has %u numbers, and there are %" PRIu64 " devices", n, d->devices);
    verify_note_legal(v, "write one number for all devices, or one for each");
}

void session_verify(struct verifier *v)
{
    for (u32 i = 0; i < v->item->n_stmts; i++) {
        const struct stmt *s = v->item->stmts[i];
        check_counts(v, s);
        switch ((enum session_kind)(v->item->kind - session_dialect.kinds)) {
        case SESSION_WORKLOAD: check_workload(v, (const struct session_workload *)s); break;
        case SESSION_TARGET: check_target(v, (const struct session_target *)s); break;
        case SESSION_DEPLOYMENT: check_deployment(v, (const struct session_deployment *)s); break;
        case SESSION_STRATEGY:
        case SESSION_PROFILE:
        case SESSION_KINDS: break;
        }
    }
}
