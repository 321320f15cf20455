/*
 * Programs that write their values. A product of M x K by K x N is 2MNK operations; of a rank, divided by the axes that split
 * M, N or K, so that ranks that these don't tell apart repeat it: replication by name. And what is from an operation of the
 * model is, once, as much as that operation: of a product 2MNK, of any other the elements that it makes.
 */
#include "conformance/work.h"

#include "conformance/mesh.h"

#include "ir/sharding.h"

enum { MOST_AXES = 64 };

struct products {
    struct check *c;
    const struct item *it, *model;
    u32 axes;
    u64 ranks;
    atom linear, matmul;
    u32 checked, replicated, silent;    /* products of the program; those that ranks repeat; those that say no work */
    u32 matched, other;                 /* operations of the model; those that other operations do */
};

/* ---- Sizes ---- */

static bool is_product(const struct products *p, atom operation)
{
    return operation && (operation == p->linear || operation == p->matmul);
}

/* The type of a value of either layer; NULL: it has none. */
static const struct type *type_of(const struct item *it, atom value)
{
    const struct stmt *s = item_value(it, value);
    u32 type = !s ? 0 : it->kind->layer == LAYER_MODEL ? ((const struct model_value *)s)->type : ((const struct dist_value *)s)->type;
    return type ? type_get(it->ctx->types, type) : NULL;
}

/* 2MNK of a product, the elements of its result of anything else. False: a value is not written, or it leaves 128 bits. */
static bool measure(const struct products *p, const struct item *it, atom operation, u32 operands, u32 results, qty *out)
{
    struct exprs *x = it->ctx->exprs;
    const struct type *result = list_n(it, results) ? type_of(it, list_at(it, results)[0]) : NULL;
    if (!result || type_elements(x, result, out) != EXPR_OK)
        return false;
    if (!is_product(p, operation))
        return true;
    const struct type *left = list_n(it, operands) ? type_of(it, list_at(it, operands)[0]) : NULL;
    return left && left->rank && qty_mul(x, *out, left->dims[left->rank - 1], out) == EXPR_OK && qty_mul(x, *out, 2, out) == EXPR_OK;
}

/* ---- Products of the program ---- */

struct axis_set {
    atom axes[MOST_AXES];
    u32 n;
};

static void add_axes(struct axis_set *s, struct axis_list list)
{
    for (u32 i = 0; i < list.n; i++) {
        bool in = false;
        for (u32 k = 0; k < s->n; k++)
            in = in || s->axes[k] == list.axes[i];
        if (!in && s->n < MOST_AXES)
            s->axes[s->n++] = list.axes[i];
    }
}

/* Over how many ranks the work of a product is dealt: by the rows and columns of its result, and what it sums over. */
static u64 dealt(const struct products *p, const struct dist_task *t)
{
    struct sharding s;
    struct axis_set set = { .n = 0 };
    u64 by = 1;
    const struct dist_value *result = (const struct dist_value *)item_value(p->it, list_at(p->it, t->results)[0]);
    const struct dist_value *left = (const struct dist_value *)item_value(p->it, list_at(p->it, t->operands)[0]);
    sharding_read(p->it, result->sharding, &s);
    for (u32 i = 0; i < s.rank; i++)
        add_axes(&set, s.dims[i]);
    sharding_read(p->it, left->sharding, &s);
    if (s.rank)
        add_axes(&set, s.dims[s.rank - 1]);
    for (u32 i = 0; i < set.n; i++)
        by *= mesh_axis(p->it, p->axes, set.axes[i]);
    return by;
}

static bool refuse_product(struct products *p, const struct dist_task *t, u64 by, qty whole)
{
    const struct context *ctx = p->it->ctx;
    const char *is = qty_text(ctx, t->work[DIST_OPERATIONS]);
    qty share;
    bool exact = qty_div_exact(ctx->exprs, whole, by, &share) == EXPR_OK;
    verify_error(&p->c->v, &t->s, "work", "operations", "check.work_conservation.product", "a rank does %s operations, and its share of 2MNK = %s over %llu ranks is %s",
                 is, qty_text(ctx, whole), (unsigned long long)by, exact ? qty_text(ctx, share) : "not that");
    return false;
}

