/*
 * Shardings through local operations. Each rank computes on its parts alone, so dimensions that an operation ties
 * together are split alike; a dimension that it sums away leaves a partial sum over the axes that split it; and a partial
 * value goes only through what is linear.
 */
#include "dialects/dist/verify.h"

/* What an operation does to partial values. */
enum class {
    CLASS_OPEN,             /* nothing is said */
    CLASS_MOVE,             /* elements only change places */
    CLASS_SUM,              /* adds its operands */
    CLASS_PRODUCT,          /* linear in each operand */
    CLASS_NONLINEAR,        /* in the forward pass; its gradient is linear */
    CLASS_STEP,             /* nonlinear in every phase */
};

static const struct {
    const char *name;
    u8 class;
} classes[] = {
    { "model.linear", CLASS_PRODUCT },
    { "model.matmul", CLASS_PRODUCT },
    { "model.mul", CLASS_PRODUCT },
    { "model.embedding", CLASS_PRODUCT },
    { "model.dropout", CLASS_PRODUCT },
    { "model.cast", CLASS_PRODUCT },
    { "model.rope", CLASS_PRODUCT },
    { "model.mask", CLASS_PRODUCT },
    { "model.add", CLASS_SUM },
    { "model.reshape", CLASS_MOVE },
    { "model.transpose", CLASS_MOVE },
    { "model.split", CLASS_MOVE },
    { "model.concat", CLASS_MOVE },
    { "model.layer_norm", CLASS_NONLINEAR },
    { "model.rms_norm", CLASS_NONLINEAR },
    { "model.softmax", CLASS_NONLINEAR },
    { "model.gelu", CLASS_NONLINEAR },
    { "model.silu", CLASS_NONLINEAR },
    { "model.cross_entropy", CLASS_NONLINEAR },
    { "transformer.layer_norm", CLASS_NONLINEAR },
    { "transformer.rms_norm", CLASS_NONLINEAR },
    { "transformer.softmax", CLASS_NONLINEAR },
    { "transformer.gelu", CLASS_NONLINEAR },
    { "transformer.swiglu", CLASS_NONLINEAR },
    { "transformer.residual_add", CLASS_SUM },
    { "transformer.bias_add", CLASS_SUM },
    { "transformer.optimizer_step", CLASS_STEP },
};

struct spread {
    struct dist_checker *c;
    const struct dist_task *t;
    const struct operation *op;
    struct dist_shape shape;
    u8 class;
    int whole;                      /* the label that must not be split, or -1 */
    struct {
        bool set;
        atom value;
        u32 dim;
        struct axis_list axes;
    } holder[DIST_LABELS];               /* who first said how a label is split */
    struct dist_state first;        /* operand 0 */
    u64 sums;                       /* over which the operands together are partial sums */
    bool known;                     /* `sums`, and what follows from it, is certain */
    bool apart;                     /* operands disagree: nothing follows for the results */
};

void dist_local_init(struct dist_checker *c)
{
    c->class_of = ARENA_ARRAY(&c->v->scratch, u8, c->ctx->n_operations + 1);
    for (u32 i = 0; i < COUNT(classes); i++) {
        atom name = intern_find(&c->ctx->names, classes[i].name, strlen(classes[i].name));
        if (name && name < c->ctx->n_operations)
            c->class_of[name] = classes[i].class;
    }
    dist_shape_init(c);
}

/* ---- Operands ---- */

static const char *state_of(const struct spread *x, const struct dist_state *s)
{
    return dist_state_text(x->c, &s->s);
}

