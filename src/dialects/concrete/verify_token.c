/* Rules of `after`, `wait` and `signal`: what a command comes after exists, and stands where it may. */
#include "dialects/concrete/verify.h"

void plan_dependencies(struct plan *p, u32 c, void (*visit)(struct plan *p, u32 c, u32 before, void *state), void *state)
{
    const struct concrete_command *command = p->commands[c];
    u32 before;
    if (p->serial && c)
        visit(p, c, c - 1, state);
    for (u32 i = 0; i < list_n(p->it, command->more->after); i++) {
        u32 ref = list_at(p->it, command->more->after)[i];
        if (!ref_is_value(ref) && plan_find(p, CONCRETE_COMMAND, ref_atom(ref), &before) && before < c)
            visit(p, c, before, state);
    }
    for (u32 i = 0; i < list_n(p->it, command->more->wait); i++) {
        u32 token = ref_atom(list_at(p->it, command->more->wait)[i]);
        if (p->signaller[token] && p->signaller[token] - 1 != c)
            visit(p, c, p->signaller[token] - 1, state);
    }
}

static void tell_below(struct plan *p, u32 c, u32 before)
{
    verify_error(p->v, &p->commands[c]->s, "after", command_text(p, before), "concrete.after.order", "%s comes after %s, which stands below it",
                 command_text(p, c), command_text(p, before));
    verify_note(p->v, &p->commands[before]->s, NULL, NULL, "here; `after` names commands above, so that it can't go in a circle");
}

static void check_after(struct plan *p, u32 c)
{
    const struct concrete_command *command = p->commands[c];
    for (u32 i = 0; i < list_n(p->it, command->more->after); i++) {
        u32 ref = list_at(p->it, command->more->after)[i], before;
        if (ref_is_value(ref) || !plan_find(p, CONCRETE_COMMAND, ref_atom(ref), &before))
            p->disorder = true;
        else if (before > c)
            tell_below(p, c, before);
    }
}
/* A list of tokens: @names that are nothing else. */
static void check_list(struct plan *p, const struct concrete_command *c, u32 handle, const char *field)
{
    if (handle && list_n(p->it, handle) == 0) {
        verify_error(p->v, &c->s, field, NULL, "concrete.token.empty", "`%s` names no token", field);
        verify_note_legal(p->v, "leave `%s` out, or name at least one token", field);
    }
    for (u32 i = 0; i < list_n(p->it, handle); i++) {
        u32 ref = list_at(p->it, handle)[i];
        const struct stmt *s = item_ref(p->it, ref);
        if (!s && !ref_is_value(ref))
            continue;
        const char *name = ref_is_value(ref) ? value_text(p->it, ref_atom(ref)) : symbol_text(p->it, ref_atom(ref));
        verify_error(p->v, &c->s, field, name, "concrete.token.name", "%s is a %s, and no token", name, s ? stmt_entity(p->it, s)->keyword : "%value");
        if (s && s->entity == CONCRETE_COMMAND)
            verify_note_legal(p->v, "to wait for a command, write `after %s`", name);
        else
            verify_note_legal(p->v, "a token is a @name that nothing else in the plan has");
    }
}

static void check_signals(struct plan *p, u32 c)
{
    const struct concrete_command *command = p->commands[c];
    for (u32 i = 0; i < list_n(p->it, command->more->signal); i++) {
        u32 ref = list_at(p->it, command->more->signal)[i], token = ref_atom(ref);
        if (item_ref(p->it, ref) || ref_is_value(ref))
            continue;
        if (p->signaller[token] && p->signaller[token] - 1 != c) {
            const char *name = symbol_text(p->it, token);
            verify_error(p->v, &command->s, "signal", name, "concrete.token.twice", "%s and %s both signal %s", command_text(p, p->signaller[token] - 1),
                         command_text(p, c), name);
            verify_note(p->v, &p->commands[p->signaller[token] - 1]->s, "signal", name, "the first is here");
            verify_note_legal(p->v, "a token is signalled once: use a second one, and wait for both");
        } else {
            p->signaller[token] = c + 1;
        }
    }
}

static const char *nearest_token(const struct plan *p, atom token)
{
    const char *names[256];
    size_t n = 0;
    for (u32 i = 0; i < p->n_commands; i++)
        for (u32 k = 0; k < list_n(p->it, p->commands[i]->more->signal) && n < COUNT(names); k++)
            names[n++] = context_text(p->v->ctx, ref_atom(list_at(p->it, p->commands[i]->more->signal)[k]));
    return nearest_name(context_text(p->v->ctx, token), names, n);
}

static void check_waits(struct plan *p, u32 c)
{
    const struct concrete_command *command = p->commands[c];
    for (u32 i = 0; i < list_n(p->it, command->more->wait); i++) {
        u32 ref = list_at(p->it, command->more->wait)[i], token = ref_atom(ref);
        if (item_ref(p->it, ref) || ref_is_value(ref) || p->signaller[token])
            continue;
        const char *name = symbol_text(p->it, token), *near = nearest_token(p, token);
        verify_error(p->v, &command->s, "wait", name, "concrete.token.unsignalled", "%s waits for %s, which nobody signals", command_text(p, c), name);
        if (near)
            verify_near(p->v, '@', name, near);
        else
            verify_note_legal(p->v, "let a command signal it: `signal %s`", name);
    }
}

void concrete_verify_tokens(struct plan *p)
{
    u32 errors = p->v->errors;
    for (u32 i = 0; i < p->n_commands; i++) {
        const struct concrete_command *c = p->commands[i];
        if (c->more->after)
            check_after(p, i);
        if (!c->more->wait && !c->more->signal)
            continue;
        check_list(p, c, c->more->wait, "wait");
        check_list(p, c, c->more->signal, "signal");
        check_signals(p, i);
    }
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->commands[i]->more->wait)
            check_waits(p, i);
    p->disorder = p->disorder || p->v->errors != errors;
}
