#define _GNU_SOURCE
#include "ir_tree.h"

#include <errno.h>
#include <sys/stat.h>

/* A name that every file system takes: as mlir-opt does, what is not a letter, digit, `-`, `_` or `.` becomes `_`. */
static void out_file_name(struct out *o, const char *text, bool dots)
{
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') || *text == '-';
        out_char(o, plain || (dots && *text == '.') ? *text : '_');
    }
}

static const char *make_folders(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int bad = mkdir(path, 0777) && errno != EEXIST;
        *at = '/';
        if (bad)
            return strerror(errno);
    }
    return mkdir(path, 0777) && errno != EEXIST ? strerror(errno) : NULL;
}

const char *ir_tree_path(const char *dir, const struct item *it, u32 n, const char *pass, const char *kind, struct arena *arena,
                         const char **fault)
{
    struct out o;
    out_memory(&o);
    out_printf(&o, "%s/", dir);
    out_file_name(&o, it->kind->name, false);
    out_char(&o, '_');
    out_file_name(&o, context_text(it->ctx, it->name), true);
    char *folder = arena_copy(arena, o.data, o.n);
    out_free(&o);
    *fault = make_folders(folder);
    return *fault ? NULL : arena_format(arena, "%s/%u_%s%s.bpir", folder, n, pass, kind);
}
