#include "conformance/meaning.h"

#include "ir/attr.h"

enum form { FORM_NONE, FORM_EACH, FORM_NORM, FORM_LINEAR, FORM_MATMUL, FORM_EMBEDDING, FORM_RESHAPE, FORM_TRANSPOSE, FORM_CUT,
            FORM_WRITE, FORM_LOSS };

/* What each operation does to elements, and which dimensions it ties. */
static const struct row {
    const char *name;
    u8 meaning, form;
    bool whole, sized;          /* sized: sizes are compared here, since no rule of the dialect does */
} rows[] = {
    { "", 0, 0, false, false },
    { "model.linear", MEANING_PRODUCT, FORM_LINEAR, false, false },
    { "model.matmul", MEANING_PRODUCT, FORM_MATMUL, false, false },
    { "model.embedding", MEANING_PRODUCT, FORM_EMBEDDING, false, false },
    { "model.mul", MEANING_PRODUCT, FORM_EACH, false, false },
    { "model.add", MEANING_SUM, FORM_EACH, false, false },
    { "model.dropout", MEANING_SCALE, FORM_EACH, false, false },
    { "model.mask", MEANING_SCALE, FORM_EACH, false, false },
    { "model.rope", MEANING_SCALE, FORM_EACH, false, false },
    { "model.cast", MEANING_MOVE, FORM_EACH, false, true },
    { "model.gelu", MEANING_CURVE, FORM_EACH, false, false },
    { "model.silu", MEANING_CURVE, FORM_EACH, false, false },
    { "model.softmax", MEANING_CURVE, FORM_EACH, true, false },
    { "model.layer_norm", MEANING_CURVE, FORM_NORM, true, false },
    { "model.rms_norm", MEANING_CURVE, FORM_NORM, true, false },
    { "model.cross_entropy", MEANING_CURVE, FORM_LOSS, true, false },
    { "model.reshape", MEANING_MOVE, FORM_RESHAPE, false, false },
    { "model.transpose", MEANING_MOVE, FORM_TRANSPOSE, false, false },
    { "model.split", MEANING_MOVE, FORM_CUT, false, false },
    { "model.concat", MEANING_MOVE, FORM_CUT, false, false },
    { "model.write", MEANING_MOVE, FORM_WRITE, false, false },
    { "transformer.fork", MEANING_MOVE, FORM_EACH, false, true },
    { "transformer.layer_norm", MEANING_CURVE, FORM_NORM, true, true },
    { "transformer.rms_norm", MEANING_CURVE, FORM_NORM, true, true },
    { "transformer.linear", MEANING_PRODUCT, FORM_LINEAR, false, true },
    { "transformer.batch_matmul", MEANING_PRODUCT, FORM_MATMUL, false, true },
    { "transformer.softmax", MEANING_CURVE, FORM_EACH, true, true },
    { "transformer.dropout", MEANING_SCALE, FORM_EACH, false, true },
    { "transformer.residual_add", MEANING_SUM, FORM_EACH, false, true },
    { "transformer.gelu", MEANING_CURVE, FORM_EACH, false, true },
    { "transformer.swiglu", MEANING_CURVE, FORM_EACH, false, true },
    { "transformer.rope", MEANING_SCALE, FORM_EACH, false, true },
    { "transformer.bias_add", MEANING_SUM, FORM_NORM, false, true },
    { "transformer.optimizer_step", MEANING_CURVE, FORM_EACH, false, true },
};

void meanings_init(struct meanings *m, struct arena *arena, const struct item *it)
{
    const struct interner *names = &it->ctx->names;
    *m = (struct meanings){ it, ARENA_ARRAY(arena, u8, it->ctx->n_operations + (size_t)1), intern_find(names, "axis", 4),
                            intern_find(names, "permutation", 11) };
    for (u32 i = 1; i < COUNT(rows); i++) {
        atom name = intern_find(names, rows[i].name, strlen(rows[i].name));
        if (name && name < it->ctx->n_operations)
            m->form_of[name] = (u8)i;
    }
}

