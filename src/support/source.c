#define _GNU_SOURCE
#include "support/source.h"

#include "support/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device may never end: it is read for as long as a terminal might be typed at. */
enum { LARGE_FILE = 8 << 20, RELEASE = 2 << 20, DEVICE_LIMIT = 64 << 20 };

static const char *read_all(int fd, bool device, char **text, size_t *size, size_t *cap)
{
    for (;;) {
        if (*cap - *size < 2) {
            size_t more = *cap * 2;
            *text = block_grow(*text, *cap, more);
            *cap = more;
        }
        ssize_t n = read(fd, *text + *size, *cap - *size - 1);
        if (n == 0)
            return NULL;
        if (n > 0)
            *size += (size_t)n;
        else if (errno != EINTR)
            return strerror(errno);
        if (device && *size > DEVICE_LIMIT)
            return "it is a device, and gives more than 64 MiB";
        if (*size >= UINT32_MAX - 16)
            return "the file is larger than 4 GiB";
    }
}

static const char *read_tail(int fd, char *at, size_t n, size_t offset)
{
    while (n) {
        ssize_t got = pread(fd, at, n, (off_t)offset);
        if (got == 0)
            return "it became shorter while it was read";
        if (got < 0 && errno != EINTR)
            return strerror(errno);
        if (got > 0) {
            at += got;
            offset += (size_t)got;
            n -= (size_t)got;
        }
    }
    return NULL;
}

/*
 * A large regular file is mapped, not copied: its whole pages. What is left, less than a page, is read into a page of
 * ours with the NUL behind it, so that a file that grows meanwhile can't overwrite that.
 */
static const char *map_file(int fd, size_t size, char **text, size_t *cap)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = size / page * page;
    *cap = whole + page;
    char *at = mmap(NULL, *cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return strerror(errno);
    bool mapped = mmap(at, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
    const char *fault = mapped ? read_tail(fd, at + whole, size - whole, whole) : strerror(errno);
    if (fault)
        munmap(at, *cap);
    else
        *text = at;
    return fault;
}

void source_release(const struct source *s, u32 offset, u32 *released)
{
    if (!s->is_file || offset - *released < RELEASE)
        return;
    u32 until = offset & ~(u32)(RELEASE - 1);
    madvise((char *)s->text + *released, until - *released, MADV_DONTNEED);
    *released = until;
}

const char *source_read(struct source *s, const char *path)
{
    bool standard = !strcmp(path, "-");
    int fd = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    struct stat st;
    size_t cap = 64 << 10, size = 0;
    bool known = !fstat(fd, &st), device = known && S_ISCHR(st.st_mode);
    if (known && S_ISREG(st.st_mode) && st.st_size > 0)
        cap = (size_t)st.st_size + 2;
    bool large = cap > LARGE_FILE && cap < UINT32_MAX;
    char *text = large ? NULL : block_grow(NULL, 0, cap);
    const char *fault = large ? map_file(fd, size = cap - 2, &text, &cap) : read_all(fd, device, &text, &size, &cap);
    if (!standard)
        close(fd);
    if (fault) {
        if (!large)
            block_free(text, cap);
        return fault;
    }
    if (!large)
        text[size] = '\0';
    *s = (struct source){ .name = standard ? "<stdin>" : path, .text = text, .size = (u32)size, .first_line = 1, .mapped = cap,
                          .is_file = large };
    return NULL;
}

void source_borrow(struct source *s, const char *name, const char *text, size_t size)
{
    *s = (struct source){ .name = name, .text = text, .size = (u32)size, .first_line = 1 };
}

void source_free(struct source *s)
{
    if (s->mapped && s->is_file)
        munmap((char *)s->text, s->mapped);
    else if (s->mapped)
        block_free((char *)s->text, s->mapped);
    s->mapped = 0;
}

u32 source_line_end(const struct source *s, u32 offset)
{
    const char *end = offset < s->size ? memchr(s->text + offset, '\n', s->size - offset) : NULL;
    return end ? (u32)(end - s->text) : s->size;
}

struct position source_position(const struct source *s, u32 offset)
{
    if (offset > s->size)
        offset = s->size;
    struct position p = { .line = s->first_line, .column = 1 };
    for (const char *at = s->text, *hit; (hit = memchr(at, '\n', (size_t)(s->text + offset - at))); at = hit + 1) {
        p.line++;
        p.line_begin = (u32)(hit + 1 - s->text);
    }
    for (u32 i = p.line_begin; i < offset; i++)
        p.column += ((unsigned char)s->text[i] & 0xc0) != 0x80;
    p.line_end = source_line_end(s, offset);
    return p;
}
