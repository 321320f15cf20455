#include "manifest.h"

#include "support/line.h"

#include <stdio.h>
#include <stdlib.h>

static const char first_line[] = "bp-opt checkpoint 1";

/* ---- Writing ---- */

static void out_word(struct out *o, const char *word, const char *value)
{
    if (!value)
        return;
    out_printf(o, "%s ", word);
    out_line(o, value, strlen(value));
    out_char(o, '\n');
}

static void out_file(struct out *o, const struct folder_file *f)
{
    out_printf(o, "file %s %llu ", f->name, (unsigned long long)f->size);
    out_digest_text(o, f->digest);
    out_char(o, '\n');
}

static struct digest digest_of(const char *bytes, size_t n)
{
    struct out o;
    out_digest(&o);
    out_bytes(&o, bytes, n);
    return digest_finish(&o);
}

void manifest_print(struct out *o, const struct manifest *m)
{
    struct out text;
    out_memory(&text);
    out_word(&text, "bp-opt", first_line + strlen("bp-opt "));
    out_word(&text, "version", m->version);
    out_word(&text, "pipeline", m->pipeline);
    out_word(&text, "item", m->item);
    out_word(&text, "split", m->marker);
    out_word(&text, "keep-sources", m->keep_sources ? "1" : NULL);
    out_word(&text, "input", m->input);
    out_printf(&text, "sessions %u\ncheckpoints %u\n", m->n_sessions, m->n_checkpoints);
    for (u32 i = 0; i < m->n_files; i++)
        out_file(&text, &m->files[i]);
    out_string(&text, m->results);
    out_bytes(o, text.data, text.n);
    out_string(o, "digest ");
    out_digest_text(o, digest_of(text.data, text.n));
    out_char(o, '\n');
    out_free(&text);
}

const char *manifest_session(struct arena *arena, u32 i)
{
    return arena_format(arena, "session.%u.bpir", i + 1);
}

/* ---- Reading ---- */

/* "NAME SIZE xxh128:HEX"; a name has no slash, so that no file lies elsewhere. */
static bool read_file_line(struct folder_file *f, const char *line, struct arena *arena)
{
    const char *space = strchr(line, ' '), *hex = space ? strstr(space, " xxh128:") : NULL;
    char *end;
    if (!hex || memchr(line, '/', (size_t)(space - line)) || *line == '.' || space == line)
        return false;
    f->name = arena_copy(arena, line, (size_t)(space - line));
    f->size = strtoull(space + 1, &end, 10);
    return end == hex && digest_parse(hex + strlen(" xxh128:"), strlen(hex) - strlen(" xxh128:"), &f->digest);
}

static bool read_line(struct manifest *m, const char *word, const char *value, struct arena *arena)
{
    if (!strcmp(word, "version"))
        m->version = value;
    else if (!strcmp(word, "pipeline"))
        m->pipeline = value;
    else if (!strcmp(word, "item"))
        m->item = value;
    else if (!strcmp(word, "split"))
        m->marker = value;
    else if (!strcmp(word, "keep-sources"))
        m->keep_sources = true;
    else if (!strcmp(word, "input"))
        m->input = value;
    else if (!strcmp(word, "sessions"))
        m->n_sessions = (u32)strtoul(value, NULL, 10);
    else if (!strcmp(word, "checkpoints"))
        m->n_checkpoints = (u32)strtoul(value, NULL, 10);
    else if (!strcmp(word, "file"))
        return read_file_line(&m->files[m->n_files++], value, arena);
    else
        return false;
    return true;
}

/* The last line is the digest of all before it. */
static const char *check_seal(const char *text, size_t n, size_t *end)
{
    static const char word[] = "digest xxh128:";
    struct digest d;
    size_t line = strlen(word) + DIGEST_HEX + 1;
    *end = n - line;
    if (n < line || text[n - 1] != '\n' || memcmp(text + *end, word, strlen(word)) || (*end && text[*end - 1] != '\n') ||
        !digest_parse(text + *end + strlen(word), DIGEST_HEX, &d))
        return "its last line is not its digest: it was cut short or edited";
    return digest_equal(d, digest_of(text, *end)) ? NULL : "it was edited: its last line is not the digest of those above";
}

const char *manifest_read(struct manifest *m, const char *text, size_t n, struct arena *arena)
{
    size_t end, lines = 0;
    if (n < sizeof first_line || memcmp(text, first_line, sizeof first_line - 1) || text[sizeof first_line - 1] != '\n')
        return "its first line is not `bp-opt checkpoint 1`";
    const char *fault = check_seal(text, n, &end), *at = text + sizeof first_line;
    if (fault)
        return fault;
    for (size_t i = 0; i < end; i++)
        lines += text[i] == '\n';
    *m = (struct manifest){ .files = ARENA_ARRAY(arena, struct folder_file, lines), .input = MANIFEST_INPUT, .version = "" };
    while (at < text + end && memcmp(at, "result ", 7)) {
        const char *stop = memchr(at, '\n', (size_t)(text + end - at)), *space = memchr(at, ' ', (size_t)(stop - at));
        if (!space || !read_line(m, arena_copy(arena, at, (size_t)(space - at)), line_text(space + 1, (size_t)(stop - space - 1), arena), arena))
            return arena_format(arena, "this bp-opt can't read its line `%.*s`", (int)(stop - at < 60 ? stop - at : 60), at);
        at = stop + 1;
    }
    m->results = arena_copy(arena, at, (size_t)(text + end - at));
    return m->n_sessions + (u64)m->n_checkpoints > m->n_files ? "it names more session files and checkpoints than it has files" : NULL;
}
