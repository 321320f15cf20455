#include "passes/decoder.h"

#include "dialects/dist/dist.h"
#include "ir/implied.h"
#include "ir/verify.h"
#include "passes/emit.h"
#include "support/quantity.h"

const struct model_op *decoder_find(struct pass_run *r, const struct pass *other)
{
    const struct model_op *op = spec_decoder(r->input, r->pass->operation);
    if (op)
        return op;
    pass_error(r, r->input, NULL, NULL, NULL, "pass.input.operation", "%s takes a program whose only operation is %s; %s is not one",
               r->pass->name, r->pass->operation, symbol_text(r->input, r->input->name));
    if (spec_decoder(r->input, other->operation))
        pass_note(r, "%s takes %s", other->name, other->operation);
    return NULL;
}

static const struct item *item_of(const struct decoder *d, enum contract_item item)
{
    const struct session *s = &d->r->session;
    return item == CONTRACT_MODEL ? d->r->input : s->items[item == CONTRACT_WORKLOAD ? BIND_WORKLOAD : BIND_STRATEGY];
}

void decoder_report(void *state, const struct contract_finding *f)
{
    const struct decoder *d = state;
    struct context *ctx = d->r->ctx;
    const struct item *it = item_of(d, f->item);
    const struct stmt *s = f->item == CONTRACT_MODEL ? &d->op->s : it->stmts[0];
    struct loc at = ctx->locate ? ctx->locate(it, s, f->field, NULL) : (struct loc){ 0 };
    if (f->severity == SEVERITY_ERROR)
        diag_error(ctx->diags, at, f->rule->code, "%s", f->message);
    else
        diag_warning(ctx->diags, at, f->rule->code, "%s", f->message);
    if (!at.src)
        diag_context(ctx->diags, "%s", symbol_text(it, it->name));
    if (f->note)
        diag_note(ctx->diags, (struct loc){ 0 }, "%s", f->note);
}

bool decoder_check_rank(const struct decoder *d, const struct model_value *v, u32 rank, const char *what)
{
    const struct item *in = d->r->input;
    const struct type *t = type_get(in->ctx->types, v->type);
    return t->rank == rank || pass_error(d->r, in, &v->s, NULL, context_text(in->ctx, v->s.name), "pass.boundary.shape",
                                         "%s has %u dimensions; %s", stmt_text(in, &v->s), t->rank, what);
}

bool decoder_check_dimension(const struct decoder *d, const struct model_value *v, u32 i, u128 size, const char *what)
{
    const struct item *in = d->r->input;
    const struct type *t = type_get(in->ctx->types, v->type);
    char digits[U128_DIGITS];
    u128 n;
    if (!qty_value(in->ctx->exprs, t->dims[i], &n) || n == size)
        return true;
    return pass_error(d->r, in, &v->s, NULL, context_text(in->ctx, v->s.name), "pass.boundary.shape",
                      "dimension %u of %s is %s, but the %s is %s", i, stmt_text(in, &v->s), qty_text(in->ctx, t->dims[i]), what,
                      u128_text(size, digits));
}

bool decoder_check_element(const struct decoder *d, const struct model_value *v)
{
    const struct item *in = d->r->input, *workload = d->r->session.items[BIND_WORKLOAD];
    const struct type *t = type_get(in->ctx->types, v->type);
    u8 dtype = spec_workload_of(workload)->dtype;
    const char *word = session_dtype_enum.words[dtype].text, *element = element_name((enum element)t->element);
    if (t->element == spec_dtype_element(dtype))
        return true;
    pass_error(d->r, in, &v->s, NULL, context_text(in->ctx, v->s.name), "pass.boundary.dtype", "%s has elements of %s, but the workload %s asks for %s",
               stmt_text(in, &v->s), element, symbol_text(in, workload->name), word);
    pass_note(d->r, "write dtype = %s in the workload, or %s in the model's types", element, word);
    return false;
}

void decoder_emit_origin(struct pass_run *r, const struct model_op *op)
{
    struct dist_origin *origin = (struct dist_origin *)item_add(r->output, DIST_ORIGIN);
    origin->source = op->s.name;
    item_settle(r->output, &origin->s);
}
