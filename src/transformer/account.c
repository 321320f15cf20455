#include "transformer/account.h"

#include "transformer/formula.h"

#define A ACCOUNT

const struct account_fact_row account_fact_table[ACCOUNT_FACTS] = {
    [FACT_HIDDEN] = { ACCOUNT_MODEL, "hidden" }, [FACT_FEEDFORWARD] = { ACCOUNT_MODEL, "feedforward" },
    [FACT_HEADS] = { ACCOUNT_MODEL, "heads" }, [FACT_KV_HEADS] = { ACCOUNT_MODEL, "kv_heads" },
    [FACT_HEAD_SIZE] = { ACCOUNT_MODEL, "head_size" }, [FACT_SEQUENCE] = { ACCOUNT_MODEL, "sequence" },
    [FACT_BLOCKS] = { ACCOUNT_MODEL, "blocks" }, [FACT_NORM] = { ACCOUNT_MODEL, "norm" }, [FACT_MLP] = { ACCOUNT_MODEL, "mlp" },
    [FACT_ROTARY] = { ACCOUNT_MODEL, "rotary" }, [FACT_BIAS] = { ACCOUNT_MODEL, "bias" }, [FACT_DROPOUT] = { ACCOUNT_MODEL, "dropout" },
    [FACT_BATCH] = { ACCOUNT_WORKLOAD, "batch" }, [FACT_MICROBATCH] = { ACCOUNT_WORKLOAD, "microbatch" },
    [FACT_DTYPE] = { ACCOUNT_WORKLOAD, "dtype" }, [FACT_MODE] = { ACCOUNT_WORKLOAD, "mode" },
    [FACT_CONTEXT] = { ACCOUNT_WORKLOAD, "context" }, [FACT_PROMPT] = { ACCOUNT_WORKLOAD, "prompt" },
    [FACT_CHUNK] = { ACCOUNT_WORKLOAD, "chunk" },
    [FACT_TENSOR] = { ACCOUNT_STRATEGY, "tensor" }, [FACT_COMMUNICATION] = { ACCOUNT_STRATEGY, "communication" },
    [FACT_PIPELINE] = { ACCOUNT_STRATEGY, "pipeline" }, [FACT_SCHEDULE] = { ACCOUNT_STRATEGY, "schedule" },
    [FACT_VIRTUAL_STAGES] = { ACCOUNT_STRATEGY, "virtual_stages" }, [FACT_DATA] = { ACCOUNT_STRATEGY, "data" },
    [FACT_OPTIMIZER_SHARDING] = { ACCOUNT_STRATEGY, "optimizer_sharding" }, [FACT_RECOMPUTE] = { ACCOUNT_STRATEGY, "recompute" },
    [FACT_FUSED_ACTIVATION] = { ACCOUNT_STRATEGY, "fused_activation" }, [FACT_INPUT_REGATHER] = { ACCOUNT_STRATEGY, "input_regather" },
    [FACT_ATTENTION] = { ACCOUNT_DIST, "attention" },
};

/* What each switch of the tables is decided by. */
static const account_facts training_switches[WHENS] = {
    [WHEN_PARALLEL] = A(FACT_TENSOR),
    [WHEN_SPLIT] = A(FACT_TENSOR) | A(FACT_COMMUNICATION),
    [WHEN_FUSED] = A(FACT_FUSED_ACTIVATION),
    [WHEN_FULL] = A(FACT_RECOMPUTE),
    [WHEN_ATTENTION] = A(FACT_RECOMPUTE),
    [WHEN_ATTENTION_INPUT] = A(FACT_RECOMPUTE) | A(FACT_INPUT_REGATHER),
    [WHEN_MLP_INPUT] = A(FACT_RECOMPUTE) | A(FACT_INPUT_REGATHER),
    [WHEN_ATTENTION_INPUT_REBUILT] = A(FACT_RECOMPUTE) | A(FACT_INPUT_REGATHER) | A(FACT_TENSOR) | A(FACT_COMMUNICATION),
    [WHEN_MLP_INPUT_REBUILT] = A(FACT_RECOMPUTE) | A(FACT_INPUT_REGATHER) | A(FACT_TENSOR) | A(FACT_COMMUNICATION),
    [WHEN_ATTENTION_DROPOUT] = A(FACT_RECOMPUTE) | A(FACT_DROPOUT),
    [WHEN_CAUSAL] = A(FACT_ATTENTION),
    [WHEN_LAYER_NORM] = A(FACT_NORM), [WHEN_RMS_NORM] = A(FACT_NORM),
    [WHEN_GELU] = A(FACT_MLP), [WHEN_SWIGLU] = A(FACT_MLP),
    [WHEN_ROTARY] = A(FACT_ROTARY), [WHEN_BIAS] = A(FACT_BIAS), [WHEN_DROPOUT] = A(FACT_DROPOUT),
    [WHEN_REPLICATED] = A(FACT_TENSOR) | A(FACT_KV_HEADS),
};

