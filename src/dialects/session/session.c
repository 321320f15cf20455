#include "dialects/session/session.h"

#define DEF "dialects/session/session.def"
#include "ir/table.h"

static const char *const reserved[] = {
    "workload_spec", "phase", "inference_phase", "batch_size", "global_batch_size", "microbatch_size", "micro_batches",
    "sequence_length", "prompt_tokens", "generated_tokens", "query_tokens", "context_tokens", "datatype",
    "mapping_spec", "inference_mapping_spec", "parallelism", "tensor_parallel", "tensor_par", "pipeline_parallel",
    "pipeline_par", "data_parallel", "data_par", "replicas", "recompute", "recompute_policy", "activation_recompute",
    "pipeline_schedule", "pipeline_interleaving", "optimizer_sharding", "tensor_parallel_communication",
    "tensor_par_comm_type", "world_size", "num_procs", "fused_activation", "sequence_parallel_all_gather_redo", NULL,
};

#define KIND(name_, id, doc_) \
    { .name = name_, .layer = LAYER_SESSION, .entities = &entities[id], .n_entities = 1, .reserved = reserved, \
      .verify = session_verify, .doc = doc_ }

static const struct item_kind kinds[] = {
    KIND("session.workload", SESSION_WORKLOAD, "What is asked for."),
    KIND("session.strategy", SESSION_STRATEGY, "How the work is parallel."),
    KIND("session.target", SESSION_TARGET, "What a plan can be bound to."),
    KIND("session.deployment", SESSION_DEPLOYMENT, "The devices that there are."),
    KIND("system.profile", SESSION_PROFILE, "Evidence for estimates of time."),
};

const struct dialect session_dialect = {
    .name = "session", .kinds = kinds, .n_kinds = COUNT(kinds),
    .samples = samples, .n_samples = COUNT(samples) - 1,
    .operations = operations, .n_operations = COUNT(operations) - 1,
    .enumerations = enumerations, .n_enumerations = COUNT(enumerations),
    .rules = rules, .n_rules = COUNT(rules) - 1,
    .doc = "what a derivation is given besides the model",
};
