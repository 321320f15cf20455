#include "lexer/text.h"

#include <math.h>
#include <stdlib.h>

bool text_first_on_line(const struct source *src, u32 offset)
{
    while (offset && (src->text[offset - 1] == ' ' || src->text[offset - 1] == '\t'))
        offset--;
    return !offset || src->text[offset - 1] == '\n';
}

u32 text_next(const struct source *src, u32 offset)
{
    for (;;) {
        while (offset < src->size && strchr(" \t\r\n", src->text[offset]) && src->text[offset])
            offset++;
        if (offset + 1 >= src->size || src->text[offset] != '/' || src->text[offset + 1] != '/')
            return offset;
        offset = source_line_end(src, offset);
    }
}

bool text_begins_item(const struct context *ctx, const struct source *src, u32 offset)
{
    const char *from = src->text + offset, *to = from;
    while ((*to >= 'a' && *to <= 'z') || *to == '.')
        to++;
    return context_item_kind(ctx, from, (size_t)(to - from)) != NULL;
}

/* Length of the well-formed sequence at S (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF), or 0. */
static int sequence(const unsigned char *s, const unsigned char *end)
{
    static const struct { unsigned char low, high, second_low, second_high; int length; } rows[] = {
        { 0x00, 0x7f, 0, 0, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (s[0] < rows[i].low || s[0] > rows[i].high)
            continue;
        if (end - s < rows[i].length)
            return 0;
        for (int k = 1; k < rows[i].length; k++) {
            unsigned char low = k == 1 ? rows[i].second_low : 0x80, high = k == 1 ? rows[i].second_high : 0xbf;
            if (s[k] < low || s[k] > high)
                return 0;
        }
        return rows[i].length;
    }
    return 0;
}

bool text_valid_utf8(const char *from, const char *to)
{
    const unsigned char *s = (const unsigned char *)from, *end = (const unsigned char *)to;
    while (s < end) {
        int n = *s < 0x80 ? 1 : sequence(s, end);
        if (!n)
            return false;
        s += n;
    }
    return true;
}

bool text_is_number(const char *from, const char *to)
{
    for (const char *c = from; c < to; c++)
        if (*c == '_' && (c == from || c + 1 == to || c[1] == '_'))
            return false;
    return true;
}

bool text_float(const char *from, const char *to, u64 *bits)
{
    char small[64], *copy = small;
    size_t n = (size_t)(to - from);
    if (n >= sizeof small && !(copy = malloc(n + 1)))
        return false;
    memcpy(copy, from, n);
    copy[n] = '\0';
    double value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    memcpy(bits, &value, sizeof value);
    return isfinite(value);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One escape behind a backslash at *C; moves on and returns the byte, or -1. */
static int escape(const char **c)
{
    static const char from[] = "\"\\ntr", to[] = "\"\\\n\t\r";
    char kind = *(*c)++;
    const char *hit = strchr(from, kind);
    if (kind && hit)
        return to[hit - from];
    if (kind != 'x' || hex_digit((*c)[0]) < 0 || hex_digit((*c)[1]) < 0)
        return -1;
    int byte = hex_digit((*c)[0]) * 16 + hex_digit((*c)[1]);
    *c += 2;
    return byte;
}

atom text_unquote(struct context *ctx, const char *from, const char *to, const char **fault)
{
    size_t n = 0;
    char *text = malloc((size_t)(to - from) + 1);
    if (!text)
        abort();
    for (const char *c = from + 1; c < to - 1 && !*fault;) {
        int byte = *c == '\\' ? (c++, escape(&c)) : (unsigned char)*c++;
        if (byte < 0)
            *fault = "an escape is one of \\\" \\\\ \\n \\t \\r and \\xHH";
        else
            text[n++] = (char)byte;
    }
    if (!*fault && !text_valid_utf8(text, text + n))
        *fault = "this string is not valid UTF-8";
    atom a = *fault ? 0 : intern(&ctx->names, text, n);
    free(text);
    return a;
}