static const account_facts inference_switches[INFERENCE_WHENS] = {
    [INFERENCE_PARALLEL] = A(FACT_TENSOR),
    [INFERENCE_LAYER_NORM] = A(FACT_NORM), [INFERENCE_RMS_NORM] = A(FACT_NORM),
    [INFERENCE_GELU] = A(FACT_MLP), [INFERENCE_SWIGLU] = A(FACT_MLP),
    [INFERENCE_ROTARY] = A(FACT_ROTARY), [INFERENCE_BIAS] = A(FACT_BIAS), [INFERENCE_CAUSAL] = A(FACT_ATTENTION),
};

/* ---- Names ---- */

static qty evaluate(struct account *a, const char *formula)
{
    struct formula_name names[ACCOUNT_NAMES];
    struct formula_scope scope = { names, a->n, NULL };
    qty q = 0;
    for (u32 i = 0; i < a->n; i++)      /* a layer's own names come last and hide older ones */
        names[a->n - 1 - i] = (struct formula_name){ a->names[i].name, a->names[i].value };
    if (!a->status)
        a->status = formula_evaluate(a->x, formula, &scope, &q);
    return q;
}

static void add_value(struct account *a, const char *name, const char *formula, const char *meaning, qty value, account_facts facts)
{
    assert(a->n < ACCOUNT_NAMES);
    a->names[a->n++] = (struct account_name){ name, formula, meaning, value, facts };
}

static void add_formula(struct account *a, const char *name, const char *formula, const char *meaning, account_facts facts)
{
    add_value(a, name, formula, meaning, evaluate(a, formula), facts);
}

static void begin(struct account *a, struct exprs *x, struct arena *arena)
{
    *a = (struct account){ .x = x, .arena = arena };
}

void account_training(struct account *a, struct exprs *x, struct arena *arena, const struct block_sizes *z, const struct block_switches *on)
{
    begin(a, x, arena);
    add_value(a, "b", NULL, "sequences of a microbatch", z->b, A(FACT_MICROBATCH));
    add_value(a, "S", NULL, "positions of a sequence", z->S, A(FACT_SEQUENCE));
    add_value(a, "H", NULL, "hidden width", z->H, A(FACT_HIDDEN));
    add_value(a, "F", NULL, "feed-forward width", z->F, A(FACT_FEEDFORWARD));
    add_value(a, "h", NULL, "heads", z->h, A(FACT_HEADS));
    add_value(a, "s", NULL, "size of a head", z->s, A(FACT_HEAD_SIZE));
    add_value(a, "k", NULL, "heads of keys and values on a rank", z->k, A(FACT_KV_HEADS) | A(FACT_TENSOR));
    add_value(a, "t", NULL, "ranks that share the block", z->t, A(FACT_TENSOR));
    add_value(a, "r", NULL, "ranks that hold the same keys and values", z->r, A(FACT_KV_HEADS) | A(FACT_TENSOR));
    add_value(a, "e", NULL, "bytes of an element", z->e, A(FACT_DTYPE));
    add_value(a, "o", NULL, "bytes of optimizer state a weight", z->o, A(FACT_DTYPE));
    bool sharded = z->d != 1;
    add_value(a, "d", NULL, "ranks that share gradients and optimizer state", z->d, A(FACT_OPTIMIZER_SHARDING) | (sharded ? A(FACT_DATA) : 0));
    for (u32 i = 0; i < QUANTITIES; i++) {
        const struct quantity_row *row = &quantity_table[i];
        bool holds = block_switch_holds(on, row->when);
        add_formula(a, row->name, holds ? row->formula : row->otherwise, row->meaning, training_switches[row->when]);
    }
    a->n_block = a->n;
}

