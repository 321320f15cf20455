#include "dialects/model/model.h"

#include "ir/attr.h"

#define DEF "dialects/model/model.def"
#include "ir/table.h"

static const char *const reserved[] = {
    "model_spec", "tp", "pp", "dp", "rank", "device", "device_id", "queue", "kernel", "implementation_id", "start",
    "start_time", "end", "end_time", "duration", "latency", "memory_address", "memory_offset", NULL,
};

void model_settle(struct item *it, struct stmt *s)
{
    struct model_op *op = (struct model_op *)s;
    struct interner *names = &it->ctx->names;
    if (s->entity != MODEL_OP || !op->attributes)
        return;
    u32 all = item_attribute(it, op->attributes, intern_find(names, "heads", 5)), words[64], n = 0;
    for (u32 i = 0; i + 1 < list_n(it, op->attributes) && n + 1 < COUNT(words); i += 2) {
        const u32 *pair = list_at(it, op->attributes) + i;
        if (all && intern_is(names, pair[0], "kv_heads") && attr_equal(it, pair[1], it, all))
            continue;
        words[n++] = pair[0];
        words[n++] = pair[1];
    }
    if (n < list_n(it, op->attributes))
        op->attributes = item_list(it, words, n);
}

static const struct item_kind kinds[] = {
    { .name = "model.program", .layer = LAYER_MODEL, .major = 1, .minor = 0, .entities = entities,
      .n_entities = MODEL_ENTITIES, .reserved = reserved, .verify = model_verify, .settle = model_settle,
      .doc = "Values with roles and operations with signatures." },
};

const struct dialect model_dialect = {
    .name = "model", .kinds = kinds, .n_kinds = COUNT(kinds),
    .samples = samples, .n_samples = COUNT(samples) - 1,
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "what is computed",
};
