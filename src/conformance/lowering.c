/*
 * lowering: what a dist program says of its model's values, a portable plan of its program's tasks and values, and a concrete plan of its portable plan's, is
 * what those say. Tasks that come from one another one by one agree in every field; where tasks were fused or
 * decomposed, the sums of their operations and messages agree (of messages, what rings move). What came before still comes before.
 */
#include "conformance/lowering.h"

#include "dialects/portable/portable.h"

/* ---- Groups: tasks that lineage ties together, on both sides ---- */

struct groups {
    u32 *parent;                /* union-find: the child's steps, then the source's */
    u32 *n_child, *n_source;    /* by root */
    u32 *image;                 /* by source step: its child's step + 1, where they are one to one */
    qty *sums[2][2];            /* child's and source's, of operations and of messages, by root; made when asked for */
    bool overflow;
    u32 silent;                 /* tasks that say no source, and have no namesake */
};

static const u32 summed[2] = { 0, 3 };

static u32 root_of(struct groups *g, u32 i)
{
    while (g->parent[i] != i)
        i = g->parent[i] = g->parent[g->parent[i]];
    return i;
}

static bool adds_work(enum step_kind kind)
{
    return kind != STEP_ORDER;
}

static void tie(struct lowering *l, struct groups *g, u32 step)
{
    const struct step *t = &l->child.steps[step];
    u32 refs = t->s->lineage, source, n = 0;
    if (t->s->lineage_kind == LINEAGE_NONE) {       /* of a hand: its namesake, or it says nothing */
        if (view_find(&l->source, t->s->name, &source))
            g->parent[root_of(g, l->child.n + source)] = root_of(g, step);
        else
            g->silent += adds_work(t->kind);
        return;
    }
    for (u32 i = 0; i < list_n(l->it, refs); i++)
        if (!ref_is_value(list_at(l->it, refs)[i]) && view_find(&l->source, ref_atom(list_at(l->it, refs)[i]), &source)) {
            g->parent[root_of(g, l->child.n + source)] = root_of(g, step);
            n++;
        }
    if (n || !adds_work(t->kind))
        return;
    verify_error(&l->c->v, t->s, "from", NULL, "check.lowering.source", "%s does work that comes from no task of %s", stmt_text(l->it, t->s),
                 symbol_text(l->parent, l->parent->name));
}

static void make_groups(struct lowering *l, struct groups *g)
{
    struct arena *a = &l->c->v.scratch;
    u32 n = l->child.n + l->source.n;
    g->parent = ARENA_ARRAY(a, u32, n + 1);
    g->n_child = ARENA_ARRAY(a, u32, n + 1);
    g->n_source = ARENA_ARRAY(a, u32, n + 1);
    g->image = ARENA_ARRAY(a, u32, l->source.n + 1);
    memset(g->n_child, 0, n * sizeof *g->n_child);
    memset(g->n_source, 0, n * sizeof *g->n_source);
    memset(g->image, 0, l->source.n * sizeof *g->image);
    for (u32 i = 0; i < n; i++)
        g->parent[i] = i;
    for (u32 i = 0; i < l->child.n; i++)
        tie(l, g, i);
    for (u32 i = 0; i < n; i++)
        (i < l->child.n ? g->n_child : g->n_source)[root_of(g, i)]++;
}

/* ---- One task and the one that it is from ---- */

struct twins {
    struct lowering *l;
    const struct step *child, *source;
};

/* WHAT differs; it is written in the clause FIELD. */
static void differ_in(struct twins *t, const char *field, const char *what, const char *is, const char *was)
{
    struct lowering *l = t->l;
    verify_error(&l->c->v, t->child->s, field, field == what ? NULL : what, "check.lowering.task", "%s has %s %s, but %s of %s, from which it is, has %s",
                 stmt_text(l->it, t->child->s), what, is, stmt_text(l->parent, t->source->s), symbol_text(l->parent, l->parent->name), was);
}

static void differ(struct twins *t, const char *field, const char *is, const char *was)
{
    differ_in(t, field, field, is, was);
}

static const char *word_text(const struct lowering *l, atom word)
{
    return word ? context_text(l->it->ctx, word) : "none";
}

