#define _GNU_SOURCE
#include "support/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, FIRST_CHUNK = 1 << 10, LAST_CHUNK = 16 << 20, STEP = 256 << 10 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
};

static void out_of_memory(size_t size)
{
    fprintf(stderr, "bp-opt: out of memory (%zu bytes wanted)\n", size);
    exit(2);
}

/* Zero; SIZE is a multiple of HUGE_PAGE. */
static void *map(size_t size)
{
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        out_of_memory(size);
    return block;
}

/* Huge-page aligned and zero; SIZE is a multiple of HUGE_PAGE. */
static void *map_huge(size_t size)
{
    char *raw = map(size + HUGE_PAGE), *aligned = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (aligned > raw)
        munmap(raw, (size_t)(aligned - raw));
    munmap(aligned + size, (size_t)(raw + HUGE_PAGE - aligned));
    madvise(aligned, size, MADV_HUGEPAGE);
    return aligned;
}

static size_t round_huge(size_t size)
{
    return (size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

static void *block_new(size_t size)
{
    if (size >= HUGE_PAGE)
        return map_huge(round_huge(size));
    void *block = calloc(1, size);
    if (!block)
        out_of_memory(size);
    return block;
}

void block_free(void *block, size_t size)
{
    if (size >= HUGE_PAGE)
        munmap(block, round_huge(size));
    else
        free(block);
}

/* Huge pages are moved, not copied: fresh ones are zeroed when they are touched, and that is dear. */
static void *move_huge(void *old, size_t old_size, size_t new_size)
{
    char *block = map_huge(round_huge(new_size));
    size_t size = round_huge(old_size);
    if (mremap(old, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, block) == MAP_FAILED)
        out_of_memory(new_size);
    return block;
}

void *block_grow(void *old, size_t old_size, size_t new_size)
{
    if (old && old_size >= HUGE_PAGE)
        return move_huge(old, old_size, new_size);
    void *block = block_new(new_size);
    if (old) {
        memcpy(block, old, old_size);
        block_free(old, old_size);
    }
    return block;
}

void *buffer_grow(void *old, size_t new_size)
{
    void *buffer = realloc(old, new_size);
    if (!buffer)
        out_of_memory(new_size);
    return buffer;
}

void arena_init(struct arena *a)
{
    *a = (struct arena){ .next_size = FIRST_CHUNK };
}

void arena_free(struct arena *a)
{
    for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        block_free(c, c->size);
    }
    arena_init(a);
}

/* The next pages of the newest chunk, in one call: a fault for each would cost more. */
static bool use_more(struct arena *a, size_t size)
{
    char *limit = a->chunks ? (char *)a->chunks + a->chunks->size : NULL;
    if ((size_t)(limit - a->at) < size)
        return false;
    size_t more = ((size_t)(a->at + size - a->end) + STEP - 1) & ~(size_t)(STEP - 1), left = (size_t)(limit - a->end);
    if (more > left)
        more = left;
    madvise(a->end, more, MADV_POPULATE_WRITE);
    a->end += more;
    return true;
}

/* One for a large block is a block of its own, since such are tables; else its pages come step by step. */
static void add_chunk(struct arena *a, size_t size)
{
    size_t want = size + sizeof(struct arena_chunk);
    if (want < a->next_size)
        want = a->next_size;
    if (want >= HUGE_PAGE)
        want = round_huge(want);
    if (a->next_size < LAST_CHUNK)
        a->next_size *= 2;
    bool whole = want < HUGE_PAGE || size >= HUGE_PAGE;
    struct arena_chunk *c = whole ? block_new(want) : map(want);
    c->next = a->chunks;
    c->size = want;
    a->chunks = c;
    a->at = (char *)(c + 1);
    a->end = whole ? (char *)c + want : (char *)c;
    if (!whole)
        use_more(a, size);
}

static size_t round_word(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void *take(struct arena *a, size_t size)
{
    if ((size_t)(a->end - a->at) < size && !use_more(a, size))
        add_chunk(a, round_word(size));
    void *p = a->at;
    a->at += size;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    a->at = (char *)round_word((uintptr_t)a->at);
    return take(a, size ? round_word(size) : 8);
}

const char *arena_pack(struct arena *a, const char *bytes, size_t length)
{
    return length ? memcpy(take(a, length), bytes, length) : "";
}

char *arena_copy(struct arena *a, const char *bytes, size_t length)
{
    char *p = arena_alloc(a, length + 1);
    if (length)
        memcpy(p, bytes, length);
    return p;
}

char *arena_format(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(args);
    va_end(again);
    return text;
}
