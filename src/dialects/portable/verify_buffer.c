/* Rules of buffers: sizes, and who makes them. */
#include "dialects/portable/verify.h"

#define ROLE(b) portable_role_enum.words[(b)->role].text

static void check_size(struct plan *p, const struct portable_buffer *b)
{
    if (b->size == 0) {
        verify_error(p->v, &b->s, "size", NULL, "portable.buffer.size", "%s has no bytes", stmt_text(p->it, &b->s));
        verify_note_legal(p->v, "a size is at least 1; leave out a buffer that nothing needs");
    }
    if (b->align == 0 || b->align & (b->align - 1)) {
        u64 next = 1;
        while (next < b->align && next < (u64)1 << 63)
            next *= 2;
        verify_error(p->v, &b->s, "align", NULL, "portable.buffer.align", "the alignment of %s is %llu, and no power of two",
                     stmt_text(p->it, &b->s), (unsigned long long)b->align);
        verify_note_legal(p->v, b->align ? "the next one is %llu" : "every place is aligned to %llu", (unsigned long long)next);
    }
    if (b->role == PORTABLE_STATE && b->storage == PORTABLE_TRANSIENT) {
        verify_error(p->v, &b->s, NULL, "transient", "portable.buffer.storage",
                     "%s is a state, which lives across iterations, and `transient` bytes do not", stmt_text(p->it, &b->s));
        verify_note_legal(p->v, "`persistent` does; scratch has the role `workspace`");
    }
}

static void tell_made(struct plan *p, const struct portable_task *t, const struct portable_buffer *b)
{
    const char *name = stmt_text(p->it, &b->s);
    verify_error(p->v, &t->s, "results", name, "portable.buffer.role", "%s is %s, and %s makes it", name,
                 b->role == PORTABLE_INPUT ? "an input" : "a constant", stmt_text(p->it, &t->s));
    verify_note(p->v, &b->s, NULL, ROLE(b), "what tasks make is a value, an output or a state");
}

static void tell_twice(struct plan *p, const struct portable_task *first, const struct portable_task *t, const struct portable_buffer *b)
{
    const char *name = stmt_text(p->it, &b->s);
    verify_error(p->v, &t->s, "results", name, "portable.buffer.twice", "%s is made by %s and again by %s", name, stmt_text(p->it, &first->s),
                 stmt_text(p->it, &t->s));
    verify_note(p->v, &first->s, "results", name, "made first here");
    verify_note_legal(p->v, "give the second a buffer of its own; only state, workspace and communication buffers are written again");
}

static void check_result(struct plan *p, u32 task, u32 buffer)
{
    const struct portable_buffer *b = p->buffers[buffer];
    u32 first = p->maker[buffer];
    if (b->role == PORTABLE_INPUT || b->role == PORTABLE_CONSTANT)
        tell_made(p, p->tasks[task], b);
    else if (!first)
        p->maker[buffer] = task + 1;
    else if (!is_reusable(b) && first != task + 1)
        tell_twice(p, p->tasks[first - 1], p->tasks[task], b);
}

static bool is_written(const struct plan *p, const u8 *written, u32 buffer)
{
    return p->maker[buffer] || written[buffer];
}

/* Buffers that some effect writes. */
static u8 *written_by_effect(struct plan *p)
{
    u8 *written = ARENA_ARRAY(&p->v->scratch, u8, p->n_buffers + 1);
    for (u32 i = 0; i < p->n_tasks; i++) {
        const u32 *at = list_at(p->it, p->tasks[i]->more->effects);
        for (u32 k = 0; k + 1 < list_n(p->it, p->tasks[i]->more->effects); k += 2) {
            u32 buffer;
            bool writes = at[k] == EFFECT_WRITE || at[k] == EFFECT_UPDATE;
            if (writes && ref_is_value(at[k + 1]) && plan_buffer(p, ref_atom(at[k + 1]), &buffer))
                written[buffer] = 1;
        }
    }
    return written;
}

static void check_makers(struct plan *p)
{
    const u8 *written = written_by_effect(p);
    for (u32 i = 0; i < p->n_buffers; i++) {
        const struct portable_buffer *b = p->buffers[i];
        bool made = b->role == PORTABLE_VALUE || b->role == PORTABLE_OUTPUT || b->role == PORTABLE_COMMUNICATION;
        if (!made || is_written(p, written, i))
            continue;
        verify_error(p->v, &b->s, NULL, ROLE(b), "portable.buffer.unmade", "%s is %s %s, and no task makes it", stmt_text(p->it, &b->s),
                     b->role == PORTABLE_OUTPUT ? "an" : "a", b->role == PORTABLE_COMMUNICATION ? "communication buffer" : ROLE(b));
        verify_note_legal(p->v, "let a task have it as a result; what no task makes is an input, constant, state or workspace");
    }
}

void portable_verify_buffers(struct plan *p)
{
    for (u32 i = 0; i < p->n_buffers; i++)
        check_size(p, p->buffers[i]);
    for (u32 i = 0; i < p->n_tasks; i++)
        for (u32 k = 0; k < list_n(p->it, p->tasks[i]->results); k++) {
            u32 buffer;
            if (plan_buffer(p, list_at(p->it, p->tasks[i]->results)[k], &buffer))
                check_result(p, i, buffer);
        }
    if (p->n_tasks)
        check_makers(p);
}
