/* Operand and result types of each operation: one function a shape rule (enum shape_rule in ir/schema.h). */
#include "dialects/model/shape.h"

#include "ir/attr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- Reporting ---- */

static const char *format_text(const struct model_shape *s, const char *format, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    return arena_copy(&s->c->v->scratch, text, strlen(text));
}

bool model_shape_refuse(struct model_shape *s, atom value, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = format_text(s, format, args);
    va_end(args);
    bool result = model_entry_of(s->c, REF_VALUE(value))->at && s->n_out && value == s->out[0];
    for (u32 i = 1; i < s->n_out && !result; i++)
        result = value == s->out[i];
    s->refused = true;
    return verify_error(s->c->v, &s->op->s, result ? "->" : NULL, value_text(s->c->it, value), code, "%s", text);
}

void model_shape_legal(struct model_shape *s, atom value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verify_note(s->c->v, &model_value_named(s->c, value)->s, NULL, NULL, "%s", format_text(s, format, args));
    va_end(args);
}

const char *model_shape_type(const struct model_shape *s, const struct type *t)
{
    return type_text(s->c->ctx, type_intern(s->c->ctx->types, t));
}

const char *model_shape_value(const struct model_shape *s, atom value)
{
    return arena_format(&s->c->v->scratch, "`%s : %s`", value_text(s->c->it, value),
                        type_text(s->c->ctx, model_value_named(s->c, value)->type));
}

static const char *name_of(const struct model_shape *s, u32 operand)
{
    return value_text(s->c->it, s->in[operand]);
}

static const char *size_text(const struct model_shape *s, u32 operand, u32 dim)
{
    return qty_text(s->c->ctx, s->types[operand]->dims[dim]);
}

/* ---- What the rules are made of ---- */

bool model_shape_number(const struct model_shape *s, const char *clause, u64 *out)
{
    const struct interner *names = &s->c->ctx->names;
    struct attr a = attr_get(s->c->it, item_attribute(s->c->it, s->op->attributes, intern_find(names, clause, strlen(clause))));
    u128 n;
    if (a.kind != ATTR_QUANTITY || !qty_value(s->c->ctx->exprs, a.quantity, &n))
        return false;
    *out = (u64)n;
    return true;
}

static bool same_size(const struct model_shape *s, qty a, qty b)
{
    return model_same_size(s->c, a, b);
}

/* A type with dimension SKIP, if it has that one, left out of the comparison. */
static bool same_type(const struct model_shape *s, const struct type *a, const struct type *b, u32 skip)
{
    bool same = a->rank == b->rank && a->element == b->element;
    for (u32 i = 0; same && i < a->rank; i++)
        same = i == skip || same_size(s, a->dims[i], b->dims[i]);
    return same;
}

enum { NO_DIM = MAX_RANK };

bool model_shape_rank(struct model_shape *s, u32 operand, u32 rank)
{
    if (s->types[operand]->rank == rank)
        return true;
    model_shape_refuse(s, s->in[operand], "model.shape.rank", "operand %u of %s has %u dimension%s, found %s", operand + 1,
                       s->row->name, rank, rank == 1 ? "" : "s", model_shape_value(s, s->in[operand]));
    model_shape_legal(s, s->in[operand], "declared with %u", s->types[operand]->rank);
    return false;
}

static bool rank_at_least(struct model_shape *s, u32 operand, u32 rank)
{
    if (s->types[operand]->rank >= rank)
        return true;
    model_shape_refuse(s, s->in[operand], "model.shape.rank", "operand %u of %s has at least %u dimension%s, found %s", operand + 1,
                       s->row->name, rank, rank == 1 ? "" : "s", model_shape_value(s, s->in[operand]));
    model_shape_legal(s, s->in[operand], "declared with %u", s->types[operand]->rank);
    return false;
}

