#define _GNU_SOURCE
#include "support/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, FIRST_CHUNK = 1 << 10, LAST_CHUNK = 16 << 20 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
};

static void out_of_memory(size_t size)
{
    fprintf(stderr, "bp-opt: out of memory (%zu bytes wanted)\n", size);
    exit(2);
}

/* Huge-page aligned and zero; SIZE is a multiple of HUGE_PAGE. */
static void *map_huge(size_t size)
{
    char *raw = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        out_of_memory(size);
    char *aligned = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
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

static void arena_refill(struct arena *a, size_t size)
{
    size_t want = size + sizeof(struct arena_chunk) + 16;
    if (want < a->next_size)
        want = a->next_size;
    if (want >= HUGE_PAGE)
        want = round_huge(want);
    if (a->next_size < LAST_CHUNK)
        a->next_size *= 2;
    struct arena_chunk *c = block_new(want);
    c->next = a->chunks;
    c->size = want;
    a->chunks = c;
    a->at = (char *)(c + 1);
    a->end = (char *)c + want;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size = size ? (size + 7) & ~(size_t)7 : 8;
    if ((size_t)(a->end - a->at) < size)
        arena_refill(a, size);
    void *p = a->at;
    a->at += size;
    return p;
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
