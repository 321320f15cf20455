/* Operand and result types of each operation: one function a shape rule (enum shape_rule in ir/schema.h). */
#include "dialects/model/shape.h"

#include "ir/attr.h"

#include <inttypes.h>

/* Operands from the second on are like the first, dimension SKIP aside. */
static bool like_first(struct model_shape *s, u32 skip)
{
    bool good = true;
    for (u32 i = 1; i < s->n_in; i++) {
        if (model_shape_same_type(s, s->types[0], s->types[i], skip))
            continue;
        good = model_shape_refuse(s, s->in[i], "model.shape.same", "%s takes operands of one type%s, found %s and %s",
                                  s->row->name, skip == MODEL_NO_DIM ? "" : " but for `axis`",
                                  model_shape_value(s, s->in[0]), model_shape_value(s, s->in[i]));
        model_shape_legal(s, s->in[i], "legal is %s", model_shape_type(s, s->types[0]));
    }
    return good;
}

static void check_same(struct model_shape *s)
{
    if (like_first(s, MODEL_NO_DIM))
        model_shape_result(s, 0, s->types[0]);
}

static void check_linear(struct model_shape *s)
{
    const struct type *x = s->types[0], *w = s->types[1];
    qty room[MAX_RANK];
    bool good = model_shape_rank_least(s, 0, 1);
    good = model_shape_rank(s, 1, 2) && good;
    good = (s->n_in < 3 || model_shape_rank(s, 2, 1)) && good;
    good = model_shape_one_element(s, 0) && good;
    if (!good)
        return;
    good = model_shape_same_dim(s, "model.shape.contraction", 0, x->rank - 1u, 1, 0);
    good = (s->n_in < 3 || model_shape_same_dim(s, "model.shape.vector", 1, 1, 2, 0)) && good;
    struct type made = model_shape_with_dim(x, x->rank - 1u, w->dims[1], room);
    if (good)
        model_shape_result(s, 0, &made);
}

static void check_matmul(struct model_shape *s)
{
    const struct type *a = s->types[0], *b = s->types[1];
    qty room[MAX_RANK];
    if (!model_shape_rank_least(s, 0, 2) || !model_shape_rank(s, 1, a->rank) || !model_shape_one_element(s, 0))
        return;
    bool good = true;
    for (u32 i = 0; i + 2u < a->rank; i++)
        good = model_shape_same_dim(s, "model.shape.batch", 0, i, 1, i) && good;
    good = model_shape_same_dim(s, "model.shape.contraction", 0, a->rank - 1u, 1, a->rank - 2u) && good;
    struct type made = model_shape_with_dim(a, a->rank - 1u, b->dims[a->rank - 1], room);
    if (good)
        model_shape_result(s, 0, &made);
}

static void check_norm(struct model_shape *s)
{
    bool good = model_shape_rank_least(s, 0, 1);
    for (u32 i = 1; i < s->n_in; i++)
        good = model_shape_rank(s, i, 1) && good;
    if (!(model_shape_one_element(s, 0) && good))
        return;
    for (u32 i = 1; i < s->n_in; i++)
        good = model_shape_same_dim(s, "model.shape.vector", 0, s->types[0]->rank - 1u, i, 0) && good;
    if (good)
        model_shape_result(s, 0, s->types[0]);
}

static void check_embedding(struct model_shape *s)
{
    const struct type *tokens = s->types[0], *table = s->types[1];
    qty dims[MAX_RANK + 1];
    bool good = model_shape_integers(s, 0);
    good = model_shape_rank(s, 1, 2) && good;
    if (!good || tokens->rank == MAX_RANK)
        return;     /* no result can have one dimension more, so that its own type is refused */
    memcpy(dims, tokens->dims, tokens->rank * sizeof *dims);
    dims[tokens->rank] = table->dims[1];
    model_shape_result(s, 0, &(struct type){ .element = table->element, .rank = (u8)(tokens->rank + 1), .dims = dims });
}

