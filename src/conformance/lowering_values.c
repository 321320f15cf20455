/* Values of a dist program against the model's, and what a program says once: mesh, attention. */
#include "conformance/lowering.h"

#include "dialects/dist/dist.h"
#include "dialects/model/model.h"
#include "dialects/portable/portable.h"

/* ---- Dist: roles and outputs ---- */

static void check_role(struct lowering *l, const struct dist_value *v, const struct model_value *from)
{
    const char *is = dist_role_enum.words[v->role].text, *was = model_role_enum.words[from->role].text;
    if (!strcmp(is, was))
        return;
    verify_error(&l->c->v, &v->s, "role", NULL, "check.lowering.role", "%s is %s, but %s of %s, for which it stands, is %s", stmt_text(l->it, &v->s), is,
                 stmt_text(l->parent, &from->s), symbol_text(l->parent, l->parent->name), was);
}

static bool leaves_model(const struct item *model, atom value)
{
    for (u32 i = 0; i < model->n_stmts; i++)
        if (model->stmts[i]->entity == MODEL_OUTPUT && ((const struct model_output *)model->stmts[i])->value == value)
            return true;
    return false;
}

static void check_output(struct lowering *l, const struct dist_output *o)
{
    const struct stmt *value = item_value(l->it, o->value), *from = value ? lowering_origin(l, value) : NULL;
    if (!from || from->entity != MODEL_VALUE || leaves_model(l->parent, from->name))
        return;
    verify_error(&l->c->v, &o->s, NULL, NULL, "check.lowering.output", "%s leaves the program, but %s, for which it stands, does not leave %s",
                 value_text(l->it, o->value), stmt_text(l->parent, from), symbol_text(l->parent, l->parent->name));
}

/*
 * What is lowered from one operation of the model is that operation; a coarse one, a transformer's, is many. Fused,
 * decomposed and generated tasks are others.
 */
static void check_operation(struct lowering *l, const struct dist_task *t)
{
    static const char fine[] = "model.";
    if (t->body != DIST_LOCAL || t->s.lineage_kind != LINEAGE_LOWERED || list_n(l->it, t->s.lineage) != 1)
        return;
    const struct stmt *from = item_ref(l->parent, list_at(l->it, t->s.lineage)[0]);
    if (!from || from->entity != MODEL_OP)
        return;
    atom was = ((const struct model_op *)from)->operation;
    const char *word = context_text(l->it->ctx, was);
    if (was == t->operation || strncmp(word, fine, sizeof fine - 1) != 0)
        return;
    verify_error(&l->c->v, &t->s, NULL, context_text(l->it->ctx, t->operation), "check.lowering.task",
                 "%s has operation %s, but %s of %s, from which it is, has %s", stmt_text(l->it, &t->s), context_text(l->it->ctx, t->operation),
                 stmt_text(l->parent, from), symbol_text(l->parent, l->parent->name), word);
}

void lowering_check_values(struct lowering *l)
{
    u32 n = 0, outputs = 0, before = l->c->v.errors;
    for (u32 i = 0; i < l->it->n_stmts; i++) {
        const struct stmt *s = l->it->stmts[i];
        if (s->entity == DIST_OUTPUT) {
            check_output(l, (const struct dist_output *)s);
            outputs++;
        }
        if (s->entity == DIST_TASK)
            check_operation(l, (const struct dist_task *)s);
        const struct stmt *from = s->entity == DIST_VALUE ? lowering_origin(l, s) : NULL;
        if (!from || from->entity != MODEL_VALUE || from->is_result)
            continue;       /* what the model computes may enter a program that is a part of it */
        check_role(l, (const struct dist_value *)s, (const struct model_value *)from);
        n++;
    }
    if (l->c->v.errors == before)
        check_proved(l->c, "%u values have their model's roles, and %u outputs leave it, too", n, outputs);
}

/* ---- Plans: what is said once ---- */

/* A plan may leave its mesh to what it is from. */
static void check_mesh(struct lowering *l)
{
    const struct stmt *mine = l->child.mesh, *theirs = l->source.mesh;
    if (lowering_same_mesh(l))
        return;
    verify_error(&l->c->v, mine, "axes", NULL, "check.lowering.mesh", "%s has other axes than %s of %s", stmt_text(l->it, mine),
                 stmt_text(l->parent, theirs), symbol_text(l->parent, l->parent->name));
}

static const char *pairs_word(u32 pairs)
{
    return dist_attention_kind_enum.words[pairs].text;
}

static void check_attention(struct lowering *l)
{
    const struct portable_attention *mine = (const struct portable_attention *)item_once(l->it, PORTABLE_ATTENTION);
    const struct dist_attention *theirs = (const struct dist_attention *)item_once(l->parent, DIST_ATTENTION);
    if (!mine && theirs)
        verify_error(&l->c->v, NULL, NULL, NULL, "check.lowering.attention", "%s counts %s attention, and its plan says nothing of it",
                     symbol_text(l->parent, l->parent->name), pairs_word(theirs->pairs));
    else if (mine && (!theirs || mine->pairs != theirs->pairs))
        verify_error(&l->c->v, &mine->s, NULL, NULL, "check.lowering.attention", "the plan counts %s attention, but %s %s", pairs_word(mine->pairs),
                     symbol_text(l->parent, l->parent->name), theirs ? pairs_word(theirs->pairs) : "says nothing of it");
}

bool lowering_same_mesh(const struct lowering *l)
{
    u32 mine = l->child.axes, theirs = l->source.axes, n = list_n(l->it, mine);
    return !l->child.mesh || !l->source.mesh ||
           (n == list_n(l->parent, theirs) && !memcmp(list_at(l->it, mine), list_at(l->parent, theirs), n * sizeof(u32)));
}

void lowering_check_program(struct lowering *l)
{
    check_mesh(l);
    if (l->it->kind->layer == LAYER_PORTABLE)
        check_attention(l);
}
