/* Memory by named lifetime: an arena frees everything at once, nobody frees a node. */
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include "support/base.h"

struct arena {
    struct arena_chunk *chunks;     /* newest first */
    char *at, *end;                 /* END: of the part of the newest that is in use */
    size_t next_size;
};

void arena_init(struct arena *a);
void arena_free(struct arena *a);

/* Zeroed, aligned for any type. Never NULL: out of memory ends the process with a message. */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of LENGTH bytes, with a NUL behind them. */
char *arena_copy(struct arena *a, const char *bytes, size_t length);

/* The same without the NUL, close to the bytes before it. */
const char *arena_pack(struct arena *a, const char *bytes, size_t length);

char *arena_format(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (n)))

/*
 * Blocks that grow by doubling. From 2 MiB on they are backed by huge pages, since tables are read here and there. What an
 * arena holds is written in order, and gets common pages: those are mostly at hand, while a virtual machine may have to
 * get huge ones from its host, at up to 3 ms for each MB.
 */
void *block_grow(void *old, size_t old_size, size_t new_size);     /* contents kept, new bytes zero */
void block_free(void *block, size_t size);

/* A buffer, whose new bytes are anything; for free(). */
void *buffer_grow(void *old, size_t new_size);

/* Room for one more element in a vector `array` of `n` used and `cap` allocated elements. */
#define VEC_PUSH(array, n, cap) \
    ((n) == (cap) ? (void)((array) = block_grow((array), (cap) * sizeof *(array), \
                                                ((cap) ? (cap) * 2 : 16) * sizeof *(array)), \
                           (cap) = (cap) ? (cap) * 2 : 16) \
                  : (void)0, \
     &(array)[(n)++])

#endif