static void report_apart(struct spread *x, u8 label, atom name, u32 dim, struct axis_list axes)
{
    struct dist_checker *c = x->c;
    const char *a = value_text(c->it, x->holder[label].value), *b = value_text(c->it, name), *op = x->op->name;
    bool contracted = label == DIST_CONTRACTED;
    verify_error(c->v, &x->t->s, NULL, b, contracted ? "dist.local.contraction" : "dist.local.agree",
                 contracted ? "%s sums over dimension %u of %s, split by %s, and dimension %u of %s, split by %s"
                            : "%s ties dimension %u of %s, split by %s, to dimension %u of %s, split by %s",
                 op, x->holder[label].dim, a, dist_list_text(c, x->holder[label].axes), dim, b,
                 dist_list_text(c, axes));
    verify_note_legal(c->v, "a rank would hold parts that do not belong together: split both alike");
}

static void tie(struct spread *x, const struct dist_state *s, u32 i)
{
    atom name = s->value->s.name;
    for (u32 dim = 0; dim < s->s.rank; dim++) {
        u8 label = dist_label_of(&x->shape, false, i, dim, s->s.rank);
        struct axis_list axes = s->s.dims[dim];
        if (label == DIST_FREE)
            continue;
        if (!x->holder[label].set) {
            x->holder[label].set = true;
            x->holder[label].value = name;
            x->holder[label].dim = dim;
            x->holder[label].axes = axes;
        } else if (!dist_list_same(x->c, x->holder[label].axes, axes, 0)) {
            x->apart = true;
            report_apart(x, label, name, dim, axes);
        }
        if (label == x->whole && i == 0 && !dist_list_same(x->c, axes, (struct axis_list){ 0 }, 0)) {
            verify_error(x->c->v, &x->t->s, NULL, value_text(x->c->it, name), "dist.local.whole",
                         "%s needs all of dimension %u, and %s splits it over %s", x->op->name, dim,
                         value_text(x->c->it, name), dist_list_text(x->c, axes));
            verify_note_legal(x->c->v, "gather it first: `collective all_gather`");
        }
    }
}

static bool in_gradient(const struct dist_task *t)
{
    return t->phase == DIST_ACTIVATION_GRADIENT || t->phase == DIST_WEIGHT_GRADIENT;
}

static void report_partial(struct spread *x, const struct dist_state *s, const char *why, u64 axes)
{
    const char *name = value_text(x->c->it, s->value->s.name);
    x->known = false;
    verify_error(x->c->v, &x->t->s, NULL, name, "dist.local.partial", "%s %s, and %s is partial over %s", x->op->name,
                 why, name, dist_axes_text(x->c, axes));
    verify_note_legal(x->c->v, "reduce it first: `collective all_reduce` or `reduce_scatter`");
}

static void report_mix(struct spread *x, const struct dist_state *s, const char *other, const char *what)
{
    const char *name = value_text(x->c->it, s->value->s.name);
    x->known = false;
    verify_error(x->c->v, &x->t->s, NULL, name, "dist.local.mix", "%s adds %s, which is %s, and %s, which is %s",
                 x->op->name, other, what, name, state_of(x, s));
    verify_note_legal(x->c->v, "what is whole would be counted once on each rank: reduce the partial one first");
}

/* A bias is added to the product, so it has to be a part of the same sum. */
static bool is_bias(const struct spread *x, u32 i)
{
    return x->op->shape == SHAPE_LINEAR && i == 2;
}

static bool is_summed(const struct spread *x, u32 label)
{
    bool mean = x->op->shape == SHAPE_CROSS_ENTROPY;
    return x->holder[label].set && (mean ? (int)label != x->whole : label == DIST_CONTRACTED);
}

/* Axes of the dimensions that are summed away: of a product its own, of a mean over tokens all of theirs. */
static u64 contracted_axes(const struct spread *x)
{
    u64 mask = 0;
    for (u32 label = 0; label < DIST_LABELS; label++) {
        struct axis_list axes = x->holder[label].axes;
        for (u32 i = 0; is_summed(x, label) && i < axes.n; i++)
            mask |= (u64)1 << dist_axis_find(x->c, axes.axes[i]);
    }
    return mask & ~x->c->single;
}

