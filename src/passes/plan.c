#include "passes/plan.h"

#include "passes/emit.h"

#include "ir/implied.h"
#include "ir/sharding.h"
#include "ir/verify.h"

enum { BUFFER_ALIGN = 16 };

/* ---- What a plan is made from ---- */

/* The strategy must be the one that the program was distributed with. */
static bool check_strategy(const struct plan *p)
{
    const struct header *h = &p->r->input->header;
    struct item *strategy = p->r->session.items[BIND_STRATEGY];
    for (u32 i = 0; i < h->n_using; i++)
        if (h->using[i].item == strategy->name && digest_equal(h->using[i].digest, item_digest(strategy)))
            return true;
    if (!h->pass)
        return true;
    pass_error(p->r, strategy, NULL, NULL, NULL, "pass.strategy.other", "%s was not distributed with this strategy %s",
               symbol_text(p->r->input, p->r->input->name), symbol_text(strategy, strategy->name));
    pass_note(p->r, "give the strategy that stands in its header, or distribute it again");
    return false;
}

bool plan_accept(struct plan *p)
{
    struct pass_run *r = p->r;
    const struct item *in = r->input;
    u64 ranks = 0;
    p->mesh = (const struct dist_mesh *)item_once(in, DIST_MESH);
    p->scale = (const struct dist_scale *)item_once(in, DIST_SCALE);
    p->memory = (const struct dist_memory *)item_once(in, DIST_MEMORY);
    if (!p->mesh || !p->scale || !p->memory || !item_once(in, DIST_ORDER) || !p->memory->s.name)
        return pass_error(r, in, NULL, NULL, NULL, "pass.input.program",
                          "%s takes a program with `mesh`, `order serial`, `scale` and a named `memory`; %s lacks one of them",
                          r->pass->name, symbol_text(in, in->name));
    bool good = check_strategy(p);
    if (!mesh_size(in, p->mesh->axes, &ranks) || ranks != p->strategy.tensor)
        return pass_error(r, in, &p->mesh->s, NULL, NULL, "pass.strategy.mesh", "the mesh has %llu ranks, but the strategy's tensor is %llu",
                          (unsigned long long)ranks, (unsigned long long)p->strategy.tensor);
    return good;
}

bool plan_number(const struct item *it, qty q, u64 *out)
{
    u128 n = 0;
    bool good = qty_value(it->ctx->exprs, q, &n) && n <= UINT64_MAX;
    *out = (u64)n;
    return good && n;
}

void plan_report(void *state, const struct contract_finding *f)
{
    const struct plan *p = state;
    const struct item *strategy = p->r->session.items[BIND_STRATEGY];
    if (f->item == CONTRACT_STRATEGY)
        pass_error(p->r, strategy, strategy->stmts[0], f->field, NULL, f->rule->code, "%s", f->message);
    else
        pass_error(p->r, p->r->input, &p->scale->s, NULL, f->field, f->rule->code, "%s", f->message);
    if (f->note)
        pass_note(p->r, "%s", f->note);
}

/* ---- Head ---- */

u32 plan_copy(struct plan *p, u32 handle)
{
    return handle ? item_list(p->r->output, list_at(p->r->input, handle), list_n(p->r->input, handle)) : 0;
}

void plan_head(struct plan *p)
{
    struct item *out = p->r->output;
    const struct dist_attention *attention = (const struct dist_attention *)item_once(p->r->input, DIST_ATTENTION);
    struct portable_mesh *mesh = (struct portable_mesh *)item_add(out, PORTABLE_MESH);
    mesh->s.name = p->mesh->s.name;
    mesh->axes = plan_copy(p, p->mesh->axes);
    item_declare(out, &mesh->s);
    item_add(out, PORTABLE_ORDER);
    if (attention)
        ((struct portable_attention *)item_add(out, PORTABLE_ATTENTION))->pairs = attention->pairs;
}

static void emit_objective(struct plan *p, u8 kind)
{
    struct portable_objective *o = (struct portable_objective *)item_add(p->r->output, PORTABLE_OBJECTIVE);
    o->direction = PORTABLE_MINIMIZE;
    o->kind = kind;
}

void plan_objectives(struct plan *p)
{
    emit_objective(p, PORTABLE_LATENCY);
    emit_objective(p, PORTABLE_PEAK_MEMORY);
}

/* ---- Buffers ---- */

void plan_buffer(struct plan *p, atom name, u8 role, u8 storage, qty size, u32 source)
{
    struct item *out = p->r->output;
    if (!size)
        return;
    struct portable_buffer *b = (struct portable_buffer *)item_add(out, PORTABLE_BUFFER);
    b->s.name = name;
    b->role = role;
    b->storage = storage;
    b->size = size;
    b->align = BUFFER_ALIGN;
    if (source)
        emit_from(out, &b->s, source);
    item_declare(out, &b->s);
}

static u64 axis_size(const struct plan *p, atom axis)
{
    const u32 *axes = list_at(p->r->input, p->mesh->axes);
    for (u32 a = 0; a + 2 < list_n(p->r->input, p->mesh->axes); a += 3)
        if (axes[a] == axis)
            return pair_get(axes + a + 1);
    return 1;
}

bool plan_local_bytes(struct plan *p, const struct dist_value *v, qty *out)
{
    const struct item *in = p->r->input;
    struct exprs *x = in->ctx->exprs;
    struct sharding s;
    qty bytes;
    if (type_bytes(x, type_get(in->ctx->types, v->type), &bytes) != EXPR_OK)
        return false;
    sharding_read(in, v->sharding, &s);
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++)
            if (qty_div_exact(x, bytes, qty_number(x, axis_size(p, s.dims[i].axes[k])), &bytes) != EXPR_OK)
                return false;
    *out = bytes;
    return true;
}

/* ---- Tasks ---- */

u32 plan_implement(struct plan *p, const char *capability, const char *first, const char *second, const char *third)
{
    const char *const alternatives[] = { first, second, third };
    u32 words[6] = { emit_atom(p->r, capability) }, n = 0;
    while (n < COUNT(alternatives) && alternatives[n]) {
        words[2 + n] = emit_atom(p->r, alternatives[n]);
        n++;
    }
    words[1] = n;
    return item_list(p->r->output, words, n + 3);
}

struct portable_task *plan_task(struct plan *p, const struct dist_task *t)
{
    struct item *out = p->r->output;
    struct portable_task *task = (struct portable_task *)item_add(out, PORTABLE_TASK);
    task->s.name = t->s.name;
    task->body = t->body == DIST_COLLECTIVE ? PORTABLE_COLLECTIVE : PORTABLE_COMPUTE;
    task->operation = t->operation;
    if (list_n(p->r->input, t->over) < list_n(p->r->input, p->mesh->axes) / 3)      /* else a group is all ranks */
        task->over = plan_copy(p, t->over);
    task->ranks = plan_copy(p, t->ranks);
    if (t->more->after)
        portable_more(out, task)->after = plan_copy(p, t->more->after);
    task->phase = t->phase;
    task->layer = t->layer;
    for (int i = 0; i < DIST_WORK; i++)
        task->work[i] = t->work[i];
    emit_from(out, &task->s, REF_SYMBOL(t->s.name));
    item_settle(out, &task->s);
    item_declare(out, &task->s);
    return task;
}
