/* Where text goes: memory, a file descriptor, or a hash. Writing never fails; a fault is kept and asked for. */
#ifndef SUPPORT_OUT_H
#define SUPPORT_OUT_H

#include "support/base.h"

enum { OUT_BUFFER = 256 << 10 };

struct out {
    char *data;
    size_t n, cap;
    bool (*flush)(struct out *o);   /* NULL: memory, grows */
    int fd;
    void *state;
    int error;                      /* errno of the first failed write */
};

void out_memory(struct out *o);
void out_fd(struct out *o, int fd);

/* Hands on what is buffered; false (with o->error set) when some write failed. */
bool out_flush(struct out *o);
void out_free(struct out *o);       /* flushes nothing */

void out_reserve_slow(struct out *o, size_t n);

/* A place to write up to N bytes (N <= OUT_BUFFER); the caller then adds what it wrote to o->n. */
static inline char *out_room(struct out *o, size_t n)
{
    if (o->cap - o->n < n)
        out_reserve_slow(o, n);
    return o->data + o->n;
}

void out_bytes_slow(struct out *o, const char *bytes, size_t n);

static inline void out_bytes(struct out *o, const char *bytes, size_t n)
{
    if (o->cap - o->n < n) {
        out_bytes_slow(o, bytes, n);
    } else if (n) {
        memcpy(o->data + o->n, bytes, n);
        o->n += n;
    }
}

void out_u128(struct out *o, u128 value);
void out_u64(struct out *o, u64 value);
void out_printf(struct out *o, const char *format, ...) PRINTF_LIKE(2, 3);

static inline void out_string(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

static inline void out_char(struct out *o, char c)
{
    *out_room(o, 1) = c;
    o->n++;
}

/* "…" with C-like escapes: \" \\ \n \t \r and \xHH for other control bytes; UTF-8 as it is. */
void out_quoted(struct out *o, const char *bytes, size_t n);

/* A JSON string; a byte that is not UTF-8 becomes U+FFFD. */
void out_json_string(struct out *o, const char *bytes, size_t n);

#endif
