#define _GNU_SOURCE
#include "ir/print_shape.h"

#include "ir/implied.h"
#include "ir/print.h"
#include "support/quantity.h"

enum { SLOTS = 1024, PROBES = 4, LONGEST_TEXT = 1024, LONGEST_NAME = 512 };

/* A statement that was printed: its text, cut where another one differs. */
struct printed {
    u32 hash;
    u32 lineage;            /* 0: implied */
    u32 facts;              /* which are said */
    bool phase;             /* the name says it */
    u8 pieces, numbers;
    u8 number[MOST_FACTS];  /* which fact */
    u16 end[MOST_FACTS + 3];    /* piece i is text[end[i]] to text[end[i + 1]]: up to the name, then between the numbers */
    const struct stmt *like;
    u16 whole;              /* its own text behind the name, numbers and all, is that long and stands behind the pieces */
    char text[];
};

struct shape_printer {
    struct arena arena;
    struct shape *shapes;               /* by entity */
    struct {
        u32 hash;                       /* of what was looked for here, 0: nothing yet */
        bool learned;
        struct printed *printed;        /* what was learned, if it could be */
    } slots[SLOTS];
};

struct shape_printer *shape_printer_new(const struct item *it)
{
    struct arena arena;
    arena_init(&arena);
    struct shape *shapes = shapes_of(it, &arena);
    if (!shapes)
        return NULL;
    struct shape_printer *p = ARENA_NEW(&arena, struct shape_printer);
    p->shapes = shapes;
    p->arena = arena;
    return p;
}

void shape_printer_free(struct shape_printer *p)
{
    if (!p)
        return;
    struct arena arena = p->arena;
    arena_free(&arena);
}

/* ---- What is asked of a statement besides its shape ---- */

struct look {
    u32 hash, lineage, facts;
    bool phase, plain;
};

static bool phase_is_implied(const struct item *it, const struct stmt *s, const struct shape *shape)
{
    const struct enumeration *phases = shape->phase->aux;
    return phase_is_said(&it->ctx->names.atoms[s->name], phases, (u32)field_get(s, shape->phase));
}

static struct look look_at(const struct item *it, const struct stmt *s, const struct shape *shape)
{
    struct look l = { .lineage = lineage_is_implied(it, s) ? 0 : s->lineage };
    l.facts = shape_said(shape, s, &l.plain);
    l.phase = shape->phase && phase_is_implied(it, s, shape);
    l.hash = (shape_hash(shape, s) + 31 * l.lineage + 7 * l.facts + l.phase) | 1;
    return l;
}

static bool is_printed(const struct printed *t, const struct stmt *s, const struct shape *shape, const struct look *l)
{
    return t && t->hash == l->hash && t->lineage == l->lineage && t->facts == l->facts && t->phase == l->phase &&
           shape_equal(shape, s, t->like) && s->entity == t->like->entity;
}

/* ---- Learning ---- */

static void cut(struct printed *t, const char *from, const char *to)
{
    u32 n = t->pieces++;
    memcpy(t->text + t->end[n], from, (size_t)(to - from));
    t->end[n + 1] = (u16)(t->end[n] + (to - from));
}

/* Where the facts stand in TEXT; NULL: nowhere for sure. */
static const char *find_facts(const struct item *it, const struct stmt *s, const struct shape *shape, const struct out *text)
{
    struct out facts;
    out_memory(&facts);
    print_field(&facts, it, s, shape->group);
    const char *at = memmem(text->data, text->n, facts.data, facts.n), *end = text->data + text->n;
    bool twice = at && memmem(at + 1, (size_t)(end - at - 1), facts.data, facts.n);
    out_free(&facts);
    return twice ? NULL : at;
}

/* Cuts the text behind the name at the numbers of the facts: `(operations 512, read 192)`. */
static bool cut_facts(struct printed *t, const struct item *it, const struct stmt *s, const struct shape *shape,
                      const struct out *text, const char *behind_name)
{
    const char *from = behind_name, *at = t->facts ? find_facts(it, s, shape, text) : NULL;
    if (t->facts && (!at || at < behind_name))
        return false;
    for (u32 i = 0; i < shape->n_facts; i++) {
        if (!(t->facts >> i & 1))
            continue;
        at += (t->numbers ? 2 : 1) + shape->facts[i].length + 1;
        cut(t, from, at);
        t->number[t->numbers++] = (u8)i;
        for (; *at >= '0' && *at <= '9'; at++)
            ;
        from = at;
    }
    cut(t, from, text->data + text->n);
    return true;
}

