/*
 * Dataflow: each value is made once and before it is read, the text being an order in which the operations can run. A
 * state is changed by making its next version, so that this holds of states too.
 */
#include "dialects/model/verify.h"

enum { NEAR = 64 };     /* how far back a list is searched for a repetition */

void model_flow_gather(struct model_checker *c)
{
    for (u32 i = 0; i < c->it->n_stmts; i++) {
        const struct model_op *op = (const struct model_op *)c->it->stmts[i];
        if (op->s.entity != MODEL_OP)
            continue;
        model_entry_of(c, REF_SYMBOL(op->s.name))->at = i + 1;
        for (u32 k = 0; k < list_n(c->it, op->results); k++) {
            const struct model_value *value = model_value_named(c, list_at(c->it, op->results)[k]);
            struct model_entry *e = value && value->s.is_result ? model_entry_of(c, REF_VALUE(value->s.name)) : NULL;
            if (e && !e->at)
                e->at = i + 1;
        }
    }
}

static bool stands_before(const u32 *at, u32 i)
{
    for (u32 k = i > NEAR ? i - NEAR : 0; k < i; k++)
        if (at[k] == at[i])
            return true;
    return false;
}

/* ---- Operands and results ---- */

static void report_early(struct model_checker *c, const struct model_op *op, u32 index, const struct model_entry *e)
{
    const char *name = value_text(c->it, ref_atom(e->ref)), *reader = stmt_text(c->it, &op->s);
    const struct stmt *maker = c->it->stmts[e->at - 1];
    if (e->at == index + 1) {
        verify_error(c->v, &op->s, NULL, name, "model.ssa.use_before_definition", "%s reads %s, which it makes itself",
                     reader, name);
        verify_note_legal(c->v, "an operation reads what stands above it");
        return;
    }
    verify_error(c->v, &op->s, NULL, name, "model.ssa.use_before_definition", "%s reads %s before it is made", reader, name);
    verify_note(c->v, maker, NULL, name, "%s makes it: move that above %s", stmt_text(c->it, maker), reader);
}

static void check_operands(struct model_checker *c, const struct model_op *op, u32 index)
{
    const u32 *at = list_at(c->it, op->operands);
    for (u32 i = 0; i < list_n(c->it, op->operands); i++) {
        if (!model_value_named(c, at[i]))
            continue;
        struct model_entry *e = model_entry_of(c, REF_VALUE(at[i]));
        e->used = true;
        if (e->at > index && !stands_before(at, i))
            report_early(c, op, index, e);
    }
}

/* Whether this operation is the one that makes the value, as it should be. */
static bool check_result(struct model_checker *c, const struct model_op *op, u32 index, const struct model_value *value)
{
    const struct model_entry *e = model_entry_of(c, REF_VALUE(value->s.name));
    const char *name = value_text(c->it, value->s.name), *maker = stmt_text(c->it, &op->s);
    if (value->s.is_result && e->at == index + 1)
        return true;
    if (!value->s.is_result) {
        verify_error(c->v, &op->s, "->", name, "model.ssa.multiple_definition",
                     "%s exists before the program, so %s can't make it", name, maker);
        verify_note(c->v, &value->s, NULL, NULL, "declared here; a new version has a name of its own and `updates %s`", name);
        return false;
    }
    const struct stmt *first = c->it->stmts[e->at - 1];
    verify_error(c->v, &op->s, "->", name, "model.ssa.multiple_definition", "%s is made twice, by %s and by %s", name,
                 stmt_text(c->it, first), maker);
    verify_note(c->v, first, "->", name, "made here first; give the second a name of its own");
    return false;
}