void account_inference(struct account *a, struct exprs *x, struct arena *arena, const struct inference_sizes *z,
                       const struct inference_switches *on, account_facts query, account_facts context)
{
    begin(a, x, arena);
    add_value(a, "b", NULL, "sequences", z->b, A(FACT_BATCH));
    add_value(a, "q", NULL, "new tokens of a sequence", z->q, query);
    add_value(a, "c", NULL, "tokens that they attend to", z->c, context);
    add_value(a, "H", NULL, "hidden width", z->H, A(FACT_HIDDEN));
    add_value(a, "F", NULL, "feed-forward width", z->F, A(FACT_FEEDFORWARD));
    add_value(a, "h", NULL, "heads", z->h, A(FACT_HEADS));
    add_value(a, "g", NULL, "heads of keys and values on a rank", z->g, A(FACT_KV_HEADS) | A(FACT_TENSOR));
    add_value(a, "s", NULL, "size of a head", z->s, A(FACT_HEAD_SIZE));
    add_value(a, "t", NULL, "ranks that share the block", z->t, A(FACT_TENSOR));
    add_value(a, "e", NULL, "bytes of an element", z->e, A(FACT_DTYPE));
    for (u32 i = 0; i < INFERENCE_QUANTITIES; i++) {
        const struct inference_quantity_row *row = &inference_quantity_table[i];
        add_formula(a, row->name, on->on[row->when] ? row->formula : row->otherwise, row->meaning, inference_switches[row->when]);
    }
    a->n_block = a->n;
}

/* ---- Lines ---- */

static void add_line(struct account *a, const char *fact, const char *layer, const char *formula, const char *source, account_facts facts)
{
    qty value = evaluate(a, formula);
    assert(a->n_lines < ACCOUNT_LINES);
    u32 n = a->n - a->n_block;
    struct account_name *own = ARENA_ARRAY(a->arena, struct account_name, n + 1);
    memcpy(own, a->names + a->n_block, n * sizeof *own);
    if (!a->status)
        a->lines[a->n_lines++] = (struct account_line){ fact, layer, formula, source, value, facts, own, n };
}

/* ---- Training ---- */

static const struct layer_row *layer_row_of(const struct block_switches *on, const char *name)
{
    for (u32 i = 0; i < BLOCK_LAYERS; i++)
        if (!strcmp(layer_table[i].name, name) && block_switch_holds(on, layer_table[i].present))
            return &layer_table[i];
    return NULL;
}

static const struct primitive_row *primitive_of(const struct block_switches *on, const struct layer_row *row)
{
    enum { TO_SPLIT = PRIMITIVE_INPUT_COLLECTIVE_SPLIT - PRIMITIVE_INPUT_COLLECTIVE };
    bool collective = row->primitive == PRIMITIVE_INPUT_COLLECTIVE || row->primitive == PRIMITIVE_OUTPUT_COLLECTIVE;
    return &primitive_table[row->primitive + (collective && on->split ? TO_SPLIT : 0)];
}

/* A layer's own names; they replace those of the layer before. */
static void name_layer(struct account *a, const struct layer_row *row)
{
    static const char elements[] = "elements of the layer";
    qty share = 0;
    add_formula(a, "in", row->in, elements, 0);
    add_formula(a, "out", row->out, elements, 0);
    add_formula(a, "act", row->act, "elements kept for the gradient", 0);
    add_formula(a, "grad", row->grad, "elements of the gradient of what is kept", 0);
    add_formula(a, "weights", row->weights, "weights of the layer on a rank", 0);
    add_formula(a, "additions", row->activation_gradient, "operations of the activation gradient", 0);
    if (!a->status)
        a->status = qty_ceildiv(a->x, evaluate(a, "weights"), evaluate(a, "d"), &share);
    add_value(a, "share", "weights ceildiv d", "weights of the largest rank's share", share, 0);
}

