/* A program's statements as values and tasks, with their sizes; and what the executor can't take. */
#include "execute/run.h"

#include "dialects/model/model.h"
#include "support/quantity.h"

#include <inttypes.h>

/* ---- Statements ---- */

static void enter(struct run *r, const struct run_value *value)
{
    u32 i = value->name & r->mask;
    while (r->slots[i] && r->values[r->slots[i] - 1].name != value->name)
        i = (i + 1) & r->mask;
    if (r->slots[i])
        return;
    r->values[r->n_values++] = *value;
    r->slots[i] = r->n_values;
}

static void add_value(struct run *r, const struct stmt *s)
{
    struct run_value value = { .s = s, .name = s->name };
    if (run_is_distributed(r)) {
        const struct dist_value *v = (const struct dist_value *)s;
        value.type = v->type;
        value.owners = v->owners;
        value.updates = v->updates;
        sharding_read(r->it, v->sharding, &value.sharding);
    } else {
        const struct model_value *v = (const struct model_value *)s;
        value.type = v->type;
        value.updates = v->updates;
    }
    enter(r, &value);
}

static struct run_task model_task(const struct model_op *op)
{
    return (struct run_task){ .s = &op->s, .body = DIST_LOCAL, .operation = op->operation, .operands = op->operands,
                              .results = op->results, .attributes = op->attributes,
                              .root = UINT64_MAX, .from = UINT64_MAX, .to = UINT64_MAX };
}

static struct run_task dist_task(const struct dist_task *t)
{
    return (struct run_task){ .s = &t->s, .body = t->body, .phase = t->phase, .reduction = t->reduction,
                              .operation = t->operation, .operands = t->operands, .results = t->results,
                              .attributes = t->more->attributes, .over = t->over, .ranks = t->ranks, .root = t->more->root,
                              .from = t->more->source, .to = t->more->destination };
}

static void read_stmt(struct run *r, const struct stmt *s)
{
    bool dist = run_is_distributed(r);
    if (s->entity == (dist ? (u32)DIST_VALUE : (u32)MODEL_VALUE))
        add_value(r, s);
    else if (s->entity == (dist ? (u32)DIST_TASK : (u32)MODEL_OP))
        r->tasks[r->n_tasks++] = dist ? dist_task((const struct dist_task *)s) : model_task((const struct model_op *)s);
}

static void read_results(struct run *r, const struct run_task *t)
{
    const u32 *at = list_at(r->it, t->results);
    for (u32 i = 0; i < list_n(r->it, t->results); i++) {
        const struct stmt *s = item_value(r->it, at[i]);
        if (!s)
            continue;
        add_value(r, s);
        run_value(r, at[i])->maker = t;
    }
}

static void read_output(struct run *r, const struct stmt *s)
{
    bool dist = run_is_distributed(r);
    if (s->entity != (dist ? (u32)DIST_OUTPUT : (u32)MODEL_OUTPUT))
        return;
    atom name = dist ? ((const struct dist_output *)s)->value : ((const struct model_output *)s)->value;
    struct run_value *value = run_value(r, name);
    if (value)
        value->is_output = true;
}

static u32 *make_slots(struct run *r, u64 n, u32 *mask)
{
    u32 size = 16;
    while (size < 2 * n)
        size *= 2;
    *mask = size - 1;
    return ARENA_ARRAY(r->arena, u32, size);
}

static void enter_task(struct run *r, u32 index)
{
    u32 i = r->tasks[index].s->name & r->task_mask;
    while (r->task_slots[i])
        i = (i + 1) & r->task_mask;
    r->task_slots[i] = index + 1;
}

static void read_stmts(struct run *r)
{
    const struct dist_mesh *mesh = NULL;
    r->slots = make_slots(r, r->it->values.n, &r->mask);
    r->task_slots = make_slots(r, r->it->n_stmts, &r->task_mask);
    r->values = ARENA_ARRAY(r->arena, struct run_value, r->it->values.n + (size_t)1);
    r->tasks = ARENA_ARRAY(r->arena, struct run_task, r->it->n_stmts + (size_t)1);
    for (u32 i = 0; i < r->it->n_stmts; i++) {
        read_stmt(r, r->it->stmts[i]);
        if (run_is_distributed(r) && r->it->stmts[i]->entity == DIST_MESH)
            mesh = (const struct dist_mesh *)r->it->stmts[i];
    }
    for (u32 i = 0; i < r->n_tasks; i++) {
        enter_task(r, i);
        read_results(r, &r->tasks[i]);
    }
    for (u32 i = 0; i < r->it->n_stmts; i++)
        read_output(r, r->it->stmts[i]);
    mesh_read(&r->mesh, r->it, mesh);
}

/* ---- Symbols ---- */

