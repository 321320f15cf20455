/*
 * Proves a plan of a step of inference against its chain: every task one to one and field by field, every buffer by its
 * own formula, and who touches the weights, the cache and the workspace.
 */
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "passes/cover.h"
#include "passes/passes.h"
#include "passes/spec.h"

#include "ir/sharding.h"
#include "support/quantity.h"

enum { ALIGN = 16 };

struct proof {
    const struct pass_run *r;
    const struct item *in, *out;
    const struct dist_mesh *mesh;
    const struct dist_scale *scale;
    const struct dist_memory *memory;
    const struct dist_attention *attention;
    u128 blocks;                                /* of a stage */
    u32 seen[PORTABLE_ENTITIES], wanted[PORTABLE_ENTITIES];
    const struct dist_task *first, *last, *next;        /* next: the one whose image is due */
    u32 at;                                     /* statement of the input behind it */
};

static bool refuse(const struct proof *p, const struct stmt *s, const char *what)
{
    return gate_refuse(p->r, p->out, s, "%s", what);
}

static bool same_list(const struct proof *p, u32 out, u32 in)
{
    return list_n(p->out, out) == list_n(p->in, in) && !memcmp(list_at(p->out, out), list_at(p->in, in), list_n(p->in, in) * sizeof(u32));
}

static bool is(const struct proof *p, atom a, const char *text)
{
    return intern_is(&p->r->ctx->names, a, text);
}

static u128 number(const struct proof *p, qty q)
{
    u128 n = 0;
    qty_value(p->r->ctx->exprs, q, &n);
    return n;
}

/* ---- The chain ---- */

static const struct dist_value *value(const struct proof *p, atom name)
{
    return (const struct dist_value *)item_value(p->in, name);
}

static const struct dist_task *task_from(const struct proof *p, u32 *at)
{
    while (*at < p->in->n_stmts)
        if (p->in->stmts[(*at)++]->entity == DIST_TASK)
            return (const struct dist_task *)p->in->stmts[*at - 1];
    return NULL;
}

/* One buffer of each value of the boundary and of the cache, and up to four of what a block and the others keep. */
static void read_chain(struct proof *p)
{
    struct training_strategy s;
    u32 at = 0;
    spec_inference_strategy(p->r->session.items[BIND_STRATEGY], &s);
    p->wanted[PORTABLE_MESH] = p->wanted[PORTABLE_ORDER] = 1;
    p->wanted[PORTABLE_OBJECTIVE] = 2;
    for (u32 i = 0; i < p->in->n_stmts; i++) {
        const struct stmt *t = p->in->stmts[i];
        switch ((enum dist_entity)t->entity) {
        case DIST_MESH: p->mesh = (const struct dist_mesh *)t; break;
        case DIST_SCALE: p->scale = (const struct dist_scale *)t; break;
        case DIST_MEMORY: p->memory = (const struct dist_memory *)t; break;
        case DIST_ATTENTION: p->attention = (const struct dist_attention *)t; p->wanted[PORTABLE_ATTENTION] = 1; break;
        case DIST_VALUE: p->wanted[PORTABLE_BUFFER]++; break;
        case DIST_OUTPUT: p->wanted[PORTABLE_BUFFER]++; break;
        case DIST_TASK: p->wanted[PORTABLE_TASK]++; p->last = (const struct dist_task *)t; break;
        case DIST_SYMBOL: case DIST_ORDER: case DIST_ORIGIN: case DIST_ENTITIES: break;
        }
    }
    p->first = task_from(p, &at);
    p->blocks = number(p, p->scale->blocks) / s.pipeline;
    p->wanted[PORTABLE_BUFFER] += (p->memory->workspace != 0) + (p->memory->weights != 0) + (p->blocks > 1 && p->memory->weights != 0) +
                                  (p->blocks > 1 && p->memory->kv_cache != 0);
}

/* ---- Buffers ---- */

/* Bytes of a value on one rank: its elements over the sizes of all axes in its sharding. */
static u128 local_bytes(const struct proof *p, const struct dist_value *v)
{
    const u32 *axes = list_at(p->in, p->mesh->axes);
    struct sharding s;
    qty bytes = 0;
    u128 n = type_bytes(p->r->ctx->exprs, type_get(p->r->ctx->types, v->type), &bytes) == EXPR_OK ? number(p, bytes) : 0;
    sharding_read(p->in, v->sharding, &s);
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++)
            for (u32 a = 0; a + 2 < list_n(p->in, p->mesh->axes); a += 3)
                n /= axes[a] == s.dims[i].axes[k] ? pair_get(axes + a + 1) : 1;
    return n;
}

