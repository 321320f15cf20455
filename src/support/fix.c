#include "support/fix.h"

#include <stdlib.h>
#include <string.h>

struct change {
    const struct fixit *fix;
    u32 group;              /* the diagnostic's number */
};

struct changes {
    struct change *list;
    u32 n, cap;
};

static int by_place(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    u32 x = a->fix->at.begin, y = b->fix->at.begin;
    return x != y ? (x > y) - (x < y) : (a->group > b->group) - (a->group < b->group);
}

static bool is_in(const struct fixit *f, const struct source *src)
{
    return f->at.src == src && f->at.begin <= f->at.end && f->at.end <= src->size;
}

static u32 collect(struct diags *d, const struct source *src, struct changes *c)
{
    u32 group = 0;
    for (const struct diag *g = d->first; g; g = g->next, group++) {
        bool all = true;
        for (const struct fixit *f = g->fixes; f; f = f->next)
            all = all && is_in(f, src);
        for (const struct fixit *f = all ? g->fixes : NULL; f; f = f->next)
            *VEC_PUSH(c->list, c->n, c->cap) = (struct change){ f, group };
    }
    if (c->n)
        qsort(c->list, c->n, sizeof *c->list, by_place);
    return group;
}

static bool same_fix(const struct fixit *a, const struct fixit *b)
{
    return a->at.begin == b->at.begin && a->at.end == b->at.end && !strcmp(a->text, b->text);
}

/* Two insertions at one place overlap, too: which is first can't be told. */
static bool overlap(const struct fixit *first, const struct fixit *second)
{
    return second->at.begin < first->at.end || second->at.begin == first->at.begin;
}

enum { KEPT, LEFT_OUT, REPEATED };

/* Leaves out the later of two that overlap, and with it all of its diagnostic, until none do. */
static void choose(const struct changes *c, u8 *state)
{
    for (bool again = true; again;) {
        const struct change *last = NULL;
        again = false;
        for (u32 i = 0; i < c->n; i++) {
            const struct change *now = &c->list[i];
            if (state[now->group] == LEFT_OUT)
                continue;
            if (last && last->group != now->group && overlap(last->fix, now->fix) && !same_fix(last->fix, now->fix)) {
                state[now->group] = LEFT_OUT;
                again = true;
            } else if (!last || now->fix->at.end >= last->fix->at.end) {
                last = now;
            }
        }
    }
}

static bool has_crlf(const struct source *src)
{
    const char *newline = memchr(src->text, '\n', src->size);
    return newline && newline > src->text && newline[-1] == '\r';
}

/* New lines end as those of the text do. */
static void out_fix(struct out *o, const char *text, bool crlf)
{
    for (; *text; text++) {
        if (crlf && *text == '\n')
            out_char(o, '\r');
        out_char(o, *text);
    }
}

static void write(const struct changes *c, const u8 *state, const struct source *src, struct out *o)
{
    const struct fixit *last = NULL;
    bool crlf = src->size && has_crlf(src);
    u32 at = 0;
    for (u32 i = 0; i < c->n; i++) {
        const struct fixit *f = c->list[i].fix;
        if (state[c->list[i].group] == LEFT_OUT || (last && same_fix(last, f)) || f->at.begin < at)
            continue;
        out_bytes(o, src->text + at, f->at.begin - at);
        out_fix(o, f->text, crlf);
        at = f->at.end;
        last = f;
    }
    out_bytes(o, src->text + at, src->size - at);
}

struct fix_count fixes_apply(struct diags *d, const struct source *src, struct out *o)
{
    struct changes c = { 0 };
    struct fix_count count = { 0 };
    u32 groups = collect(d, src, &c);
    u8 *state = calloc(groups + 1u, 1);
    if (!state)
        abort();
    choose(&c, state);
    write(&c, state, src, o);
    for (u32 i = 0; i < c.n; i++)
        if (state[c.list[i].group] != REPEATED) {
            count.applied += state[c.list[i].group] == KEPT;
            count.left_out += state[c.list[i].group] == LEFT_OUT;
            state[c.list[i].group] = REPEATED;
        }
    free(state);
    if (c.list)
        block_free(c.list, c.cap * sizeof *c.list);
    return count;
}
