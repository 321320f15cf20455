#include "execute/kernel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const struct kernel kernels[] = {
#define KERNEL(name_, function, flags_, formula_) \
    { .name = name_, .run = kernel_##function, .flags = flags_, .formula = formula_ },
#include "execute/kernels.def"
#undef KERNEL
};
const u32 n_kernels = COUNT(kernels);

const struct kernel *kernel_find(const char *name)
{
    for (u32 i = 0; i < n_kernels; i++)
        if (!strcmp(kernels[i].name, name))
            return &kernels[i];
    return NULL;
}

u64 kernel_work(const struct kernel *k, const struct tensor *in, u32 n_in, const struct tensor *out)
{
    bool product = (k->run == kernel_linear || k->run == kernel_matmul) && n_in && out;
    u64 n = n_in ? in[0].n : 0, work;
    if (!product)
        return out && out->n > n ? out->n : n;
    return __builtin_mul_overflow(out->n, last_size(&in[0]), &work) ? UINT64_MAX : work;
}

/* ---- What does not fit ---- */

bool kernel_refuse(struct kernel_call *c, const char *code, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->code = code;
    c->fault = arena_copy(c->arena, text, strlen(text));
    return false;
}

bool kernel_rank(struct kernel_call *c, u32 i, u32 rank)
{
    return c->in[i].rank >= rank ||
           kernel_refuse(c, "execute.shape", "%s has %u dimension%s, and %u are needed", c->in_names[i], c->in[i].rank,
                         c->in[i].rank == 1 ? "" : "s", rank);
}

bool kernel_same(struct kernel_call *c, u32 a, u32 i, u32 b, u32 k)
{
    if (i < c->in[a].rank && k < c->in[b].rank && c->in[a].size[i] == c->in[b].size[k])
        return true;
    return kernel_refuse(c, "execute.shape",
                         "dimension %u of %s, which is %s, does not fit dimension %u of %s, which is %s", i,
                         c->in_names[a], sizes_text(c->arena, c->in[a].size, c->in[a].rank), k, c->in_names[b],
                         sizes_text(c->arena, c->in[b].size, c->in[b].rank));
}

static bool same_sizes(const struct tensor *t, const u64 *sizes, u32 rank)
{
    return t->rank == rank && !memcmp(t->size, sizes, rank * sizeof *sizes);
}

bool kernel_like(struct kernel_call *c, u32 i)
{
    if (same_sizes(&c->in[i], c->in[0].size, c->in[0].rank))
        return true;
    return kernel_refuse(c, "execute.shape", "%s is %s, and %s is %s", c->in_names[0],
                         sizes_text(c->arena, c->in[0].size, c->in[0].rank), c->in_names[i],
                         sizes_text(c->arena, c->in[i].size, c->in[i].rank));
}

bool kernel_makes(struct kernel_call *c, u32 i, const u64 *sizes, u32 rank)
{
    if (same_sizes(&c->out[i], sizes, rank))
        return true;
    return kernel_refuse(c, "execute.shape", "the operation makes %s, and %s is to be %s", sizes_text(c->arena, sizes, rank),
                         c->out_names[i], sizes_text(c->arena, c->out[i].size, c->out[i].rank));
}