static void add_work(struct account *a, const struct layer_row *row, const char *operations, struct traffic_row t, bool sends, account_facts facts)
{
    add_line(a, "operations", NULL, operations, row->source, facts);
    add_line(a, "read", NULL, t.read, NULL, facts);
    add_line(a, "write", NULL, t.write, NULL, facts);
    if (sends)
        add_line(a, "message", NULL, "e*in", NULL, facts);
}

bool account_training_task(struct account *a, const struct block_switches *on, const char *layer, enum training_phase phase, bool collective)
{
    const struct layer_row *row = layer_row_of(on, layer);
    if (!row)
        return false;
    const struct primitive_row *p = primitive_of(on, row);
    account_facts facts = training_switches[row->present] | (p->engine == ENGINE_COLLECTIVE ? training_switches[WHEN_SPLIT] : 0);
    name_layer(a, row);
    switch (phase) {
    case PHASE_RECOMPUTE:
        add_work(a, row, row->forward, p->forward, false, facts | training_switches[row->recomputed]);
        break;
    case PHASE_RECOMMUNICATION:
        add_work(a, row, row->forward, p->forward, collective, facts | training_switches[row->repeated]);
        break;
    case PHASE_FORWARD:
        add_work(a, row, row->forward, p->forward, collective, facts);
        break;
    case PHASE_ACTIVATION_GRADIENT:
        add_work(a, row, row->activation_gradient, p->activation_gradient, collective, facts);
        break;
    case PHASE_WEIGHT_GRADIENT:
        add_work(a, row, row->weight_gradient, p->weight_gradient, false, facts);
        break;
    default:
        if (collective)
            add_work(a, row, row->weight_gradient, p->weight_gradient, true, facts);
        else
            add_work(a, row, "11*share", (struct traffic_row){ "o*share", "0" }, false, facts);
    }
    return !a->status;
}

bool account_training_boundary(struct account *a)
{
    add_line(a, "size", NULL, "e*Q", NULL, 0);
    return !a->status;
}

/* A layer's part of a memory fact, as a formula; NULL: it has none. */
static const char *memory_part(struct account *a, const struct block_switches *on, const struct layer_row *row, const char *fact, account_facts *facts)
{
    const struct primitive_row *p = primitive_of(on, row);
    bool full = on->recompute == RECOMPUTE_FULL;
    if (!strcmp(fact, "weights"))
        return "e*weights";
    if (!strcmp(fact, "gradients"))
        return "e*share";
    if (!strcmp(fact, "gradients_unsharded"))
        return "4*weights";
    if (!strcmp(fact, "optimizer"))
        return "o*share";
    if (!strcmp(fact, "activation_gradients"))
        return p->grad_bytes;
    if (!strcmp(fact, "working"))
        return row->space == SPACE_SHARED ? NULL : p->act_bytes;
    if (strcmp(fact, "stored"))
        return NULL;
    *facts |= A(FACT_RECOMPUTE) | training_switches[row->act_dropped] | training_switches[row->out_dropped];
    bool kept = !block_switch_holds(on, row->act_dropped), rebuilt = block_switch_holds(on, row->out_dropped);
    return full ? NULL : kept && rebuilt ? arena_format(a->arena, "%s - e*out", p->act_bytes)
                       : kept ? p->act_bytes : rebuilt ? "0 - e*out" : NULL;
}