static void add_operand(struct spread *x, const struct dist_state *s, u32 i)
{
    u64 others = s->partial & ~s->partial_of[REDUCTION_SUM], sums = s->partial_of[REDUCTION_SUM];
    switch ((enum class)x->class) {
    case CLASS_STEP:
    case CLASS_NONLINEAR:
        if (s->partial && (x->class == CLASS_STEP || !in_gradient(x->t)))
            report_partial(x, s, "is not linear", s->partial);
        x->known = x->known && !s->partial && !in_gradient(x->t);
        break;
    case CLASS_PRODUCT:
        if (is_bias(x, i) && sums != (x->sums | contracted_axes(x)) && !others && x->known)
            report_mix(x, s, "the product",
                       arena_format(&x->c->v->scratch, "a partial sum over %s",
                                    dist_axes_text(x->c, x->sums | contracted_axes(x))));
        else if (sums & x->sums && !is_bias(x, i))
            report_partial(x, s, "multiplies two partial sums", sums & x->sums);
        x->sums |= sums;
        x->known = x->known && !others;
        break;
    case CLASS_SUM:
        if (others || (x->first.partial & ~x->first.partial_of[REDUCTION_SUM]))
            x->known = false;
        else if (sums != x->first.partial && x->known)
            report_mix(x, s, value_text(x->c->it, x->first.value->s.name), state_of(x, &x->first));
        x->sums = sums;
        break;
    case CLASS_MOVE:
        if (memcmp(s->partial_of, x->first.partial_of, sizeof s->partial_of) && x->known)
            report_mix(x, s, value_text(x->c->it, x->first.value->s.name), state_of(x, &x->first));
        break;
    case CLASS_OPEN:
        x->known = false;
        break;
    }
}

/* ---- Results ---- */

/* An axis of A that is in the mask *SEEN already, or 0; adds them. */
static atom repeated(const struct spread *x, struct axis_list list, u64 *seen)
{
    for (u32 i = 0; i < list.n; i++) {
        u64 bit = (u64)1 << dist_axis_find(x->c, list.axes[i]);
        if (*seen & bit & ~x->c->single)
            return list.axes[i];
        *seen |= bit;
    }
    return 0;
}

static struct axis_list list_of(const struct spread *x, u64 mask)
{
    u32 *axes = ARENA_ARRAY(&x->c->v->scratch, u32, x->c->n_axes), n = 0;
    for (u32 i = 0; i < x->c->n_axes; i++)
        if (mask >> i & 1)
            axes[n++] = x->c->axes[i].name;
    return (struct axis_list){ axes, n };
}

/* What the result should be; where the operands say nothing, what it is. */
static struct dist_state expected(const struct spread *x, const struct dist_state *out)
{
    struct dist_state want = *out;
    for (u32 dim = 0; dim < want.s.rank; dim++) {
        u8 label = dist_label_of(&x->shape, true, 0, dim, want.s.rank);
        if (label != DIST_FREE && x->holder[label].set)
            want.s.dims[dim] = x->holder[label].axes;
    }
    if (!x->known)
        return want;
    memset(want.partial_of, 0, sizeof want.partial_of);
    if (x->class == CLASS_MOVE)
        memcpy(want.partial_of, x->first.partial_of, sizeof want.partial_of);
    else if ((x->class != CLASS_NONLINEAR && x->class != CLASS_STEP) || x->op->shape == SHAPE_CROSS_ENTROPY)
        want.partial_of[REDUCTION_SUM] = x->sums | contracted_axes(x);
    return want;
}

static void write_partial(const struct spread *x, struct dist_state *want)
{
    want->s.n_partial = 0;
    for (u32 r = REDUCTION_SUM; r < DIST_REDUCTIONS; r++)
        if (want->partial_of[r]) {
            want->s.partial[want->s.n_partial].reduction = (enum reduction)r;
            want->s.partial[want->s.n_partial++].axes = list_of(x, want->partial_of[r]);
        }
}

