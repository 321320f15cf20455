#include "split.h"

struct line {
    const char *begin, *end;    /* blanks around it are left out */
    const char *next;
};

static struct line line_at(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    struct line l = { at, stop ? stop : end, stop ? stop + 1 : end };
    while (l.begin < l.end && strchr(" \t\r", *l.begin))
        l.begin++;
    while (l.end > l.begin && strchr(" \t\r", l.end[-1]))
        l.end--;
    return l;
}

static bool is_marker(struct line l, const char *marker)
{
    size_t n = strlen(marker);
    return (size_t)(l.end - l.begin) == n && !memcmp(l.begin, marker, n);
}

/* `//----`, `// ------`: a comment of four to six dashes only. */
static bool nearly_marker(struct line l)
{
    if (l.end - l.begin < 6 || memcmp(l.begin, "//", 2))
        return false;
    const char *at = l.begin + 2, *dashes;
    at += *at == ' ';
    for (dashes = at; at < l.end && *at == '-'; at++)
        ;
    return at == l.end && at - dashes >= 4 && at - dashes <= 6;
}

void split_warn(const struct source *part, struct diags *diags)
{
    const char *end = part->text + part->size;
    for (const char *at = part->text; at < end;) {
        struct line l = line_at(at, end);
        struct loc where = { part, (u32)(l.begin - part->text), (u32)(l.end - part->text) };
        if (nearly_marker(l))
            diag_warning(diags, where, "driver.split.near_miss",
                         "this line does not split the file; the marker is '" SPLIT_MARKER "'");
        at = l.next;
    }
}

struct parts {
    struct source *parts;
    u32 n, cap;
};

static void add_part(struct parts *p, const struct source *whole, const char *from, const char *to, u32 first_line)
{
    bool all = from == whole->text && (u32)(to - from) == whole->size;
    struct source part = { .name = whole->name, .text = from, .size = (u32)(to - from), .first_line = first_line,
                           .first_byte = whole->first_byte + (u32)(from - whole->text), .is_file = all && whole->is_file };
    *VEC_PUSH(p->parts, p->n, p->cap) = part;
}

struct source *split_source(struct source *whole, const char *marker, struct arena *arena, u32 *n)
{
    struct parts p = { 0 };
    const char *from = whole->text, *end = whole->text + whole->size;
    u32 number = whole->first_line, first = number;
    for (const char *at = from; marker && at < end; number++) {
        struct line l = line_at(at, end);
        if (is_marker(l, marker)) {
            add_part(&p, whole, from, at, first);
            from = l.next;
            first = number + 1;
        }
        at = l.next;
    }
    add_part(&p, whole, from, end, first);
    for (u32 i = 0; i + 1 < p.n; i++)
        ((char *)p.parts[i].text)[p.parts[i].size] = '\0';
    struct source *parts = ARENA_ARRAY(arena, struct source, p.n);
    memcpy(parts, p.parts, p.n * sizeof *parts);
    block_free(p.parts, p.cap * sizeof *p.parts);
    *n = p.n;
    return parts;
}