bool account_training_memory(struct account *a, const struct block_switches *on, const char *fact)
{
    static const char *const facts[] = { "weights", "working", "stored", "checkpoint", "gradients", "gradients_unsharded",
                                         "activation_gradients", "optimizer" };
    bool known = false;
    for (u32 i = 0; i < COUNT(facts); i++)
        known = known || !strcmp(fact, facts[i]);
    if (known && !strcmp(fact, "checkpoint"))
        add_line(a, fact, NULL, on->recompute == RECOMPUTE_FULL ? "e*Q" : "0", NULL, A(FACT_RECOMPUTE));
    for (u32 i = 0; known && strcmp(fact, "checkpoint") && i < BLOCK_LAYERS; i++) {
        const struct layer_row *row = &layer_table[i];
        account_facts chosen = training_switches[row->present];
        a->left_out |= chosen;
        if (!block_switch_holds(on, row->present))
            continue;
        a->n = a->n_block;
        name_layer(a, row);
        const char *formula = memory_part(a, on, row, fact, &chosen);
        a->left_out |= chosen;
        if (formula)
            add_line(a, fact, row->name, formula, row->source, chosen);
    }
    return known && !a->status;
}

/* What a memory fact of the block depends on: all that its parts do. */
static account_facts memory_depends(const struct account *block, const struct block_switches *on, const char *fact)
{
    struct account *a = ARENA_NEW(block->arena, struct account);
    *a = *block;
    a->n_lines = 0;
    account_training_memory(a, on, fact);
    account_facts facts = a->left_out;
    for (u32 i = 0; i < a->n_lines; i++)
        facts |= account_depends(a, &a->lines[i]);
    return facts;
}

bool account_stage(struct account *a, const struct block_switches *on, const struct block_memory *m, u64 blocks, u128 held, const char *buffer)
{
    const struct formula_name memory[] = {
        { "weights", m->weights }, { "working", m->working }, { "stored", m->stored }, { "checkpoint", m->checkpoint },
        { "gradients", m->gradients }, { "gradients_unsharded", m->gradients_unsharded },
        { "activation_gradients", m->activation_gradients }, { "optimizer", m->optimizer },
    };
    const account_facts stage = A(FACT_BLOCKS) | A(FACT_PIPELINE), flight = stage | A(FACT_SCHEDULE) | A(FACT_VIRTUAL_STAGES) |
                                                                            A(FACT_BATCH) | A(FACT_MICROBATCH) | A(FACT_DATA);
    account_facts depends[COUNT(memory)];
    for (u32 i = 0; i < COUNT(memory); i++)
        depends[i] = memory_depends(a, on, memory[i].name);
    a->n = a->n_block;
    add_value(a, "L", NULL, "blocks of a stage", qty_number(a->x, blocks), stage);
    add_value(a, "held", NULL, "blocks of a stage times microbatches in flight", qty_number(a->x, held), flight);
    add_value(a, "kept", NULL, "the same without the block in work", qty_number(a->x, held - 1), flight);
    for (u32 i = 0; i < COUNT(memory); i++)
        add_value(a, memory[i].name, NULL, "bytes of one block", memory[i].value, depends[i]);
    for (u32 i = 0; i + 1 < STAGE_BUFFERS; i++)
        if (!strcmp(stage_buffers[i].name, buffer)) {
            add_line(a, "size", NULL, stage_buffers[i].formula, "of the heaviest stage", 0);
            return !a->status;
        }
    return false;
}

/* ---- Inference ---- */

static void name_task(struct account *a, const struct inference_task_row *row)
{
    add_formula(a, "in", row->in, "elements that the task reads besides weights", 0);
    add_formula(a, "out", row->out, "elements that it writes", 0);
    add_formula(a, "weights", row->weights, "weights that it reads", 0);
}

bool account_inference_task(struct account *a, const struct inference_switches *on, const char *layer, bool collective)
{
    for (u32 i = 0; i < INFERENCE_TASKS; i++) {
        const struct inference_task_row *row = &inference_task_table[i];
        account_facts facts = inference_switches[row->when];
        if (strcmp(row->layer, layer) || !on->on[row->when] || (row->engine == ENGINE_COLLECTIVE) != collective)
            continue;
        name_task(a, row);
        add_line(a, "operations", NULL, row->operations, row->source, facts);
        if (collective) {
            add_line(a, "message", NULL, "e*in", NULL, facts);
        } else {
            add_line(a, "read", NULL, "e*(in + weights)", NULL, facts);
            add_line(a, "write", NULL, "e*out", NULL, facts);
        }
        return !a->status;
    }
    return false;
}