/* One element type for all operands from FIRST on. */
static bool one_element(struct model_shape *s, u32 first)
{
    bool good = true;
    const char *element = element_name((enum element)s->types[first]->element);
    for (u32 i = first + 1; i < s->n_in; i++) {
        if (s->types[i]->element == s->types[first]->element)
            continue;
        good = model_shape_refuse(s, s->in[i], "model.type.element", "%s takes one element type: %s is of %s, %s of %s", s->row->name,
                                  name_of(s, first), element, name_of(s, i), element_name((enum element)s->types[i]->element));
        model_shape_legal(s, s->in[i], "make it %s here, or with a model.cast", element);
    }
    return good;
}

static bool integers(struct model_shape *s, u32 operand)
{
    enum element e = (enum element)s->types[operand]->element;
    if (!element_is_float(e) && e != ELEMENT_I1)
        return true;
    model_shape_refuse(s, s->in[operand], "model.type.integer", "operand %u of %s is of integers, found %s", operand + 1, s->row->name,
                       model_shape_value(s, s->in[operand]));
    model_shape_legal(s, s->in[operand], "integers are i64, i32, i8, i4 and ui8");
    return false;
}

/* Dimension I of operand A and K of operand B are of one size. */
static bool same_dim(struct model_shape *s, const char *code, u32 a, u32 i, u32 b, u32 k)
{
    if (same_size(s, s->types[a]->dims[i], s->types[b]->dims[k]))
        return true;
    model_shape_refuse(s, s->in[b], code, "%s of %s and %s: dimension %u of %s is %s, and dimension %u of %s is %s", s->row->name,
                       model_shape_value(s, s->in[a]), model_shape_value(s, s->in[b]), i, name_of(s, a), size_text(s, a, i), k,
                       name_of(s, b), size_text(s, b, k));
    model_shape_legal(s, s->in[b], "legal with %s as dimension %u", size_text(s, a, i), k);
    return false;
}

static const char *operands_text(const struct model_shape *s)
{
    const char *text = type_text(s->c->ctx, model_value_named(s->c, s->in[0])->type);
    for (u32 i = 1; i < s->n_in && i < 4; i++)
        text = arena_format(&s->c->v->scratch, "%s, %s", text, i == 3 && s->n_in > 4 ? "..." : type_text(s->c->ctx, model_value_named(s->c, s->in[i])->type));
    return text;
}

static bool refuse_result(struct model_shape *s, u32 i, const struct type *expected)
{
    const char *legal = model_shape_type(s, expected);
    model_shape_refuse(s, s->out[i], "model.shape.result", "%s of (%s) makes %s, and not %s", s->row->name, operands_text(s), legal,
                       model_shape_value(s, s->out[i]));
    verify_note_legal(s->c->v, "legal is `%s : %s`", value_text(s->c->it, s->out[i]), legal);
    return false;
}

static const struct type *result_type(const struct model_shape *s, u32 i)
{
    return type_get(s->c->ctx->types, model_value_named(s->c, s->out[i])->type);
}

bool model_shape_result(struct model_shape *s, u32 i, const struct type *type)
{
    return same_type(s, result_type(s, i), type, NO_DIM) || refuse_result(s, i, type);
}

/* The type of operand 0 with another size of one dimension. */
static struct type with_dim(const struct type *t, u32 dim, qty size, qty room[MAX_RANK])
{
    memcpy(room, t->dims, t->rank * sizeof *room);
    if (dim < t->rank)
        room[dim] = size;
    return (struct type){ .element = t->element, .rank = t->rank, .dims = room };
}

/* `axis`, a dimension of operand 0. */
static bool axis_of(struct model_shape *s, u32 *axis)
{
    u64 n = 0;
    u32 rank = s->types[0]->rank;
    if (!model_shape_number(s, "axis", &n))
        return false;
    *axis = (u32)n;
    if (n < rank)
        return true;
    s->refused = true;
    verify_error(s->c->v, &s->op->s, "axis", NULL, "model.shape.axis", "%s has no dimension %" PRIu64, model_shape_value(s, s->in[0]), n);
    if (rank)
        verify_note_legal(s->c->v, "its dimensions are 0 to %u", rank - 1);
    else
        verify_note_legal(s->c->v, "it has none");
    return false;
}

