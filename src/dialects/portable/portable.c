#include "dialects/portable/portable.h"

#define DEF "dialects/portable/portable.def"
#include "ir/table.h"

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
      .n_entities = PORTABLE_ENTITIES, .reserved = reserved, .verify = portable_verify,
      .doc = "Exact work, buffers and what they need." },
};

const struct dialect portable_dialect = {
    .name = "portable", .kinds = kinds, .n_kinds = COUNT(kinds),
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "how much, needing what",
};
