/*
 * message-volume: the logical bytes of communication, and what rings put on the wire for them. In a group of n ranks a ring
 * moves over all ranks together
 *     all_gather, reduce_scatter, broadcast  M·(n - 1)        all_reduce  2·M·(n - 1) = reduce_scatter + all_gather
 * of a message of M bytes [Narayanan et al. 2021, section 3.2; Korthikanti et al. 2022, section 4.2.2].
 *
 * Where values are written, M is the bytes of their types, and the verifier has held it so. Where none are, as in a chain,
 * each exchange of activations is of the block's boundary; gradients move what the forward pass moved, the other way round;
 * a repeated message is the one that it repeats; and a block of a decoder moves four messages forward and four back: two
 * all_reduce, or two all_gather and two reduce_scatter.
 */
#include "conformance/message_volume.h"
#include "conformance/mesh.h"

#include "dialects/portable/portable.h"

#include "ir/sharding.h"

const char *const volume_kind_words[KINDS] = { "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast" };
const char *const volume_phase_words[PHASES] = { "forward", "activation_gradient", "recommunication", NULL };

enum kind volume_kind(const struct item *it, atom operation)
{
    for (int i = 0; i < KINDS; i++)
        if (intern_is(&it->ctx->names, operation, volume_kind_words[i]))
            return (enum kind)i;
    return KINDS;
}

static enum phase phase_of(const char *word)
{
    for (int i = 0; i < OTHER; i++)
        if (!strcmp(word, volume_phase_words[i]))
            return (enum phase)i;
    return OTHER;
}

const struct step *volume_first(const struct volume *v, enum phase phase)
{
    for (u32 i = 0; i < v->view.n; i++)
        if (phase_of(v->view.steps[i].phase) == phase)
            return &v->view.steps[i];
    return NULL;
}

static bool refuse(struct volume *v, const struct exchange *x, const char *code, const char *why, qty should)
{
    const struct context *ctx = v->it->ctx;
    const char *is = qty_text(ctx, x->message);
    return verify_error(&v->c->v, x->step->s, "work", x->message ? "message" : NULL, code, "%s sends %s bytes, and %s %s", stmt_text(v->it, x->step->s), is,
                        why, qty_text(ctx, should));
}

/* ---- The boundary ---- */

static bool group_has(const struct group *g, atom axis)
{
    for (u32 i = 0; i < list_n(g->of, g->over); i++)
        if (list_at(g->of, g->over)[i] == axis)
            return true;
    return !list_n(g->of, g->over);
}

/* Bytes of a value of the program in a group: whole but for the axes that split it outside. False: not exact. */
static bool group_bytes(const struct volume *v, const struct dist_value *value, const struct group *g, qty *out)
{
    const struct item *it = v->program;
    struct exprs *x = it->ctx->exprs;
    struct sharding s;
    u64 by = 1;
    sharding_read(it, value->sharding, &s);
    for (u32 d = 0; d < s.rank; d++)
        for (u32 i = 0; i < s.dims[d].n; i++)
            by *= group_has(g, s.dims[d].axes[i]) ? 1 : mesh_axis(it, v->axes, s.dims[d].axes[i]);
    return type_bytes(x, type_get(it->ctx->types, value->type), out) == EXPR_OK && (by == 1 || qty_div_exact(x, *out, by, out) == EXPR_OK);
}

bool volume_boundary(const struct volume *v, const struct group *g, const struct dist_value **value, qty *bytes)
{
    for (u32 i = 0; i < v->n_inputs; i++) {
        qty q;
        if (!group_bytes(v, v->inputs[i], g, &q) || (i && q != *bytes))
            return false;
        *value = v->inputs[0];
        *bytes = q;
    }
    return v->n_inputs != 0;
}

/* Activations are exchanged in these phases; what weight gradients and the optimizer send is of another size. */
static bool sends_activations(const struct step *s)
{
    return phase_of(s->phase) != OTHER || !strcmp(s->phase, "prefill") || !strcmp(s->phase, "decode");
}