/* ---- Does it fit its definition? ---- */

static const struct type *type_of(const struct item *it, atom name)
{
    const struct dist_value *value = (const struct dist_value *)item_value(it, name);
    return value ? type_get(it->ctx->types, value->type) : NULL;
}

static u32 rank_of(const struct item *it, u32 list, u32 i)
{
    const struct type *type = type_of(it, list_at(it, list)[i]);
    return type ? type->rank : UINT32_MAX;
}

/* The rank that operand I has where the first has RANK; UINT32_MAX: the form has no such operand. */
static u32 wanted_rank(u8 form, u32 i, u32 rank)
{
    static const u8 most[] = { [FORM_EACH] = MOST_OPERANDS, [FORM_NORM] = 3, [FORM_LINEAR] = 3, [FORM_MATMUL] = 2, [FORM_EMBEDDING] = 2,
                               [FORM_RESHAPE] = 1, [FORM_TRANSPOSE] = 1, [FORM_CUT] = MOST_OPERANDS, [FORM_WRITE] = 2, [FORM_LOSS] = 2 };
    if (i >= most[form])
        return UINT32_MAX;
    switch (form) {
    case FORM_NORM: return i ? 1 : rank;
    case FORM_LINEAR: return i ? 3 - i : rank;
    case FORM_EMBEDDING: return i ? 2 : rank;
    case FORM_LOSS: return i ? rank - 1 : rank;
    default: return rank;
    }
}

static u32 wanted_result_rank(u8 form, u32 rank, u32 found)
{
    return form == FORM_RESHAPE ? found : form == FORM_LOSS ? 0 : form == FORM_EMBEDDING ? rank + 1 : rank;
}

static u32 least_operands(u8 form)
{
    return form == FORM_LINEAR || form == FORM_MATMUL || form == FORM_EMBEDDING || form == FORM_WRITE || form == FORM_LOSS ? 2 : 1;
}

static bool ranks_fit(const struct item *it, const struct dist_task *t, struct task_meaning *x)
{
    u32 n = list_n(it, t->operands), m = list_n(it, t->results), rank = rank_of(it, t->operands, 0), found = rank_of(it, t->results, 0);
    if (rank > MAX_RANK || found > MAX_RANK || n < least_operands(x->form))
        return false;
    bool deep = x->form == FORM_EACH || x->form == FORM_RESHAPE || x->form == FORM_EMBEDDING;
    if (rank < (x->form == FORM_MATMUL ? 2u : !deep || x->whole))
        return false;
    for (u32 i = 0; i < n; i++)
        if (rank_of(it, t->operands, i) != wanted_rank(x->form, i, rank))
            return false;
    for (u32 i = 0; i < m; i++)
        if (rank_of(it, t->results, i) != wanted_result_rank(x->form, rank, found))
            return false;
    x->rank = (u8)rank;
    x->result_rank = (u8)found;
    return true;
}

/* Sizes under one label are one size. */
static bool sizes_fit(const struct item *it, const struct dist_task *t, const struct task_meaning *x)
{
    const struct type *result = type_of(it, list_at(it, t->results)[0]);
    qty summed = 0;
    for (u32 i = 0; i < list_n(it, t->operands); i++) {
        const struct type *type = type_of(it, list_at(it, t->operands)[i]);
        for (u32 dim = 0; dim < type->rank; dim++) {
            u8 label = meaning_dim(x, i, dim, type->rank);
            if (label < MAX_RANK ? result->dims[label] != type->dims[dim] : summed && summed != type->dims[dim])
                return false;
            summed = label < MAX_RANK ? summed : type->dims[dim];
        }
    }
    for (u32 i = 1; i < list_n(it, t->results); i++)
        if (memcmp(type_of(it, list_at(it, t->results)[i])->dims, result->dims, result->rank * sizeof *result->dims) != 0)
            return false;
    return true;
}

