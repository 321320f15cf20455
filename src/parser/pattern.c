#include "parser/pattern.h"

enum {
    MOST_PATTERNS = 1024, MOST_VARIANTS = 1024, LONGEST_WALK = 32, LONGEST_LINE = 1024, LONGEST_NAME = 4096, MOST_DIGITS = 18,
};

void patterns_forget(struct patterns *ps)
{
    arena_free(&ps->arena);
    struct arena arena = ps->arena;
    memset(ps, 0, offsetof(struct patterns, past));       /* which is only read as far as it was written */
    ps->arena = arena;
}

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

static u32 add_text(struct pattern *t, const char *from, const char *to)
{
    memcpy(t->text + t->end, from, (size_t)(to - from));
    return t->end += (u32)(to - from);
}

struct pattern *pattern_new(struct patterns *ps, const char *from, const char *name, const char *behind, const char *end)
{
    struct pattern *t = arena_alloc(&ps->arena, sizeof *t + INDENT + (size_t)(end - from));
    const char *dot = memchr(name, '.', (size_t)(behind - name));
    u32 form = FORM_WORD;
    add_text(t, "\n  ", "\n  " + INDENT);
    t->head = add_text(t, from, name);
    t->tail = dot ? add_text(t, dot, behind) : t->head;
    add_text(t, behind, end);
    if (dot)
        form_scan(dot + 1, behind, &form);
    t->is_word = form & FORM_WORD;
    return t;
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

static u32 tails_of(const char *tail, const char *end)
{
    u32 h = 0;
    while (tail < end)
        h = h * 31 + (u8)*tail++;
    return h % COUNT(((struct patterns *)0)->tails);
}

static void enter(struct patterns *ps, struct pattern *t)
{
    struct pattern **bucket = &ps->buckets[bucket_of(t->text + t->tail)];
    struct pattern **tails = &ps->tails[tails_of(t->text + t->head, t->text + t->tail)];
    t->in_bucket = *bucket;
    *bucket = t;
    if (t->head == t->tail)
        return;
    t->in_tails = *tails;
    *tails = t;
}

void pattern_add(struct patterns *ps, struct pattern *t)
{
    enter(ps, t);
    ps->n++;
    t->seen = ps->n_past + 1;
    ps->past[ps->n_past++ % PAST] = t;
}

/* Cuts T, whose text is LIKE's but for the slots, as that is cut. */
static void cut_alike(struct pattern *t, const struct pattern *like)
{
    u32 from = like->tail, at = t->tail, form;
    for (t->n = 0; t->n < like->n; from = like->slots[t->n++].at.end) {
        struct slot *s = &t->slots[t->n];
        *s = like->slots[t->n];
        s->at.begin = at += s->at.begin - from;
        s->at.end = at += s->kind == SLOT_NUMBER ? (u32)strspn(t->text + at, "0123456789")
                                                 : (u32)(form_scan(t->text + at, t->text + t->end, &form) - (t->text + at));
    }
}

struct pattern *pattern_variant(struct patterns *ps, const struct source *src, const struct found *f)
{
    if ((f->same && f->same_tail) || f->like->n_results || ps->n_variants == MOST_VARIANTS)
        return NULL;
    struct pattern *t = pattern_new(ps, src->text + f->begin, f->name.text, f->name.text + f->name.length, src->text + f->end);
    cut_alike(t, f->like);
    enter(ps, t);
    ps->n_variants++;
    t->seen = f->place + 1;
    ps->past[f->place % PAST] = t;
    return t;
}

/* ---- Finding ---- */

/* A statement's text ahead. */
struct ahead {
    const char *from, *name, *part;     /* the newline before it; its name behind the sigil; where that has its first dot, or ends */
    const char *behind;                 /* where it ends; NULL: see find_name */
    const char *end;                    /* of the source */
    u32 form;
    const struct interner *names;
};

static bool find_name(struct ahead *a)
{
    if (!a->behind) {
        a->behind = form_scan(a->name, a->end, &a->form);
        a->form = a->behind - a->name > LONGEST_NAME ? 0 : a->form;
    }
    return a->form & FORM_NAME;
}

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
    const char *from = *at, *digit = from;
    u64 n = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        n = n * 10 + (u64)(*digit - '0');
    *at = digit;
    *value = n;
    return digit > from && digit - from <= MOST_DIGITS;
}

static bool take_name(const struct interner *names, const char **at, const char *end, struct interned *name)
{
    struct ahead a = { .name = *at, .end = end };
    if (!find_name(&a))
        return false;
    *name = intern_ahead(names, a.name, (size_t)(a.behind - a.name), a.form);
    *at = a.behind;
    return true;
}

static bool take_slot(const struct pattern *t, const struct slot *s, const struct ahead *a, const char **at, struct filling *f)
{
    size_t n = s->at.end - s->at.begin;
    if (s->kind == SLOT_NUMBER)
        return take_number(at, &f->number);
    if (!take_name(a->names, at, a->end, &f->name))
        return false;
    f->same = f->name.length == n && !memcmp(f->name.text, t->text + s->at.begin, n);
    return true;
}

