#include "passes/spec.h"

#include "dialects/dist/dist.h"
#include "ir/attr.h"

const struct session_workload *spec_workload_of(const struct item *it) { return (const void *)it->stmts[0]; }
const struct session_strategy *spec_strategy_of(const struct item *it) { return (const void *)it->stmts[0]; }
const struct session_target *spec_target_of(const struct item *it) { return (const void *)it->stmts[0]; }
const struct session_deployment *spec_deployment_of(const struct item *it) { return (const void *)it->stmts[0]; }

const struct model_op *spec_decoder(const struct item *model, const char *name)
{
    const struct model_op *found = NULL;
    for (u32 i = 0; i < model->n_stmts; i++) {
        if (model->stmts[i]->entity != MODEL_OP)
            continue;
        if (found)
            return NULL;
        found = (const struct model_op *)model->stmts[i];
    }
    return found && intern_is(&model->ctx->names, found->operation, name) ? found : NULL;
}

u64 spec_attribute(const struct item *model, const struct model_op *op, const char *name)
{
    atom key = intern_find(&model->ctx->names, name, strlen(name));
    struct attr a = attr_get(model, item_attribute(model, op->attributes, key));
    u128 n = 0;
    if (a.kind == ATTR_QUANTITY)
        qty_value(model->ctx->exprs, a.quantity, &n);
    return (u64)n;
}

/* Position among WORDS of the word that an operation's own clause has; ABSENT where there is none. */
static u8 word_of(const struct item *model, const struct model_op *op, const char *name, const struct enumeration *words, u8 absent)
{
    atom key = intern_find(&model->ctx->names, name, strlen(name));
    struct attr a = attr_get(model, item_attribute(model, op->attributes, key));
    const struct interned *text = &model->ctx->names.atoms[a.text];
    int found = a.kind == ATTR_WORD ? enumeration_find(words, text->text, text->length) : -1;
    return found >= 0 ? (u8)found : absent;
}

static bool flag_of(const struct item *model, const struct model_op *op, const char *name, bool absent)
{
    static const struct word truth[] = { { "false", NULL }, { "true", NULL } };
    static const struct enumeration flag = { "flag", truth, COUNT(truth) };
    return word_of(model, op, name, &flag, absent);
}

void spec_model(const struct item *model, const struct model_op *op, struct transformer_model *out)
{
    *out = (struct transformer_model){
        .name = context_text(model->ctx, model->name),
        .hidden = spec_attribute(model, op, "hidden"),
        .feedforward = spec_attribute(model, op, "feedforward"),
        .heads = spec_attribute(model, op, "heads"),
        .head_size = spec_attribute(model, op, "head_size"),
        .sequence = spec_attribute(model, op, "sequence"),
        .blocks = spec_attribute(model, op, "blocks"),
        .vocabulary = spec_attribute(model, op, "vocabulary"),
        .norm = (enum transformer_norm)word_of(model, op, "norm", &model_norm_enum, NORM_LAYER),
        .mlp = (enum transformer_mlp)word_of(model, op, "mlp", &model_mlp_enum, MLP_GELU),
        .rotary = flag_of(model, op, "rotary", false),
        .bias = flag_of(model, op, "bias", false),
        .dropout = flag_of(model, op, "dropout", true),
    };
    u64 kv_heads = spec_attribute(model, op, "kv_heads");
    out->kv_heads = kv_heads ? kv_heads : out->heads;
}

enum attention_pairs spec_pairs(const struct item *dist)
{
    for (u32 i = 0; i < dist->n_stmts; i++)
        if (dist->stmts[i]->entity == DIST_ATTENTION)
            return (enum attention_pairs)((const struct dist_attention *)dist->stmts[i])->pairs;
    return ATTENTION_DENSE;
}

bool spec_attention_option(const struct pass_run *r, enum attention_pairs *out)
{
    const struct step_option *o = step_option(r->step, "attention");
    *out = o && !strcmp(o->value, "causal") ? ATTENTION_CAUSAL : ATTENTION_DENSE;
    if (!o || *out == ATTENTION_CAUSAL || !strcmp(o->value, "dense"))
        return true;
    return diag_error(r->ctx->diags, o->value_at, "pass.option.attention", "`attention` is dense or causal, found `%s`", o->value);
}

enum element spec_dtype_element(u8 dtype)
{
    const char *word = session_dtype_enum.words[dtype].text;
    return element_find(word, strlen(word));
}

u32 spec_dtype_bytes(u8 dtype)
{
    return element_bits(spec_dtype_element(dtype)) / 8;
}

void spec_workload(const struct item *workload, struct training_workload *out)
{
    const struct session_workload *w = spec_workload_of(workload);
    *out = (struct training_workload){ w->batch, w->microbatch, spec_dtype_bytes(w->dtype) };
}

static enum pipeline_schedule schedule_of(const struct session_strategy *s)
{
    if (s->schedule != SESSION_SCHEDULE_DEFAULT)
        return (enum pipeline_schedule)(s->schedule - SESSION_SINGLE_STAGE);
    return s->pipeline <= 1 ? SCHEDULE_SINGLE_STAGE
           : s->virtual_stages > 1 ? SCHEDULE_INTERLEAVED_ONE_F_ONE_B : SCHEDULE_ONE_F_ONE_B;
}

void spec_strategy(const struct item *strategy, struct training_strategy *out)
{
    const struct session_strategy *s = spec_strategy_of(strategy);
    *out = (struct training_strategy){
        .tensor = s->tensor, .communication = (enum tensor_communication)s->communication,
        .pipeline = s->pipeline, .schedule = schedule_of(s), .virtual_stages = s->virtual_stages,
        .data = s->data, .optimizer_sharding = s->optimizer_sharding,
        .recompute = (enum recompute_policy)s->recompute, .fused_activation = s->fused_activation,
        .input_regather = s->input_regather, .world = s->world,
    };
}

void spec_request(const struct item *workload, const struct step *step, struct inference_request *out)
{
    const struct session_workload *w = spec_workload_of(workload);
    const struct step_option *o = step ? step_option(step, "attention") : NULL;
    *out = (struct inference_request){
        .batch = w->batch, .chunk = w->chunk, .element_bytes = spec_dtype_bytes(w->dtype),
        .pairs = o && !strcmp(o->value, "causal") ? ATTENTION_CAUSAL : ATTENTION_DENSE,
        .mode = w->mode == SESSION_DECODE ? REQUEST_DECODE : w->mode == SESSION_PREFILL ? REQUEST_PREFILL : REQUEST_WHOLE,
    };
    if (w->mode == SESSION_DECODE) {
        out->first_context = w->context;
        out->decodes = 1;
    } else {
        request_generates(out, w->mode == SESSION_PREFILL ? w->context : w->prompt, w->mode == SESSION_PREFILL ? 1 : w->generated);
    }
}

void spec_inference_strategy(const struct item *strategy, struct training_strategy *out)
{
    spec_strategy(strategy, out);
    if (spec_strategy_of(strategy)->schedule == SESSION_SCHEDULE_DEFAULT)
        out->schedule = out->pipeline > 1 ? SCHEDULE_FORWARD_ONLY : SCHEDULE_SINGLE_STAGE;
}