static struct group group_of(const struct volume *v, const struct step *s)
{
    bool plan = v->it->kind->layer == LAYER_PORTABLE;
    return (struct group){ v->it, plan ? ((const struct portable_task *)s->s)->over : ((const struct dist_task *)s->s)->over };
}

static bool check_boundary(struct volume *v, const struct exchange *x)
{
    const struct dist_value *value;
    qty bytes;
    struct group group = group_of(v, x->step);
    if (!sends_activations(x->step)) {
        v->unsized++;
        return true;
    }
    if (!volume_boundary(v, &group, &value, &bytes)) {
        v->unplaced++;
        return true;
    }
    v->n_boundary++;
    return bytes == x->message || refuse(v, x, "check.message_volume.boundary",
                                         arena_format(&v->c->v.scratch, "the boundary %s has", stmt_text(v->program, &value->s)), bytes);
}

/* ---- Layers: forward, backward, again ---- */

/* By atom of a layer: its exchanges without values, by phase; number + 1. */
struct layers {
    u32 (*of)[OTHER];
    u32 *forward;               /* how many forward */
};

static enum kind conjugate(enum kind k)
{
    return k == ALL_GATHER ? REDUCE_SCATTER : k == REDUCE_SCATTER ? ALL_GATHER : k;
}

static const struct exchange *exchange_of(const struct volume *v, const struct layers *l, atom layer, enum phase phase)
{
    u32 number = layer ? l->of[layer][phase] : 0;
    return number ? &v->at[number - 1] : NULL;
}

static bool refuse_pair(struct volume *v, const struct exchange *x, const char *code, enum kind wanted, enum phase phase)
{
    return verify_error(&v->c->v, x->step->s, NULL, NULL, code, "%s needs layer %s to have %s in phase %s", stmt_text(v->it, x->step->s),
                        context_text(v->it->ctx, x->step->layer), volume_kind_words[wanted], volume_phase_words[phase]);
}

/* What is gathered ahead of a product is scattered in its gradient, and the other way round. */
static bool check_pair(struct volume *v, const struct layers *l, const struct exchange *x)
{
    if (x->kind == ALL_REDUCE || x->kind == BROADCAST || x->phase == AGAIN)
        return true;            /* where one is reduced, the other is whole: told by the sums */
    enum phase other = x->phase == FORWARD ? BACKWARD : FORWARD;
    const struct exchange *twin = exchange_of(v, l, x->step->layer, other);
    if (!twin || twin->kind != conjugate(x->kind))
        return refuse_pair(v, x, "check.message_volume.pair", conjugate(x->kind), other);
    v->n_paired++;
    return x->message == twin->message ||
           refuse(v, x, "check.message_volume.pair", x->phase == FORWARD ? "its gradient" : "what it is the gradient of", twin->message);
}

static bool check_again(struct volume *v, const struct layers *l, const struct exchange *x)
{
    const struct exchange *first = exchange_of(v, l, x->step->layer, FORWARD);
    if (x->phase != AGAIN || !x->step->layer)
        return true;
    if (!first || first->kind != x->kind)
        return refuse_pair(v, x, "check.message_volume.repeat", x->kind, FORWARD);
    v->n_repeated++;
    return x->message == first->message || refuse(v, x, "check.message_volume.repeat", "the one that it repeats", first->message);
}

/* ---- All of it ---- */

static void collect(struct volume *v)
{
    v->at = ARENA_ARRAY(&v->c->v.scratch, struct exchange, v->view.n + 1);
    for (u32 i = 0; i < v->view.n; i++) {
        const struct step *s = &v->view.steps[i];
        if (s->kind != STEP_COLLECTIVE)
            continue;
        v->at[v->n++] = (struct exchange){ s, volume_kind(v->it, s->operation), phase_of(s->phase), list_n(v->it, s->operands) || list_n(v->it, s->results),
                                           s->work[3] };
    }
}