/* What a block keeps besides its cache, and what the other blocks of the stage do. */
static bool prove_kept(const struct proof *p, const struct portable_buffer *b)
{
    const struct {
        const char *name;
        u8 role, storage;
        qty fact;
        u128 blocks;
    } kept[] = {
        { "weights", PORTABLE_CONSTANT, PORTABLE_PERSISTENT, p->memory->weights, 1 },
        { "workspace", PORTABLE_WORKSPACE, PORTABLE_TRANSIENT, p->memory->workspace, 1 },
        { "other_weights", PORTABLE_CONSTANT, PORTABLE_PERSISTENT, p->memory->weights, p->blocks - 1 },
        { "other_kv_caches", PORTABLE_STATE, PORTABLE_PERSISTENT, p->memory->kv_cache, p->blocks - 1 },
    };
    u32 i = 0;
    while (i < COUNT(kept) && !is(p, b->s.name, kept[i].name))
        i++;
    if (i == COUNT(kept))
        return refuse(p, &b->s, "a block keeps no such buffer");
    if (b->role != kept[i].role || b->storage != kept[i].storage)
        return refuse(p, &b->s, "its role or storage is not that of such memory");
    return (number(p, b->size) == number(p, kept[i].fact) * kept[i].blocks || refuse(p, &b->s, "its size is not what the block's memory facts give")) &&
           gate_is_from(p->r, &b->s, LINEAGE_LOWERED, REF_SYMBOL(p->memory->s.name));
}

static bool is_output(const struct proof *p, atom name)
{
    for (u32 i = 0; i < p->in->n_stmts; i++)
        if (p->in->stmts[i]->entity == DIST_OUTPUT && ((const struct dist_output *)p->in->stmts[i])->value == name)
            return true;
    return false;
}

static bool prove_value(const struct proof *p, const struct portable_buffer *b)
{
    const struct dist_value *v = value(p, b->s.name);
    if (!v || (v->s.is_result && !is_output(p, b->s.name)))
        return refuse(p, &b->s, "it is no value of the chain's boundary");
    bool cache = v->role == DIST_KV_CACHE;
    u8 role = cache ? PORTABLE_STATE : v->s.is_result ? PORTABLE_OUTPUT : PORTABLE_INPUT;
    if (v->updates || b->role != role || b->storage != (cache ? PORTABLE_PERSISTENT : PORTABLE_DEVICE_LOCAL))
        return refuse(p, &b->s, "its role or storage is not its value's");
    return number(p, b->size) == local_bytes(p, v) || refuse(p, &b->s, "its size is not its value's on one rank");
}

static bool prove_buffer(const struct proof *p, const struct portable_buffer *b)
{
    if (b->align != ALIGN)
        return refuse(p, &b->s, "it is aligned in another way");
    return (b->s.lineage_kind == LINEAGE_NONE ? prove_value(p, b) : prove_kept(p, b)) &&
           gate_says_only(p->r, p->out, &b->s, " name role storage size align from ");
}

/* ---- Tasks ---- */

/* What the chain's list holds, and then the weights where MORE. */
static bool prove_values(const struct proof *p, u32 out, u32 in, bool more)
{
    u32 n = list_n(p->in, in);
    const u32 *have = list_at(p->out, out);
    return list_n(p->out, out) == n + more && !memcmp(have, list_at(p->in, in), n * sizeof *have) && (!more || is(p, have[n], "weights"));
}

/* Products, biases and norms read weights. */
static bool reads_weights(const struct proof *p, const struct dist_task *t)
{
    return p->memory->weights && (is(p, t->operation, "transformer.linear") || is(p, t->operation, "transformer.bias_add") ||
                                  is(p, t->operation, "transformer.layer_norm") || is(p, t->operation, "transformer.rms_norm"));
}

/* The workspace is written first and read last; what saves the cache only reads it; all else does both. */
static bool prove_effects(const struct proof *p, u32 out, const struct dist_task *t)
{
    const u32 *have = list_at(p->out, out), *from = list_at(p->in, t->more->effects);
    u32 n = list_n(p->in, t->more->effects), scratch = p->memory->workspace ? 2 : 0;
    bool reads = t != p->first && (t == p->last || is(p, t->operation, "transformer.kv_cache_write"));
    if (list_n(p->out, out) != n + scratch)
        return false;
    if (scratch && (have[0] != (t == p->first ? EFFECT_WRITE : reads ? EFFECT_READ : EFFECT_UPDATE) || !ref_is_value(have[1]) ||
                    !is(p, ref_atom(have[1]), "workspace")))
        return false;
    return !memcmp(have + scratch, from, n * sizeof *from);
}

static bool prove_needs(const struct proof *p, u32 implement, const struct dist_task *t)
{
    static const struct {
        const char *operation, *capability, *alternatives[3];
    } needs[] = {
        { "transformer.linear", "matrix-multiply", { "tensor-core", "matrix-engine", NULL } },
        { "transformer.attention", "attention", { "flash-attention", "paged-attention", "dense-attention" } },
        { "transformer.kv_cache_write", "kv-cache-write", { "fused-kv-write", "vector-engine", NULL } },
        { "all_reduce", "all_reduce", { "collective-library", "network-engine", NULL } },
        { NULL, "vector-elementwise", { "vector-engine", NULL, NULL } },
    };
    const u32 *have = list_at(p->out, implement);
    u32 row = 0, n = 0;
    while (needs[row].operation && !is(p, t->operation, needs[row].operation))
        row++;
    if (t->body == DIST_COLLECTIVE && !needs[row].operation)
        return true;        /* another collective, by hand */
    while (n < 3 && needs[row].alternatives[n])
        n++;
    bool same = list_n(p->out, implement) == n + 3 && is(p, have[0], needs[row].capability) && have[1] == n && !have[n + 2];
    for (u32 i = 0; same && i < n; i++)
        same = is(p, have[2 + i], needs[row].alternatives[i]);
    return same;
}

