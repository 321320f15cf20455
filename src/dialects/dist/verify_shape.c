/*
 * The operations of the model in a dist program: types are those of whole values, so ranks and sizes fit as they do in the
 * model. Dimensions get labels; those with one label have one size here, and one set of axes in verify_local.c.
 */
#include "dialects/dist/verify.h"

#include "ir/attr.h"

void dist_shape_init(struct dist_checker *c)
{
    c->axis_word = intern_find(&c->ctx->names, "axis", 4);
    c->permutation_word = intern_find(&c->ctx->names, "permutation", 11);
}

u8 dist_label_of(const struct dist_shape *x, bool result, u32 i, u32 dim, u32 rank)
{
    bool last = dim + 1 == rank;
    switch ((enum shape_rule)x->op->shape) {
    case SHAPE_SAME:
    case SHAPE_CROSS_ENTROPY: return (u8)dim;
    case SHAPE_NORM: return (u8)(result || i == 0 ? dim : x->rank - 1);
    case SHAPE_LINEAR:
        if (!result && i == 1)
            return dim ? DIST_COLUMNS : DIST_CONTRACTED;
        return !last ? (u8)dim : !result && i == 0 ? DIST_CONTRACTED : DIST_COLUMNS;
    case SHAPE_MATMUL:
        if (!result && dim + (i ? 2 : 1) == rank)
            return DIST_CONTRACTED;
        return last ? DIST_COLUMNS : (u8)dim;
    case SHAPE_EMBEDDING:
        if (!result && i == 1)
            return last ? DIST_COLUMNS : DIST_CONTRACTED;
        return result && last ? DIST_COLUMNS : (u8)dim;
    case SHAPE_TRANSPOSE: return (u8)(result ? x->permutation[dim] : dim);
    case SHAPE_SPLIT:
    case SHAPE_CONCAT: return dim == x->axis ? DIST_FREE : (u8)dim;
    default: return DIST_FREE;
    }
}

static u32 wanted_rank(const struct dist_shape *x, bool result, u32 i, u32 rank)
{
    switch ((enum shape_rule)x->op->shape) {
    case SHAPE_NORM: return result || i == 0 ? x->rank : 1;
    case SHAPE_LINEAR: return result || i == 0 ? x->rank : i == 1 ? 2 : 1;
    case SHAPE_EMBEDDING: return result ? x->rank + 1 : i == 0 ? x->rank : 2;
    case SHAPE_CROSS_ENTROPY: return result ? 0 : i == 0 ? x->rank : x->rank - 1;
    case SHAPE_RESHAPE: return rank;
    default: return x->rank;
    }
}

static u32 least_rank(const struct operation *op)
{
    return op->shape == SHAPE_MATMUL
               ? 2
               : op->shape == SHAPE_NORM || op->shape == SHAPE_LINEAR || op->shape == SHAPE_CROSS_ENTROPY;
}

static bool read_index(const struct dist_checker *c, u32 handle, u32 limit, u32 *out)
{
    u128 n;
    if (!handle)
        return false;
    struct attr a = attr_get(c->it, handle);
    if (a.kind != ATTR_QUANTITY || !qty_value(c->ctx->exprs, a.quantity, &n) || n >= limit)
        return false;
    *out = (u32)n;
    return true;
}

static bool bad_clause(struct dist_checker *c, const struct dist_task *t, const struct dist_shape *x,
                       const char *clause, const char *what)
{
    return verify_error(c->v, &t->s, clause, NULL, "dist.local.shape", "`%s` of %s takes %s of the %u dimensions",
                        clause, x->op->name, what, x->rank);
}

static bool read_permutation(struct dist_checker *c, const struct dist_task *t, struct dist_shape *x)
{
    u32 handle = item_attribute(c->it, t->more->attributes, c->permutation_word), seen = 0;
    struct attr a = handle ? attr_get(c->it, handle) : (struct attr){ 0 };
    bool good = a.kind == ATTR_LIST && a.n == x->rank;
    for (u32 i = 0; good && i < a.n; i++) {
        good = read_index(c, a.elements[i], x->rank, &x->permutation[i]) && !(seen >> x->permutation[i] & 1);
        seen |= 1u << x->permutation[i];
    }
    return good || bad_clause(c, t, x, "permutation", "each");
}

static bool read_clauses(struct dist_checker *c, const struct dist_task *t, struct dist_shape *x)
{
    if (x->op->shape == SHAPE_TRANSPOSE)
        return read_permutation(c, t, x);
    if (x->op->shape != SHAPE_SPLIT && x->op->shape != SHAPE_CONCAT)
        return true;
    return read_index(c, item_attribute(c->it, t->more->attributes, c->axis_word), x->rank, &x->axis) ||
           bad_clause(c, t, x, "axis", "one");
}

/* ---- Sizes ---- */

static bool may_equal(struct dist_checker *c, qty a, qty b)
{
    u64 times;
    u128 x, y;
    return a == b || !dist_apply_facts(c, a, &a) || !dist_apply_facts(c, b, &b) ||
           dist_equal(c, a, b, &times, &x, &y) != DIST_WRONG;
}

struct sizes {
    struct dist_checker *c;
    const struct dist_task *t;
    const struct dist_shape *x;
    struct {
        atom value;
        u32 dim;
        qty size;
    } first[DIST_LABELS];   /* who first said how large a label is */
    bool good;
};

static const struct type *type_of(const struct dist_checker *c, const struct dist_value *value)
{
    return type_get(c->ctx->types, value->type);
}

