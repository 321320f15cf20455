#include "conformance/shard_reconstruction.h"

#include "dialects/model/model.h"
#include "ir/attr.h"

/* ---- Types of the model: its symbols may have become numbers, each the same one everywhere ---- */

struct match {
    struct program *p;
    const struct item *model;
    struct qty_binding *bindings;
    u32 n;
    qty blocks;                 /* of which the program is one; 0: not said */
    qty context;                /* tokens that a step of inference attends to; 0: it is none */
    atom *held;                 /* by number of the program's values: the value of the model that it is; 0: not known */
    u32 compared, open, reads;
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

/* ---- What is read: the values of the model that the operation reads, before or behind communications ---- */

/* The operation that a task is: what its lineage says, else its namesake; NULL: none alone, or the task is no forward one. */
static const struct model_op *operation_of(const struct match *m, const struct dist_task *t)
{
    const struct stmt *s = t->s.lineage_kind == LINEAGE_NONE ? item_symbol(m->model, t->s.name) : source_task(m->p->it, &t->s, m->model);
    bool forward = t->phase == DIST_FORWARD || t->phase == DIST_NO_PHASE || t->phase == DIST_PREFILL || t->phase == DIST_DECODE;
    const struct model_op *op = s && s->entity == MODEL_OP ? (const struct model_op *)s : NULL;
    return t->body == DIST_LOCAL && forward ? op : NULL;
}

static atom *held_by(const struct match *m, atom value)
{
    u32 number;
    return numbering_find(&m->p->names, value, &number) ? &m->held[number] : NULL;
}

static bool is_fine(const struct match *m, atom operation)
{
    return !strncmp(context_text(m->model->ctx, operation), "model.", 6);
}

static bool refuse_task(struct match *m, const struct dist_task *t, const struct model_op *op, const char *what, const char *is, const char *was)
{
    struct check *c = m->p->check;
    verify_error(&c->v, &t->s, what, what ? NULL : is, "check.shard_reconstruction.task", "%s has %s %s, and %s of %s, which it is, has %s",
                 stmt_text(m->p->it, &t->s), what ? what : "the operation", is, stmt_text(m->model, &op->s),
                 symbol_text(m->model, m->model->name), was);
    check_note_at(c, m->model, &op->s, "the operation is here");
    return false;
}

static const char *attribute_text(const struct match *m, const struct item *it, u32 handle)
{
    struct out o;
    if (!handle)
        return "none";
    out_memory(&o);
    out_attr(&o, it, handle);
    const char *text = arena_copy(&m->p->check->v.scratch, o.data, o.n);
    out_free(&o);
    return text;
}

/* Numbers and lists of them; symbols may have become numbers. Not written is 0. */
static bool same_attribute(const struct item *a, u32 x, const struct item *b, u32 y)
{
    struct attr p = x ? attr_get(a, x) : (struct attr){ .kind = ATTR_QUANTITY }, q = y ? attr_get(b, y) : (struct attr){ .kind = ATTR_QUANTITY };
    if (p.kind == ATTR_QUANTITY && q.kind == ATTR_QUANTITY)
        return p.quantity == q.quantity || !qty_is_small(p.quantity) || !qty_is_small(q.quantity);
    return !x || !y || attr_equal(a, x, b, y);
}

/* The operation's own clauses are of whole values. */
static bool same_clauses(struct match *m, const struct dist_task *t, const struct model_op *op)
{
    const struct operation *operation = context_operation(m->model->ctx, t->operation);
    for (const struct field *f = operation ? operation->attributes : NULL; f && f->kind != FIELD_END; f++) {
        atom name = intern_find(&m->model->ctx->names, f->name, f->length);
        u32 x = item_attribute(m->p->it, t->more->attributes, name), y = item_attribute(m->model, op->attributes, name);
        if (!same_attribute(m->p->it, x, m->model, y))
            return refuse_task(m, t, op, f->name, attribute_text(m, m->p->it, x), attribute_text(m, m->model, y));
    }
    return true;
}

static bool same_operation(struct match *m, const struct dist_task *t, const struct model_op *op)
{
    const struct context *ctx = m->model->ctx;
    if (t->operation == op->operation)
        return same_clauses(m, t, op);
    if (t->s.lineage_kind == LINEAGE_NONE && is_fine(m, t->operation) && is_fine(m, op->operation))     /* else: lowering's */
        refuse_task(m, t, op, NULL, context_text(ctx, t->operation), context_text(ctx, op->operation));
    return false;
}

/* Sums and elementwise products have no first operand. */
static bool any_order(const struct match *m, const struct dist_task *t)
{
    const char *name = context_text(m->model->ctx, t->operation);
    return !strcmp(name, "model.add") || !strcmp(name, "model.mul");
}

static bool refuse_operand(struct match *m, const struct dist_task *t, const struct model_op *op, u32 i, atom held)
{
    struct check *c = m->p->check;
    const char *name = value_text(m->p->it, list_at(m->p->it, t->operands)[i]), *model = symbol_text(m->model, m->model->name);
    verify_error(&c->v, &t->s, NULL, name, "check.shard_reconstruction.task", "%s reads %s, which is %s of %s, and %s of %s reads %s there",
                 stmt_text(m->p->it, &t->s), name, value_text(m->model, held), model, stmt_text(m->model, &op->s), model,
                 value_text(m->model, list_at(m->model, op->operands)[i]));
    check_note_at(c, m->model, &op->s, "the operation is here");
    return false;
}

static bool may_be(atom held, atom want)
{
    return !held || held == want;
}

static void compare_operands(struct match *m, const struct dist_task *t, const struct model_op *op)
{
    const u32 *want = list_at(m->model, op->operands);
    u32 n = task_operands(m->p, t);
    if (n != list_n(m->model, op->operands))
        return;
    atom *held = ARENA_ARRAY(&m->p->check->v.scratch, atom, n);
    for (u32 i = 0; i < n; i++) {
        held[i] = *held_by(m, list_at(m->p->it, t->operands)[i]);
        m->reads += held[i] != 0;
    }
    bool turned = n == 2 && any_order(m, t) && may_be(held[0], want[1]) && may_be(held[1], want[0]);
    for (u32 i = 0; !turned && i < n; i++)
        if (!may_be(held[i], want[i]))
            refuse_operand(m, t, op, i, held[i]);
}

static void compare_results(struct match *m, const struct dist_task *t, const struct model_op *op)
{
    for (u32 i = 0; i < task_results(m->p, t) && list_n(m->model, op->results) == task_results(m->p, t); i++) {
        const struct stmt *source = item_value(m->model, list_at(m->model, op->results)[i]);
        if (!source)
            continue;
        compare(m, &t->s, program_result(m->p, t, i)->value, (const struct model_value *)source);
        *held_by(m, list_at(m->p->it, t->results)[i]) = source->name;
    }
}

/* A communication changes where a value is, and not which it is. */
static void carry(struct match *m, const struct dist_task *t)
{
    for (u32 i = 0; i < task_results(m->p, t) && task_operands(m->p, t) == task_results(m->p, t); i++)
        *held_by(m, list_at(m->p->it, t->results)[i]) = *held_by(m, list_at(m->p->it, t->operands)[i]);
}

static void compare_task(struct match *m, const struct dist_task *t)
{
    const struct model_op *op = operation_of(m, t);
    if (t->body != DIST_LOCAL)
        carry(m, t);
    if (!op || !same_operation(m, t, op))
        return;
    compare_operands(m, t, op);
    compare_results(m, t, op);
}

static void read_scale(struct match *m, const struct dist_scale *s)
{
    m->blocks = s->blocks;
    m->context = s->context;
}

u32 shard_types_check(struct program *p, const struct item *model, u32 *open, u32 *reads)
{
    struct match m = { .p = p, .model = model };
    m.held = ARENA_ARRAY(&p->check->v.scratch, atom, p->it->values.n + (size_t)1);
    m.bindings = ARENA_ARRAY(&p->check->v.scratch, struct qty_binding, model->dollars.n + (size_t)1);
    for (u32 i = 0; i < p->it->n_stmts; i++)
        if (p->it->stmts[i]->entity == DIST_SCALE)
            read_scale(&m, (const struct dist_scale *)p->it->stmts[i]);
    for (u32 i = 0; i < p->it->n_stmts; i++) {
        const struct stmt *s = p->it->stmts[i];
        const struct stmt *source = s->entity == DIST_VALUE ? source_value(p->it, s, model) : NULL;
        if (!source)
            continue;
        compare(&m, s, (const struct dist_value *)s, (const struct model_value *)source);
        *held_by(&m, s->name) = source->name;
    }
    for (u32 i = 0; i < p->n_tasks; i++)
        compare_task(&m, p->tasks[i]);
    *open = m.open;
    *reads = m.reads;
    return m.compared;
}
