/*
 * Collectives, transfers and reshards as transitions between the states of a value. Over its own axes
 *     all_reduce      partial -> replicated         all_gather   split -> replicated
 *     reduce_scatter  partial -> split              all_to_all   split -> split on another dimension
 *     broadcast       replicated -> replicated
 * and everything else stays. Axes that arrive in a dimension or leave it are its minor-most: only then does a rank's new
 * part lie in its old one, or the parts of a group make up one piece.
 */
#include "dialects/dist/verify.h"

struct transition {
    struct dist_checker *c;
    const struct dist_task *t;
    enum dist_form form;
    u64 over;
};

/* "all_reduce over {tp}", "transfer". */
static const char *name_of(const struct transition *x)
{
    if (x->form >= DIST_FORM_LOCAL)
        return dist_body_enum.words[x->t->body].text;
    return arena_format(&x->c->v->scratch, "%s over %s", dist_collective_enum.words[x->form].text,
                        dist_axes_text(x->c, x->over));
}

enum axis_state { REPLICATED, SPLIT, PARTIAL };

static const struct {
    enum axis_state from, to;
} changes[] = {
    [DIST_FORM_ALL_REDUCE] = { PARTIAL, REPLICATED }, [DIST_FORM_REDUCE_SCATTER] = { PARTIAL, SPLIT },
    [DIST_FORM_ALL_GATHER] = { SPLIT, REPLICATED },   [DIST_FORM_ALL_TO_ALL] = { SPLIT, SPLIT },
    [DIST_FORM_BROADCAST] = { REPLICATED, REPLICATED },
};

static const char *state_word(const struct transition *x, enum axis_state state, u64 axes)
{
    const char *text = dist_axes_text(x->c, axes);
    if (state == PARTIAL && !x->t->reduction)
        return arena_format(&x->c->v->scratch, "partial over %s", text);
    if (state == PARTIAL)
        return arena_format(&x->c->v->scratch, "partial %s over %s", reduction_enum.words[x->t->reduction].text, text);
    return arena_format(&x->c->v->scratch, "%s over %s", state == SPLIT ? "split" : "replicated", text);
}

/* The axes of the collective that are not in the state that they should have. */
static u64 wrong_axes(const struct transition *x, const struct dist_state *s, enum axis_state want)
{
    u64 over = x->over & ~x->c->single;
    switch (want) {
    case REPLICATED: return (s->split | s->partial) & over;
    case SPLIT: return over & ~s->split;
    case PARTIAL: return over & ~(x->t->reduction ? s->partial_of[x->t->reduction] : s->partial);
    }
    return 0;
}

static const char *text_of(const struct transition *x, const struct dist_state *s)
{
    return value_text(x->c->it, s->value->s.name);
}

/* LIST without the axes of MASK; in the scratch arena. */
static struct axis_list without(const struct transition *x, struct axis_list list, u64 mask)
{
    u32 *kept = ARENA_ARRAY(&x->c->v->scratch, u32, list.n), n = 0;
    for (u32 i = 0; i < list.n; i++)
        if (!(mask >> dist_axis_find(x->c, list.axes[i]) & 1))
            kept[n++] = list.axes[i];
    return (struct axis_list){ kept, n };
}

/* The state with the collective's axes taken out of it. */
static struct sharding rest_of(const struct transition *x, const struct dist_state *s)
{
    struct sharding rest = s->s;
    for (u32 i = 0; i < rest.rank; i++)
        rest.dims[i] = without(x, rest.dims[i], x->over);
    rest.n_partial = 0;
    for (u32 i = 0; i < s->s.n_partial; i++) {
        struct axis_list axes = without(x, s->s.partial[i].axes, x->over);
        rest.partial[rest.n_partial] = s->s.partial[i];
        rest.partial[rest.n_partial].axes = axes;
        rest.n_partial += axes.n > 0;
    }
    return rest;
}

/* ---- The two ends by themselves ---- */

/* The collectives that could run over these axes on the value as it is. */
static void note_fitting(const struct transition *x, const struct dist_state *in)
{
    const char *text = "";
    for (u32 form = 0; form < DIST_FORM_LOCAL; form++) {
        struct transition other = { .c = x->c, .t = x->t, .form = (enum dist_form)form, .over = x->over };
        if (!wrong_axes(&other, in, changes[form].from))
            text = arena_format(&x->c->v->scratch, "%s%s%s", text, *text ? ", " : "", dist_collective_enum.words[form].text);
    }
    if (*text)
        verify_note_legal(x->c->v, "what takes it over %s: %s", dist_axes_text(x->c, x->over), text);
}

