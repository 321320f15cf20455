/* Typed items to the plain numbers of transformer/spec.h. */
#ifndef PASSES_SPEC_H
#define PASSES_SPEC_H

#include "dialects/model/model.h"
#include "dialects/session/session.h"
#include "passes/pass.h"
#include "transformer/request.h"

/* The only statement of a session item. */
const struct session_workload *spec_workload_of(const struct item *it);
const struct session_strategy *spec_strategy_of(const struct item *it);
const struct session_target *spec_target_of(const struct item *it);
const struct session_deployment *spec_deployment_of(const struct item *it);

/* The program's only operation if it is NAME ("transformer.decoder_training"), else NULL. */
const struct model_op *spec_decoder(const struct item *model, const char *name);

/* The value of an operation's own clause, 0 where it is absent. */
u64 spec_attribute(const struct item *model, const struct model_op *op, const char *name);

void spec_model(const struct item *model, const struct model_op *op, struct transformer_model *out);
void spec_workload(const struct item *workload, struct training_workload *out);
void spec_strategy(const struct item *strategy, struct training_strategy *out);

/* A workload of inference as the steps that serve it; STEP's `attention` says which pairs are counted. */
void spec_request(const struct item *workload, const struct step *step, struct inference_request *out);

/* As spec_strategy, but several stages run forward_only by default. */
void spec_inference_strategy(const struct item *strategy, struct training_strategy *out);

/* Which pairs of a query and a key a dist program counts; dense where it does not say. */
enum attention_pairs spec_pairs(const struct item *dist);

/* A pass's own option {attention=dense|causal}; dense where it is not given. False: reported. */
bool spec_attention_option(const struct pass_run *r, enum attention_pairs *out);

/* Bytes of an element of session_dtype; the type layer's name of it is the same word. */
u32 spec_dtype_bytes(u8 dtype);
enum element spec_dtype_element(u8 dtype);

#endif