/* A bias adds an element to each of the result; counted or not. */
static bool check_product(struct products *p, const struct dist_task *t)
{
    struct exprs *x = p->it->ctx->exprs;
    qty whole, have, biased, elements;
    if (t->body != DIST_LOCAL || !is_product(p, t->operation) || !measure(p, p->it, t->operation, t->operands, t->results, &whole))
        return true;
    if (!t->work[DIST_OPERATIONS]) {
        p->silent++;
        return true;
    }
    u64 by = dealt(p, t);
    if (!work_times(p->c, &t->s, t->work[DIST_OPERATIONS], by, &have))
        return false;
    p->checked++;
    p->replicated += ranks_count(p->it, t->ranks, p->ranks) > by;
    bool bias = list_n(p->it, t->operands) == 3 && measure(p, p->it, 0, 0, t->results, &elements) && qty_add(x, whole, elements, &biased) == EXPR_OK;
    return work_same(p->it, p->ranks, have, whole) || (bias && work_same(p->it, p->ranks, have, biased)) || refuse_product(p, t, by, whole);
}

/* ---- Operations of the model ---- */

/* By atom of an operation's name: its group (operations that one task is from), and what that has of the model and of here. */
struct groups {
    atom *group;
    qty *above, *here;
    u8 *state;                  /* of the group: GROUP_… */
};

enum { GROUP_IMAGES = 1, GROUP_OPEN = 2 };      /* something here is it; something can't be compared */

static atom group_of(struct groups *g, atom name)
{
    while (g->group[name] != name)
        name = g->group[name] = g->group[g->group[name]];
    return name;
}

static const struct model_op *op_named(const struct products *p, u32 ref)
{
    const struct stmt *s = ref_is_value(ref) ? NULL : item_symbol(p->model, ref_atom(ref));
    return s && s->entity == MODEL_OP ? (const struct model_op *)s : NULL;
}

/* Work of the first pass: what is done again and gradients are more than the model says. */
static bool is_image(const struct dist_task *t)
{
    return t->s.lineage_kind != LINEAGE_NONE && t->s.lineage_kind != LINEAGE_GENERATED && t->body == DIST_LOCAL &&
           (t->phase == DIST_NO_PHASE || t->phase == DIST_FORWARD || t->phase == DIST_PREFILL || t->phase == DIST_DECODE);
}

/* Sources of the task's own operation become one group. */
static void join(struct products *p, struct groups *g, const struct dist_task *t)
{
    const struct model_op *first = NULL;
    for (u32 i = 0; i < list_n(p->it, t->s.lineage); i++) {
        const struct model_op *op = op_named(p, list_at(p->it, t->s.lineage)[i]);
        if (!op || op->operation != t->operation)
            continue;
        if (first)
            g->group[group_of(g, op->s.name)] = group_of(g, first->s.name);
        first = op;
    }
}

static void add_image(struct products *p, struct groups *g, const struct dist_task *t)
{
    for (u32 i = 0; i < list_n(p->it, t->s.lineage); i++) {
        const struct model_op *op = op_named(p, list_at(p->it, t->s.lineage)[i]);
        atom group = op ? group_of(g, op->s.name) : 0;
        qty q;
        if (!op || op->operation != t->operation)
            continue;
        if (!measure(p, p->it, t->operation, t->operands, t->results, &q) || qty_add(p->it->ctx->exprs, g->here[group], q, &g->here[group]) != EXPR_OK)
            g->state[group] |= GROUP_OPEN;
        g->state[group] |= GROUP_IMAGES;
        return;                 /* one group, as joined */
    }
}

static void add_operation(struct products *p, struct groups *g, const struct model_op *op)
{
    atom group = group_of(g, op->s.name);
    qty q;
    if (!measure(p, p->model, op->operation, op->operands, op->results, &q) ||
        qty_add(p->it->ctx->exprs, g->above[group], q, &g->above[group]) != EXPR_OK)
        g->state[group] |= GROUP_OPEN;
}

/* What the model's symbols are here: where a dimension is one, the value's namesake says. */
struct symbols {
    struct qty_binding at[MOST_AXES];
    u32 n;
};

struct binding {
    const struct products *p;
    struct symbols *s;
    qty above, here;
};

static void bind_symbol(void *state, atom symbol)
{
    const struct binding *b = state;
    if (b->above != qty_symbol(b->p->it->ctx->exprs, symbol) || b->above == b->here)
        return;
    for (u32 i = 0; i < b->s->n; i++)
        if (b->s->at[i].symbol == symbol)
            return;
    if (b->s->n < MOST_AXES)
        b->s->at[b->s->n++] = (struct qty_binding){ symbol, b->here };
}