/* Could any sharding say what the result should be? */
static atom conflict(const struct spread *x, struct dist_state *want)
{
    u64 seen = 0;
    atom axis = 0;
    for (u32 dim = 0; !axis && dim < want->s.rank; dim++)
        axis = repeated(x, want->s.dims[dim], &seen);
    for (u32 i = 0; !axis && i < want->s.n_partial; i++)
        axis = repeated(x, want->s.partial[i].axes, &seen);
    return axis;
}

static void check_result(const struct spread *x, const struct dist_state *out)
{
    struct dist_state want = expected(x, out);
    if (dist_state_same(x->c, &want, out, 0))
        return;
    const char *name = value_text(x->c->it, out->value->s.name);
    write_partial(x, &want);
    atom axis = conflict(x, &want);
    if (axis) {
        verify_error(x->c->v, &x->t->s, NULL, x->op->name, "dist.local.axis_conflict",
                     "the operands of %s are split by `%s` in two dimensions that %s has both", x->op->name,
                     context_text(x->c->ctx, axis), name);
        verify_note_legal(x->c->v,
                          "no rank would compute the blocks off the diagonal: gather or reshard an operand first");
        return;
    }
    verify_error(x->c->v, &out->value->s, NULL, NULL, "dist.local.result", "%s is %s, and its operands make it %s",
                 name, state_of(x, out), dist_state_text(x->c, &want.s));
    verify_note(x->c->v, &x->t->s, NULL, x->op->name, "%s makes it", x->op->name);
}

/* A reshape may split other dimensions, but each rank keeps its elements. */
static void check_reshaped(const struct spread *x, const struct dist_state *out)
{
    if (x->first.split == out->split)
        check_result(x, out);
    else
        verify_error(x->c->v, &out->value->s, NULL, NULL, "dist.local.result",
                     "%s is %s, and its operand is %s: a reshape splits by the same axes",
                     value_text(x->c->it, out->value->s.name), state_of(x, out), state_of(x, &x->first));
}

/* ---- Tasks ---- */

static bool prepare(struct spread *x)
{
    struct dist_checker *c = x->c;
    u32 n = list_n(c->it, x->t->operands);
    bool labeled = x->op->shape == SHAPE_ANY || dist_shape_check(c, x->t, x->op, &x->shape);
    for (u32 i = 0; i < n; i++)
        if (!dist_state_read(c, list_at(c->it, x->t->operands)[n - 1 - i], &x->first))
            return false;
    bool softmax = x->op->shape == SHAPE_SAME && !strcmp(x->op->name, "model.softmax");
    if (softmax || x->op->shape == SHAPE_NORM || x->op->shape == SHAPE_CROSS_ENTROPY)
        x->whole = (int)x->first.s.rank - 1;
    return labeled;
}

void dist_local_check(struct dist_checker *c, const struct dist_task *t)
{
    const struct operation *op = t->operation ? context_operation(c->ctx, t->operation) : NULL;
    if (!op || !t->operands || !(op->layers & IN(LAYER_DIST)))
        return;
    struct spread x = { .c = c,
                        .t = t,
                        .op = op,
                        .shape = { .op = op },
                        .class = t->operation < c->ctx->n_operations ? c->class_of[t->operation] : 0,
                        .whole = -1,
                        .known = true };
    bool open = x.class == CLASS_OPEN || (in_gradient(t) && x.class != CLASS_STEP);
    if ((open && op->shape == SHAPE_ANY) || !prepare(&x))
        return;
    for (u32 i = 0; i < list_n(c->it, t->operands); i++) {
        struct dist_state s;
        if (!dist_state_read(c, list_at(c->it, t->operands)[i], &s))
            return;
        if (op->shape != SHAPE_ANY)
            tie(&x, &s, i);
        add_operand(&x, &s, i);
    }
    for (u32 i = 0; !x.apart && i < list_n(c->it, t->results); i++) {
        struct dist_state s;
        if (!dist_state_read(c, list_at(c->it, t->results)[i], &s))
            continue;
        if (op->shape == SHAPE_RESHAPE)
            check_reshaped(&x, &s);
        else
            check_result(&x, &s);
    }
}