static void check_after(struct model_checker *c, const struct model_op *op, u32 index)
{
    const u32 *at = list_at(c->it, op->after);
    for (u32 i = 0; i < list_n(c->it, op->after); i++) {
        const struct stmt *to = ref_is_value(at[i]) ? NULL : item_symbol(c->it, ref_atom(at[i]));
        if (!to || to == &op->s || to->entity != MODEL_OP || model_entry_of(c, at[i])->at <= index || stands_before(at, i))
            continue;
        const char *name = stmt_text(c->it, to);
        verify_error(c->v, &op->s, "after", name, "model.after.order", "%s comes after %s, but stands above it",
                     stmt_text(c->it, &op->s), name);
        verify_note(c->v, to, NULL, NULL, "%s is here: move it above %s", name, stmt_text(c->it, &op->s));
    }
}

/* ---- Versions ---- */

static bool changes(const struct model_value *value)
{
    return value->s.is_result ? value->updates != 0 : value->role != MODEL_INPUT && value->role != MODEL_CONSTANT;
}

static const char *role_text(const struct model_value *value)
{
    return model_role_enum.words[value->role].text;
}

static void check_version_type(struct model_checker *c, const struct model_value *value, const struct model_value *old,
                               const char *name)
{
    if (value->type == old->type)
        return;
    verify_error(c->v, &value->s, "updates", name, "model.updates.type", "%s is %s, and %s, which it updates, is %s",
                 stmt_text(c->it, &value->s), type_text(c->ctx, value->type), name, type_text(c->ctx, old->type));
    verify_note(c->v, &old->s, NULL, NULL, "all versions of %s have one type", name);
}

static void check_version(struct model_checker *c, const struct model_value *value, u32 index)
{
    const struct model_value *old = value->updates ? model_value_named(c, value->updates) : NULL;
    if (!old)
        return;
    struct model_entry *e = model_entry_of(c, REF_VALUE(value->updates));
    const char *name = value_text(c->it, value->updates), *self = stmt_text(c->it, &value->s);
    e->used = true;
    if (e->at > index) {
        verify_error(c->v, &value->s, "updates", name, "model.updates.order",
                     "%s is to be the next version of %s, which is not made above", self, name);
        verify_note_legal(c->v, "versions follow one another down the text");
    } else if (!changes(old)) {
        verify_error(c->v, &value->s, "updates", name, "model.updates.kind", "%s has the role `%s` and never changes",
                     name, role_text(old));
        verify_note_legal(c->v, "parameter, state, kv_cache and optimizer_state have versions");
    } else if (e->next) {
        verify_error(c->v, &value->s, "updates", name, "model.updates.twice", "%s already has a next version, %s", name,
                     value_text(c->it, e->next));
        verify_note(c->v, &model_value_named(c, e->next)->s, NULL, NULL, "made here: update this one, or one write is lost");
    } else {
        e->next = value->s.name;
        check_version_type(c, value, old, name);
    }
}

void model_flow_value(struct model_checker *c, const struct model_value *value)
{
    if (!value->updates)
        return;
    verify_error(c->v, &value->s, "updates", NULL, "model.updates.result",
                 "%s exists before the program, so it is no new version", stmt_text(c->it, &value->s));
    verify_note_legal(c->v, "the result of an operation can be one: `-> %%new : type updates %s`",
                      value_text(c->it, value->updates));
}

/* ---- Effects ---- */

static void check_written(struct model_checker *c, const struct model_op *op, const char *kind,
                          const struct model_value *value, u32 index)
{
    const char *name = value_text(c->it, value->s.name);
    if (changes(value) || (value->s.is_result && model_entry_of(c, REF_VALUE(value->s.name))->at == index + 1))
        return;
    verify_error(c->v, &op->s, "effects", name, "model.effects.write",
                 "`%s` of %s, which has the role `%s` and never changes", kind, name, role_text(value));
    verify_note_legal(c->v, "parameter, state, kv_cache and optimizer_state can change, and an operation's own results");
}

static bool reads(u32 effect)
{
    return effect == EFFECT_READ || effect == EFFECT_UPDATE || effect == EFFECT_RANDOM;
}