static const struct qty_binding *binding_of(const struct run *r, atom symbol)
{
    for (u32 i = 0; i < r->options->n_symbols; i++)
        if (r->options->symbols[i].symbol == symbol)
            return &r->options->symbols[i];
    return NULL;
}

static void check_symbol(struct run *r, const struct stmt *s, u64 multiple_of)
{
    const struct qty_binding *b = binding_of(r, s->name);
    const char *name = context_text(r->v.ctx, s->name);
    u128 value;
    char digits[U128_DIGITS];
    if (!b) {
        verify_error(&r->v, s, NULL, NULL, "execute.symbol.unbound", "$%s has no value", name);
        verify_note_legal(&r->v, "give it one: --execute='$%s=%" PRIu64 "'", name, multiple_of ? multiple_of : 4);
        return;
    }
    if (!multiple_of || !qty_value(r->v.ctx->exprs, b->value, &value) || value % multiple_of == 0)
        return;
    verify_error(&r->v, s, "multiple_of", NULL, "execute.symbol.multiple",
                 "$%s is a multiple of %" PRIu64 ", and %s is none", name,
                 multiple_of, u128_text(value, digits));
}

static void check_symbols(struct run *r)
{
    for (u32 i = 0; i < r->it->n_stmts; i++) {
        const struct stmt *s = r->it->stmts[i];
        if (run_is_distributed(r) ? s->entity == DIST_SYMBOL : s->entity == MODEL_SYMBOL)
            check_symbol(r, s, run_is_distributed(r) ? ((const struct dist_symbol *)s)->multiple_of
                                                     : ((const struct model_symbol *)s)->multiple_of);
    }
}

/* ---- Sizes ---- */

static const char *name_of(const struct run *r, const struct run_value *value)
{
    return value_text(r->it, value->name);
}

/* False: reported, or a symbol is unbound. */
static bool read_sizes(struct run *r, struct run_value *value)
{
    const struct type *type = type_get(r->v.ctx->types, value->type);
    struct tensor *t = &value->whole;
    t->element = type->element;
    for (u32 i = 0; i < type->rank; i++) {
        u128 n = 0;
        enum expr_status status =
            qty_evaluate(r->v.ctx->exprs, type->dims[i], r->options->symbols, r->options->n_symbols, &n);
        if (status == EXPR_UNBOUND)
            return false;
        if (status != EXPR_OK || n == 0)
            return verify_error(&r->v, value->s, NULL, NULL, "execute.shape", "dimension %u of %s, %s, %s", i,
                                name_of(r, value),
                                qty_text(r->v.ctx, type->dims[i]), status == EXPR_OK ? "is 0" : expr_status_text(status));
        t->size[i] = t->whole[i] = n > UINT64_MAX ? UINT64_MAX : (u64)n;
    }
    t->rank = type->rank;
    t->n = sizes_product(t->size, t->rank);
    if (t->n <= EXECUTE_ELEMENTS)
        return true;
    verify_error(&r->v, value->s, NULL, NULL, "execute.size", "%s is %s, which is more than %d elements", name_of(r, value),
                 sizes_text(&r->v.scratch, t->size, t->rank), EXECUTE_ELEMENTS);
    verify_note_legal(&r->v, "a sharding means the same at any size: run it on small tensors");
    t->rank = 0;
    t->n = 0;
    return false;
}

static bool read_partial(struct run *r, struct run_value *value)
{
    for (u32 i = 0; i < value->sharding.n_partial; i++) {
        u64 axes = mesh_mask(&r->mesh, value->sharding.partial[i].axes);
        if (mesh_product(&r->mesh, axes) == 1)
            continue;
        if (value->partial)
            return verify_error(&r->v, value->s, "partial", NULL, "execute.partial",
                                "%s is partial by two reductions, and which comes first is not said", name_of(r, value));
        value->partial = axes;
        value->reduction = value->sharding.partial[i].reduction;
    }
    return true;
}

static bool read_parts(struct run *r, struct run_value *value)
{
    u32 dim = 0;
    value->parts = ARENA_ARRAY(r->arena, struct tensor, r->mesh.size);
    for (u64 rank = 0; rank < r->mesh.size; rank++)
        if (!mesh_box(&r->mesh, &value->sharding, rank, &value->whole, &value->parts[rank], &dim)) {
            verify_error(&r->v, value->s, "sharding", NULL, "execute.shape",
                         "dimension %u of %s is %" PRIu64 ", which its %" PRIu64 " parts do not divide", dim,
                         name_of(r, value),
                         value->whole.whole[dim], mesh_product(&r->mesh, mesh_mask(&r->mesh, value->sharding.dims[dim])));
            verify_note_legal(&r->v, "give its symbols values that the axes divide");
            return false;
        }
    return true;
}

