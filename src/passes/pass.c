/* The passes that there are, and what each may ask and say while it runs. */
#include "passes/pass.h"

#include "passes/contract.h"
#include "passes/passes.h"

const struct pass *const all_passes[] = {
    &distribute_transformer_training, &distribute_transformer_inference, &specialize, &plan_transformer_training,
    &plan_transformer_inference, &bind_reference_slot, &bind_reference_queue, NULL,
};

const struct pass *pass_find(const char *name, size_t length)
{
    for (const struct pass *const *p = all_passes; *p; p++)
        if (strlen((*p)->name) == length && !memcmp((*p)->name, name, length))
            return *p;
    return NULL;
}

/* What depends on a session item that the pass does not consume was made with the one that made the input. */
const struct finding *pass_finding(const struct pass_run *r, const struct analysis *key)
{
    bool consumed = (r->pass->bindings & key->bindings) == key->bindings;
    struct digest session = session_fingerprint(&r->session, key->bindings);
    return analyses_find(r->analyses, key, item_digest((struct item *)r->input), consumed ? &session : NULL);
}

const void *pass_analysis(const struct pass_run *r, const struct analysis *key)
{
    const struct finding *f = pass_finding(r, key);
    assert(f && analysis_listed(r->pass->requires, key));
    return f->value;
}

/* The output's digest is not known before the pass is done: the address is completed then. */
void pass_publish(struct pass_run *r, const struct analysis *key, const void *value)
{
    struct finding f = { .key = key, .value = value, .digest = finding_digest(r->ctx, key, value) };
    *VEC_PUSH(r->products->list, r->products->n, r->products->cap) = f;
}