static bool check_operand(const struct transition *x, const struct dist_state *in)
{
    enum axis_state want = changes[x->form].from;
    u64 wrong = wrong_axes(x, in, want);
    if (!wrong)
        return true;
    const char *name = text_of(x, in);
    if (want == PARTIAL && !(wrong & ~in->partial))
        verify_error(x->c->v, &x->t->s, "reduction", NULL, "dist.collective.reduction",
                     "%s combines by %s, and %s is %s", name_of(x), reduction_enum.words[x->t->reduction].text, name,
                     dist_state_text(x->c, &in->s));
    else
        verify_error(x->c->v, &x->t->s, NULL, name, "dist.collective.operand",
                     "%s takes a value that is %s, and %s is %s", name_of(x), state_word(x, want, x->over), name,
                     dist_state_text(x->c, &in->s));
    verify_note(x->c->v, &in->value->s, NULL, NULL, "%s is declared here", name);
    if (want != PARTIAL || wrong & ~in->partial)
        note_fitting(x, in);
    else
        verify_note_legal(x->c->v, "write the reduction that made it partial");
    return false;
}

/* IN is NULL when there is no operand, or a wrong one. */
static bool check_result(const struct transition *x, const struct dist_state *in, const struct dist_state *out)
{
    enum axis_state want = changes[x->form].to;
    if (!wrong_axes(x, out, want))
        return true;
    verify_error(x->c->v, &out->value->s, NULL, NULL, "dist.collective.result",
                 "%s leaves a value that is %s, and %s is %s", name_of(x), state_word(x, want, x->over),
                 text_of(x, out), dist_state_text(x->c, &out->s));
    if (want == SPLIT) {
        verify_note_legal(x->c->v, "let %s be the last axes of one of its dimensions", dist_axes_text(x->c, x->over));
    } else if (in) {
        struct sharding rest = rest_of(x, in);
        verify_note_legal(x->c->v, "from its operand it should be %s", dist_state_text(x->c, &rest));
    }
    return false;
}

/* ---- The two ends together ---- */

static void report_rest(const struct transition *x, const struct dist_state *in, const struct dist_state *out)
{
    struct sharding want = rest_of(x, in);
    bool whole = changes[x->form].to == REPLICATED;
    verify_error(x->c->v, &x->t->s, NULL, text_of(x, out), "dist.collective.other_axes",
                 "%s changes nothing over other axes, but %s is %s and %s is %s", name_of(x), text_of(x, in),
                 dist_state_text(x->c, &in->s), text_of(x, out), dist_state_text(x->c, &out->s));
    verify_note_legal(x->c->v, whole ? "%s should be %s" : "apart from the axes of the collective %s should be %s",
                      text_of(x, out), dist_state_text(x->c, &want));
}

/* The first dimension on which an axis of the collective is followed by one that is none; or -1. */
static int unsorted_dimension(const struct transition *x, const struct dist_state *s)
{
    for (u32 i = 0; s->split & x->over && i < s->s.rank; i++) {
        bool seen = false;
        for (u32 k = 0; k < s->s.dims[i].n; k++) {
            u64 axis = (u64)1 << dist_axis_find(x->c, s->s.dims[i].axes[k]) & ~x->c->single;
            if (seen && axis & ~x->over)
                return (int)i;
            seen = seen || axis & x->over;
        }
    }
    return -1;
}

static bool check_order(const struct transition *x, const struct dist_state *s)
{
    int dim = unsorted_dimension(x, s);
    if (dim < 0)
        return true;
    struct axis_list rest = without(x, s->s.dims[dim], x->over);
    verify_error(x->c->v, &x->t->s, NULL, text_of(x, s), "dist.collective.order",
                 "%s works on the minor-most axes of a dimension, and dimension %d of %s is split by %s", name_of(x),
                 dim, text_of(x, s), dist_list_text(x->c, s->s.dims[dim]));
    verify_note_legal(x->c->v, "what is left, %s, would not be parts that lie together", dist_list_text(x->c, rest));
    return false;
}

static int dimension_of(const struct dist_state *s, atom axis)
{
    for (u32 i = 0; i < s->s.rank; i++)
        if (axis_list_has(s->s.dims[i], axis))
            return (int)i;
    return -1;
}

