#include "tsv.h"

#include "support/quantity.h"

#include <stdio.h>
#include <stdlib.h>

static void die(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", which, what);
    exit(2);
}

static char *read_file(struct arena *arena, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("can't be read", path);
    long size = ftell(f);
    rewind(f);
    char *text = arena_alloc(arena, (size_t)size + 1);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        die("can't be read", path);
    fclose(f);
    return text;
}

static size_t count(const char *text, char c)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

/* Cuts LINE at its tabs; returns the text behind its end. */
static char *cut_line(char *line, const char **cells, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        cells[i] = line;
        line += strcspn(line, "\t\n");
        if ((*line == '\t') != (i + 1 < n))
            die("a row has more or fewer cells than the header", path);
        if (*line)
            *line++ = '\0';
    }
    return line;
}

struct tsv tsv_read(struct arena *arena, const char *path)
{
    char *text = read_file(arena, path);
    char *end = strchr(text, '\n');
    if (!end)
        die("has no rows", path);
    *end = '\0';
    struct tsv t = { .n_columns = count(text, '\t') + 1 };
    *end = '\n';
    const char **columns = ARENA_ARRAY(arena, const char *, t.n_columns);
    const char **cells = ARENA_ARRAY(arena, const char *, t.n_columns * count(text, '\n'));
    text = cut_line(text, columns, t.n_columns, path);
    for (; *text; t.n_rows++)
        text = cut_line(text, &cells[t.n_rows * t.n_columns], t.n_columns, path);
    t.columns = columns;
    t.cells = cells;
    return t;
}

const char *tsv_cell(const struct tsv *t, size_t row, const char *column)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (!strcmp(t->columns[i], column))
            return t->cells[row * t->n_columns + i];
    die("no such column", column);
    return NULL;
}

static i128 magnitude(i128 a)
{
    return a < 0 ? -a : a;
}

struct fraction fraction_of(i128 over, i128 under)
{
    i128 g = (i128)u128_gcd((u128)magnitude(over), (u128)under);
    return (struct fraction){ over / g, under / g };
}

struct fraction fraction_read(const char *text)
{
    bool negative = *text == '-';
    const char *slash = strchr(text, '/');
    u128 over, under = 1;
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    if (!u128_parse(text + negative, length - negative, &over) ||
        (slash && !u128_parse(slash + 1, strlen(slash + 1), &under)))
        die("is no number", text);
    return fraction_of(negative ? -(i128)over : (i128)over, (i128)under);
}

static i128 multiply(i128 a, i128 b)
{
    i128 product;
    if (__builtin_mul_overflow(a, b, &product))
        die("a test number overflows", "fraction");
    return product;
}

struct fraction fraction_add(struct fraction a, struct fraction b)
{
    i128 over;
    if (__builtin_add_overflow(multiply(a.over, b.under), multiply(b.over, a.under), &over))
        die("a test number overflows", "fraction");
    return fraction_of(over, multiply(a.under, b.under));
}

struct fraction fraction_mul(struct fraction a, struct fraction b)
{
    return fraction_of(multiply(a.over, b.over), multiply(a.under, b.under));
}

bool fraction_equal(struct fraction a, struct fraction b)
{
    return a.over == b.over && a.under == b.under;
}

const char *fraction_text(struct arena *arena, struct fraction f)
{
    char over[U128_DIGITS], under[U128_DIGITS];
    u128_text((u128)magnitude(f.over), over);
    const char *sign = f.over < 0 ? "-" : "";
    if (f.under == 1)
        return arena_format(arena, "%s%s", sign, over);
    return arena_format(arena, "%s%s/%s", sign, over, u128_text((u128)f.under, under));
}
