/* Effects: each names a value once, and writes only what can change. */
#include "dialects/dist/verify.h"

static bool makes(const struct dist_checker *c, const struct dist_task *t, atom name)
{
    for (u32 i = 0; i < list_n(c->it, t->results); i++)
        if (list_at(c->it, t->results)[i] == name)
            return true;
    return false;
}

static void check_written(struct dist_checker *c, const struct dist_task *t, const char *kind, atom name)
{
    const struct dist_value *value = dist_value_named(c, name);
    if (!value || makes(c, t, name) || dist_value_changes(value))
        return;
    const char *text = value_text(c->it, name);
    verify_error(c->v, &t->s, "effects", text, "dist.effects.write",
                 "`%s` of %s, which has the role `%s` and never changes", kind, text,
                 dist_role_enum.words[value->role].text);
    verify_note_legal(c->v, "parameter, state, kv_cache and optimizer_state can change, and a task's own results");
}

static bool stands_before(const u32 *at, u32 i)
{
    for (u32 k = i > 64 ? i - 64 : 0; k < i; k += 2)
        if (at[k] == at[i] && at[k + 1] == at[i + 1])
            return true;
    return false;
}

void dist_effects_check(struct dist_checker *c, const struct dist_task *t)
{
    const u32 *at = list_at(c->it, t->more->effects);
    for (u32 i = 0; i + 1 < list_n(c->it, t->more->effects); i += 2) {
        const char *kind = effect_enum.words[at[i]].text;
        atom name = ref_atom(at[i + 1]);
        bool value = ref_is_value(at[i + 1]);
        if (!value && at[i] != EFFECT_IO && at[i] != EFFECT_CALL) {
            const char *text = symbol_text(c->it, name);
            verify_error(c->v, &t->s, "effects", text, "dist.effects.value",
                         "`%s` takes a %%value, and %s is none", kind, text);
            continue;
        }
        if (stands_before(at, i)) {
            const char *text = value ? value_text(c->it, name) : symbol_text(c->it, name);
            verify_error(c->v, &t->s, "effects", text, "dist.effects.duplicate", "`%s %s` stands twice", kind, text);
        } else if (at[i] == EFFECT_WRITE || at[i] == EFFECT_UPDATE) {
            check_written(c, t, kind, name);
        }
    }
}
