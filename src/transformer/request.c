#include "transformer/request.h"

u64 request_prefills(const struct inference_request *r)
{
    return !r->prompt ? 0 : !r->chunk ? 1 : (r->prompt - 1) / r->chunk + 1;
}

u128 request_steps(const struct inference_request *r)
{
    return (u128)request_prefills(r) + r->decodes;
}

u128 request_last_context(const struct inference_request *r)
{
    return r->decodes ? (u128)r->first_context + r->decodes - 1 : r->prompt;
}

bool request_step(const struct inference_request *r, u64 i, struct inference_step *out)
{
    u64 prefills = request_prefills(r);
    *out = (struct inference_step){ .batch = r->batch, .element_bytes = r->element_bytes, .pairs = r->pairs };
    if (i < prefills) {
        u64 before = i ? i * r->chunk : 0;
        out->query = r->chunk && r->prompt - before > r->chunk ? r->chunk : r->prompt - before;
        out->context = before + out->query;
        return true;
    }
    out->decode = true;
    out->query = 1;
    out->context = r->first_context + (i - prefills);
    return i - prefills < r->decodes;
}

u128 request_pairs(const struct inference_step *step)
{
    u128 q = step->query, c = step->context;
    return step->pairs == ATTENTION_DENSE ? q * c : q * (c - q) + q * (q + 1) / 2;
}
