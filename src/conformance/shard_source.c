#include "conformance/shard_reconstruction.h"

#include "dialects/model/model.h"

/* ---- Types of the model: its symbols may have become numbers, each the same one everywhere ---- */

struct match {
    struct program *p;
    const struct item *model;
    struct qty_binding *bindings;
    u32 n;
    qty blocks;                 /* of which the program is one; 0: not said */
    qty context;                /* tokens that a step of inference attends to; 0: it is none */
    u32 compared, open;
};

static void only_symbol(void *state, atom symbol)
{
    atom *only = state;
    *only = *only ? UINT32_MAX : symbol;
}

/* The symbol that Q is, or 0. */
static atom symbol_of(const struct match *m, qty q)
{
    atom symbol = 0;
    if (qty_is_small(q))
        return 0;
    qty_symbols(m->model->ctx->exprs, q, only_symbol, &symbol);
    return symbol && symbol != UINT32_MAX && qty_symbol(m->model->ctx->exprs, symbol) == q ? symbol : 0;
}

static const struct qty_binding *binding_of(const struct match *m, atom symbol)
{
    for (u32 i = 0; i < m->n; i++)
        if (m->bindings[i].symbol == symbol)
            return &m->bindings[i];
    return NULL;
}

static void first_unbound(void *state, atom symbol)
{
    struct { const struct match *m; bool all; } *s = state;
    s->all = s->all && binding_of(s->m, symbol);
}

static bool all_bound(const struct match *m, qty q)
{
    struct { const struct match *m; bool all; } s = { m, true };
    qty_symbols(m->model->ctx->exprs, q, first_unbound, &s);
    return s.all;
}

enum answer { SAME, OTHER, OPEN };

enum { CACHE_SEQUENCE = 2 };    /* of a block's cache: keys and values, batch, sequence, width */

static enum answer compare_size(struct match *m, qty source, qty here)
{
    atom symbol = symbol_of(m, source);
    if (symbol && !binding_of(m, symbol) && m->n < m->model->dollars.n) {
        m->bindings[m->n++] = (struct qty_binding){ symbol, here };
        return SAME;
    }
    if (source == here && !symbol)
        return SAME;            /* the same expression of symbols that stayed */
    if (!qty_is_small(source) && (!all_bound(m, source) || qty_substitute(m->model->ctx->exprs, source, m->bindings, m->n, &source) != EXPR_OK))
        return OPEN;
    if (source == here)
        return SAME;
    return qty_is_small(source) && qty_is_small(here) ? OTHER : OPEN;
}

/* A cache of all blocks has one more dimension than that of the one block, which the program is. */
static bool is_of_blocks(const struct match *m, const struct type *source, const struct type *here)
{
    return m->blocks && source->rank == here->rank + 1 && source->dims[0] == m->blocks;
}

/* It holds the tokens of the context: as many as the sequence has, or fewer. */
static bool holds_context(const struct match *m, qty sequence, qty here)
{
    u128 most, n;
    return m->context && here == m->context && qty_value(m->model->ctx->exprs, sequence, &most) && qty_value(m->model->ctx->exprs, here, &n) &&
           n <= most;
}

static enum answer compare_types(struct match *m, const struct type *source, const struct type *here)
{
    enum answer worst = SAME;
    u32 skip = is_of_blocks(m, source, here);
    if (source->element != here->element || source->rank != here->rank + skip)
        return OTHER;
    for (u32 i = 0; i < here->rank; i++) {
        bool sequence = skip && i == CACHE_SEQUENCE;
        enum answer a = sequence && holds_context(m, source->dims[i + skip], here->dims[i]) ? SAME
                        : compare_size(m, source->dims[i + skip], here->dims[i]);
        if (a == OTHER)
            return OTHER;
        worst = a == OPEN ? OPEN : worst;
    }
    return worst;
}

static void compare(struct match *m, const struct stmt *at, const struct dist_value *value, const struct model_value *source)
{
    struct check *c = m->p->check;
    const struct context *ctx = m->model->ctx;
    enum answer a = compare_types(m, type_get(ctx->types, source->type), type_get(ctx->types, value->type));
    m->compared += a == SAME;
    m->open += a == OPEN;
    if (a != OTHER)
        return;
    const char *name = value_text(m->p->it, value->s.name);
    verify_error(&c->v, at, NULL, name, "check.shard_reconstruction.source", "%s is %s, and what it is in %s, %s, is %s", name,
                 type_text(ctx, value->type), symbol_text(m->model, m->model->name), stmt_text(m->model, &source->s),
                 type_text(ctx, source->type));
    for (u32 i = 0; i < m->n; i++)
        verify_note_legal(&c->v, "where $%s is %s", context_text(ctx, m->bindings[i].symbol), qty_text(ctx, m->bindings[i].value));
    check_note_at(c, m->model, &source->s, "the model says so here");
}

/* A task that is an operation of the model, forward, makes what that makes. */
static void compare_results(struct match *m, const struct dist_task *t)
{
    const struct model_op *op = (const struct model_op *)source_task(m->p->it, &t->s, m->model);
    bool forward = t->phase == DIST_FORWARD || t->phase == DIST_NO_PHASE || t->phase == DIST_PREFILL || t->phase == DIST_DECODE;
    if (!op || t->body != DIST_LOCAL || op->operation != t->operation || !forward || list_n(m->model, op->results) != task_results(m->p, t))
        return;
    for (u32 i = 0; i < task_results(m->p, t); i++) {
        const struct stmt *source = item_value(m->model, list_at(m->model, op->results)[i]);
        if (source)
            compare(m, &t->s, program_result(m->p, t, i)->value, (const struct model_value *)source);
    }
}

static void read_scale(struct match *m, const struct dist_scale *s)
{
    m->blocks = s->blocks;
    m->context = s->context;
}

u32 shard_types_check(struct program *p, const struct item *model, u32 *open)
{
    struct match m = { .p = p, .model = model };
    m.bindings = ARENA_ARRAY(&p->check->v.scratch, struct qty_binding, model->dollars.n + (size_t)1);
    for (u32 i = 0; i < p->it->n_stmts; i++)
        if (p->it->stmts[i]->entity == DIST_SCALE)
            read_scale(&m, (const struct dist_scale *)p->it->stmts[i]);
    for (u32 i = 0; i < p->it->n_stmts; i++) {
        const struct stmt *s = p->it->stmts[i];
        const struct stmt *source = s->entity == DIST_VALUE ? source_value(p->it, s, model) : NULL;
        if (source)
            compare(&m, s, (const struct dist_value *)s, (const struct model_value *)source);
    }
    for (u32 i = 0; i < p->n_tasks; i++)
        compare_results(&m, p->tasks[i]);
    *open = m.open;
    return m.compared;
}