static bool same_ranks(const struct item *a, u32 x, const struct item *b, u32 y)
{
    return list_n(a, x) == list_n(b, y) && !memcmp(list_at(a, x), list_at(b, y), list_n(a, x) * sizeof(u32));
}

/*
 * The parent's values among a task's operands or results, in order, are those of its source; others (weights,
 * workspace) are the layer's own.
 */
static void compare_values(struct twins *t, u32 mine, u32 theirs, const char *field)
{
    struct lowering *l = t->l;
    u32 next = 0, n = list_n(l->parent, theirs);
    for (u32 i = 0; i < list_n(l->it, mine); i++) {
        const struct stmt *buffer = item_value(l->it, list_at(l->it, mine)[i]), *value = buffer ? lowering_origin(l, buffer) : NULL;
        if (!value)
            continue;
        if (next < n && value->name == list_at(l->parent, theirs)[next]) {
            next++;
            continue;
        }
        verify_error(&l->c->v, t->child->s, NULL, stmt_text(l->it, buffer), "check.lowering.value", "%s stands for %s, but the %s of %s in %s %s %s",
                     stmt_text(l->it, buffer), stmt_text(l->parent, value), field, stmt_text(l->parent, t->source->s),
                     symbol_text(l->parent, l->parent->name), next < n ? "due here is" : "are fewer:",
                     next < n ? value_text(l->parent, list_at(l->parent, theirs)[next]) : "leave it out");
        return;
    }
    if (next < n)
        verify_error(&l->c->v, t->child->s, field, NULL, "check.lowering.value", "%s lacks the %s %s of %s", stmt_text(l->it, t->child->s), field,
                     value_text(l->parent, list_at(l->parent, theirs)[next]), stmt_text(l->parent, t->source->s));
}

/* A program written by hand may leave its work open. */
static bool says_work(const struct step *t)
{
    bool any = false;
    for (u32 i = 0; t->work && i < STEP_WORK; i++)
        any = any || t->work[i];
    return any;
}

static void compare_work(struct twins *t)
{
    const struct context *ctx = t->l->it->ctx;
    for (u32 i = 0; t->child->work && says_work(t->source) && i < STEP_WORK; i++)
        if (t->child->work[i] != t->source->work[i]) {
            const char *is = qty_text(ctx, t->child->work[i]);
            differ_in(t, "work", step_work_words[i], is, qty_text(ctx, t->source->work[i]));
        }
}

static void compare_ends(struct twins *t)
{
    struct exprs *x = t->l->it->ctx->exprs;
    const struct step *a = t->child, *b = t->source;
    if (a->source == b->source && a->destination == b->destination)
        return;
    const char *field = a->source != b->source ? "source" : "destination";
    u64 is = a->source != b->source ? a->source : a->destination, was = a->source != b->source ? b->source : b->destination;
    if (is == UINT64_MAX)
        return;         /* the layer leaves it to its routes */
    const char *text = qty_text(t->l->it->ctx, qty_number(x, is));
    differ(t, field, text, was == UINT64_MAX ? "none" : qty_text(t->l->it->ctx, qty_number(x, was)));
}

/* Groups are the same along the axes of V, but for those of one rank, which group nothing. */
static bool same_groups(const struct twins *t, const struct view *v)
{
    for (u32 k = 0; k + 2 < list_n(v->it, v->axes); k += 3) {
        atom axis = list_at(v->it, v->axes)[k];
        if (pair_get(list_at(v->it, v->axes) + k + 1) != 1 &&
            view_over(&t->l->child, t->child->over, axis) != view_over(&t->l->source, t->source->over, axis))
            return false;
    }
    return true;
}

static void compare_groups(struct twins *t)
{
    struct lowering *l = t->l;
    if (t->child->kind != STEP_COLLECTIVE || t->source->kind != STEP_COLLECTIVE || !lowering_same_mesh(l) ||
        (same_groups(t, &l->child) && same_groups(t, &l->source)))
        return;
    differ(t, "over", view_over_text(&l->child, t->child->over), view_over_text(&l->source, t->source->over));
}

