/*
 * A request of inference as the steps that serve it: its prompt at once or in chunks, then one step for each further
 * token. A step computes `query` new tokens of each sequence, which attend to `context` tokens, themselves among them.
 */
#ifndef TRANSFORMER_REQUEST_H
#define TRANSFORMER_REQUEST_H

#include "transformer/spec.h"

enum request_mode { REQUEST_PREFILL, REQUEST_DECODE, REQUEST_WHOLE };

struct inference_request {
    enum request_mode mode; /* what was asked for: one of its two parts, or both */
    u64 batch;              /* sequences that are served together */
    u64 prompt;             /* tokens to prefill; 0: they are in the cache */
    u64 chunk;              /* new tokens of a prefill step at most; 0: all of the prompt */
    u64 first_context;      /* of the first decode step */
    u64 decodes;            /* decode steps, each with a context one longer */
    u64 element_bytes;      /* of weights, activations and cache */
    enum attention_pairs pairs;
};

struct inference_step {
    bool decode;
    u64 batch, query, context;
    u64 element_bytes;
    enum attention_pairs pairs;
};

/* A prompt, and GENERATED tokens of which its last one yields the first: contexts prompt + 1 to prompt + generated - 1. */
static inline void request_generates(struct inference_request *r, u64 prompt, u64 generated)
{
    r->prompt = prompt;
    r->first_context = prompt + 1;
    r->decodes = generated ? generated - 1 : 0;
}

u64 request_prefills(const struct inference_request *r);        /* steps of the prompt */
u128 request_steps(const struct inference_request *r);
u128 request_last_context(const struct inference_request *r);   /* the longest */

/* Step I, from 0; false behind the last. */
bool request_step(const struct inference_request *r, u64 i, struct inference_step *out);

/* Pairs of a query and a key of one step, of one head and one sequence. */
u128 request_pairs(const struct inference_step *step);

#endif
