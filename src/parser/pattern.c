#include "parser/pattern.h"

enum { MOST_PATTERNS = 1024, LONGEST_WALK = 32, LONGEST_LINE = 1024, LONGEST_NAME = 4096, MOST_DIGITS = 18 };

/* ---- Making ---- */

/* A program that says something new each time is not worth looking at. */
static bool is_hopeless(const struct patterns *ps)
{
    return ps->missed > MOST_PATTERNS + ps->found;
}

bool patterns_want(const struct patterns *ps)
{
    return ps->n < MOST_PATTERNS && !is_hopeless(ps);
}

const char *pattern_name(const char *at)
{
    while ((*at >= 'a' && *at <= 'z') || *at == '_')
        at++;
    return at[0] == ' ' && (at[1] == '@' || at[1] == '%') ? at + 2 : NULL;       /* a $name has no dots */
}

struct pattern *pattern_new(struct patterns *ps, u32 size)
{
    struct pattern *t = arena_alloc(&ps->arena, sizeof *t + INDENT + size);
    pattern_text(t, "\n  ", INDENT);
    return t;
}

void pattern_text(struct pattern *t, const char *text, u32 n)
{
    memcpy(t->text + t->end, text, n);
    t->end += n;
}

/* By the line behind the name, without what may differ. */
static u32 bucket_of(const char *behind_name)
{
    u32 h = 0;
    for (const char *c = behind_name; *c && *c != '\n' && c - behind_name < LONGEST_LINE; c++) {
        h = *c >= '0' && *c <= '9' ? h : h * 31 + (u8)*c;
        if (*c == '@' || *c == '%')
            c += strcspn(c, " ,):\n") - 1;
    }
    return h % COUNT(((struct patterns *)0)->buckets);
}

void pattern_add(struct patterns *ps, struct pattern *t)
{
    struct pattern **bucket = &ps->buckets[bucket_of(t->text + t->head)];
    t->in_bucket = *bucket;
    *bucket = t;
    ps->n++;
    pattern_follow(ps, t);
}

void pattern_follow(struct patterns *ps, struct pattern *t)
{
    if (ps->last)
        ps->last->follower = t;
    ps->last = t;
}

/* ---- Finding ---- */

/* A statement's text ahead. */
struct ahead {
    const char *from, *behind;  /* the newline before it, and what is behind its name */
    const char *end;            /* of the source */
    const struct interner *names;
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
static bool take_number(const char **at, u64 *value)
{
    const char *from = *at;
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at)
        *value = *value * 10 + (u64)(**at - '0');
    return *at > from && *at - from <= MOST_DIGITS;
}

static bool take_name(const struct interner *names, const char **at, const char *end, struct interned *name)
{
    u32 form;
    const char *from = *at;
    *at = form_scan(from, end, &form);
    if (!(form & FORM_NAME) || *at - from > LONGEST_NAME)
        return false;
    *name = intern_ahead(names, from, (size_t)(*at - from), form);
    return true;
}

static bool take_slot(const struct pattern *t, const struct slot *s, const struct ahead *a, const char **at, struct filling *f)
{
    const char *from = *at;
    size_t n = s->at.end - s->at.begin;
    if (s->kind == SLOT_NUMBER ? !take_number(at, &f->number) : !take_name(a->names, at, a->end, &f->name))
        return false;
    f->same = (size_t)(*at - from) == n && !memcmp(from, t->text + s->at.begin, n);
    return true;
}

static bool take_pieces(const struct pattern *t, const struct ahead *a, const char **at, struct found *f)
{
    u32 from = t->head;
    for (u32 i = 0; i < t->n; from = t->slots[i++].at.end)
        if (!takes(t, from, t->slots[i].at.begin, at, a->end) || !take_slot(t, &t->slots[i], a, at, &f->fillings[i]))
            return false;
    return takes(t, from, t->end, at, a->end);
}

/* The text behind the name is that of T, but for the slots. Where it can be the same at all, that is seen at once. */
static bool continues(const struct pattern *t, const struct ahead *a, struct found *f)
{
    const char *at = a->behind;
    f->same = !t->n_results && takes(t, t->head, t->end, &at, a->end) && ends(t, at, a->end);
    if (!f->same) {
        at = a->behind;
        if (!t->n || !take_pieces(t, a, &at, f) || !ends(t, at, a->end))
            return false;
    }
    f->end = f->begin + (u32)(at - a->from) - INDENT;
    return true;
}

static struct pattern *search(const struct patterns *ps, const struct ahead *a, struct found *f)
{
    struct pattern *t = ps->buckets[bucket_of(a->behind)];
    for (u32 i = 0; t && i < LONGEST_WALK; i++, t = t->in_bucket)
        if (begins(t, a->from, a->end) && continues(t, a, f))
            return t;
    return NULL;
}

bool pattern_find(struct patterns *ps, const struct source *src, u32 from, const struct interner *names, struct found *f)
{
    struct ahead a = { .from = src->text + from, .end = src->text + src->size, .names = names };
    struct pattern *guess = ps->last ? ps->last->follower : NULL;
    if (!ps->n || is_hopeless(ps))
        return false;
    if (guess && !begins(guess, a.from, a.end))
        guess = NULL;
    a.behind = guess ? a.from + guess->head : strncmp(a.from, "\n  ", INDENT) ? NULL : pattern_name(a.from + INDENT);
    if (!a.behind || !take_name(names, &a.behind, a.end, &f->name))
        return false;
    f->begin = from + INDENT;
    f->like = guess && continues(guess, &a, f) ? guess : search(ps, &a, f);
    ps->found += f->like != NULL;
    ps->missed += f->like == NULL;
    return f->like != NULL;
}