static bool check_layers(struct volume *v)
{
    u32 names = v->it->ctx->names.n;
    struct layers l = { arena_alloc(&v->c->v.scratch, names * sizeof *l.of), ARENA_ARRAY(&v->c->v.scratch, u32, names) };
    bool good = true, both = volume_first(v, FORWARD) && volume_first(v, BACKWARD);
    for (u32 i = 0; i < v->n; i++)
        if (!v->at[i].typed && v->at[i].phase != OTHER && v->at[i].step->layer) {
            l.of[v->at[i].step->layer][v->at[i].phase] = i + 1;
            if (v->at[i].phase == FORWARD && ++l.forward[v->at[i].step->layer] > v->blocks)
                v->blocks = l.forward[v->at[i].step->layer];
        }
    for (u32 i = 0; i < v->n; i++) {
        const struct exchange *x = &v->at[i];
        if (x->typed || x->phase == OTHER || !x->step->layer)
            continue;
        good = (!both || check_pair(v, &l, x)) && good;
        good = check_again(v, &l, x) && good;
    }
    return good;
}

static bool check_exchange(struct volume *v, const struct exchange *x)
{
    if (!x->typed)
        return check_boundary(v, x);
    v->n_typed += x->message != 0;
    v->silent += x->message == 0;
    return true;
}

static void tell(const struct volume *v)
{
    check_proved(v->c, "%u collectives: %u by the types of their values, %u by the boundary; %u in pairs of forward and gradient, %u repeated",
                 v->n, v->n_typed, v->n_boundary, v->n_paired, v->n_repeated);
    if (v->silent)
        check_skipped(v->c, "collectives that say no message: %u", v->silent);
    if (v->unsized)
        check_skipped(v->c, "collectives without values outside of the passes over activations: %u; nothing says their size", v->unsized);
    if (v->unplaced)
        check_skipped(v->c, "collectives without values: %u; the program's inputs are not of one size, or not in the file", v->unplaced);
}

static void add_input(struct volume *v, const struct dist_value *value, bool *many)
{
    for (u32 i = 0; i < v->n_inputs; i++)
        if (v->inputs[i]->type == value->type && v->inputs[i]->sharding == value->sharding)
            return;
    if (v->n_inputs == MOST_INPUTS || *many) {
        *many = true;
        v->n_inputs = 0;
        return;
    }
    v->inputs[v->n_inputs++] = value;
}

static void read_program(struct volume *v)
{
    const struct item *it = v->program;
    bool many = false;
    for (u32 i = 0; it && i < it->n_stmts; i++) {
        const struct dist_value *value = (const struct dist_value *)it->stmts[i];
        if (value->s.entity == DIST_MESH)
            v->axes = ((const struct dist_mesh *)it->stmts[i])->axes;
        else if (value->s.entity == DIST_VALUE && value->role == DIST_INPUT)
            add_input(v, value, &many);
    }
}

static bool run(struct check *c)
{
    struct volume v = { .c = c, .it = c->v.item, .program = check_source(c, c->v.item, LAYER_DIST) };
    bool good = true;
    read_program(&v);
    view_read(&v.view, v.it, &c->v.scratch);
    collect(&v);
    for (u32 i = 0; i < v.n; i++)
        good = check_exchange(&v, &v.at[i]) && good;
    good = check_layers(&v) && good;
    good = good && volume_check_sums(&v) && volume_check_images(&v);
    if (good)
        tell(&v);
    return good;
}

const struct checker message_volume = {
    .name = "message-volume",
    .layers = IN(LAYER_DIST) | IN(LAYER_PORTABLE),
    .run = run,
    .doc = "Messages are the bytes of their types or of the boundary; rings move as much back as forward, all_reduce = reduce_scatter + all_gather.",
};