static void check_touched(struct model_checker *c, const struct model_op *op, u32 effect, const struct model_value *value,
                          u32 index)
{
    struct model_entry *e = model_entry_of(c, REF_VALUE(value->s.name));
    bool operand = false;
    for (u32 i = 0; i < list_n(c->it, op->operands) && e->at > index; i++)
        operand = operand || list_at(c->it, op->operands)[i] == value->s.name;
    e->used = true;
    if (reads(effect) && e->at > index && !operand)
        report_early(c, op, index, e);
    else if (effect == EFFECT_WRITE || effect == EFFECT_UPDATE)
        check_written(c, op, effect_enum.words[effect].text, value, index);
}

static bool effect_stands_before(const u32 *at, u32 i)
{
    for (u32 k = i > 2 * NEAR ? i - 2 * NEAR : 0; k < i; k += 2)
        if (at[k] == at[i] && at[k + 1] == at[i + 1])
            return true;
    return false;
}

static void check_effects(struct model_checker *c, const struct model_op *op, u32 index)
{
    const u32 *at = list_at(c->it, op->effects);
    for (u32 i = 0; i + 1 < list_n(c->it, op->effects); i += 2) {
        const char *kind = effect_enum.words[at[i]].text;
        const struct stmt *to = item_ref(c->it, at[i + 1]);
        if (!to)
            continue;
        const char *name = stmt_text(c->it, to);
        if (!ref_is_value(at[i + 1]) && at[i] != EFFECT_IO && at[i] != EFFECT_CALL) {
            verify_error(c->v, &op->s, "effects", name, "model.effects.value", "`%s` touches a %%value, and %s is none",
                         kind, name);
            verify_note_legal(c->v, "only io and call may name an @operation");
        } else if (effect_stands_before(at, i)) {
            verify_error(c->v, &op->s, "effects", name, "model.effects.duplicate", "`%s %s` stands twice", kind, name);
        } else if (ref_is_value(at[i + 1])) {
            check_touched(c, op, at[i], (const struct model_value *)to, index);
        }
    }
}

void model_flow_op(struct model_checker *c, const struct model_op *op, u32 index)
{
    const u32 *results = list_at(c->it, op->results);
    check_operands(c, op, index);
    for (u32 i = 0; i < list_n(c->it, op->results); i++) {
        const struct model_value *value = model_value_named(c, results[i]);
        if (value && !stands_before(results, i) && check_result(c, op, index, value))
            check_version(c, value, index);
    }
    check_after(c, op, index);
    check_effects(c, op, index);
}

/* ---- Outputs, and what nobody uses ---- */

void model_flow_output(struct model_checker *c, const struct model_output *output, u32 index)
{
    if (!model_value_named(c, output->value))
        return;
    struct model_entry *e = model_entry_of(c, REF_VALUE(output->value));
    const char *name = value_text(c->it, output->value);
    e->used = true;
    if (e->output) {
        verify_error(c->v, &output->s, NULL, name, "model.output.duplicate", "%s is an output already", name);
        verify_note(c->v, c->it->stmts[e->output - 1], NULL, name, "the first is here; remove one of the two");
        return;
    }
    e->output = index + 1;
}

/* A slip in a name leaves a value unused, so that this says something new only where all else is right. */
void model_flow_end(struct model_checker *c)
{
    for (u32 i = 0; i < c->it->n_stmts && !c->v->errors; i++) {
        const struct model_value *value = (const struct model_value *)c->it->stmts[i];
        if (value->s.entity != MODEL_VALUE || model_entry_of(c, REF_VALUE(value->s.name))->used)
            continue;
        verify_warning(c->v, &value->s, NULL, NULL, "model.value.unused", "nothing uses the %s %s", role_text(value),
                       stmt_text(c->it, &value->s));
        verify_note_legal(c->v, "remove it, or name it in an operation or an `output`");
    }
}
