#include "passes/bind_capacity.h"

#include "dialects/concrete/concrete.h"
#include "ir/verify.h"
#include "passes/emit.h"
#include "passes/spec.h"
#include "support/quantity.h"

enum { SHOWN = 8 };

static u128 bytes_of(const struct item *out, const struct stmt *s)
{
    u128 size = 0;
    if (s->entity == CONCRETE_BIND)
        qty_value(out->ctx->exprs, ((const struct concrete_bind *)s)->size, &size);
    return size;
}

/* The largest binding that is smaller than AFTER, or as large and further down; AFTER NULL: the largest. */
static const struct stmt *next_largest(const struct item *out, const struct stmt *after)
{
    const struct stmt *found = NULL;
    u128 limit = after ? bytes_of(out, after) : ~(u128)0, most = 0;
    bool behind = !after;
    for (u32 i = 0; i < out->n_stmts; i++) {
        u128 size = bytes_of(out, out->stmts[i]);
        if (size > most && (size < limit || (size == limit && behind))) {
            found = out->stmts[i];
            most = size;
        }
        behind = behind || out->stmts[i] == after;
    }
    return found;
}

static void note_places(struct pass_run *r)
{
    const struct item *out = r->output;
    const struct stmt *s = NULL;
    u32 others = 0;
    u128 rest = 0;
    char text[U128_DIGITS];
    for (u32 i = 0; i < out->n_stmts; i++) {
        others += out->stmts[i]->entity == CONCRETE_BIND;
        rest += bytes_of(out, out->stmts[i]);
    }
    for (u32 i = 0; i < SHOWN && (s = next_largest(out, s)); i++) {
        const struct concrete_bind *b = (const struct concrete_bind *)s;
        pass_note(r, "%s takes %s bytes at offset %s", stmt_text(out, s), qty_text(r->ctx, b->size), qty_text(r->ctx, b->offset));
        others--;
        rest -= bytes_of(out, s);
    }
    if (others)
        pass_note(r, "%u more take%s %s bytes", others, others == 1 ? "s" : "", u128_text(rest, text));
}

static void note_legal(struct pass_run *r, u128 need, u64 ranks)
{
    const struct item *it = r->session.items[BIND_DEPLOYMENT];
    u32 memory = spec_deployment_of(it)->memory, n = list_n(it, memory) / 2, fit = 0;
    char text[U128_DIGITS];
    for (u32 i = 0; i < n; i++)
        fit += pair_get(list_at(it, memory) + 2 * i) >= need;
    u128_text(need, text);
    if (fit)
        pass_note(r, "legal are devices of at least %s bytes; %u of %u are, and the plan takes the first %llu", text, fit, n, (unsigned long long)ranks);
    else
        pass_note(r, "legal are devices of at least %s bytes", text);
}

bool bind_refuse_capacity(struct pass_run *r, u128 need, u64 bytes, u64 rank, u64 ranks)
{
    const struct item *it = r->session.items[BIND_DEPLOYMENT];
    char a[U128_DIGITS], b[U128_DIGITS];
    pass_error(r, it, &spec_deployment_of(it)->s, "memory_per_device", NULL, "pass.bind.capacity",
               "%s needs %s bytes on each device, and device %llu has %llu", symbol_text(r->input, r->input->name), u128_text(need, a),
               (unsigned long long)rank, (unsigned long long)bytes);
    pass_note(r, "%s byte%s missing", u128_text(need - bytes, b), need - bytes == 1 ? " is" : "s are");
    note_places(r);
    note_legal(r, need, ranks);
    return false;
}
