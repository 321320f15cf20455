#include "dialects/dist/dist.h"

#include "ir/implied.h"

#define DEF "dialects/dist/dist.def"
#include "ir/table.h"

atom dist_layer(const struct item *it, const struct dist_task *t)
{
    return layer_said(it, &t->s, t->layer, &dist_phase_enum);
}

static const char *const reserved[] = {
    "model_spec", "workload_spec", "mapping_spec", "inference_mapping_spec", "inference_phase", "batch_size",
    "query_tokens", "context_tokens", "datatype", "invocation", "block_memory", "scope", "physical_device", "device_id",
    "route", "queue", "stream", "kernel", "implementation_id", "start", "start_time", "end", "end_time", "duration",
    "latency", "bandwidth", NULL,
};

static const struct item_kind kinds[] = {
    { .name = "dist.program", .layer = LAYER_DIST, .major = 1, .minor = 0, .entities = entities,
      .n_entities = DIST_ENTITIES, .reserved = reserved, .verify = dist_verify,
      .doc = "Logical ranks, sharded values, tasks and collectives." },
};

const struct dialect dist_dialect = {
    .name = "dist", .kinds = kinds, .n_kinds = COUNT(kinds),
    .samples = samples, .n_samples = COUNT(samples) - 1,
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "who computes what, logically",
};
