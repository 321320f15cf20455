#include "dialects/portable/portable.h"

#include "ir/implied.h"

#define DEF "dialects/portable/portable.def"
#include "ir/table.h"

atom portable_layer(const struct item *it, const struct portable_task *t)
{
    return layer_said(it, &t->s, t->layer, &portable_phase_enum);
}

bool portable_projection(const struct item *it, const struct portable_task *t, enum resource kind, qty *out)
{
    *out = kind == RESOURCE_COMPUTE ? t->work[PORTABLE_OPERATIONS] : kind == RESOURCE_NETWORK ? t->work[PORTABLE_MESSAGE] : 0;
    return kind != RESOURCE_MEMORY_BANDWIDTH ||
           qty_add(it->ctx->exprs, t->work[PORTABLE_READ], t->work[PORTABLE_WRITE], out) == EXPR_OK;
}

enum { REQUIREMENT = 4, MOST = 64 };    /* words of a requirement; words that are sorted */

static bool is_projection(const struct item *it, const struct portable_task *t, const u32 *r)
{
    qty projection;
    return r[1] == SCOPE_PER_RANK && portable_projection(it, t, (enum resource)r[0], &projection) &&
           pair_get(r + 2) == projection && projection;
}

void portable_settle(struct item *it, struct stmt *s)
{
    struct portable_task *t = (struct portable_task *)s;
    u32 words[MOST], n = 0, require;
    if (s->entity != PORTABLE_TASK || !t->more->require || list_n(it, t->more->require) > MOST)
        return;
    for (u32 kind = 0; kind < resource_enum.n; kind++)
        for (u32 i = 0; i < list_n(it, t->more->require); i += REQUIREMENT) {
            const u32 *r = list_at(it, t->more->require) + i;
            if (r[0] != kind || is_projection(it, t, r))
                continue;
            memcpy(words + n, r, REQUIREMENT * sizeof *r);
            n += REQUIREMENT;
        }
    require = n ? item_list(it, words, n) : 0;
    if (require != t->more->require)
        portable_more(it, t)->require = require;
}

static const char *const reserved[] = {
    "model_spec", "workload_spec", "mapping_spec", "inference_mapping_spec", "inference_phase", "batch_size",
    "query_tokens", "context_tokens", "datatype", "invocation", "block_memory", "scope", "name", "engine", "phase",
    "primitive", "source_layer", "collective", "semantic", "bound", "target", "target_id", "physical_device",
    "device_id", "queue", "queue_id", "stream", "engine_id", "memory_bank", "memory_address", "memory_offset",
    "implementation_id", "kernel_id", "start", "start_time", "end", "end_time", "duration", "latency",
    "estimated_time", "peak_flops", "peak_bandwidth", NULL,
};

static const struct item_kind kinds[] = {
    { .name = "portable.plan", .layer = LAYER_PORTABLE, .major = 1, .minor = 0, .entities = entities,
      .n_entities = PORTABLE_ENTITIES, .reserved = reserved, .verify = portable_verify, .settle = portable_settle,
      .doc = "Exact work, buffers and what they need." },
};

const struct dialect portable_dialect = {
    .name = "portable", .kinds = kinds, .n_kinds = COUNT(kinds),
    .samples = samples, .n_samples = COUNT(samples) - 1,
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "how much, needing what",
};