/* ---- Rules ---- */

/* Operands from the second on are like the first, dimension SKIP aside. */
static bool like_first(struct model_shape *s, u32 skip)
{
    bool good = true;
    for (u32 i = 1; i < s->n_in; i++) {
        if (same_type(s, s->types[0], s->types[i], skip))
            continue;
        good = model_shape_refuse(s, s->in[i], "model.shape.same", "%s takes operands of one type%s, found %s and %s", s->row->name,
                                  skip == NO_DIM ? "" : " but for `axis`", model_shape_value(s, s->in[0]), model_shape_value(s, s->in[i]));
        model_shape_legal(s, s->in[i], "legal is %s", model_shape_type(s, s->types[0]));
    }
    return good;
}

static void check_same(struct model_shape *s)
{
    if (like_first(s, NO_DIM))
        model_shape_result(s, 0, s->types[0]);
}

static void check_linear(struct model_shape *s)
{
    const struct type *x = s->types[0], *w = s->types[1];
    qty room[MAX_RANK];
    bool good = rank_at_least(s, 0, 1);
    good = model_shape_rank(s, 1, 2) && good;
    good = (s->n_in < 3 || model_shape_rank(s, 2, 1)) && good;
    good = one_element(s, 0) && good;
    if (!good)
        return;
    good = same_dim(s, "model.shape.contraction", 0, x->rank - 1u, 1, 0);
    good = (s->n_in < 3 || same_dim(s, "model.shape.vector", 1, 1, 2, 0)) && good;
    struct type made = with_dim(x, x->rank - 1u, w->dims[1], room);
    if (good)
        model_shape_result(s, 0, &made);
}

static void check_matmul(struct model_shape *s)
{
    const struct type *a = s->types[0], *b = s->types[1];
    qty room[MAX_RANK];
    if (!rank_at_least(s, 0, 2) || !model_shape_rank(s, 1, a->rank) || !one_element(s, 0))
        return;
    bool good = true;
    for (u32 i = 0; i + 2u < a->rank; i++)
        good = same_dim(s, "model.shape.batch", 0, i, 1, i) && good;
    good = same_dim(s, "model.shape.contraction", 0, a->rank - 1u, 1, a->rank - 2u) && good;
    struct type made = with_dim(a, a->rank - 1u, b->dims[a->rank - 1], room);
    if (good)
        model_shape_result(s, 0, &made);
}

static void check_norm(struct model_shape *s)
{
    bool good = rank_at_least(s, 0, 1);
    for (u32 i = 1; i < s->n_in; i++)
        good = model_shape_rank(s, i, 1) && good;
    if (!(one_element(s, 0) && good))
        return;
    for (u32 i = 1; i < s->n_in; i++)
        good = same_dim(s, "model.shape.vector", 0, s->types[0]->rank - 1u, i, 0) && good;
    if (good)
        model_shape_result(s, 0, s->types[0]);
}

static void check_embedding(struct model_shape *s)
{
    const struct type *tokens = s->types[0], *table = s->types[1];
    qty dims[MAX_RANK + 1];
    bool good = integers(s, 0);
    good = model_shape_rank(s, 1, 2) && good;
    if (!good || tokens->rank == MAX_RANK)
        return;     /* no result can have one dimension more, so that its own type is refused */
    memcpy(dims, tokens->dims, tokens->rank * sizeof *dims);
    dims[tokens->rank] = table->dims[1];
    model_shape_result(s, 0, &(struct type){ .element = table->element, .rank = (u8)(tokens->rank + 1), .dims = dims });
}

