#include "transformer/convention.h"

#include "transformer/formula.h"

/* The papers' models: two products in the MLP, over four hidden widths; heads as wide as hidden together, each with keys
 * and values of its own. */
static bool has_papers_shape(const struct transformer_model *m)
{
    return m->mlp == MLP_GELU && m->kv_heads == m->heads && m->feedforward == 4 * (u128)m->hidden && (u128)m->heads * m->head_size == m->hidden;
}

static enum convention_status count(struct exprs *x, const struct transformer_model *m, u64 batch, const char *formula,
                                    qty *out)
{
    if (!m->vocabulary)
        return CONVENTION_NO_VOCABULARY;
    if (!has_papers_shape(m))
        return CONVENTION_OTHER_SHAPE;
    const struct formula_name names[] = {
        { "B", qty_number(x, batch) }, { "s", qty_number(x, m->sequence) }, { "L", qty_number(x, m->blocks) },
        { "h", qty_number(x, m->hidden) }, { "V", qty_number(x, m->vocabulary) },
    };
    const struct formula_scope scope = { names, COUNT(names), NULL };
    return formula_evaluate(x, formula, &scope, out) ? CONVENTION_OVERFLOW : CONVENTION_OK;
}

enum convention_status narayanan_parameters(struct exprs *x, const struct transformer_model *m, qty *out)
{
    return count(x, m, 1, "12*L*h*h + 13*L*h + (V + s)*h", out);
}

enum convention_status narayanan_operations(struct exprs *x, const struct transformer_model *m,
                                            const struct training_workload *w, bool recompute, qty *out)
{
    return count(x, m, w->batch,
                 recompute ? "96*B*s*L*h*h + 16*B*s*s*L*h + 6*B*s*h*V" : "72*B*s*L*h*h + 12*B*s*s*L*h + 6*B*s*h*V",
                 out);
}

/* a * b * c / (d * e) */
static enum convention_status share(u128 a, u64 b, u64 c, u64 d, u64 e, struct ratio *out)
{
    if (!u128_mul(a, b, &a) || !u128_mul(a, c, &a))
        return CONVENTION_OVERFLOW;
    *out = ratio_of(a, (u128)d * e);
    return CONVENTION_OK;
}

enum convention_status korthikanti_parameter_bytes(const struct transformer_model *m, const struct training_strategy *s,
                                                   struct ratio *out)
{
    if (!has_papers_shape(m))
        return CONVENTION_OTHER_SHAPE;
    u128 square = (u128)m->hidden * m->hidden, bytes;
    if (!u128_mul(square, 18 * 12, &bytes))
        return CONVENTION_OVERFLOW;
    return share(bytes, m->blocks, 1, s->tensor, s->pipeline, out);
}

enum convention_status korthikanti_activation_bytes(const struct transformer_model *m,
                                                    const struct training_strategy *s, u128 stored, struct ratio *out)
{
    u64 p = s->pipeline, v = s->virtual_stages;
    if (!has_papers_shape(m))
        return CONVENTION_OTHER_SHAPE;
    if (v == 1)
        return share(stored, m->blocks, 1, 1, 1, out);
    u128 factor;        /* 1 + (p-1)/(p v), over p v */
    if (!u128_mul(p, v, &factor) || !u128_add(factor, p - 1, &factor) || factor > UINT64_MAX)
        return CONVENTION_OVERFLOW;
    return share(stored, m->blocks, (u64)factor, p, v, out);
}

const char *convention_status_text(enum convention_status status)
{
    static const char *const texts[] = {
        [CONVENTION_OK] = "is exact",
        [CONVENTION_OVERFLOW] = "overflows 128 bits",
        [CONVENTION_NO_VOCABULARY] = "needs the model's vocabulary",
        [CONVENTION_OTHER_SHAPE] = "is defined for mlp gelu, feedforward = 4 x hidden, heads x head_size = hidden and kv_heads = heads",
    };
    return texts[status];
}
