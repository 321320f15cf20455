#include "why_numbers.h"

#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "ir/attr.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/spec.h"

#include "why_place.h"

static bool is_printed(struct why *w, const char *name)
{
    for (u32 i = 0; i < w->n_printed; i++)
        if (!strcmp(w->printed[i], name))
            return true;
    if (w->n_printed < COUNT(w->printed))
        w->printed[w->n_printed++] = name;
    return false;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* `2*M*H*K = 2*2048*12288*1536 = 77309411328`, without what says nothing new. */
static void out_formula(struct why *w, const struct account_line *l, const char *formula, qty value)
{
    struct out numbers, result;
    out_memory(&numbers);
    out_memory(&result);
    account_out_numbers(&numbers, w->account, l, formula);
    out_qty(&result, w->account->x, value);
    if (!is_number(formula))
        out_printf(w->o, "%s = ", formula);
    if (numbers.n != result.n || memcmp(numbers.data, result.data, result.n)) {
        out_bytes(w->o, numbers.data, numbers.n);
        out_string(w->o, " = ");
    }
    out_bytes(w->o, result.data, result.n);
    out_free(&numbers);
    out_free(&result);
}

static void out_names(struct why *w, const struct account_line *l, const char *formula, u32 depth)
{
    for (const char *at = formula; *at;) {
        size_t n = account_name_at(at), word = n ? n : strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const struct account_name *name = n ? account_find(w->account, l, at, n) : NULL;
        at += word ? word : 1;
        if (!name || is_printed(w, name->name))
            continue;
        out_printf(w->o, "%*s%s = ", 2 * (int)depth, "", name->name);
        if (name->formula)
            out_formula(w, l, name->formula, name->value);
        else
            out_qty(w->o, w->account->x, name->value);
        if (name->meaning)
            out_printf(w->o, "    %s", name->meaning);
        out_char(w->o, '\n');
        if (name->formula)
            out_names(w, l, name->formula, depth + 1);
    }
}

static const char *symbol_of(account_facts all, u32 i)
{
    static const char *const words[] = { "model", "workload", "strategy", "program" };
    return all >> i & 1 ? words[account_fact_table[i].source] : NULL;
}

static void out_depends(struct why *w, account_facts facts)
{
    out_string(w->o, "    depends on");
    for (u32 i = 0, n = 0; i < ACCOUNT_FACTS; i++)
        if (symbol_of(facts, i))
            out_printf(w->o, "%s%s.%s", n++ ? ", " : " ", symbol_of(facts, i), account_fact_table[i].field);
    out_string(w->o, facts ? "\n" : " nothing\n");
}

static void out_line(struct why *w, const struct account_line *l)
{
    out_printf(w->o, l->layer ? "    %s: " : "  %s = ", l->layer ? l->layer : l->fact);
    out_formula(w, l, l->formula, l->value);
    if (l->source)
        out_printf(w->o, l->source[0] == '[' ? "    %s" : "    (%s)", l->source);
    out_char(w->o, '\n');
}

/* What the file says instead, where it was changed by hand. */
static void out_differs(struct why *w, qty written, qty derived)
{
    if (written == derived)
        return;
    out_string(w->o, "    but the file says ");
    out_qty(w->o, w->account->x, written);
    out_char(w->o, '\n');
}

static account_facts out_work(struct why *w, const qty *work)
{
    static const char *const names[] = { "operations", "read", "write", "message" };
    account_facts all = 0;
    for (u32 i = 0; i < w->account->n_lines; i++) {
        const struct account_line *l = &w->account->lines[i];
        account_facts facts = account_depends(w->account, l);
        w->n_printed = 0;
        out_line(w, l);
        out_names(w, l, l->formula, 3);
        for (u32 k = 0; work && k < COUNT(names); k++)
            if (!strcmp(names[k], l->fact))
                out_differs(w, work[k], l->value);
        out_depends(w, facts);
        all |= facts;
    }
    return all;
}

/* ---- The facts and the items that they stand in ---- */

static const struct item *pinned(const struct why *w, const struct item *dist, const char *kind)
{
    for (u32 i = 0; i < dist->header.n_using; i++) {
        const struct item *it = module_find(w->m, dist->header.using[i].item);
        it = it ? it : module_find(w->session, dist->header.using[i].item);
        if (it && !strcmp(it->kind->name, kind))
            return it;
    }
    return NULL;
}

static void out_model_fact(struct why *w, const char *field)
{
    const struct model_op *op = (const struct model_op *)w->model.s;
    atom key = intern_find(&w->model.it->ctx->names, field, strlen(field));
    u32 handle = key ? item_attribute(w->model.it, op->attributes, key) : 0;
    out_printf(w->o, "  %s ", field);
    if (handle)
        out_attr(w->o, w->model.it, handle);
    else
        out_string(w->o, "by default");
    out_printf(w->o, "    model.program %s", symbol_text(w->model.it, w->model.it->name));
    out_where(w->o, w->model.it, w->model.s, handle ? field : NULL);
}

static void out_session_fact(struct why *w, const struct item *it, const char *field)
{
    const struct field *f = field_find(stmt_entity(it, it->stmts[0])->fields, field, strlen(field));
    bool written = f && !field_is_default(it, it->stmts[0], f);
    out_printf(w->o, "  %s = ", field);
    if (f && (written || f->kind == FIELD_INTEGER || f->kind == FIELD_ENUM || f->kind == FIELD_BOOL))
        print_field(w->o, it, it->stmts[0], f);
    out_printf(w->o, "%s    %s %s", written ? "" : " by default", it->kind->name, symbol_text(it, it->name));
    out_where(w->o, it, it->stmts[0], written ? field : NULL);
}

static void out_facts(struct why *w, const struct item *dist, account_facts facts)
{
    const struct item *workload = pinned(w, dist, "session.workload"), *strategy = pinned(w, dist, "session.strategy");
    out_string(w->o, facts ? "\nfacts that it depends on:\n" : "");
    for (u32 i = 0; i < ACCOUNT_FACTS; i++) {
        const struct account_fact_row *row = &account_fact_table[i];
        if (!(facts >> i & 1))
            continue;
        if (row->source == ACCOUNT_MODEL)
            out_model_fact(w, row->field);
        else if (row->source == ACCOUNT_DIST)
            out_printf(w->o, "  %s %s    dist.program %s", row->field, spec_pairs(dist) == ATTENTION_CAUSAL ? "causal" : "dense by default",
                       symbol_text(dist, dist->name));
        else
            out_session_fact(w, row->source == ACCOUNT_WORKLOAD ? workload : strategy, row->field);
        out_char(w->o, '\n');
    }
}

/* ---- Training ---- */

static qty boundary_positions(const struct item *dist, qty otherwise)
{
    for (u32 i = 0; i < dist->n_stmts; i++) {
        const struct dist_value *v = (const struct dist_value *)dist->stmts[i];
        if (dist->stmts[i]->entity != DIST_VALUE)
            continue;
        const struct type *t = type_get(dist->ctx->types, v->type);
        return t->rank == 3 ? t->dims[1] : otherwise;
    }
    return otherwise;
}

struct training {
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
    struct block_switches on;
};

/* From the program nearest to what was asked about: numbers may have been put in for its symbols. */
static void begin_training(struct why *w, struct training *t, const struct item *derived)
{
    const struct dist_scale *scale = (const struct dist_scale *)item_once(w->dist.it, DIST_SCALE);
    struct exprs *x = derived->ctx->exprs;
    spec_model(w->model.it, (const struct model_op *)w->model.s, &t->model);
    spec_workload(pinned(w, derived, "session.workload"), &t->workload);
    spec_strategy(pinned(w, derived, "session.strategy"), &t->strategy);
    t->on = block_switches_of(&t->model, &t->strategy, spec_pairs(w->dist.it));
    struct block_sizes sizes = block_sizes_of(x, &t->model, &t->workload, &t->strategy);
    sizes.b = scale && scale->microbatch ? scale->microbatch : sizes.b;
    sizes.S = boundary_positions(w->dist.it, sizes.S);
    account_training(w->account, x, w->arena, &sizes, &t->on);
}

static account_facts out_parts(struct why *w, const struct dist_memory *m, const struct field *f)
{
    struct exprs *x = w->account->x;
    qty sum = 0;
    account_facts all = w->account->left_out;
    if (w->account->n_lines && w->account->lines[0].layer)
        out_printf(w->o, "  %s, the sum of\n", f->name);
    for (u32 i = 0; i < w->account->n_lines; i++) {
        const struct account_line *l = &w->account->lines[i];
        if (l->value)
            out_line(w, l);
        all |= account_depends(w->account, l);
        if (qty_add(x, sum, l->value, &sum))
            return all;
    }
    if (w->account->n_lines && w->account->lines[0].layer) {
        out_string(w->o, "    in all ");
        out_qty(w->o, x, sum);
        out_char(w->o, '\n');
    } else if (w->account->n_lines) {
        w->n_printed = 0;
        out_names(w, &w->account->lines[0], w->account->lines[0].formula, 3);
    }
    out_differs(w, field_get(&m->s, f), sum);
    out_depends(w, all);
    return all;
}

static const struct field *memory_facts(const struct item *dist)
{
    for (const struct field *f = dist->kind->entities[DIST_MEMORY].fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_FACTS)
            return f->aux;
    return NULL;
}

/* Of the task that is explained; NULL: it is no task, or of no layer. */
static const char *layer_of(const struct why *w)
{
    const struct item *it = w->dist.it;
    atom layer = w->dist.s->entity == DIST_TASK ? dist_layer(it, (const struct dist_task *)w->dist.s) : 0;
    return layer ? context_text(it->ctx, layer) : NULL;
}

static account_facts explain_training(struct why *w, struct training *t)
{
    const struct dist_task *task = (const struct dist_task *)w->dist.s;
    const struct dist_memory *memory = (const struct dist_memory *)w->dist.s;
    const char *layer = layer_of(w);
    account_facts all = 0;
    if (layer && task->phase) {
        enum training_phase phase = (enum training_phase)(PHASE_FORWARD + task->phase - DIST_FORWARD);
        if (account_training_task(w->account, &t->on, layer, phase, task->body == DIST_COLLECTIVE))
            all = out_work(w, task->work);
    }
    if (w->dist.s->entity == DIST_VALUE && w->portable.s && w->portable.s->entity == PORTABLE_BUFFER && account_training_boundary(w->account)) {
        all = out_work(w, NULL);
        out_differs(w, ((const struct portable_buffer *)w->portable.s)->size, w->account->lines[0].value);
    }
    for (const struct field *f = w->dist.s->entity == DIST_MEMORY ? memory_facts(w->dist.it) : NULL; f && f->kind != FIELD_END; f++) {
        struct account block = *w->account;
        if (!w->portable.s && field_get(w->dist.s, f) && account_training_memory(w->account, &t->on, f->name))
            all |= out_parts(w, memory, f);
        *w->account = block;
    }
    return all;
}

/* A buffer of the plan, over the block's memory. */
static account_facts explain_stage(struct why *w, struct training *t)
{
    const struct portable_buffer *b = (const struct portable_buffer *)w->portable.s;
    const struct dist_memory *m = (const struct dist_memory *)w->dist.s;
    const struct block_memory block = { m->weights, m->working, m->stored, m->checkpoint, m->gradients, m->gradients_unsharded,
                                        m->activation_gradients, m->optimizer };
    u64 blocks = stage_blocks(&t->model, &t->strategy);
    struct ratio flight = stage_in_flight(&t->strategy, stage_microbatches(&t->workload, &t->strategy), 0);
    u128 held = flight.under ? (u128)blocks * flight.over / flight.under : 0;
    if (!account_stage(w->account, &t->on, &block, blocks, held, context_text(w->portable.it->ctx, b->s.name)))
        return 0;
    account_facts facts = out_work(w, NULL);
    out_differs(w, b->size, w->account->lines[0].value);
    return facts;
}

/* ---- Inference ---- */

static bool step_of(const struct item *workload, const struct dist_scale *scale, struct inference_step *out)
{
    const struct step none = { 0 };
    struct inference_request r;
    u128 query = 0, context = 0;
    spec_request(workload, &none, &r);
    if (!scale || !qty_value(workload->ctx->exprs, scale->query, &query) || !qty_value(workload->ctx->exprs, scale->context, &context))
        return false;
    for (u64 i = 0; request_step(&r, i, out); i++)
        if (out->query == query && out->context == context)
            return true;
    return false;
}

/* Buffers of a plan that are from the block's memory: which fact, and whether of the stage's other blocks. */
static const struct {
    const char *buffer, *fact;
    bool others;
} inference_buffers[] = {
    { "weights", "weights", false }, { "workspace", "workspace", false },
    { "other_weights", "weights", true }, { "other_kv_caches", "kv_cache", true },
};

/* Which row the buffer asked about is; -1: the whole memory was asked about. */
static int buffer_of(const struct why *w)
{
    for (u32 i = 0; w->portable.s && i < COUNT(inference_buffers); i++)
        if (intern_is(&w->portable.it->ctx->names, w->portable.s->name, inference_buffers[i].buffer))
            return (int)i;
    return -1;
}

static account_facts out_others(struct why *w, const struct transformer_model *m, const struct training_strategy *s, qty fact, const char *name)
{
    u64 others = stage_blocks(m, s) - 1;
    qty size = 0;
    if (qty_mul(w->account->x, qty_number(w->account->x, others), fact, &size))
        return 0;
    out_printf(w->o, "  size = (blocks/pipeline - 1)*%s = %llu*", name, (unsigned long long)others);
    out_qty(w->o, w->account->x, fact);
    out_string(w->o, " = ");
    out_qty(w->o, w->account->x, size);
    out_string(w->o, "    (of the stage's other blocks)\n");
    out_differs(w, ((const struct portable_buffer *)w->portable.s)->size, size);
    return ACCOUNT(FACT_BLOCKS) | ACCOUNT(FACT_PIPELINE);
}

static account_facts explain_inference(struct why *w, const struct item *derived)
{
    const struct item *workload = pinned(w, derived, "session.workload");
    const struct dist_task *task = (const struct dist_task *)w->dist.s;
    struct transformer_model model;
    struct training_strategy strategy;
    struct inference_step step;
    account_facts all = 0;
    int buffer = buffer_of(w);
    spec_model(w->model.it, (const struct model_op *)w->model.s, &model);
    spec_inference_strategy(pinned(w, derived, "session.strategy"), &strategy);
    if (!step_of(workload, (const struct dist_scale *)item_once(w->dist.it, DIST_SCALE), &step))
        return 0;
    step.pairs = spec_pairs(w->dist.it);
    struct inference_sizes sizes = inference_sizes_of(derived->ctx->exprs, &model, &step, &strategy);
    struct inference_switches on = inference_switches_of(&model, &step, &strategy);
    u8 mode = spec_workload_of(workload)->mode;
    account_facts tokens = ACCOUNT(FACT_MODE) | (mode == SESSION_PREFILL || mode == SESSION_DECODE ? ACCOUNT(FACT_CONTEXT) : ACCOUNT(FACT_PROMPT));
    account_facts prefill = step.decode ? 0 : ACCOUNT(FACT_CHUNK);
    account_inference(w->account, derived->ctx->exprs, w->arena, &sizes, &on, step.decode ? ACCOUNT(FACT_MODE) : tokens | prefill, tokens | prefill);
    const char *layer = layer_of(w);
    if (layer && account_inference_task(w->account, &on, layer, task->body == DIST_COLLECTIVE))
        all = out_work(w, task->work);
    for (const struct field *f = w->dist.s->entity == DIST_MEMORY ? memory_facts(w->dist.it) : NULL; f && f->kind != FIELD_END; f++) {
        struct account block = *w->account;
        bool asked = buffer < 0 || !strcmp(inference_buffers[buffer].fact, f->name);
        if (asked && buffer >= 0 && inference_buffers[buffer].others)
            all |= out_others(w, &model, &strategy, field_get(w->dist.s, f), f->name);
        if (asked && field_get(w->dist.s, f) && account_inference_memory(w->account, &on, f->name))
            all |= out_parts(w, (const struct dist_memory *)w->dist.s, f);
        *w->account = block;
    }
    return all;
}

/* ---- The whole ---- */

/* The program that was distributed: from it numbers may have been put in. */
static const struct item *distributed(const struct why *w, const struct item *dist)
{
    while (dist && dist->kind->layer == LAYER_DIST) {
        const struct item *parent = module_find(w->m, dist->header.parent.item);
        if (!parent || parent->kind->layer != LAYER_DIST)
            return dist;
        dist = parent;
    }
    return dist;
}

void why_numbers(struct why *w)
{
    const struct item *derived = w->dist.s ? distributed(w, w->dist.it) : NULL;
    if (derived && !derived->header.pass)
        out_printf(w->o, "\n%s is written by hand: its numbers stand for themselves\n", symbol_text(derived, derived->name));
    if (!derived || !derived->header.pass || !w->model.s)
        return;
    w->model.s = item_once(w->model.it, MODEL_OP);
    const char *missing = !pinned(w, derived, "session.workload") ? "session.workload" : !pinned(w, derived, "session.strategy") ? "session.strategy" : NULL;
    const char *pass = context_text(derived->ctx, derived->header.pass);
    bool inference = !strcmp(pass, "distribute-transformer-inference");
    struct training t;
    if (!inference && strcmp(pass, "distribute-transformer-training"))
        return;
    out_char(w->o, '\n');
    if (missing) {
        out_printf(w->o, "its numbers follow from the %s that %s used, which is not in the file: give it with --session\n", missing,
                   symbol_text(derived, derived->name));
        return;
    }
    account_facts facts;
    if (inference) {
        facts = explain_inference(w, derived);
    } else {
        begin_training(w, &t, derived);
        bool stage = w->portable.s && w->portable.s->entity == PORTABLE_BUFFER && w->dist.s->entity == DIST_MEMORY;
        facts = stage ? explain_stage(w, &t) : explain_training(w, &t);
    }
    out_facts(w, derived, facts);
}