static void add_workspace(struct account *a, const struct inference_switches *on)
{
    const struct inference_workspace_row *largest = NULL;
    account_facts facts = 0;
    qty most = 0, more;
    for (u32 i = 0; i < INFERENCE_WORKSPACES; i++) {
        const struct inference_workspace_row *row = &inference_workspace_table[i];
        facts |= inference_switches[row->when];
        qty size = on->on[row->when] ? evaluate(a, row->elements) : 0;
        if (a->status || (a->status = qty_max(a->x, most, size, &more)))
            return;
        largest = more != most ? row : largest;
        most = more;
    }
    add_value(a, "largest", largest ? largest->elements : "0", largest ? largest->what : NULL, most, facts);
    add_line(a, "workspace", NULL, "e*(T + largest)", NULL, 0);
}

bool account_inference_memory(struct account *a, const struct inference_switches *on, const char *fact)
{
    if (!strcmp(fact, "kv_cache"))
        add_line(a, fact, NULL, "2*b*c*V*e", NULL, 0);
    else if (!strcmp(fact, "boundary"))
        add_line(a, fact, NULL, "e*T", NULL, 0);
    else if (!strcmp(fact, "workspace"))
        add_workspace(a, on);
    else if (strcmp(fact, "weights"))
        return false;
    for (u32 i = 0; !strcmp(fact, "weights") && i < INFERENCE_TASKS; i++) {
        const struct inference_task_row *row = &inference_task_table[i];
        a->left_out |= inference_switches[row->when];
        if (!on->on[row->when] || !strcmp(row->weights, "0"))
            continue;
        a->n = a->n_block;
        name_task(a, row);
        add_line(a, fact, row->layer, arena_format(a->arena, "e*(%s)", row->weights), row->source, inference_switches[row->when]);
    }
    return !a->status;
}

/* ---- Reading formulas ---- */

size_t account_name_at(const char *text)
{
    static const char *const operators[] = { "floordiv", "ceildiv", "max", "min" };
    size_t n = 0;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') || text[n] == '_')
        n++;
    for (size_t i = 0; i < COUNT(operators); i++)
        if (strlen(operators[i]) == n && !memcmp(text, operators[i], n))
            return 0;
    return n;
}

const struct account_name *account_find(const struct account *a, const struct account_line *l, const char *name, size_t length)
{
    for (u32 i = 0; i < l->n_own + a->n_block; i++) {
        const struct account_name *at = i < l->n_own ? &l->own[i] : &a->names[i - l->n_own];
        if (strlen(at->name) == length && !memcmp(at->name, name, length))
            return at;
    }
    return NULL;
}

static account_facts facts_of(const struct account *a, const struct account_line *l, const char *formula)
{
    account_facts facts = 0;
    for (const char *at = formula; *at;) {
        size_t n = account_name_at(at), word = n ? n : strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const struct account_name *name = n ? account_find(a, l, at, n) : NULL;
        if (name)
            facts |= name->facts | (name->formula ? facts_of(a, l, name->formula) : 0);
        at += word ? word : 1;
    }
    return facts;
}

account_facts account_depends(const struct account *a, const struct account_line *l)
{
    return l->facts | facts_of(a, l, l->formula);
}

void account_out_numbers(struct out *o, const struct account *a, const struct account_line *l, const char *formula)
{
    for (const char *at = formula; *at;) {
        size_t n = account_name_at(at), word = n ? n : strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const struct account_name *name = n ? account_find(a, l, at, n) : NULL;
        bool wrapped = name && n != strlen(formula) && !qty_is_constant(a->x, name->value);
        if (name) {
            out_string(o, wrapped ? "(" : "");
            out_qty(o, a->x, name->value);
            out_string(o, wrapped ? ")" : "");
        } else {
            out_bytes(o, at, word ? word : 1);
        }
        at += word ? word : 1;
    }
}
