/*
 * Buffers and bindings: on which ranks something is in them, and on which they are read. Times are the verifiers' matter;
 * here a rank must have some writer at all, and a transfer writes where it ends.
 */
#include "conformance/closure.h"

#include "conformance/schedule.h"

#include "dialects/concrete/concrete.h"
#include "dialects/portable/portable.h"

struct writer {
    u32 step, set;
};

struct buffer {
    const struct stmt *s;
    bool full;                  /* on every rank from the start, or nothing is known of it */
    u32 first, n;               /* writers: closure.writers[first] on */
    bool joined;
    struct rank_set holders;    /* once joined */
};

struct closure {
    struct check *c;
    const struct item *it, *source;     /* what it is from, or NULL */
    struct rank_sets sets;
    struct numbering names;
    struct buffer *buffers;
    struct writer *writers;
    u32 n_writers;
    struct view view;
    bool counting;
    u32 uses, open;
};

/* ---- What is full ---- */

static bool starts_full(const struct portable_buffer *b)
{
    return b->role == PORTABLE_INPUT || b->role == PORTABLE_CONSTANT || b->role == PORTABLE_STATE;
}

static bool is_full(const struct closure *x, const struct stmt *s)
{
    if (x->it->kind->layer == LAYER_PORTABLE)
        return starts_full((const struct portable_buffer *)s);
    const struct stmt *from = x->source ? source_value(x->it, s, x->source) : NULL;
    return ((const struct concrete_bind *)s)->lives == CONCRETE_ALWAYS || (from && starts_full((const struct portable_buffer *)from));
}

static struct buffer *buffer_of(const struct closure *x, atom name)
{
    u32 number;
    return numbering_find(&x->names, name, &number) ? &x->buffers[number] : NULL;
}

/* ---- Where transfers begin and end ---- */

static u64 device_rank(const struct closure *x, atom device)
{
    const struct stmt *s = item_symbol(x->it, device);
    return s && s->entity == CONCRETE_DEVICE ? ((const struct concrete_device *)s)->rank : UINT64_MAX;
}

static void read_routes(struct closure *x)
{
    for (u32 i = 0; i < x->it->n_stmts; i++) {
        const struct concrete_route *r = (const struct concrete_route *)x->it->stmts[i];
        u32 number;
        if (r->s.entity != CONCRETE_ROUTE || !view_find(&x->view, r->command, &number))
            continue;
        x->view.steps[number].source = device_rank(x, r->source);
        x->view.steps[number].destination = device_rank(x, r->destination);
    }
}

/* A command's transfer goes from where its task says to where that says, if no route says it. */
static void read_ends(struct closure *x, struct step *step)
{
    const struct stmt *s = x->source && step->kind == STEP_TRANSFER ? source_task(x->it, step->s, x->source) : NULL;
    const struct portable_task *t = (const struct portable_task *)s;
    if (!t || t->body != PORTABLE_TRANSFER || step->source < UINT32_MAX)
        return;
    step->source = t->more->source;
    step->destination = t->more->destination;
}

static u32 end_set(struct closure *x, const struct step *step, u64 rank)
{
    return step->kind == STEP_TRANSFER && rank < UINT32_MAX ? rank_set_one(&x->sets, (u32)rank) : rank_set_of(&x->sets, step->ranks);
}

/* ---- Writers ---- */

static void write_buffer(struct closure *x, u32 step, u32 set, atom name)
{
    struct buffer *b = buffer_of(x, name);
    if (!b || b->full)
        return;
    if (!x->counting)
        x->writers[b->first + b->n] = (struct writer){ step, set };
    b->n++;
}

static void write_step(struct closure *x, u32 i)
{
    const struct step *step = &x->view.steps[i];
    u32 set = end_set(x, step, step->destination), effects = 0;
    for (u32 k = 0; k < list_n(x->it, step->results); k++)
        write_buffer(x, i, set, list_at(x->it, step->results)[k]);
    if (x->it->kind->layer == LAYER_PORTABLE)
        effects = ((const struct portable_task *)step->s)->more->effects;
    for (u32 k = 0; k + 1 < list_n(x->it, effects); k += 2) {
        u32 kind = list_at(x->it, effects)[k], ref = list_at(x->it, effects)[k + 1];
        if (ref_is_value(ref) && (kind == EFFECT_WRITE || kind == EFFECT_UPDATE || kind == EFFECT_ALLOCATE))
            write_buffer(x, i, rank_set_of(&x->sets, step->ranks), ref_atom(ref));
    }
}

/* Counted, then put. */
static void read_writers(struct closure *x)
{
    for (u32 round = 0; round < 2; round++) {
        x->counting = round == 0;
        for (u32 i = 0; i < x->view.n; i++)
            write_step(x, i);
        if (round)
            break;
        for (u32 i = 0; i < x->names.n; i++) {
            x->buffers[i].first = x->n_writers;
            x->n_writers += x->buffers[i].n;
            x->buffers[i].n = 0;
        }
        x->writers = ARENA_ARRAY(&x->c->v.scratch, struct writer, x->n_writers + (size_t)1);
    }
}