static void compare(struct lowering *l, const struct step *child, const struct step *source)
{
    struct twins t = { l, child, source };
    if (source->kind != STEP_RESHARD && child->kind != source->kind)
        differ(&t, "body", step_kind_words[child->kind], step_kind_words[source->kind]);
    if (child->operation != source->operation && source->kind != STEP_RESHARD)
        differ(&t, "operation", word_text(l, child->operation), word_text(l, source->operation));
    if (child->phase && source->phase && strcmp(child->phase, source->phase) != 0)
        differ(&t, "phase", child->phase, source->phase);
    if (child->work && child->layer != source->layer)
        differ(&t, "layer", word_text(l, child->layer), word_text(l, source->layer));
    if (source->kind != STEP_TRANSFER && !same_ranks(l->it, child->ranks, l->parent, source->ranks))
        differ(&t, child->work ? "ranks" : "on", list_n(l->it, child->ranks) ? "other ranks" : "all", list_n(l->parent, source->ranks) ? "others" : "all");
    compare_groups(&t);
    compare_ends(&t);
    compare_work(&t);
    compare_values(&t, child->operands, source->operands, "operand");
    compare_values(&t, child->results, source->results, "result");
}

/* ---- Tasks fused or decomposed ---- */

/* A ring moves an all_reduce's message twice, as the reduce_scatter and all_gather that it may be decomposed into. */
static bool counts_twice(const struct lowering *l, const struct step *t, u32 fact)
{
    return fact == 3 && t->kind == STEP_COLLECTIVE && intern_is(&l->it->ctx->names, t->operation, "all_reduce");
}

static void add_up(struct lowering *l, struct groups *g, const struct view *v, u32 base, qty **sums)
{
    for (u32 k = 0; k < COUNT(summed); k++) {
        sums[k] = ARENA_ARRAY(&l->c->v.scratch, qty, l->child.n + l->source.n);
        memset(sums[k], 0, (l->child.n + l->source.n) * sizeof *sums[k]);
        for (u32 i = 0; i < v->n; i++) {
            qty *sum = &sums[k][root_of(g, base + i)], fact = v->steps[i].work[summed[k]];
            for (int times = counts_twice(l, &v->steps[i], summed[k]) ? 2 : 1; times; times--)
                if (qty_add(l->it->ctx->exprs, *sum, fact, sum) != EXPR_OK)
                    g->overflow = true;
        }
    }
}

static void compare_sums(struct lowering *l, struct groups *g, u32 root, const struct step *at)
{
    if (!at->work)
        return;
    if (!g->sums[0][0]) {
        add_up(l, g, &l->child, 0, g->sums[0]);
        add_up(l, g, &l->source, l->child.n, g->sums[1]);
    }
    for (u32 k = 0; !g->overflow && k < COUNT(summed); k++) {
        qty is = g->sums[0][k][root], was = g->sums[1][k][root];
        if (is == was || !was)
            continue;       /* a fact of which no source says anything is open */
        const char *text = qty_text(l->it->ctx, is);
        verify_error(&l->c->v, at->s, "work", NULL, "check.lowering.work", "%s and what is from the same tasks have %s %s in all, their sources %s",
                     stmt_text(l->it, at->s), step_work_words[summed[k]], text, qty_text(l->it->ctx, was));
    }
}

/* ---- Order ---- */

struct order_check {
    struct lowering *l;
    struct groups *g;
    struct order order;
    u32 n, broken;
};

static void check_dependency(void *state, u32 before, u32 after)
{
    struct order_check *o = state;
    struct lowering *l = o->l;
    u32 a = o->g->image[before], b = o->g->image[after];
    if (!a || !b)
        return;
    o->n++;
    if (order_before(&o->order, a - 1, b - 1) || o->broken++ > 0)
        return;
    verify_error(&l->c->v, l->child.steps[b - 1].s, NULL, NULL, "check.lowering.order", "nothing makes %s come after %s, as in %s",
                 stmt_text(l->it, l->child.steps[b - 1].s), stmt_text(l->it, l->child.steps[a - 1].s), symbol_text(l->parent, l->parent->name));
    verify_note(&l->c->v, l->child.steps[a - 1].s, NULL, NULL, "which stands here");
}