static void report_size(struct sizes *s, u8 label, const struct dist_value *value, u32 dim, qty size)
{
    struct dist_checker *c = s->c;
    const char *a = value_text(c->it, s->first[label].value), *b = value_text(c->it, value->s.name);
    s->good = verify_error(c->v, &s->t->s, NULL, b, "dist.local.shape",
                           "%s ties dimension %u of %s, which has %s elements, to dimension %u of %s, which has %s",
                           s->x->op->name, s->first[label].dim, a, qty_text(c->ctx, s->first[label].size), dim, b,
                           qty_text(c->ctx, size));
    verify_note_legal(c->v, "types are those of whole values, whatever their sharding");
}

static void check_sizes(struct sizes *s, const struct dist_value *value, bool result, u32 i)
{
    const struct type *type = type_of(s->c, value);
    for (u32 dim = 0; dim < type->rank; dim++) {
        u8 label = dist_label_of(s->x, result, i, dim, type->rank);
        if (label == DIST_FREE)
            continue;
        if (!s->first[label].value) {
            s->first[label].value = value->s.name;
            s->first[label].dim = dim;
            s->first[label].size = type->dims[dim];
        } else if (!may_equal(s->c, s->first[label].size, type->dims[dim])) {
            report_size(s, label, value, dim, type->dims[dim]);
        }
    }
}

/* Elements in all, or along the axis, of the values of a list; false when unknown. */
static bool total(const struct sizes *s, u32 list, qty *out)
{
    struct exprs *x = s->c->ctx->exprs;
    *out = 0;
    for (u32 i = 0; i < list_n(s->c->it, list); i++) {
        const struct type *type = type_of(s->c, dist_value_named(s->c, list_at(s->c->it, list)[i]));
        qty n = s->x->op->shape == SHAPE_RESHAPE ? 0 : type->dims[s->x->axis];
        if ((s->x->op->shape == SHAPE_RESHAPE && type_elements(x, type, &n) != EXPR_OK) ||
            qty_add(x, *out, n, out) != EXPR_OK)
            return false;
    }
    return true;
}

static void check_total(struct sizes *s)
{
    struct dist_checker *c = s->c;
    qty in, out;
    u8 shape = s->x->op->shape;
    if ((shape != SHAPE_RESHAPE && shape != SHAPE_SPLIT && shape != SHAPE_CONCAT) || !s->t->results ||
        !total(s, s->t->operands, &in) || !total(s, s->t->results, &out) || may_equal(c, in, out))
        return;
    const char *where = shape == SHAPE_RESHAPE ? "" : arena_format(&c->v->scratch, " along dimension %u", s->x->axis);
    s->good = verify_error(c->v, &s->t->s, NULL, s->x->op->name, "dist.local.shape",
                           "%s keeps the elements, but takes %s%s and makes %s", s->x->op->name, qty_text(c->ctx, in),
                           where, qty_text(c->ctx, out));
}

/* ---- Ranks ---- */

static bool check_rank(struct dist_checker *c, const struct dist_task *t, const struct dist_shape *x,
                       const struct dist_value *value, bool result, u32 i)
{
    u32 rank = type_of(c, value)->rank, want = wanted_rank(x, result, i, rank);
    if (rank == want && (i || result || rank >= least_rank(x->op)))
        return true;
    const char *name = value_text(c->it, value->s.name);
    if (rank == want)
        verify_error(c->v, &t->s, NULL, name, "dist.local.shape",
                     "%s needs an operand of at least %u dimension%s, and %s has %u", x->op->name, least_rank(x->op),
                     least_rank(x->op) == 1 ? "" : "s", name, rank);
    else
        verify_error(c->v, &t->s, NULL, name, "dist.local.shape", "%s %s %s of %u dimension%s here, and %s has %u",
                     x->op->name, result ? "makes" : "takes", result ? "a result" : "an operand", want,
                     want == 1 ? "" : "s", name, rank);
    verify_note_legal(c->v, "as in `%s%s`", x->op->name, x->op->sample);
    return false;
}

static bool check_ranks(struct dist_checker *c, const struct dist_task *t, struct dist_shape *x)
{
    const u32 *in = list_at(c->it, t->operands), *out = list_at(c->it, t->results);
    bool good = true;
    for (u32 i = 0; i < list_n(c->it, t->operands) + list_n(c->it, t->results); i++) {
        bool result = i >= list_n(c->it, t->operands);
        const struct dist_value *value = dist_value_named(c, result ? out[i - list_n(c->it, t->operands)] : in[i]);
        if (!value)
            return false;
        if (i == 0)
            x->rank = type_of(c, value)->rank;
        good = check_rank(c, t, x, value, result, i) && good;
    }
    return good;
}

bool dist_shape_check(struct dist_checker *c, const struct dist_task *t, const struct operation *op,
                      struct dist_shape *x)
{
    u32 n = list_n(c->it, t->operands);
    *x = (struct dist_shape){ .op = op };
    if (n < op->min_operands || (op->max_operands != MANY && n > op->max_operands) || !check_ranks(c, t, x) ||
        !read_clauses(c, t, x))
        return false;
    struct sizes s = { .c = c, .t = t, .x = x, .good = true };
    for (u32 i = 0; i < n; i++)
        check_sizes(&s, dist_value_named(c, list_at(c->it, t->operands)[i]), false, i);
    for (u32 i = 0; i < list_n(c->it, t->results); i++)
        check_sizes(&s, dist_value_named(c, list_at(c->it, t->results)[i]), true, i);
    check_total(&s);
    return s.good;
}