static struct printed *learn(struct shape_printer *p, const struct item *it, const struct stmt *s, const struct shape *shape, const struct look *l)
{
    const struct interned *name = &it->ctx->names.atoms[s->name];
    size_t front = strlen(stmt_entity(it, s)->keyword) + 2;        /* up to the name: `task @` */
    struct out text;
    out_memory(&text);
    print_stmt(&text, it, s);
    struct printed *t = text.n <= LONGEST_TEXT ? arena_alloc(&p->arena, sizeof *t + 2 * text.n) : NULL;
    bool good = t != NULL;
    if (good) {
        *t = (struct printed){ .hash = l->hash, .lineage = l->lineage, .facts = l->facts, .phase = l->phase, .like = s };
        cut(t, text.data, text.data + front);
        good = cut_facts(t, it, s, shape, &text, text.data + front + name->length);
        t->whole = (u16)(text.n - front - name->length);
        memcpy(t->text + t->end[t->pieces], text.data + front + name->length, t->whole);
    }
    out_free(&text);
    return good ? t : NULL;
}

/* The slot of a hash; where all that it may have are taken, the first is given up. */
static u32 slot_of(struct shape_printer *p, u32 hash, bool *seen)
{
    u32 i = hash % SLOTS;
    for (u32 k = 0; k < PROBES; k++) {
        u32 at = (i + k) % SLOTS;
        *seen = p->slots[at].hash == hash;
        if (*seen || !p->slots[at].hash)
            return at;
    }
    p->slots[i].learned = false;
    return i;
}

/* ---- Printing ---- */

static char *add(char *at, const char *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

static void put_together(struct out *o, const struct printed *t, const struct shape *shape, const struct interned *name,
                         const struct stmt *s)
{
    const u64 *facts = shape_facts(shape, s);
    u32 n = t->end[t->pieces];
    char *begin = out_room(o, n + t->whole + name->length + t->numbers * U128_DIGITS), *at = begin;
    at = add(at, t->text, t->end[1]);
    at = add(at, name->text, name->length);
    if (!memcmp(facts, shape_facts(shape, t->like), shape->n_facts * sizeof *facts)) {
        o->n += (size_t)(add(at, t->text + n, t->whole) - begin);      /* blocks of a model are often equal */
        return;
    }
    for (u32 i = 0; i < t->numbers; i++) {
        at = add(at, t->text + t->end[i + 1], (size_t)(t->end[i + 2] - t->end[i + 1]));
        at += u64_digits(facts[t->number[i]], at);
    }
    at = add(at, t->text + t->end[t->pieces - 1], (size_t)(n - t->end[t->pieces - 1]));
    o->n += (size_t)(at - begin);
}

/* A plain name and plain numbers stand in the text as they are. */
static bool can_repeat(const struct item *it, const struct stmt *s, const struct shape *shape)
{
    const struct interned *name = &it->ctx->names.atoms[s->name];
    return shape->end && s->name && name->form & FORM_NAME && name->length <= LONGEST_NAME &&
           stmt_entity(it, s)->fields[0].kind == FIELD_SYMBOL_NAME;
}

/* What prints as S does; learned of the second of its shape, since many statements are like no other. NULL: nothing yet. */
static const struct printed *find(struct shape_printer *p, const struct item *it, const struct stmt *s, const struct shape *shape)
{
    struct look l = look_at(it, s, shape);
    bool seen = false;
    u32 at = l.plain ? slot_of(p, l.hash, &seen) : 0;
    if (seen && !p->slots[at].learned) {
        p->slots[at].printed = learn(p, it, s, shape, &l);
        p->slots[at].learned = true;
    }
    if (l.plain)
        p->slots[at].hash = l.hash;
    return seen && is_printed(p->slots[at].printed, s, shape, &l) ? p->slots[at].printed : NULL;
}

void print_shaped(struct out *o, struct shape_printer *p, const struct item *it, const struct stmt *s)
{
    const struct shape *shape = p ? &p->shapes[s->entity] : NULL;
    const struct printed *t = p && can_repeat(it, s, shape) ? find(p, it, s, shape) : NULL;
    if (t)
        put_together(o, t, shape, &it->ctx->names.atoms[s->name], s);
    else
        print_stmt(o, it, s);
}