static bool take_pieces(const struct pattern *t, const struct ahead *a, const char **at, struct found *f)
{
    u32 from = t->tail;
    f->same_names = true;
    for (u32 i = 0; i < t->n; from = t->slots[i++].at.end) {
        if (!takes(t, from, t->slots[i].at.begin, at, a->end) || !take_slot(t, &t->slots[i], a, at, &f->fillings[i]))
            return false;
        f->same_names = f->same_names && (t->slots[i].kind == SLOT_NUMBER || f->fillings[i].same);
    }
    return takes(t, from, t->end, at, a->end);
}

static bool is_whole(const struct pattern *t, const char **at, u32 from, const struct ahead *a)
{
    return !t->n_results && takes(t, from, t->end, at, a->end) && ends(t, *at, a->end);
}

/* The name ends as that of T. */
static void end_name(struct ahead *a, const struct pattern *t)
{
    a->behind = a->part + (t->tail - t->head);
    a->form = FORM_NAME | (t->is_word && (*a->name < '0' || *a->name > '9') ? FORM_WORD : 0);
}

static bool may_end_alike(const struct ahead *a)
{
    return a->part > a->name && a->part - a->name <= LONGEST_NAME;
}

/* Where the name ends if it does as that of T: quicker than find_name. */
static void guess_name(struct ahead *a, const struct pattern *t)
{
    const char *at = a->part;
    if (may_end_alike(a) && takes(t, t->head, t->tail, &at, a->end) && *at == ' ')
        end_name(a, t);
}

/* The text behind the first part of the name is that of T. */
static bool goes_on(const struct pattern *t, struct ahead *a, struct found *f)
{
    const char *at = a->part;
    if (!may_end_alike(a) || !is_whole(t, &at, t->head, a))
        return false;
    end_name(a, t);
    f->same = f->same_names = f->same_tail = true;
    f->end = f->begin + (u32)(at - a->from) - INDENT;
    return true;
}

/* The text behind the name is that of T, but for the slots. */
static bool continues(const struct pattern *t, struct ahead *a, struct found *f)
{
    if (!a->behind)
        guess_name(a, t);
    if (!find_name(a))
        return false;
    const char *at = a->behind;
    f->same = f->same_names = is_whole(t, &at, t->tail, a);
    if (!f->same) {
        at = a->behind;
        if (!t->n || !take_pieces(t, a, &at, f) || !ends(t, at, a->end))
            return false;
    }
    f->same_tail = a->behind - a->part == t->tail - t->head && !memcmp(a->part, t->text + t->head, t->tail - t->head);
    f->end = f->begin + (u32)(at - a->from) - INDENT;
    return true;
}

/* At best one whose name ends alike: it tells best what comes next. */
static struct pattern *search(const struct patterns *ps, struct ahead *a, struct found *f)
{
    if (!find_name(a))
        return NULL;
    struct pattern *t = a->part < a->behind ? ps->tails[tails_of(a->part, a->behind)] : NULL;
    for (u32 i = 0; t && i < LONGEST_WALK; i++, t = t->in_tails)
        if (begins(t, a->from, a->end) && continues(t, a, f) && f->same_tail)
            return t;
    t = ps->buckets[bucket_of(a->behind)];
    for (u32 i = 0; t && i < LONGEST_WALK; i++, t = t->in_bucket)
        if (begins(t, a->from, a->end) && continues(t, a, f))
            return t;
    return NULL;
}

static struct pattern *expected(const struct patterns *ps)
{
    return ps->at < ps->n_past && ps->n_past - ps->at <= PAST ? ps->past[ps->at % PAST] : NULL;
}

void pattern_follow(struct patterns *ps, struct found *f)
{
    struct pattern *t = f->like;
    ps->at = t == expected(ps) ? ps->at + 1 : t->seen;
    f->place = ps->n_past++;
    ps->past[f->place % PAST] = t;
    t->seen = f->place + 1;
}

bool pattern_find(struct patterns *ps, const struct source *src, u32 from, const struct interner *names, struct found *f)
{
    struct ahead a = { .from = src->text + from, .end = src->text + src->size, .names = names };
    struct pattern *guess = expected(ps);
    if (!ps->n || is_hopeless(ps))
        return false;
    __builtin_prefetch(a.from + 1024);
    __builtin_prefetch(a.from + 1024 + 64);
    if (guess && !begins(guess, a.from, a.end))
        guess = NULL;
    a.name = guess ? a.from + guess->head : strncmp(a.from, "\n  ", INDENT) ? NULL : pattern_name(a.from + INDENT);
    if (!a.name)
        return false;
    a.part = form_part(a.name, a.end);
    f->begin = from + INDENT;
    f->like = guess && (goes_on(guess, &a, f) || continues(guess, &a, f)) ? guess : search(ps, &a, f);
    ps->found += f->like != NULL;
    ps->missed += f->like == NULL;
    if (f->like)
        f->name = intern_ahead(names, a.name, (size_t)(a.behind - a.name), a.form);
    return f->like != NULL;
}
