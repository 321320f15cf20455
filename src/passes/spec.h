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

/* Position among WORDS of the word that an operation's own clause has; 0 where it is absent. */
u8 spec_word(const struct item *model, const struct model_op *op, const char *name, const struct enumeration *words);

void spec_model(const struct item *model, const struct model_op *op, struct transformer_model *out);
void spec_workload(const struct item *workload, struct training_workload *out);
void spec_strategy(const struct item *strategy, struct training_strategy *out);

/* A workload of inference as the steps that serve it; STEP's `attention` says which pairs are counted. */
void spec_request(const struct item *workload, const struct step *step, struct inference_request *out);

/* As spec_strategy, but several stages run forward_only by default. */
void spec_inference_strategy(const struct item *strategy, struct training_strategy *out);

/* Bytes of an element of session_dtype; the type layer's name of it is the same word. */
u32 spec_dtype_bytes(u8 dtype);
enum element spec_dtype_element(u8 dtype);

#endif