static void check_reshape(struct model_shape *s)
{
    const struct type *from = s->types[0], *to = model_shape_result_type(s, 0);
    struct exprs *x = s->c->ctx->exprs;
    qty before, after;
    if (from->element != to->element) {
        model_shape_refuse_result(s, 0, &(struct type){ .element = from->element, .rank = to->rank, .dims = to->dims });
        return;
    }
    if (type_elements(x, from, &before) != EXPR_OK || type_elements(x, to, &after) != EXPR_OK ||
        model_same_size(s->c, before, after))
        return;
    model_shape_refuse(s, s->out[0], "model.shape.elements", "%s has %s elements, and %s has %s",
                       model_shape_value(s, s->in[0]), qty_text(s->c->ctx, before), model_shape_value(s, s->out[0]),
                       qty_text(s->c->ctx, after));
    bool numbers = qty_is_constant(x, before) && qty_is_constant(x, after);
    verify_note_legal(s->c->v, numbers ? "a reshape keeps the number of elements"
                                       : "what can't be proved is refused: a symbol's `multiple_of` says what divides it");
}

static void refuse_permutation(struct model_shape *s)
{
    s->refused = true;
    verify_error(s->c->v, &s->op->s, "permutation", NULL, "model.shape.permutation",
                 "this is no permutation of the %u dimensions of %s", s->types[0]->rank, model_shape_value(s, s->in[0]));
    if (s->types[0]->rank)
        verify_note_legal(s->c->v, "each of 0 to %u stands in it once", s->types[0]->rank - 1u);
}

static void check_transpose(struct model_shape *s)
{
    const struct type *x = s->types[0];
    struct attr a = attr_get(
        s->c->it, item_attribute(s->c->it, s->op->attributes, intern_find(&s->c->ctx->names, "permutation", 11)));
    bool good = a.kind == ATTR_LIST && a.n == x->rank;
    u32 seen = 0;
    qty dims[MAX_RANK];
    for (u32 i = 0; good && i < a.n; i++) {
        u128 from = 0;
        good = qty_value(s->c->ctx->exprs, attr_get(s->c->it, a.elements[i]).quantity, &from) && from < x->rank &&
               !(seen >> (u32)from & 1);
        if (good) {
            seen |= 1u << (u32)from;
            dims[i] = x->dims[(u32)from];
        }
    }
    if (good)
        model_shape_result(s, 0, &(struct type){ .element = x->element, .rank = x->rank, .dims = dims });
    else
        refuse_permutation(s);
}

/* Sum of the sizes along AXIS of N types; false where it leaves 128 bits. */
static bool sum_along(const struct model_shape *s, const struct type *(*type)(const struct model_shape *, u32), u32 n,
                      u32 axis, qty *out)
{
    *out = 0;
    for (u32 i = 0; i < n; i++)
        if (qty_add(s->c->ctx->exprs, *out, type(s, i)->dims[axis], out) != EXPR_OK)
            return false;
    return true;
}

static const struct type *operand_type(const struct model_shape *s, u32 i)
{
    return s->types[i];
}

static void check_split(struct model_shape *s)
{
    const struct type *x = s->types[0];
    u32 axis;
    qty room[MAX_RANK], sum;
    bool good = model_shape_axis(s, &axis);
    for (u32 i = 0; good && i < s->n_out; i++) {
        const struct type *piece = model_shape_result_type(s, i);
        struct type made = model_shape_with_dim(x, axis, axis < piece->rank ? piece->dims[axis] : x->dims[axis], room);
        good = model_shape_result(s, i, &made);
    }
    if (!good || !sum_along(s, model_shape_result_type, s->n_out, axis, &sum) || model_same_size(s->c, sum, x->dims[axis]))
        return;
    model_shape_refuse(s, s->in[0], "model.shape.sum", "dimension %u of %s is %s, and the results' add up to %s", axis,
                       model_shape_value(s, s->in[0]), model_shape_size_text(s, 0, axis), qty_text(s->c->ctx, sum));
    verify_note_legal(s->c->v, "the pieces of a value are all of it");
}