static void bind_symbols(const struct products *p, struct symbols *s)
{
    for (u32 i = 0; i < p->model->n_stmts; i++) {
        const struct stmt *value = p->model->stmts[i];
        const struct type *above = value->entity == MODEL_VALUE ? type_of(p->model, value->name) : NULL, *here = above ? type_of(p->it, value->name) : NULL;
        for (u32 d = 0; here && above->rank == here->rank && d < above->rank; d++)
            qty_symbols(p->it->ctx->exprs, above->dims[d], bind_symbol, &(struct binding){ p, s, above->dims[d], here->dims[d] });
    }
}

/* Coarse operations are held against their terms. */
static bool is_fine(const struct products *p, const struct model_op *op)
{
    return !strncmp(context_text(p->it->ctx, op->operation), "model.", 6);
}

static bool check_group(struct products *p, struct groups *g, const struct symbols *s, const struct model_op *op)
{
    atom name = op->s.name;
    const struct context *ctx = p->it->ctx;
    qty above = g->above[name];
    if (g->group[name] != name || (g->state[name] & (GROUP_IMAGES | GROUP_OPEN)) != GROUP_IMAGES ||
        qty_substitute(ctx->exprs, above, s->at, s->n, &above) != EXPR_OK) {
        p->other += g->group[name] == name && is_fine(p, op);
        return true;
    }
    p->matched++;
    if (work_same(p->it, p->ranks, above, g->here[name]))
        return true;
    const char *is = qty_text(ctx, g->here[name]), *model = symbol_text(p->it, p->model->name);
    verify_error(&p->c->v, NULL, NULL, model, "check.work_conservation.model", "%s of %s %s %s, and what is from it here %s", stmt_text(p->model, &op->s), model,
                 is_product(p, op->operation) ? "does 2MNK =" : "makes elements:", qty_text(ctx, above), is);
    if (ctx->locate)
        diag_note(ctx->diags, ctx->locate(p->model, &op->s, NULL, NULL), "the operation is here");
    return false;
}

static bool check_model(struct products *p)
{
    u32 names = p->it->ctx->names.n;
    struct arena *a = &p->c->v.scratch;
    struct groups g = { ARENA_ARRAY(a, atom, names), ARENA_ARRAY(a, qty, names), ARENA_ARRAY(a, qty, names), ARENA_ARRAY(a, u8, names) };
    struct symbols s = { .n = 0 };
    bool good = true;
    for (u32 i = 0; i < names; i++)
        g.group[i] = i;
    for (int pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < p->it->n_stmts; i++) {
            const struct dist_task *t = (const struct dist_task *)p->it->stmts[i];
            if (t->s.entity == DIST_TASK && is_image(t))
                (pass ? add_image : join)(p, &g, t);
        }
    for (u32 i = 0; i < p->model->n_stmts; i++)
        if (p->model->stmts[i]->entity == MODEL_OP)
            add_operation(p, &g, (const struct model_op *)p->model->stmts[i]);
    bind_symbols(p, &s);
    for (u32 i = 0; i < p->model->n_stmts; i++)
        if (p->model->stmts[i]->entity == MODEL_OP)
            good = check_group(p, &g, &s, (const struct model_op *)p->model->stmts[i]) && good;
    return good;
}

static void tell(const struct products *p)
{
    if (p->checked)
        check_proved(p->c, "%u products: a rank does its share of 2MNK; %u are replicated over the ranks of axes that do not split them", p->checked, p->replicated);
    if (p->silent)
        check_skipped(p->c, "products that say no operations: %u", p->silent);
    if (p->matched)
        check_proved(p->c, "%u operations of %s: what is from them is once as much", p->matched, symbol_text(p->it, p->model->name));
    if (p->other)
        check_skipped(p->c, "operations of %s that others do, or none: %u; their work has no common measure", symbol_text(p->it, p->model->name), p->other);
}

bool work_check_products(struct check *c)
{
    struct interner *names = &c->v.ctx->names;
    struct products p = { .c = c, .it = c->v.item, .model = check_source(c, c->v.item, LAYER_MODEL),
                          .linear = intern_find(names, "model.linear", 12), .matmul = intern_find(names, "model.matmul", 12) };
    bool good = true;
    for (u32 i = 0; i < p.it->n_stmts; i++)
        if (p.it->stmts[i]->entity == DIST_MESH)
            p.axes = ((const struct dist_mesh *)p.it->stmts[i])->axes;
    p.ranks = mesh_ranks(p.it, p.axes);
    for (u32 i = 0; i < p.it->n_stmts; i++)
        if (p.it->stmts[i]->entity == DIST_TASK)
            good = check_product(&p, (const struct dist_task *)p.it->stmts[i]) && good;
    if (p.model && p.model->name == p.it->header.parent.item)
        good = check_model(&p) && good;
    if (good)
        tell(&p);
    return good;
}
