/* The passes, and the gates that prove their outputs. A gate's file never sees the file that derives. */
#ifndef PASSES_PASSES_H
#define PASSES_PASSES_H

#include "passes/pass.h"

extern const struct pass distribute_transformer_training;
extern const struct pass distribute_transformer_inference;
extern const struct pass specialize;
extern const struct pass plan_transformer_training;
extern const struct pass plan_transformer_inference;
extern const struct pass bind_reference_slot;
extern const struct pass bind_reference_queue;

bool distribute_transformer_training_gate(const struct pass_run *r);
bool distribute_transformer_inference_gate(const struct pass_run *r);
bool specialize_gate(const struct pass_run *r);
bool plan_transformer_training_gate(const struct pass_run *r);
bool plan_transformer_inference_gate(const struct pass_run *r);
bool bind_reference_gate(const struct pass_run *r);

#endif
