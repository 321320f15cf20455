#include "support/line.h"

void out_line(struct out *o, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '\\' || bytes[i] == '\n' || bytes[i] == '\r')
            out_printf(o, "\\%c", bytes[i] == '\n' ? 'n' : bytes[i] == '\r' ? 'r' : '\\');
        else
            out_char(o, bytes[i]);
}

const char *line_text(const char *line, size_t n, struct arena *arena)
{
    char *text = arena_alloc(arena, n + 1), *to = text;
    for (size_t i = 0; i < n; i++) {
        bool escaped = line[i] == '\\' && i + 1 < n;
        i += escaped;
        *to++ = escaped && line[i] == 'n' ? '\n' : escaped && line[i] == 'r' ? '\r' : line[i];
    }
    return text;
}
