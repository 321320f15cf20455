#include "passes/bind_ranks.h"

#include "dialects/portable/portable.h"
#include "ir/ranks.h"
#include "ir/verify.h"
#include "passes/emit.h"

struct reach {
    struct pass_run *r;
    struct rank_sets sets;
    const struct portable_task **maker;     /* by the atom of a value or output: the only task that makes it, or NULL */
};

/* Where a task reads (SOURCE), or writes. */
static u32 side(struct reach *x, const struct portable_task *t, bool source)
{
    return t->body == PORTABLE_TRANSFER ? rank_set_one(&x->sets, (u32)(source ? t->more->source : t->more->destination)) : rank_set_of(&x->sets, t->ranks);
}

static bool check_operand(struct reach *x, const struct portable_task *t, atom name)
{
    const struct portable_task *maker = x->maker[name];
    const struct item *in = x->r->input;
    u32 rank;
    if (!maker || !rank_sets_differ(&x->sets, side(x, t, true), side(x, maker, false), &rank))
        return true;
    pass_error(x->r, in, &t->s, NULL, value_text(in, name), "pass.bind.absent", "%s reads %s on rank %u, and %s makes it on others only", stmt_text(in, &t->s),
               value_text(in, name), rank, stmt_text(in, &maker->s));
    pass_note(x->r, "make it on rank %u, too, or move it there with a transfer or a collective", rank);
    return false;
}

static void find_makers(struct reach *x)
{
    const struct item *in = x->r->input;
    x->maker = ARENA_ARRAY(&x->r->output->arena, const struct portable_task *, in->ctx->names.n);
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        for (u32 k = 0; t->s.entity == PORTABLE_TASK && k < list_n(in, t->results); k++) {
            const struct portable_buffer *b = (const struct portable_buffer *)item_value(in, list_at(in, t->results)[k]);
            if (b->role == PORTABLE_VALUE || b->role == PORTABLE_OUTPUT)
                x->maker[b->s.name] = t;
        }
    }
}

bool bind_check_ranks(struct pass_run *r, u64 ranks)
{
    const struct item *in = r->input;
    struct reach x = { .r = r };
    bool good = true;
    rank_sets_init(&x.sets, &r->output->arena, in, &(struct rank_range){ 0, (u32)(ranks - 1) }, 1);
    find_makers(&x);
    for (u32 i = 0; i < in->n_stmts; i++) {
        const struct portable_task *t = (const struct portable_task *)in->stmts[i];
        for (u32 k = 0; t->s.entity == PORTABLE_TASK && k < list_n(in, t->operands); k++)
            good = check_operand(&x, t, list_at(in, t->operands)[k]) && good;
    }
    return good;
}
