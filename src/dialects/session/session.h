/* session: workload, strategy, target, deployment (and evidence): each an item of one statement, its fields. */
#ifndef DIALECTS_SESSION_SESSION_H
#define DIALECTS_SESSION_SESSION_H

#include "ir/item.h"

#define DEF "dialects/session/session.def"
#include "ir/enums.h"
/* Also the index of the item kind in session_dialect.kinds. */
enum session_kind {
#define ENTITY(id, ...) id,
#include DEF
#undef DEF
    SESSION_KINDS
};

struct session_workload {
    struct stmt s;
    u8 mode, dtype;
    u32 note;
    u64 batch, microbatch, context, prompt, generated, chunk;   /* 0: absent */
};

struct session_strategy {
    struct stmt s;
    u8 communication, schedule, optimizer_sharding, recompute, fused_activation, input_regather;
    u32 note;
    u64 tensor, pipeline, virtual_stages, data, world;      /* world 0: not stated */
};

struct session_target {
    struct stmt s;
    atom abi, architecture, runtime;
    u32 engines, memory_spaces, dtypes, collectives, capabilities;
    u32 note;
    u64 align;
};

struct session_deployment {
    struct stmt s;
    u32 memory;
    atom environment;
    u32 topology, note;
    u64 devices;
};

struct session_profile {
    struct stmt s;
    atom evidence;
    u32 note;
    double matrix_flops, vector_flops, memory_bandwidth, network_bandwidth, network_latency;
};

extern const struct dialect session_dialect;

struct verifier;
void session_verify(struct verifier *v);

#endif