/* The groups of a collective are those of its source: along fewer axes than the mesh has, or all ranks. */
static bool same_group(const struct proof *p, const struct portable_task *b, const struct dist_task *t)
{
    bool all = 3 * list_n(p->in, t->over) == list_n(p->in, p->mesh->axes);
    return all ? !b->over : same_list(p, b->over, t->over);
}

static bool prove_task(struct proof *p, const struct portable_task *b)
{
    const struct dist_task *t = task_from(p, &p->at);
    if (!t || b->s.name != t->s.name || !gate_is_from(p->r, &b->s, LINEAGE_LOWERED, REF_SYMBOL(t->s.name)))
        return refuse(p, &b->s, "it is not the image of the chain's task at its place");
    if ((b->body == PORTABLE_COLLECTIVE) != (t->body == DIST_COLLECTIVE) || (b->body != PORTABLE_COLLECTIVE && b->body != PORTABLE_COMPUTE) ||
        b->operation != t->operation)
        return refuse(p, &b->s, "it does something else than its source");
    for (int i = 0; i < PORTABLE_WORK; i++)
        if (b->work[i] != (i < DIST_WORK ? t->work[i] : 0))
            return refuse(p, &b->s, "its work is not its source's");
    if (b->phase != t->phase || portable_layer(p->out, b) != dist_layer(p->in, t) || !same_list(p, b->more->after, t->more->after) || !same_list(p, b->ranks, t->ranks) ||
        !same_group(p, b, t))
        return refuse(p, &b->s, "its phase, layer, order, groups or ranks are not its source's");
    if (!prove_values(p, b->operands, t->operands, reads_weights(p, t)) || !prove_values(p, b->results, t->results, false))
        return refuse(p, &b->s, "it reads or makes other buffers than its source and its weights");
    if (!prove_effects(p, b->more->effects, t))
        return refuse(p, &b->s, "its effects are not its source's and those on the workspace");
    return (prove_needs(p, b->implement, t) || refuse(p, &b->s, "it needs another engine than its source")) &&
           gate_says_only(p->r, p->out, &b->s, " name body operation operands results over ranks phase layer after effects work implement from ");
}

/* ---- The rest ---- */

static bool prove_objective(const struct proof *p, const struct portable_objective *o, u32 before)
{
    return (o->direction == PORTABLE_MINIMIZE && o->kind == (before ? PORTABLE_PEAK_MEMORY : PORTABLE_LATENCY) &&
            gate_says_only(p->r, p->out, &o->s, " direction kind ")) ||
           refuse(p, &o->s, "the objectives are latency, then peak memory");
}

static bool prove_stmt(struct proof *p, const struct stmt *s)
{
    u32 before = p->seen[s->entity]++;
    const struct portable_mesh *mesh = (const struct portable_mesh *)s;
    switch ((enum portable_entity)s->entity) {
    case PORTABLE_MESH: return (mesh->s.name == p->mesh->s.name && same_list(p, mesh->axes, p->mesh->axes)) || refuse(p, s, "its mesh is not the chain's");
    case PORTABLE_ORDER: return true;       /* serial is all that there is */
    case PORTABLE_ATTENTION:
        return (p->attention && ((const struct portable_attention *)s)->pairs == p->attention->pairs) ||
               refuse(p, s, "these are not the pairs that the chain counts");
    case PORTABLE_BUFFER: return prove_buffer(p, (const struct portable_buffer *)s);
    case PORTABLE_TASK: return prove_task(p, (const struct portable_task *)s);
    case PORTABLE_OBJECTIVE: return prove_objective(p, (const struct portable_objective *)s, before);
    case PORTABLE_SYMBOL: case PORTABLE_ENTITIES: break;
    }
    return refuse(p, s, "nothing in the chain gives it");
}

bool plan_transformer_inference_gate(const struct pass_run *r)
{
    struct proof p = { .r = r, .in = r->input, .out = r->output };
    read_chain(&p);
    for (u32 i = 0; i < p.out->n_stmts; i++)
        if (!prove_stmt(&p, p.out->stmts[i]))
            return false;
    for (u32 e = 0; e < PORTABLE_ENTITIES; e++)
        if (p.seen[e] != p.wanted[e])
            return gate_refuse(r, r->output, NULL, "something of the chain is lost or there twice: it has %u statements of a kind, not %u", p.seen[e], p.wanted[e]);
    return true;
}