static void check_order(struct lowering *l, struct groups *g)
{
    struct order_check o = { .l = l, .g = g };
    if (!view_order(&l->child, &o.order)) {
        check_skipped(l->c, "the order of %u tasks: it can't be told", l->child.n);
        return;
    }
    view_dependencies(&l->source, check_dependency, &o);
    if (o.broken > 1)
        verify_note_legal(&l->c->v, "and %u more dependencies are lost", o.broken - 1);
    if (!o.broken)
        check_proved(l->c, "%u dependencies of %s hold", o.n, symbol_text(l->parent, l->parent->name));
}

/* ---- All ---- */

static void check_tasks(struct lowering *l)
{
    struct groups g = { 0 };
    u32 twins = 0, *source = NULL, others = 0, before = l->c->v.errors;
    make_groups(l, &g);
    source = ARENA_ARRAY(&l->c->v.scratch, u32, l->child.n + l->source.n + 1);
    for (u32 i = 0; i < l->source.n; i++)
        source[root_of(&g, l->child.n + i)] = i;
    for (u32 i = 0; i < l->child.n; i++) {
        u32 root = root_of(&g, i);
        if (!g.n_source[root])
            continue;
        if (g.n_child[root] == 1 && g.n_source[root] == 1) {
            compare(l, &l->child.steps[i], &l->source.steps[source[root]]);
            g.image[source[root]] = i + 1;
            twins++;
        } else if (g.n_child[root]) {
            compare_sums(l, &g, root, &l->child.steps[i]);
            g.n_child[root] = 0;        /* told once */
            others++;
        }
    }
    if (l->c->v.errors == before)
        check_proved(l->c, "%u tasks say what their sources in %s say", twins, symbol_text(l->parent, l->parent->name));
    if (others)
        check_skipped(l->c, "%u groups of fused or decomposed tasks but for their operations and messages: what they read and write may change", others);
    if (g.silent)
        check_skipped(l->c, "%u tasks that say no source, and have no namesake in %s", g.silent, symbol_text(l->parent, l->parent->name));
    if (g.overflow)
        check_skipped(l->c, "the sums of fused or decomposed tasks, which leave 128 bits");
    check_order(l, &g);
}

const struct stmt *lowering_origin(const struct lowering *l, const struct stmt *buffer)
{
    if (buffer->lineage_kind == LINEAGE_NONE)
        return item_value(l->parent, buffer->name);
    if (list_n(l->it, buffer->lineage) != 1 || !ref_is_value(list_at(l->it, buffer->lineage)[0]))
        return NULL;
    return item_value(l->parent, ref_atom(list_at(l->it, buffer->lineage)[0]));
}

/* The parent, or NULL: then it is said why not. */
static const struct item *find_parent(struct check *c)
{
    const struct item *it = c->v.item;
    enum layer above = it->kind->layer - 1;
    if (!it->header.parent.item) {
        check_skipped(c, "%s is derived from nothing: there is nothing to compare it with", symbol_text(it, it->name));
        return NULL;
    }
    const struct item *parent = c->v.module ? module_find(c->v.module, it->header.parent.item) : NULL;
    if (parent && parent->kind->layer == above)
        return parent;
    if (parent) {
        check_skipped(c, "%s against its parent %s, a %s: nothing was lowered", symbol_text(it, it->name), symbol_text(it, parent->name),
                      parent->kind->name);
        return NULL;
    }
    check_skipped(c, "%s against its parent %s, which is not in the file: keep it with --keep-sources", symbol_text(it, it->name),
                  symbol_text(it, it->header.parent.item));
    return NULL;
}

static bool run(struct check *c)
{
    struct lowering l = { .c = c, .it = c->v.item, .parent = find_parent(c) };
    if (!l.parent)
        return true;
    if (l.it->kind->layer == LAYER_DIST) {
        lowering_check_values(&l);
        return c->v.errors == 0;
    }
    view_read(&l.child, l.it, &c->v.scratch);
    view_read(&l.source, l.parent, &c->v.scratch);
    check_tasks(&l);
    lowering_check_program(&l);
    if (l.it->kind->layer == LAYER_PORTABLE) {
        lowering_check_buffers(&l);
        lowering_check_stage(&l);
    } else {
        lowering_check_binds(&l);
    }
    return c->v.errors == 0;
}

const struct checker lowering = {
    .name = "lowering", .layers = IN(LAYER_DIST) | IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE), .run = run,
    .doc = "A plan says of its parent's tasks, values and order what the parent says.",
};
