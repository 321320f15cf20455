#define _GNU_SOURCE
#include "support/source.h"

#include "support/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *read_all(int fd, char **text, size_t *size, size_t *cap)
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
        if (*size >= UINT32_MAX - 16)
            return "the file is larger than 4 GiB";
    }
}

const char *source_read(struct source *s, const char *path)
{
    bool standard = !strcmp(path, "-");
    int fd = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    struct stat st;
    size_t cap = 64 << 10, size = 0;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
        cap = (size_t)st.st_size + 2;
    char *text = block_grow(NULL, 0, cap);
    const char *fault = read_all(fd, &text, &size, &cap);
    if (!standard)
        close(fd);
    if (fault) {
        block_free(text, cap);
        return fault;
    }
    text[size] = '\0';
    *s = (struct source){ standard ? "<stdin>" : path, text, (u32)size, 1, cap };
    return NULL;
}

void source_borrow(struct source *s, const char *name, const char *text, size_t size)
{
    *s = (struct source){ name, text, (u32)size, 1, 0 };
}

void source_free(struct source *s)
{
    if (s->mapped)
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