static void read_values(struct run *r)
{
    u64 stored = 0;
    for (u32 i = 0; i < r->n_values; i++) {
        struct run_value *value = &r->values[i];
        if (!read_sizes(r, value) || !read_partial(r, value))
            continue;
        for (u32 k = 0; k < value->sharding.rank; k++)
            value->split |= mesh_mask(&r->mesh, value->sharding.dims[k]);
        stored += value->whole.n / mesh_product(&r->mesh, value->split) * r->mesh.size + r->mesh.size;
        if (stored <= EXECUTE_STORED && !read_parts(r, value))
            value->parts = NULL;
    }
    if (stored > EXECUTE_STORED)
        verify_error(&r->v, NULL, NULL, NULL, "execute.size",
                     "the parts of all values have %" PRIu64 " elements, which is more than %d", stored, EXECUTE_STORED);
}

/* ---- Tasks ---- */

static void refuse_coarse(struct run *r, const struct run_task *t, const char *name)
{
    verify_error(&r->v, t->s, NULL, name, "execute.operation.coarse",
                 "%s is coarse: it says what it costs, not what it computes",
                 name);
    verify_note_legal(&r->v, "write it out in operations of the model, such as model.linear and model.softmax");
}

static void check_local(struct run *r, struct run_task *t)
{
    const char *name = t->operation ? context_text(r->v.ctx, t->operation) : "";
    t->kernel = kernel_find(name);
    if (!t->kernel) {
        refuse_coarse(r, t, name);
    } else if (t->kernel->flags & KERNEL_CURVED &&
               (t->phase == DIST_ACTIVATION_GRADIENT || t->phase == DIST_WEIGHT_GRADIENT)) {
        verify_error(&r->v, t->s, "phase", NULL, "execute.operation.gradient",
                     "in this phase %s means its gradient, which the executor does not have", name);
        verify_note_legal(&r->v, "write the gradient out in products and sums");
    }
}

/* Arity as the operation's row has it: what the kernels rely on. */
static void check_operands(struct run *r, const struct run_task *t)
{
    const struct operation *op = t->kernel ? context_operation(r->v.ctx, t->operation) : NULL;
    u32 n = list_n(r->it, t->operands), m = list_n(r->it, t->results);
    bool good = op ? n >= op->min_operands && n <= op->max_operands && m >= op->min_results && m <= op->max_results
                   : n > 0 && n == m;
    if (t->body == DIST_CONTROL || (t->body == DIST_LOCAL && !t->kernel) || good)
        return;
    verify_error(&r->v, t->s, NULL, NULL, "execute.operands",
                 "%s writes no operands and results, so that nothing moves through it",
                 stmt_text(r->it, t->s));
    verify_note_legal(&r->v, "the executor follows values: write `(%%x) -> %%y : type`");
}

static u64 task_work(struct run *r, const struct run_task *t)
{
    struct tensor in[2] = { 0 }, out = { 0 };
    struct run_value *a = NULL, *b = NULL, *y = NULL;
    u32 n = list_n(r->it, t->operands);
    u64 work;
    if (n)
        a = run_value(r, list_at(r->it, t->operands)[0]);
    if (n > 1)
        b = run_value(r, list_at(r->it, t->operands)[1]);
    if (list_n(r->it, t->results))
        y = run_value(r, list_at(r->it, t->results)[0]);
    if (!a || !a->parts || !y || !y->parts || (b && !b->parts))
        return 0;
    in[0] = a->parts[0];
    in[1] = b ? b->parts[0] : in[1];
    out = y->parts[0];
    if (!t->kernel)
        return (in[0].n > out.n ? in[0].n : out.n) * r->mesh.size;
    work = kernel_work(t->kernel, in, n > 1 ? 2 : 1, &out);
    return work > EXECUTE_WORK ? EXECUTE_WORK + 1 : work;
}

static void check_tasks(struct run *r)
{
    u64 work = 0;
    for (u32 i = 0; i < r->n_tasks; i++) {
        struct run_task *t = &r->tasks[i];
        if (t->body == DIST_LOCAL)
            check_local(r, t);
        check_operands(r, t);
        work += task_work(r, t) * r->mesh.size;
        if (work > EXECUTE_WORK) {
            verify_error(&r->v, t->s, NULL, NULL, "execute.size",
                         "up to %s the program has more than %" PRIu64 " multiplications and moved elements",
                         stmt_text(r->it, t->s), EXECUTE_WORK);
            return;
        }
    }
}

bool run_read(struct run *r)
{
    read_stmts(r);
    if (r->mesh.size > EXECUTE_RANKS)
        return verify_error(&r->v, NULL, NULL, NULL, "execute.size", "%s has %" PRIu64 " ranks, which is more than %d",
                            symbol_text(r->it, r->it->name), r->mesh.size, EXECUTE_RANKS);
    check_symbols(r);
    read_values(r);
    check_tasks(r);
    return r->v.errors == 0;
}