static void check_reshape(struct model_shape *s)
{
    const struct type *from = s->types[0], *to = result_type(s, 0);
    struct exprs *x = s->c->ctx->exprs;
    qty before, after;
    if (from->element != to->element) {
        refuse_result(s, 0, &(struct type){ .element = from->element, .rank = to->rank, .dims = to->dims });
        return;
    }
    if (type_elements(x, from, &before) != EXPR_OK || type_elements(x, to, &after) != EXPR_OK || same_size(s, before, after))
        return;
    model_shape_refuse(s, s->out[0], "model.shape.elements", "%s has %s elements, and %s has %s", model_shape_value(s, s->in[0]),
                       qty_text(s->c->ctx, before), model_shape_value(s, s->out[0]), qty_text(s->c->ctx, after));
    bool numbers = qty_is_constant(x, before) && qty_is_constant(x, after);
    verify_note_legal(s->c->v, numbers ? "a reshape keeps the number of elements"
                                       : "what can't be proved is refused: a symbol's `multiple_of` says what divides it");
}

static void refuse_permutation(struct model_shape *s)
{
    s->refused = true;
    verify_error(s->c->v, &s->op->s, "permutation", NULL, "model.shape.permutation", "this is no permutation of the %u dimensions of %s",
                 s->types[0]->rank, model_shape_value(s, s->in[0]));
    if (s->types[0]->rank)
        verify_note_legal(s->c->v, "each of 0 to %u stands in it once", s->types[0]->rank - 1u);
}