/* All ranks on which a buffer has a writer. */
static const struct rank_set *holders_of(struct closure *x, struct buffer *b)
{
    struct rank_sets joined;
    struct rank_range *ranges;
    u32 n = 0;
    if (b->joined)
        return &b->holders;
    for (u32 i = 0; i < b->n; i++)
        n += x->sets.sets[x->writers[b->first + i].set].n;
    ranges = ARENA_ARRAY(&x->c->v.scratch, struct rank_range, n + (size_t)1);
    n = 0;
    for (u32 i = 0; i < b->n; i++) {
        const struct rank_set *s = &x->sets.sets[x->writers[b->first + i].set];
        if (i == 0 || x->writers[b->first + i].set != x->writers[b->first + i - 1].set)
            for (u32 k = 0; k < s->n; k++)
                ranges[n++] = s->ranges[k];
    }
    rank_sets_init(&joined, &x->c->v.scratch, x->it, ranges, n);
    b->holders = joined.sets[ALL_RANKS];
    b->joined = true;
    return &b->holders;
}

/* The lowest rank of A that is not in B, whose ranges touch no neighbour. */
static bool find_missing(const struct rank_set *a, const struct rank_set *b, u32 *rank)
{
    for (u32 i = 0, k = 0; i < a->n; i++) {
        while (k < b->n && b->ranges[k].last < a->ranges[i].first)
            k++;
        bool starts = k < b->n && b->ranges[k].first <= a->ranges[i].first;
        if (starts && b->ranges[k].last >= a->ranges[i].last)
            continue;
        *rank = starts ? b->ranges[k].last + 1 : a->ranges[i].first;
        return true;
    }
    return false;
}

/* ---- Readers ---- */

static bool refuse_read(struct closure *x, const struct step *step, const struct buffer *b, u32 rank)
{
    struct check *c = x->c;
    const char *name = stmt_text(x->it, b->s);
    verify_error(&c->v, step->s, NULL, name, "check.cross_rank_closure.absent", "rank %u reads %s in %s, and nothing brings it there", rank, name,
                 stmt_text(x->it, step->s));
    if (b->n) {
        const struct step *writer = &x->view.steps[x->writers[b->first].step];
        verify_note(&c->v, writer->s, NULL, name, writer->kind == STEP_TRANSFER ? "%s brings it to rank %u" : "%s writes it, on ranks from %u",
                    stmt_text(x->it, writer->s), x->sets.sets[x->writers[b->first].set].ranges[0].first);
    }
    verify_note_legal(&c->v, "what brings it is a `collective` or a `transfer`");
    return false;
}

static bool read_buffer(struct closure *x, const struct step *step, u32 set, atom name)
{
    struct buffer *b = buffer_of(x, name);
    u32 rank;
    if (!b)
        return true;
    x->uses++;
    if (b->full || (!b->n && x->it->kind->layer == LAYER_CONCRETE) || (b->n == 1 && x->writers[b->first].set == set))
        return true;
    if (b->n == 1 && x->writers[b->first].set == ALL_RANKS)
        return true;
    return !find_missing(&x->sets.sets[set], holders_of(x, b), &rank) || refuse_read(x, step, b, rank);
}

static bool is_broadcast(const struct closure *x, const struct step *step)
{
    const char *text = context_text(x->it->ctx, step->operation), *dot = strrchr(text, '.');
    return !strcmp(dot ? dot + 1 : text, "broadcast");
}

static bool read_step(struct closure *x, const struct step *step)
{
    u32 set = end_set(x, step, step->source);
    bool good = true;
    if (step->kind == STEP_TRANSFER && step->source >= UINT32_MAX) {
        x->open++;
        return true;
    }
    if (step->kind == STEP_COLLECTIVE && is_broadcast(x, step))
        return true;            /* only its roots read, and no layer below dist says which they are */
    for (u32 k = 0; k < list_n(x->it, step->operands); k++)
        good = read_buffer(x, step, set, list_at(x->it, step->operands)[k]) && good;
    return good;
}

/* ---- The item ---- */

static void read_item(struct closure *x)
{
    struct arena *a = &x->c->v.scratch;
    numbering_init(&x->names, a, x->it->values.n);
    x->buffers = ARENA_ARRAY(a, struct buffer, x->it->values.n + (size_t)1);
    view_read(&x->view, x->it, a);
    schedule_ranks(&x->view, &x->sets);
    for (u32 i = 0; i < x->it->n_stmts; i++) {
        const struct stmt *s = x->it->stmts[i];
        if (stmt_entity(x->it, s)->flags & ENTITY_VALUE)
            x->buffers[numbering_add(&x->names, s->name)] = (struct buffer){ .s = s, .full = is_full(x, s) };
    }
    if (x->it->kind->layer == LAYER_CONCRETE)
        read_routes(x);
}

bool closure_buffers_check(struct check *c)
{
    struct closure x = { .c = c, .it = c->v.item };
    bool good = true;
    x.source = x.it->kind->layer == LAYER_CONCRETE ? source_item(c, x.it, LAYER_PORTABLE) : NULL;
    read_item(&x);
    for (u32 i = 0; i < x.view.n; i++)
        read_ends(&x, &x.view.steps[i]);
    read_writers(&x);
    for (u32 i = 0; i < x.view.n; i++)
        good = read_step(&x, &x.view.steps[i]) && good;
    if (good && x.uses)
        check_proved(c, "%u uses of buffers: each is by ranks that hold something in it", x.uses);
    if (x.open)
        check_skipped(c, "transfers of which neither a route nor a source says the ends: %u", x.open);
    if (!x.uses)
        check_skipped(c, "no task writes its operands");
    return good;
}
