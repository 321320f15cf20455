#include "dialects/concrete/concrete.h"

#define DEF "dialects/concrete/concrete.def"
#include "ir/table.h"

static const char *const reserved[] = {
    "start", "start_time", "predicted_start", "end", "end_time", "predicted_end", "duration", "latency",
    "estimated_time", "predicted_duration", NULL,
};

static const struct item_kind kinds[] = {
    { .name = "concrete.plan", .layer = LAYER_CONCRETE, .major = 1, .minor = 0, .entities = entities,
      .n_entities = CONCRETE_ENTITIES, .reserved = reserved, .verify = concrete_verify,
      .doc = "Devices, memory, queues and commands of one target." },
};

const struct dialect concrete_dialect = {
    .name = "concrete", .kinds = kinds, .n_kinds = COUNT(kinds),
    .samples = samples, .n_samples = COUNT(samples) - 1,
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "exactly how, on a target",
};
