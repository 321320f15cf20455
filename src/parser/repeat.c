#include "parser/repeat.h"

#include "parser/build.h"

enum { BUCKETS = 256, MOST_PATTERNS = 1024, LONGEST_WALK = 32, LONGEST_TEXT = 1024, LONGEST_NAME = 4096, MOST_DIGITS = 18, INDENT = 3 };

/* A statement that was parsed: its text, cut where a repetition may differ, and what it became. */
struct pattern {
    struct pattern *in_bucket, *follower;   /* FOLLOWER: what came behind it the last time */
    struct stmt *like;                      /* not settled, without its name */
    u32 size;                               /* of *like */
    u32 n;                                  /* slots */
    u32 offset[MOST_SLOTS];
    u32 cut[MOST_SLOTS + 3];                /* piece i is text[cut[i]] to text[cut[i + 1]]: keyword and @, the rest between */
    char text[];
};

struct repeats {
    struct arena arena;                     /* of the patterns */
    struct pattern *buckets[BUCKETS];
    struct pattern *last;                   /* of the statement made last, if it has one */
    u32 n;
    u32 found, missed;                      /* looks that did, and did not, find a repetition */
    /* What is ahead: it is looked for when the statement before it is not complete yet. */
    struct pattern *match;
    struct span keyword;
    struct interned name;
    u64 values[MOST_SLOTS];
    const char *stop;                       /* where its text ends */
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

static bool can_repeat(const struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    return at.begin == p->stmt->begin && s->name.end && !s->never &&
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

static void add_piece(struct pattern *t, u32 *n, const char *from, const char *to)
{
    memcpy(t->text + t->cut[*n], from, (size_t)(to - from));
    t->cut[*n + 1] = t->cut[*n] + (u32)(to - from);
    ++*n;
}

static void follow(struct repeats *r, struct pattern *t)
{
    if (r->last)
        r->last->follower = t;
    r->last = t;
}

void repeat_learn(struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    struct repeats *r = p->repeats;
    const char *text = p->src->text;
    if (!can_repeat(p, at))
        return;
    struct pattern *t = arena_alloc(&r->arena, sizeof *t + (at.end - at.begin));
    u32 n = 0, from = s->name.end;
    add_piece(t, &n, text + at.begin, text + s->name.begin + 1);
    for (u32 i = 0; i < s->n_slots; i++) {
        add_piece(t, &n, text + from, text + s->slots[i].at.begin);
        t->offset[i] = s->slots[i].offset;
        from = s->slots[i].at.end;
    }
    add_piece(t, &n, text + from, text + at.end);
    t->n = s->n_slots;
    t->size = stmt_entity(p->item, p->stmt)->size;
    t->like = arena_alloc(&r->arena, t->size);
    memcpy(t->like, p->stmt, t->size);
    struct pattern **bucket = &r->buckets[bucket_of(text + s->name.end)];
    t->in_bucket = *bucket;
    *bucket = t;
    follow(r, t);
    r->n++;
}

/* ---- Matching ---- */

static bool takes(const struct pattern *t, u32 piece, const char **at, const char *end)
{
    size_t n = t->cut[piece + 1] - t->cut[piece];
    if ((size_t)(end - *at) < n || memcmp(*at, t->text + t->cut[piece], n))
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

static bool is_like(const struct pattern *t, const char *at, const char *end)
{
    return takes(t, 0, &at, end);
}

/* Whether the statement ends AT for sure: its item ends, or another one like it begins. */
static bool ends(const struct pattern *t, const char *at, const char *end)
{
    if (at[0] != '\n' || at[1] == '}')
        return at[0] == '\n';
    return at[1] == ' ' && at[2] == ' ' && is_like(t, at + INDENT, end);
}

/* A statement's text: keyword, name, what is behind the name. */
struct ahead {
    const char *keyword, *name, *behind, *end;      /* END: of the source */
};

/* The text ahead is that of T, but for the name and the numbers. */
static bool matches(struct repeats *r, const struct pattern *t, const struct ahead *a)
{
    const char *at = a->behind;
    if (!is_like(t, a->keyword, a->end) || !takes(t, 1, &at, a->end))
        return false;
    for (u32 i = 0; i < t->n; i++)
        if (!number(&at, &r->values[i]) || !takes(t, i + 2, &at, a->end))
            return false;
    r->stop = at;
    return ends(t, at, a->end);
}

static struct pattern *find(struct repeats *r, const struct ahead *a)
{
    struct pattern *t = r->last ? r->last->follower : NULL;
    if (t && matches(r, t, a))
        return t;
    t = r->buckets[bucket_of(a->behind)];
    for (u32 i = 0; t && i < LONGEST_WALK; i++, t = t->in_bucket)
        if (matches(r, t, a))
            return t;
    return NULL;
}

/* Looks for a repeated statement on the line that begins behind the newline at FROM. */
static bool look(struct parser *p, u32 from)
{
    struct repeats *r = p->repeats;
    const char *text = p->src->text;
    struct ahead a = { .keyword = text + from + INDENT, .end = text + p->src->size };
    u32 form;
    if (!r->n || is_hopeless(r) || strncmp(text + from, "\n  ", INDENT))
        return false;
    for (a.name = a.keyword; *a.name >= 'a' && *a.name <= 'z'; a.name++)
        ;
    r->keyword = (struct span){ from + INDENT, (u32)(a.name - text) };
    if (*a.name++ != ' ' || (*a.name != '@' && *a.name != '%'))     /* a $name has no dots */
        return false;
    a.behind = form_scan(++a.name, a.end, &form);
    if (!(form & FORM_NAME) || a.behind - a.name > LONGEST_NAME)
        return false;
    r->name = intern_ahead(&p->ctx->names, a.name, (size_t)(a.behind - a.name), form);
    r->match = find(r, &a);
    r->found += r->match != NULL;
    r->missed += r->match == NULL;
    return r->match != NULL;
}

bool repeat_ahead(struct parser *p, struct span *at)
{
    struct lexer *l = &p->lexer;
    if (*l->cursor != '\n' || p->pushed != l->last_end || l->nesting != 1 || !look(p, l->last_end))
        return false;
    *at = p->repeats->keyword;
    lexer_moved(l, *at);
    return true;
}

void repeat_build(struct parser *p)
{
    struct repeats *r = p->repeats;
    const struct pattern *t = r->match;
    u32 end = (u32)(r->stop - p->src->text);
    follow(r, r->match);
    p->stmt = item_add_copy(p->item, t->like, t->size);
    p->stmt_at = r->keyword;
    p->stmt->name = intern_now(&p->ctx->names, &r->name, p->src->is_file);
    p->stmt->begin = r->keyword.begin;
    for (u32 i = 0; i < t->n; i++) {
        qty q = qty_number(p->ctx->exprs, r->values[i]);
        memcpy((char *)p->stmt + t->offset[i], &q, sizeof q);
    }
    build_stmt_enter(p, r->keyword.begin);
    lexer_moved(&p->lexer, (struct span){ end, end });
    p->pushed = end;
}
