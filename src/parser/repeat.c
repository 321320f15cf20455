#include "parser/repeat.h"

#include "parser/build.h"

enum {
    BUCKETS = 256, MOST_PATTERNS = 1024, LONGEST_WALK = 32, LONGEST_TEXT = 1024, LONGEST_NAME = 4096, MOST_DIGITS = 18,
    QUEUE = 16,         /* a power of 2 */
};

static const char indent[] = "\n  ";        /* ahead of a statement */
enum { INDENT = sizeof indent - 1 };

/* A statement that was parsed: its text without its name, and what it became. */
struct pattern {
    struct pattern *in_bucket, *follower;   /* FOLLOWER: what came behind it the last time */
    struct stmt *like;                      /* not settled, without its name */
    u32 size;                               /* of *like */
    u32 n;                                  /* slots: numbers that may differ */
    struct slot slots[MOST_SLOTS];          /* their places in TEXT */
    u32 head, end;                          /* TEXT up to the name's sigil, the indent included, and all of it */
    char text[];
};

/* A repeated statement ahead. */
struct found {
    struct pattern *like;
    struct interned name;
    u32 begin, end;                         /* of its text */
    bool same;                              /* the numbers are those of LIKE; else they are VALUES */
    u64 values[MOST_SLOTS];
};

struct repeats {
    struct arena arena;                     /* of the patterns */
    struct pattern *buckets[BUCKETS];
    struct pattern *last;                   /* of the statement read last, if it has one */
    u32 n;
    u32 found, missed;                      /* looks that did, and did not, find a repetition */
    /* What was found of a run and is not built yet: so the interner's places for the names come from memory meanwhile. */
    struct found queue[QUEUE];
    u32 n_found, n_built;                   /* since the run began */
};

struct repeats *repeats_new(struct arena *arena)
{
    struct repeats *r = ARENA_NEW(arena, struct repeats);
    arena_init(&r->arena);
    return r;
}

void repeats_free(struct repeats *r)
{
    arena_free(&r->arena);
}

void repeats_forget(struct repeats *r)
{
    arena_free(&r->arena);
    *r = (struct repeats){ .arena = r->arena };
}

/* ---- Learning ---- */

/* A program that says something new each time is not worth looking at. */
static bool is_hopeless(const struct repeats *r)
{
    return r->missed > MOST_PATTERNS + r->found;
}

void repeat_begin(struct parser *p)
{
    p->repeatable.name = (struct span){ 0, 0 };
    p->repeatable.n_slots = 0;
    p->repeatable.reported = p->ctx->diags->last;
    p->repeatable.never = false;
}

void repeat_slot(struct parser *p, struct span at, u32 offset)
{
    struct repeatable *s = &p->repeatable;
    if (s->n_slots < MOST_SLOTS)
        s->slots[s->n_slots++] = (struct slot){ at, offset };
}

static bool has_trivia(const struct module *m, struct span at)
{
    for (u32 i = m->n_trivia; i-- && m->trivia[i].begin >= at.begin;)
        if (m->trivia[i].begin < at.end)
            return true;
    return false;
}

/* Where the name begins, if AT are a keyword, a blank and a name with its sigil. */
static const char *behind_sigil(const char *at)
{
    while (*at >= 'a' && *at <= 'z')
        at++;
    return at[0] == ' ' && (at[1] == '@' || at[1] == '%') ? at + 2 : NULL;       /* a $name has no dots */
}

static bool can_repeat(const struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    const char *text = p->src->text;
    return at.begin == p->stmt->begin && s->name.end && behind_sigil(text + at.begin) == text + s->name.begin + 1 && !s->never &&
           s->reported == p->ctx->diags->last && !has_trivia(p->module, at) && at.end - at.begin <= LONGEST_TEXT &&
           p->repeats->n < MOST_PATTERNS && !is_hopeless(p->repeats);
}

