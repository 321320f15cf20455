/* "Did you mean …?": edit distance on short names. */
#include "support/diag.h"

#include <string.h>

enum { LONGEST = 64, STEP = 2 };

static char folded(char c)
{
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein distance with transpositions, in half steps; a difference that folding removes costs one half. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    int rows[3][LONGEST + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = (int)j * STEP;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i * STEP;
        for (size_t j = 1; j <= m; j++) {
            int change = a[i - 1] == b[j - 1] ? 0 : folded(a[i - 1]) == folded(b[j - 1]) ? 1 : STEP;
            row[j] = smaller(above[j - 1] + change, smaller(above[j], row[j - 1]) + STEP);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + STEP);
        }
        int *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[m];
}

static bool same_folded(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b))
        a++, b++;
    return *a == *b;
}

/* %x12 and %x13: numbered things, of which one is as near as the other. */
static bool differ_in_digits(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    while (a += strspn(a, digits), b += strspn(b, digits), *a && *a == *b)
        a++, b++;
    return *a == *b;
}

bool is_sure_name(const char *name, const char *near)
{
    enum { SHORT = 3 };
    return same_folded(name, near) || (strlen(name) >= SHORT && !differ_in_digits(name, near));
}

/* Letters of A apart from the whole parts that dotted names have in common at their begin and end. */
static size_t own_length(const char *a, size_t n, const char *b, size_t m)
{
    size_t front = 0, back = 0;
    for (size_t i = 0; i < n && i < m && a[i] == b[i]; i++)
        front = a[i] == '.' ? i + 1 : front;
    for (size_t i = 0; i < n - front && i < m - front && a[n - 1 - i] == b[m - 1 - i]; i++)
        back = a[n - 1 - i] == '.' ? i + 1 : back;
    return n - front - back;
}

static int limit(size_t length)
{
    return STEP * (int)(length / 3 > 2 ? length / 3 : length > 3 ? 2 : 1);
}

const char *nearest_name(const char *name, const char *const *names, size_t n)
{
    size_t length = strlen(name);
    if (!length || length > LONGEST)
        return NULL;
    int best = STEP * LONGEST;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(names[i]);
        if (!other || other > LONGEST)
            continue;
        int d = same_folded(name, names[i]) ? 1 : distance(name, length, names[i], other);
        if (d < best && d <= limit(own_length(name, length, names[i], other))) {
            best = d;
            found = names[i];
        }
    }
    return found;
}
