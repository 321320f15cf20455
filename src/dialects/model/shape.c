/* What shape rules are made of, and the check of one operation; the rules are in shape_rules.c. */
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
    bool result = false;
    for (u32 i = 0; i < s->n_out && !result; i++)
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

const char *model_shape_name(const struct model_shape *s, u32 operand)
{
    return value_text(s->c->it, s->in[operand]);
}

const char *model_shape_size_text(const struct model_shape *s, u32 operand, u32 dim)
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

bool model_shape_same_type(const struct model_shape *s, const struct type *a, const struct type *b, u32 skip)
{
    bool same = a->rank == b->rank && a->element == b->element;
    for (u32 i = 0; same && i < a->rank; i++)
        same = i == skip || model_same_size(s->c, a->dims[i], b->dims[i]);
    return same;
}

static bool refuse_rank(struct model_shape *s, u32 operand, u32 rank, const char *least)
{
    model_shape_refuse(s, s->in[operand], "model.shape.rank", "operand %u of %s has %s%u dimension%s, found %s", operand + 1,
                       s->row->name, least, rank, rank == 1 ? "" : "s", model_shape_value(s, s->in[operand]));
    model_shape_legal(s, s->in[operand], "declared with %u", s->types[operand]->rank);
    return false;
}

bool model_shape_rank(struct model_shape *s, u32 operand, u32 rank)
{
    return s->types[operand]->rank == rank || refuse_rank(s, operand, rank, "");
}

bool model_shape_rank_least(struct model_shape *s, u32 operand, u32 rank)
{
    return s->types[operand]->rank >= rank || refuse_rank(s, operand, rank, "at least ");
}

bool model_shape_one_element(struct model_shape *s, u32 first)
{
    bool good = true;
    const char *element = element_name((enum element)s->types[first]->element);
    for (u32 i = first + 1; i < s->n_in; i++) {
        if (s->types[i]->element == s->types[first]->element)
            continue;
        good = model_shape_refuse(s, s->in[i], "model.type.element", "%s takes one element type: %s is of %s, %s of %s",
                                  s->row->name, model_shape_name(s, first), element, model_shape_name(s, i),
                                  element_name((enum element)s->types[i]->element));
        model_shape_legal(s, s->in[i], "make it %s here, or with a model.cast", element);
    }
    return good;
}

bool model_shape_integers(struct model_shape *s, u32 operand)
{
    enum element e = (enum element)s->types[operand]->element;
    if (!element_is_float(e) && e != ELEMENT_I1)
        return true;
    model_shape_refuse(s, s->in[operand], "model.type.integer", "operand %u of %s is of integers, found %s", operand + 1,
                       s->row->name, model_shape_value(s, s->in[operand]));
    model_shape_legal(s, s->in[operand], "integers are i64, i32, i8, i4 and ui8");
    return false;
}

bool model_shape_same_dim(struct model_shape *s, const char *code, u32 a, u32 i, u32 b, u32 k)
{
    if (model_same_size(s->c, s->types[a]->dims[i], s->types[b]->dims[k]))
        return true;
    model_shape_refuse(s, s->in[b], code, "%s of %s and %s: dimension %u of %s is %s, and dimension %u of %s is %s",
                       s->row->name, model_shape_value(s, s->in[a]), model_shape_value(s, s->in[b]), i,
                       model_shape_name(s, a), model_shape_size_text(s, a, i), k, model_shape_name(s, b),
                       model_shape_size_text(s, b, k));
    model_shape_legal(s, s->in[b], "legal with %s as dimension %u", model_shape_size_text(s, a, i), k);
    return false;
}

static const char *operands_text(const struct model_shape *s)
{
    const char *text = type_text(s->c->ctx, model_value_named(s->c, s->in[0])->type);
    for (u32 i = 1; i < s->n_in && i < 4; i++)
        text =
            arena_format(&s->c->v->scratch, "%s, %s", text,
                         i == 3 && s->n_in > 4 ? "..." : type_text(s->c->ctx, model_value_named(s->c, s->in[i])->type));
    return text;
}

bool model_shape_refuse_result(struct model_shape *s, u32 i, const struct type *expected)
{
    const char *legal = model_shape_type(s, expected);
    model_shape_refuse(s, s->out[i], "model.shape.result", "%s of (%s) makes %s, and not %s", s->row->name,
                       operands_text(s), legal, model_shape_value(s, s->out[i]));
    verify_note_legal(s->c->v, "legal is `%s : %s`", value_text(s->c->it, s->out[i]), legal);
    verify_fix_type(s->c->v, legal);
    return false;
}

const struct type *model_shape_result_type(const struct model_shape *s, u32 i)
{
    return type_get(s->c->ctx->types, model_value_named(s->c, s->out[i])->type);
}

bool model_shape_result(struct model_shape *s, u32 i, const struct type *type)
{
    return model_shape_same_type(s, model_shape_result_type(s, i), type, MODEL_NO_DIM) || model_shape_refuse_result(s, i, type);
}

struct type model_shape_with_dim(const struct type *t, u32 dim, qty size, qty room[MAX_RANK])
{
    memcpy(room, t->dims, t->rank * sizeof *room);
    if (dim < t->rank)
        room[dim] = size;
    return (struct type){ .element = t->element, .rank = t->rank, .dims = room };
}

bool model_shape_axis(struct model_shape *s, u32 *axis)
{
    u64 n = 0;
    u32 rank = s->types[0]->rank;
    if (!model_shape_number(s, "axis", &n))
        return false;
    *axis = (u32)n;
    if (n < rank)
        return true;
    s->refused = true;
    verify_error(s->c->v, &s->op->s, "axis", NULL, "model.shape.axis", "%s has no dimension %" PRIu64,
                 model_shape_value(s, s->in[0]), n);
    if (rank)
        verify_note_legal(s->c->v, "its dimensions are 0 to %u", rank - 1);
    else
        verify_note_legal(s->c->v, "it has none");
    return false;
}

/* ---- One operation ---- */

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
    model_shape_rule *rule = row && row->layers & IN(LAYER_MODEL) ? model_shape_rule_of(row) : NULL;
    if (!rule)
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
    rule(&s);
    for (u32 i = 0; s.refused && i < s.n_out; i++)
        model_entry_of(c, REF_VALUE(s.out[i]))->suspect = true;
}