/* By the first line behind the name, without its digits. */
static u32 bucket_of(const char *behind_name)
{
    u32 h = 0;
    for (const char *c = behind_name; *c && *c != '\n' && c - behind_name < LONGEST_TEXT; c++)
        h = *c >= '0' && *c <= '9' ? h : h * 31 + (u8)*c;
    return h % BUCKETS;
}

static void add_text(struct pattern *t, const char *text, u32 n)
{
    memcpy(t->text + t->end, text, n);
    t->end += n;
}

static void follow(struct repeats *r, struct pattern *t)
{
    if (r->last)
        r->last->follower = t;
    r->last = t;
}

static void add_pattern(struct repeats *r, struct pattern *t)
{
    struct pattern **bucket = &r->buckets[bucket_of(t->text + t->head)];
    t->in_bucket = *bucket;
    *bucket = t;
    follow(r, t);
    r->n++;
}

void repeat_learn(struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    const char *text = p->src->text;
    if (!can_repeat(p, at))
        return;
    struct pattern *t = arena_alloc(&p->repeats->arena, sizeof *t + INDENT + at.end - at.begin);
    add_text(t, indent, INDENT);
    add_text(t, text + at.begin, s->name.begin + 1 - at.begin);
    t->head = t->end;
    add_text(t, text + s->name.end, at.end - s->name.end);
    t->n = s->n_slots;
    for (u32 i = 0; i < t->n; i++) {
        struct span number = s->slots[i].at;
        u32 begin = t->head + number.begin - s->name.end;
        t->slots[i] = (struct slot){ { begin, begin + number.end - number.begin }, s->slots[i].offset };
    }
    t->size = stmt_entity(p->item, p->stmt)->size;
    t->like = arena_alloc(&p->repeats->arena, t->size);
    memcpy(t->like, p->stmt, t->size);
    add_pattern(p->repeats, t);
}

/* ---- Matching ---- */

/* A statement's text ahead. */
struct ahead {
    const char *from, *name, *behind;       /* the newline before it; its name, behind the sigil; what is behind the name */
    const char *end;                        /* of the source */
};

static bool begins(const struct pattern *t, const char *at, const char *end)
{
    return (size_t)(end - at) > t->head && !memcmp(at, t->text, t->head);
}

/* Whether the statement ends AT for sure: its item ends, or another one like it begins. */
static bool ends(const struct pattern *t, const char *at, const char *end)
{
    return *at == '\n' && (at[1] == '}' || begins(t, at, end));
}

static bool takes(const struct pattern *t, u32 from, u32 to, const char **at, const char *end)
{
    size_t n = to - from;
    if ((size_t)(end - *at) < n || memcmp(*at, t->text + from, n))
        return false;
    *at += n;
    return true;
}

/* 18 digits at most, so that the number is its own qty. */
static bool number(const char **at, u64 *value)
{
    const char *from = *at;
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at)
        *value = *value * 10 + (u64)(**at - '0');
    return *at > from && *at - from <= MOST_DIGITS;
}

/* The text of T from FROM on is AT, but for the numbers. */
static bool takes_all(const struct pattern *t, const char **at, const char *end, u64 *values)
{
    u32 from = t->head;
    for (u32 i = 0; i < t->n; from = t->slots[i++].at.end)
        if (!takes(t, from, t->slots[i].at.begin, at, end) || !number(at, &values[i]))
            return false;
    return takes(t, from, t->end, at, end);
}

/* The text behind the name is that of T, but for the numbers. */
static bool continues(const struct pattern *t, const struct ahead *a, struct found *f)
{
    const char *at = a->behind;
    f->same = takes(t, t->head, t->end, &at, a->end) && ends(t, at, a->end);
    if (!f->same) {
        at = a->behind;
        if (!t->n || !takes_all(t, &at, a->end, f->values) || !ends(t, at, a->end))
            return false;
    }
    f->end = f->begin + (u32)(at - a->from) - INDENT;
    return true;
}