static bool check_moved(const struct transition *x, const struct dist_state *in, const struct dist_state *out)
{
    for (u32 i = 0; i < x->c->n_axes; i++) {
        atom axis = x->c->axes[i].name;
        int dim = dimension_of(in, axis);
        if ((x->over & ~x->c->single) >> i & 1 && dim == dimension_of(out, axis))
            return verify_error(x->c->v, &x->t->s, NULL, text_of(x, out), "dist.collective.result",
                                "%s moves a split to another dimension, and `%s` stays on dimension %d of %s",
                                name_of(x), context_text(x->c->ctx, axis), dim, text_of(x, out));
    }
    return true;
}

static bool same_types(const struct transition *x, const struct dist_value *in, const struct dist_value *out)
{
    if (in->type == out->type)
        return true;
    const char *name = value_text(x->c->it, out->s.name);
    verify_error(x->c->v, &x->t->s, NULL, name, "dist.collective.type", "%s changes no type, but %s is %s and %s is %s",
                 name_of(x), value_text(x->c->it, in->s.name), type_text(x->c->ctx, in->type), name,
                 type_text(x->c->ctx, out->type));
    verify_note_legal(x->c->v, "types are those of whole values, whatever their sharding");
    return false;
}

static void check_pair(const struct transition *x, const struct dist_state *in, const struct dist_state *out,
                       bool typed)
{
    bool good = true;
    if (in)
        good = check_operand(x, in) && check_order(x, in);
    if (out)
        good = check_result(x, in && good ? in : NULL, out) && check_order(x, out) && good;
    if (!in || !out || !good || !typed)
        return;
    if (!dist_state_same(x->c, in, out, x->over))
        report_rest(x, in, out);
    else if (x->form == DIST_FORM_ALL_TO_ALL)
        check_moved(x, in, out);
}

/* ---- Transfers and reshards ---- */

static void check_transferred(const struct transition *x, const struct dist_state *in, const struct dist_state *out)
{
    if (dist_state_same(x->c, in, out, 0))
        return;
    verify_error(x->c->v, &x->t->s, NULL, text_of(x, out), "dist.transfer.sharding",
                 "a transfer sends what a rank holds, so %s should be as %s, %s, and is %s", text_of(x, out),
                 text_of(x, in), dist_state_text(x->c, &in->s), dist_state_text(x->c, &out->s));
}

static void check_resharded(const struct transition *x, const struct dist_state *in, const struct dist_state *out)
{
    if (out->partial & ~in->partial)
        verify_error(x->c->v, &x->t->s, NULL, text_of(x, out), "dist.reshard.partial",
                     "a reshard moves a value and can't make it partial, as %s is over %s", text_of(x, out),
                     dist_axes_text(x->c, out->partial & ~in->partial));
    else if (dist_state_same(x->c, in, out, 0) && in->value->owners == out->value->owners)
        verify_warning(x->c->v, &x->t->s, NULL, text_of(x, out), "dist.reshard.same",
                       "%s is sharded as %s, so that nothing moves", text_of(x, out), text_of(x, in));
}

static void check_values(const struct transition *x, atom operand, atom result)
{
    struct dist_state in, out;
    const struct dist_value *from = operand ? dist_value_named(x->c, operand) : NULL,
                            *to = result ? dist_value_named(x->c, result) : NULL;
    bool has_in = from && dist_state_read(x->c, operand, &in), has_out = to && dist_state_read(x->c, result, &out);
    bool typed = !from || !to || same_types(x, from, to);
    if (x->form < DIST_FORM_LOCAL)
        check_pair(x, has_in ? &in : NULL, has_out ? &out : NULL, typed);
    else if (has_in && has_out && typed && x->form == DIST_FORM_TRANSFER)
        check_transferred(x, &in, &out);
    else if (has_in && has_out && typed)
        check_resharded(x, &in, &out);
}

void dist_collective_check(struct dist_checker *c, const struct dist_task *t, enum dist_form form)
{
    struct transition x = { .c = c, .t = t, .form = form };
    u32 n = list_n(c->it, t->operands), m = list_n(c->it, t->results);
    if (!n && !m)
        return;
    if (form < DIST_FORM_LOCAL)
        dist_over_mask(c, t, &x.over);
    if (n && m && n != m) {
        verify_error(c->v, &t->s, NULL, stmt_text(c->it, &t->s), "dist.collective.arity",
                     "%s makes one result of each operand, and has %u operand%s and %u result%s", name_of(&x), n,
                     n == 1 ? "" : "s", m, m == 1 ? "" : "s");
        return;
    }
    for (u32 i = 0; i < n || i < m; i++)
        check_values(&x, n ? list_at(c->it, t->operands)[i] : 0, m ? list_at(c->it, t->results)[i] : 0);
    dist_message_check(c, t, form, x.over);
}
