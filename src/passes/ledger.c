#include "passes/ledger.h"

#include "dialects/dist/dist.h"
#include "ir/json.h"
#include "ir/print.h"
#include "passes/emit.h"

struct entry {
    atom kind;
    u32 over;                   /* the list of the first such task */
    u32 count;
    qty message;
};

struct ledger {
    const struct item *it;
    const struct dist_mesh *mesh;
    struct entry entries[64];   /* more kinds and axes than a mesh has; the rest would not be shown */
    u32 n;
};

static bool same_axes(const struct item *it, u32 a, u32 b)
{
    return list_n(it, a) == list_n(it, b) && !memcmp(list_at(it, a), list_at(it, b), list_n(it, a) * sizeof(u32));
}

static void add(struct ledger *l, const struct dist_task *t)
{
    u32 i = 0;
    while (i < l->n && !(l->entries[i].kind == t->operation && same_axes(l->it, l->entries[i].over, t->over)))
        i++;
    if (i == COUNT(l->entries))
        return;
    if (i == l->n)
        l->entries[l->n++] = (struct entry){ .kind = t->operation, .over = t->over };
    l->entries[i].count++;
    if (qty_add(l->it->ctx->exprs, l->entries[i].message, t->work[DIST_MESSAGE], &l->entries[i].message) != EXPR_OK)
        l->entries[i].message = 0;
}

static void collect(struct ledger *l, const struct item *it)
{
    *l = (struct ledger){ .it = it };
    if (it->kind->layer != LAYER_DIST)
        return;
    l->mesh = (const struct dist_mesh *)item_once(it, DIST_MESH);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct dist_task *t = (const struct dist_task *)it->stmts[i];
        if (t->s.entity == DIST_TASK && t->body == DIST_COLLECTIVE)
            add(l, t);
    }
}

/* Ranks of a group: the sizes of its axes multiplied; without axes, the whole mesh. */
static u64 group_size(const struct ledger *l, u32 over)
{
    const struct item *it = l->it;
    u64 size = 1;
    if (!l->mesh)
        return 1;
    const u32 *axes = list_at(it, l->mesh->axes);
    for (u32 a = 0; a + 2 < list_n(it, l->mesh->axes); a += 3) {
        bool in = !over;
        for (u32 i = 0; i < list_n(it, over); i++)
            in = in || list_at(it, over)[i] == axes[a];
        size *= in ? pair_get(axes + a + 1) : 1;
    }
    return size;
}

/*
 * Bytes that a rank sends in a ring of n: (n-1)/n of the message for an all_gather or a reduce_scatter, twice that for
 * an all_reduce (Narayanan et al. 2021, section 3.2), the message itself for a broadcast. False, with *WHY: there is no
 * such number.
 */
static bool ring_bytes(const struct ledger *l, const struct entry *e, u64 n, qty *out, const char **why)
{
    struct exprs *x = l->it->ctx->exprs;
    const struct interner *names = &l->it->ctx->names;
    u64 times = intern_is(names, e->kind, "all_reduce") ? 2 : 1;
    qty moved;
    *why = intern_is(names, e->kind, "all_to_all") && n > 1 ? "no ring" : "not whole";
    if (!strcmp(*why, "no ring"))
        return false;           /* each pair of ranks exchanges a part of its own */
    if (intern_is(names, e->kind, "broadcast") || n <= 1) {
        *out = n <= 1 ? 0 : e->message;
        return true;
    }
    return qty_mul(x, e->message, times * (n - 1), &moved) == EXPR_OK && qty_div_exact(x, moved, n, out) == EXPR_OK;
}

static void out_axes(struct out *o, const struct item *it, u32 over)
{
    out_char(o, '{');
    for (u32 i = 0; i < list_n(it, over); i++) {
        out_string(o, i ? ", " : "");
        out_word(o, &it->ctx->names, list_at(it, over)[i]);
    }
    out_string(o, "}\n");
}

void ledger_text(struct out *o, const struct item *dist)
{
    struct ledger l;
    collect(&l, dist);
    if (l.n)
        out_printf(o, "  %-16s %5s %6s %20s %28s  over\n", "collectives", "ranks", "count", "logical bytes", "wire bytes a rank, if rings");
    for (u32 i = 0; i < l.n; i++) {
        const struct entry *e = &l.entries[i];
        u64 n = group_size(&l, e->over);
        qty wire;
        const char *why;
        out_printf(o, "    %-14s %5llu %6u %20s %28s  ", context_text(dist->ctx, e->kind), (unsigned long long)n, e->count,
                   qty_text(dist->ctx, e->message), ring_bytes(&l, e, n, &wire, &why) ? qty_text(dist->ctx, wire) : why);
        out_axes(o, dist, e->over);
    }
}

void ledger_json(struct out *o, const struct item *dist)
{
    struct ledger l;
    collect(&l, dist);
    out_string(o, ",\"collectives\":[");
    for (u32 i = 0; i < l.n; i++) {
        const struct entry *e = &l.entries[i];
        u64 n = group_size(&l, e->over);
        qty wire;
        const char *why;
        out_printf(o, "%s{\"kind\":\"%s\",\"ranks\":%llu,\"count\":%u,\"message\":", i ? "," : "", context_text(dist->ctx, e->kind),
                   (unsigned long long)n, e->count);
        json_quantity(o, dist->ctx->exprs, e->message);
        out_string(o, ",\"ring_wire_bytes_per_rank\":");
        if (ring_bytes(&l, e, n, &wire, &why))
            json_quantity(o, dist->ctx->exprs, wire);
        else
            out_string(o, "null");
        out_string(o, ",\"over\":[");
        for (u32 a = 0; a < list_n(dist, e->over); a++) {
            out_string(o, a ? "," : "");
            json_name(o, &dist->ctx->names, 0, list_at(dist, e->over)[a]);
        }
        out_string(o, "]}");
    }
    out_char(o, ']');
}
