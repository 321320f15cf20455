#define _GNU_SOURCE
#include "support/out.h"

#include "support/arena.h"
#include "support/quantity.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool flush_fd(struct out *o)
{
    size_t done = 0;
    while (done < o->n && !o->error) {
        ssize_t n = write(o->fd, o->data + done, o->n - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            o->error = errno;
    }
    return !o->error;
}

void out_memory(struct out *o)
{
    *o = (struct out){ .fd = -1 };
}

void out_fd(struct out *o, int fd)
{
    *o = (struct out){ .fd = fd, .flush = flush_fd, .cap = OUT_BUFFER };
    o->data = buffer_grow(NULL, o->cap);
}

bool out_flush(struct out *o)
{
    if (o->flush && o->n) {
        o->flush(o);
        o->n = 0;
    }
    return !o->error;
}

void out_free(struct out *o)
{
    free(o->data);
    *o = (struct out){ .fd = -1 };
}

void out_reserve_slow(struct out *o, size_t n)
{
    if (o->flush) {
        if (!o->cap) {
            o->cap = OUT_BUFFER;
            o->data = buffer_grow(NULL, o->cap);
        }
        out_flush(o);
        assert(n <= o->cap);
        return;
    }
    size_t cap = o->cap ? o->cap * 2 : 256;
    while (cap - o->n < n)
        cap *= 2;
    o->data = buffer_grow(o->data, cap);
    o->cap = cap;
}

void out_bytes_slow(struct out *o, const char *bytes, size_t n)
{
    while (n) {
        size_t part = o->flush && n > OUT_BUFFER / 2 ? OUT_BUFFER / 2 : n;
        memcpy(out_room(o, part), bytes, part);
        o->n += part;
        bytes += part;
        n -= part;
    }
}

void out_u128(struct out *o, u128 value)
{
    o->n += u128_digits(value, out_room(o, U128_DIGITS));
}

void out_u64(struct out *o, u64 value)
{
    out_u128(o, value);
}

void out_printf(struct out *o, const char *format, ...)
{
    char small[512], *big = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    if (n >= (int)sizeof small && vasprintf(&big, format, again) < 0)
        abort();
    out_bytes(o, big ? big : small, (size_t)n);
    free(big);
    va_end(args);
    va_end(again);
}

void out_quoted(struct out *o, const char *bytes, size_t n)
{
    out_char(o, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        const char *named = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\t' ? "\\t"
                            : c == '\r' ? "\\r" : NULL;
        if (named)
            out_string(o, named);
        else if (c < 0x20 || c == 0x7f)
            out_printf(o, "\\x%02x", c);
        else
            out_char(o, (char)c);
    }
    out_char(o, '"');
}

/* Bytes of the UTF-8 character at AT, or 0 where there is none: a stray, cut, overlong or surrogate one. */
static size_t utf8_length(const char *at, size_t n)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool bad = length > 2 && ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
                              (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f));
    return bad ? 0 : length;
}

void out_json_string(struct out *o, const char *bytes, size_t n)
{
    out_char(o, '"');
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        length = utf8_length(bytes + i, n - i);
        if (bytes[i] == '"' || bytes[i] == '\\')
            out_char(o, '\\');
        if (!length)
            out_string(o, "\\ufffd");
        else if ((unsigned char)bytes[i] < 0x20)
            out_printf(o, "\\u%04x", (unsigned)bytes[i]);
        else
            out_bytes(o, bytes + i, length);
    }
    out_char(o, '"');
}