static struct pattern *find(const struct repeats *r, const struct ahead *a, struct found *f)
{
    struct pattern *t = r->buckets[bucket_of(a->behind)];
    for (u32 i = 0; t && i < LONGEST_WALK; i++, t = t->in_bucket)
        if (begins(t, a->from, a->end) && continues(t, a, f))
            return t;
    return NULL;
}

/* Looks for a repeated statement on the line that begins behind the newline at FROM. */
static bool look(struct parser *p, u32 from, struct found *f)
{
    struct repeats *r = p->repeats;
    struct ahead a = { .from = p->src->text + from, .end = p->src->text + p->src->size };
    struct pattern *guess = r->last ? r->last->follower : NULL;
    u32 form;
    if (!r->n || is_hopeless(r))
        return false;
    if (guess && !begins(guess, a.from, a.end))
        guess = NULL;
    a.name = guess ? a.from + guess->head : strncmp(a.from, indent, INDENT) ? NULL : behind_sigil(a.from + INDENT);
    if (!a.name)
        return false;
    a.behind = form_scan(a.name, a.end, &form);
    if (!(form & FORM_NAME) || a.behind - a.name > LONGEST_NAME)
        return false;
    f->begin = from + INDENT;
    f->like = guess && continues(guess, &a, f) ? guess : find(r, &a, f);
    r->found += f->like != NULL;
    r->missed += f->like == NULL;
    if (f->like)
        f->name = intern_ahead(&p->ctx->names, a.name, (size_t)(a.behind - a.name), form);
    return f->like != NULL;
}

static struct span keyword_of(const struct found *f)
{
    return (struct span){ f->begin, f->begin + f->like->head - INDENT - 2 };
}

bool repeat_ahead(struct parser *p, struct span *at)
{
    struct lexer *l = &p->lexer;
    struct repeats *r = p->repeats;
    if (*l->cursor != '\n' || p->pushed != l->last_end || l->nesting != 1 || !look(p, l->last_end, &r->queue[0]))
        return false;
    r->n_found = 1;
    r->n_built = 0;
    *at = keyword_of(&r->queue[0]);
    lexer_moved(l, *at);
    return true;
}

/* ---- Building ---- */

/* Looks for the statement behind the last one found. */
static bool find_more(struct parser *p)
{
    struct repeats *r = p->repeats;
    const struct found *last = &r->queue[(r->n_found - 1) % QUEUE];
    struct found *next = &r->queue[r->n_found % QUEUE];
    if (!look(p, last->end, next))
        return false;
    follow(r, next->like);
    r->n_found++;
    return true;
}

static void build(struct parser *p, const struct found *f)
{
    const struct pattern *t = f->like;
    p->stmt = item_add_copy(p->item, t->like, t->size);
    p->stmt->name = intern_now(&p->ctx->names, &f->name, p->src->is_file);
    p->stmt->begin = f->begin;
    for (u32 i = 0; !f->same && i < t->n; i++)
        memcpy((char *)p->stmt + t->slots[i].offset, &f->values[i], sizeof f->values[i]);
    build_stmt_enter(p, f->begin);
}

/* As if each token of F had been read. */
static void move_behind(struct parser *p, const struct found *f)
{
    struct span before = { f->begin - INDENT, f->begin - INDENT }, end = { f->end, f->end };
    p->stmt_at = keyword_of(f);
    lexer_moved(&p->lexer, before);
    lexer_moved(&p->lexer, p->stmt_at);
    lexer_moved(&p->lexer, end);
    p->pushed = f->end;
}

void repeat_build(struct parser *p)
{
    struct repeats *r = p->repeats;
    bool more = true;
    follow(r, r->queue[0].like);
    do {
        while (more && r->n_found - r->n_built < QUEUE)
            more = find_more(p);
        build(p, &r->queue[r->n_built % QUEUE]);
    } while (++r->n_built < r->n_found);
    move_behind(p, &r->queue[(r->n_built - 1) % QUEUE]);
}
