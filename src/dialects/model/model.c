#include "dialects/model/model.h"

#define DEF "dialects/model/model.def"
#include "ir/table.h"

static const char *const reserved[] = {
    "model_spec", "tp", "pp", "dp", "rank", "device", "device_id", "queue", "kernel", "implementation_id", "start",
    "start_time", "end", "end_time", "duration", "latency", "memory_address", "memory_offset", NULL,
};

static const struct item_kind kinds[] = {
    { .name = "model.program", .layer = LAYER_MODEL, .major = 1, .minor = 0, .entities = entities,
      .n_entities = MODEL_ENTITIES, .reserved = reserved, .verify = model_verify,
      .doc = "Values with roles and operations with signatures." },
};

const struct dialect model_dialect = {
    .name = "model", .kinds = kinds, .n_kinds = COUNT(kinds),
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "what is computed",
};