static void check_concat(struct model_shape *s)
{
    u32 axis;
    qty room[MAX_RANK], sum;
    if (!model_shape_axis(s, &axis) || !like_first(s, axis) || !sum_along(s, operand_type, s->n_in, axis, &sum))
        return;
    struct type made = model_shape_with_dim(s->types[0], axis, sum, room);
    model_shape_result(s, 0, &made);
}

/* The part that `offset` leaves of the state is too small for what is written. */
static void refuse_offset(struct model_shape *s, u32 axis, u64 offset)
{
    verify_error(s->c->v, &s->op->s, "offset", NULL, "model.shape.part",
                 "dimension %u of %s is %s: from %" PRIu64 " on it does not hold the %s of %s", axis,
                 model_shape_value(s, s->in[0]), model_shape_size_text(s, 0, axis), offset,
                 model_shape_size_text(s, 1, axis), model_shape_name(s, 1));
    s->refused = true;
}

/* A part of a state along an axis: what is written has its type but for that size, which is no larger. */
static void check_write(struct model_shape *s)
{
    u32 axis;
    u64 offset = 0;
    u128 whole, part;
    if (!model_shape_axis(s, &axis) || !like_first(s, axis))
        return;
    struct exprs *x = s->c->ctx->exprs;
    if (qty_value(x, s->types[0]->dims[axis], &whole) && qty_value(x, s->types[1]->dims[axis], &part) && part > whole) {
        model_shape_refuse(s, s->in[1], "model.shape.part", "dimension %u of %s is %s, and %s has only %s", axis,
                           model_shape_name(s, 1), model_shape_size_text(s, 1, axis), model_shape_value(s, s->in[0]),
                           model_shape_size_text(s, 0, axis));
        model_shape_legal(s, s->in[1], "legal with at most %s as dimension %u", model_shape_size_text(s, 0, axis), axis);
        return;
    }
    if (qty_value(x, s->types[0]->dims[axis], &whole) && qty_value(x, s->types[1]->dims[axis], &part) &&
        model_shape_number(s, "offset", &offset) && offset > whole - part) {
        refuse_offset(s, axis, offset);
        return;
    }
    model_shape_result(s, 0, s->types[0]);
}

static void check_cast(struct model_shape *s)
{
    const struct type *x = s->types[0];
    model_shape_result(
        s, 0, &(struct type){ .element = model_shape_result_type(s, 0)->element, .rank = x->rank, .dims = x->dims });
}

static void check_cross_entropy(struct model_shape *s)
{
    const struct type *logits = s->types[0], *made = model_shape_result_type(s, 0);
    bool good = model_shape_rank_least(s, 0, 1) && model_shape_rank(s, 1, logits->rank - 1u);
    good = model_shape_integers(s, 1) && good;
    for (u32 i = 0; good && i + 1u < logits->rank; i++)
        good = model_shape_same_dim(s, "model.shape.batch", 0, i, 1, i);
    enum element e = element_is_float((enum element)made->element) ? (enum element)made->element : ELEMENT_F32;
    if (good)
        model_shape_result(s, 0, &(struct type){ .element = (u8)e });
}

static model_shape_rule *const rules[] = {
    [SHAPE_SAME] = check_same, [SHAPE_LINEAR] = check_linear, [SHAPE_MATMUL] = check_matmul, [SHAPE_NORM] = check_norm,
    [SHAPE_EMBEDDING] = check_embedding, [SHAPE_RESHAPE] = check_reshape, [SHAPE_TRANSPOSE] = check_transpose,
    [SHAPE_SPLIT] = check_split, [SHAPE_CONCAT] = check_concat, [SHAPE_CROSS_ENTROPY] = check_cross_entropy,
    [SHAPE_DECODER] = model_shape_decoder, [SHAPE_CAST] = check_cast, [SHAPE_WRITE] = check_write,
};

model_shape_rule *model_shape_rule_of(const struct operation *row)
{
    return row->shape < COUNT(rules) ? rules[row->shape] : NULL;
}