static void check_transpose(struct model_shape *s)
{
    const struct type *x = s->types[0];
    struct attr a = attr_get(s->c->it, item_attribute(s->c->it, s->op->attributes, intern_find(&s->c->ctx->names, "permutation", 11)));
    bool good = a.kind == ATTR_LIST && a.n == x->rank;
    u32 seen = 0;
    qty dims[MAX_RANK];
    for (u32 i = 0; good && i < a.n; i++) {
        u128 from = 0;
        good = qty_value(s->c->ctx->exprs, attr_get(s->c->it, a.elements[i]).quantity, &from) && from < x->rank && !(seen >> (u32)from & 1);
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
static bool sum_along(const struct model_shape *s, const struct type *(*type)(const struct model_shape *, u32), u32 n, u32 axis, qty *out)
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
    bool good = axis_of(s, &axis);
    for (u32 i = 0; good && i < s->n_out; i++) {
        const struct type *piece = result_type(s, i);
        struct type made = with_dim(x, axis, axis < piece->rank ? piece->dims[axis] : x->dims[axis], room);
        good = model_shape_result(s, i, &made);
    }
    if (!good || !sum_along(s, result_type, s->n_out, axis, &sum) || same_size(s, sum, x->dims[axis]))
        return;
    model_shape_refuse(s, s->in[0], "model.shape.sum", "dimension %u of %s is %s, and the results' add up to %s", axis,
                       model_shape_value(s, s->in[0]), size_text(s, 0, axis), qty_text(s->c->ctx, sum));
    verify_note_legal(s->c->v, "the pieces of a value are all of it");
}

static void check_concat(struct model_shape *s)
{
    u32 axis;
    qty room[MAX_RANK], sum;
    if (!axis_of(s, &axis) || !like_first(s, axis) || !sum_along(s, operand_type, s->n_in, axis, &sum))
        return;
    struct type made = with_dim(s->types[0], axis, sum, room);
    model_shape_result(s, 0, &made);
}

/* A part of a state along an axis: what is written has its type but for that size, which is no larger. */
static void check_write(struct model_shape *s)
{
    u32 axis;
    u128 whole, part;
    if (!axis_of(s, &axis) || !like_first(s, axis))
        return;
    struct exprs *x = s->c->ctx->exprs;
    if (qty_value(x, s->types[0]->dims[axis], &whole) && qty_value(x, s->types[1]->dims[axis], &part) && part > whole) {
        model_shape_refuse(s, s->in[1], "model.shape.part", "dimension %u of %s is %s, and %s has only %s", axis, name_of(s, 1),
                           size_text(s, 1, axis), model_shape_value(s, s->in[0]), size_text(s, 0, axis));
        model_shape_legal(s, s->in[1], "legal with at most %s as dimension %u", size_text(s, 0, axis), axis);
        return;
    }
    model_shape_result(s, 0, s->types[0]);
}

static void check_cast(struct model_shape *s)
{
    const struct type *x = s->types[0];
    model_shape_result(s, 0, &(struct type){ .element = result_type(s, 0)->element, .rank = x->rank, .dims = x->dims });
}

static void check_cross_entropy(struct model_shape *s)
{
    const struct type *logits = s->types[0], *made = result_type(s, 0);
    bool good = rank_at_least(s, 0, 1) && model_shape_rank(s, 1, logits->rank - 1u);
    good = integers(s, 1) && good;
    for (u32 i = 0; good && i + 1u < logits->rank; i++)
        good = same_dim(s, "model.shape.batch", 0, i, 1, i);
    enum element e = element_is_float((enum element)made->element) ? (enum element)made->element : ELEMENT_F32;
    if (good)
        model_shape_result(s, 0, &(struct type){ .element = (u8)e });
}

/* ---- Dispatch ---- */

typedef void shape_rule(struct model_shape *s);

static shape_rule *const shape_rules[] = {
    [SHAPE_SAME] = check_same, [SHAPE_LINEAR] = check_linear, [SHAPE_MATMUL] = check_matmul, [SHAPE_NORM] = check_norm,
    [SHAPE_EMBEDDING] = check_embedding, [SHAPE_RESHAPE] = check_reshape, [SHAPE_TRANSPOSE] = check_transpose,
    [SHAPE_SPLIT] = check_split, [SHAPE_CONCAT] = check_concat, [SHAPE_CROSS_ENTROPY] = check_cross_entropy,
    [SHAPE_DECODER] = model_shape_decoder, [SHAPE_CAST] = check_cast, [SHAPE_WRITE] = check_write,
};

/* Every value known, and as many as the operation takes: the schema's rules have reported it otherwise. */
static bool complete(const struct model_checker *c, const u32 *names, u32 n, u8 low, u8 high)
{
    bool good = n >= low && (high == MANY || n <= high);
    for (u32 i = 0; good && i < n; i++)
        good = model_value_named(c, names[i]) != NULL;
    return good;
}

static bool any_suspect(const struct model_shape *s)
{
    bool suspect = false;
    for (u32 i = 0; i < s->n_in && !suspect; i++)
        suspect = model_entry_of(s->c, REF_VALUE(s->in[i]))->suspect;
    return suspect;
}

static const struct type **operand_types(const struct model_shape *s)
{
    const struct type **types = ARENA_ARRAY(&s->c->v->scratch, const struct type *, s->n_in);
    for (u32 i = 0; i < s->n_in; i++)
        types[i] = type_get(s->c->ctx->types, model_value_named(s->c, s->in[i])->type);
    return types;
}

void model_shape_check(struct model_checker *c, const struct model_op *op)
{
    const struct operation *row = context_operation(c->ctx, op->operation);
    if (!row || !(row->layers & IN(LAYER_MODEL)) || row->shape >= COUNT(shape_rules) || !shape_rules[row->shape])
        return;
    struct model_shape s = { .c = c, .op = op, .row = row };
    s.in = list_at(c->it, op->operands);
    s.out = list_at(c->it, op->results);
    s.n_in = list_n(c->it, op->operands);
    s.n_out = list_n(c->it, op->results);
    if (!complete(c, s.in, s.n_in, row->min_operands, row->max_operands) ||
        !complete(c, s.out, s.n_out, row->min_results, row->max_results) || any_suspect(&s))
        return;
    s.types = operand_types(&s);
    shape_rules[row->shape](&s);
    for (u32 i = 0; s.refused && i < s.n_out; i++)
        model_entry_of(c, REF_VALUE(s.out[i]))->suspect = true;
}