static bool read_index(const struct item *it, u32 handle, u32 limit, u8 *out)
{
    u128 n;
    struct attr a = handle ? attr_get(it, handle) : (struct attr){ 0 };
    if (a.kind != ATTR_QUANTITY || !qty_value(it->ctx->exprs, a.quantity, &n) || n >= limit)
        return false;
    *out = (u8)n;
    return true;
}

static bool read_permutation(const struct meanings *m, const struct dist_task *t, struct task_meaning *x)
{
    u32 handle = item_attribute(m->it, t->more->attributes, m->permutation);
    struct attr a = handle ? attr_get(m->it, handle) : (struct attr){ 0 };
    u8 from;
    if (a.kind != ATTR_LIST || a.n != x->rank)
        return false;
    for (u32 i = 0; i < a.n; i++) {
        if (!read_index(m->it, a.elements[i], x->rank, &from))
            return false;
        x->place[from] = (u8)i;
    }
    return true;
}

static bool clauses_fit(const struct meanings *m, const struct dist_task *t, struct task_meaning *x)
{
    if (x->form == FORM_TRANSPOSE)
        return read_permutation(m, t, x);
    return (x->form != FORM_CUT && x->form != FORM_WRITE) ||
           read_index(m->it, item_attribute(m->it, t->more->attributes, m->axis), x->rank, &x->axis);
}

/* Gradients of the coarse operations have shapes of their own, unless all their values are alike. */
static bool is_gradient(const struct dist_task *t)
{
    return t->phase == DIST_ACTIVATION_GRADIENT || t->phase == DIST_WEIGHT_GRADIENT;
}

void meaning_of(const struct meanings *m, const struct dist_task *t, struct task_meaning *out)
{
    const struct row *row = &rows[t->operation < m->it->ctx->n_operations ? m->form_of[t->operation] : 0];
    *out = (struct task_meaning){ .meaning = row->meaning, .form = row->form, .whole = row->whole, .writes = row->form == FORM_WRITE };
    out->pairs = row->meaning == MEANING_SCALE && !strcmp(strchr(row->name, '.'), ".rope");
    if (row->sized && is_gradient(t)) {
        bool product = row->meaning == MEANING_PRODUCT;
        out->form = product ? FORM_NONE : FORM_EACH;
        if (row->meaning == MEANING_CURVE || product)
            out->meaning = MEANING_OPEN;
    } else if (row->meaning == MEANING_CURVE && is_gradient(t)) {
        out->meaning = MEANING_OPEN;
    }
    out->known = out->form && list_n(m->it, t->operands) && list_n(m->it, t->results) && list_n(m->it, t->operands) <= MOST_OPERANDS &&
                 ranks_fit(m->it, t, out) && clauses_fit(m, t, out) && (!row->sized || sizes_fit(m->it, t, out));
}

u8 meaning_dim(const struct task_meaning *x, u32 i, u32 dim, u32 rank)
{
    bool last = dim + 1 == rank;
    u8 columns = (u8)(x->result_rank - 1);
    switch ((enum form)x->form) {
    case FORM_NORM: return i ? columns : (u8)dim;
    case FORM_LINEAR:
        if (i == 0)
            return last ? DIM_SUMMED : (u8)dim;
        return i == 1 && dim == 0 ? DIM_SUMMED : columns;
    case FORM_MATMUL:
        if (dim + (i ? 2 : 1) == rank)
            return DIM_SUMMED;
        return (u8)dim;
    case FORM_EMBEDDING: return i == 0 ? (u8)dim : dim ? columns : DIM_SUMMED;
    case FORM_TRANSPOSE: return x->place[dim];
    case FORM_CUT:
    case FORM_WRITE: return dim == x->axis ? DIM_CUT : (u8)dim;
    case FORM_LOSS: return i == 0 && last ? DIM_SUMMED : DIM_AVERAGED;
    case FORM_RESHAPE: return DIM_RESHAPED;
    default: return (u8)dim;
    }
}
