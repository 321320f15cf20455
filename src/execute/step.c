/* Tasks, in the order of the text: what is local runs on each of its ranks by itself. */
#include "execute/run.h"

#include "ir/attr.h"

#include <inttypes.h>
#include <math.h>

const char *run_task_text(const struct run *r, const struct run_task *t)
{
    const char *word = dist_body_enum.words[t->body].text;
    if (t->body == DIST_LOCAL)
        return context_text(r->v.ctx, t->operation);
    return t->operation ? arena_format((struct arena *)&r->v.scratch, "%s %s", word,
                                       context_text(r->v.ctx, t->operation)) : word;
}


const struct tensor *run_part(struct run *r, const struct run_task *t, atom name, u64 rank)
{
    struct run_value *value = run_value(r, name);
    const struct tensor *part = &value->parts[rank];
    if (part->at)
        return part;
    const char *text = value_text(r->it, name);
    verify_error(&r->v, t->s, NULL, text, "execute.part", "rank %" PRIu64 " reads %s, and holds no part of it", rank, text);
    verify_note(&r->v, value->s, NULL, NULL, "%s is %s", text, value->maker ? "made here, on other ranks" : "declared here");
    return NULL;
}

bool run_keep(struct run *r, const struct run_task *t, struct run_value *value, u64 rank, const struct tensor *part)
{
    u64 place[MAX_RANK];
    for (u64 i = 0; i < part->n; i++)
        if (isnan(part->at[i]) || part->at[i] == INFINITY) {
            tensor_place(part, i, place);
            return verify_error(&r->v, t->s, NULL, NULL, "execute.number", "%s makes element %s of %s %s, on rank %" PRIu64,
                                run_task_text(r, t), place_text(&r->v.scratch, place, part->rank),
                                value_text(r->it, value->name),
                                isnan(part->at[i]) ? "no number" : "infinite", rank);
        }
    if (!ranks_contain(r->it, value->owners, (u32)rank))
        return true;
    value->parts[rank] = *part;
    value->parts[rank].largest = tensor_largest(part);
    value->n_parts++;
    return true;
}

/* ---- The operation's own clauses ---- */

static u32 clause(const struct run *r, const struct run_task *t, const char *word)
{
    atom name = intern_find(&r->v.ctx->names, word, strlen(word));
    return name ? item_attribute(r->it, t->attributes, name) : 0;
}

static u64 number(const struct run *r, u32 handle)
{
    struct attr a = attr_get(r->it, handle);
    u128 n = 0;
    bool good = handle && a.kind == ATTR_QUANTITY && qty_value(r->v.ctx->exprs, a.quantity, &n);
    return !good ? 0 : n > UINT64_MAX ? UINT64_MAX : (u64)n;
}

static void read_clauses(const struct run *r, const struct run_task *t, struct kernel_call *c)
{
    u32 permutation = clause(r, t, "permutation");
    u64 axis = number(r, clause(r, t, "axis"));
    c->axis = axis < MAX_RANK ? (u32)axis : MAX_RANK;
    c->offset = number(r, clause(r, t, "offset"));
    if (!permutation)
        return;
    struct attr a = attr_get(r->it, permutation);
    for (u32 i = 0; a.kind == ATTR_LIST && i < a.n && i < MAX_RANK; i++)
        c->permutation[c->n_permutation++] = (u32)number(r, a.elements[i]) % MAX_RANK;
}

/* ---- One task on one rank ---- */

static bool refuse_call(struct run *r, const struct run_task *t, const struct kernel_call *c, u64 rank)
{
    if (run_is_distributed(r))
        verify_error(&r->v, t->s, NULL, NULL, c->code, "%s on rank %" PRIu64 ": %s", run_task_text(r, t), rank, c->fault);
    else
        verify_error(&r->v, t->s, NULL, NULL, c->code, "%s: %s", run_task_text(r, t), c->fault);
    if (run_is_distributed(r) && !strcmp(c->code, "execute.shape"))
        verify_note_legal(&r->v, "a local task works on the parts that the rank holds, as their shardings cut them");
    return false;
}

static bool prepare(struct run *r, const struct run_task *t, u64 rank, struct kernel_call *c)
{
    u32 n = c->n_in = list_n(r->it, t->operands), m = c->n_out = list_n(r->it, t->results);
    struct tensor *in = ARENA_ARRAY(c->arena, struct tensor, n), *out = ARENA_ARRAY(c->arena, struct tensor, m);
    const char **in_names = ARENA_ARRAY(c->arena, const char *, n), **out_names = ARENA_ARRAY(c->arena, const char *, m);
    for (u32 i = 0; i < n; i++) {
        const struct tensor *part = run_part(r, t, list_at(r->it, t->operands)[i], rank);
        if (!part)
            return false;
        in[i] = *part;
        in_names[i] = value_text(r->it, list_at(r->it, t->operands)[i]);
    }
    for (u32 i = 0; i < m; i++) {
        out[i] = run_value(r, list_at(r->it, t->results)[i])->parts[rank];
        tensor_allot(&out[i], r->arena);
        out_names[i] = value_text(r->it, list_at(r->it, t->results)[i]);
    }
    c->in = in;
    c->out = out;
    c->in_names = in_names;
    c->out_names = out_names;
    return true;
}

static bool run_local(struct run *r, const struct run_task *t, u64 rank)
{
    struct kernel_call c = { .arena = &r->v.scratch };
    read_clauses(r, t, &c);
    if (!prepare(r, t, rank, &c))
        return false;
    if (!t->kernel->run(&c))
        return refuse_call(r, t, &c, rank);
    for (u32 i = 0; i < c.n_out; i++)
        if (!run_keep(r, t, run_value(r, list_at(r->it, t->results)[i]), rank, &c.out[i]))
            return false;
    return true;
}

static bool run_task(struct run *r, const struct run_task *t)
{
    if (t->body == DIST_CONTROL)
        return true;
    if (t->body != DIST_LOCAL)
        return run_exchange(r, t);
    for (u64 rank = 0; rank < r->mesh.size; rank++)
        if (ranks_contain(r->it, t->ranks, (u32)rank) && !run_local(r, t, rank))
            return false;
    return true;
}

bool run_tasks(struct run *r)
{
    for (u32 i = 0; i < r->n_tasks; i++) {
        if (!run_task(r, &r->tasks[i]))
            return false;
        if (r->base)
            run_anchor_task(r, &r->tasks[i]);
        else
            run_compare_task(r, &r->tasks[i]);
    }
    return true;
}
