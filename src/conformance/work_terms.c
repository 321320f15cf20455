/* A decoder's block, task by task: each is a term of block_terms.def, every term is there, and sums are the closed forms. */
#include "conformance/work.h"

#include "conformance/mesh.h"

enum phase { FORWARD, ACTIVATION_GRADIENT, WEIGHT_GRADIENT, INFERENCE, OPTIMIZER, PHASES };

/* In what the tasks of a term are: itself, its repetition, or the optimizer's step of its weights. */
enum use { FIRST, AGAIN, STEP_OF, USES };

enum { FACTS = 3 };         /* operations, read, write */

/* What a block must be to have a term: all bits of its mask. */
enum when {
    TRAINING = 1, STEP = 2, IS_SPLIT = 4, PARALLEL = 8, LAYER_NORM = 16, RMS_NORM = 32, GELU = 64, SWIGLU = 128, ROTARY = 256, BIAS = 512,
    DROPOUT = 1024, REPLICATED = 2048, FUSED = 4096, KEPT = 8192,

    SPLIT = TRAINING | IS_SPLIT, TRAINING_PARALLEL = TRAINING | PARALLEL, TRAINING_LAYER_NORM = TRAINING | LAYER_NORM,
    TRAINING_RMS_NORM = TRAINING | RMS_NORM, TRAINING_GELU = TRAINING | GELU, TRAINING_SWIGLU = TRAINING | SWIGLU,
    TRAINING_ROTARY = TRAINING | ROTARY, TRAINING_BIAS = TRAINING | BIAS, TRAINING_BIAS_GELU = TRAINING_BIAS | GELU,
    TRAINING_BIAS_SWIGLU = TRAINING_BIAS | SWIGLU, TRAINING_DROPOUT = TRAINING | DROPOUT, TRAINING_REPLICATED = TRAINING | REPLICATED,
    SWIGLU_KEPT = TRAINING_SWIGLU | KEPT, SWIGLU_FUSED = TRAINING_SWIGLU | FUSED,

    STEP_PARALLEL = STEP | PARALLEL, STEP_LAYER_NORM = STEP | LAYER_NORM, STEP_RMS_NORM = STEP | RMS_NORM, STEP_GELU = STEP | GELU,
    STEP_SWIGLU = STEP | SWIGLU, STEP_ROTARY = STEP | ROTARY, STEP_BIAS = STEP | BIAS, STEP_BIAS_GELU = STEP_BIAS | GELU,
    STEP_BIAS_SWIGLU = STEP_BIAS | SWIGLU,
};

static const struct term {
    const char *layer;
    enum phase phase;
    bool sends;
    u32 when;
    const char *facts[FACTS];
} terms[] = {
#define LETTER(...)
#define TERM(layer_, phase_, sends_, when_, operations_, read_, write_) { layer_, phase_, sends_, when_, { operations_, read_, write_ } },
#include "conformance/block_terms.def"
};

/* What is known of a term's tasks in one use. */
struct tally {
    bool wanted;                /* a block has such a task */
    bool open;                  /* it may, or not: what decides is not in the file */
    u32 count;
    struct amount facts[FACTS];
};

struct terms {
    struct block *b;
    u32 holds;                  /* mask of enum when */
    struct tally tally[COUNT(terms)][USES];
    u16 *first, next[COUNT(terms)];     /* by atom of a layer: term + 1; the next of that layer */
    u32 blocks;                 /* as often as the most frequent task is there */
    qty products[PHASES];        /* operations of products over all ranks */
    const struct dist_task *product_at[PHASES];
    qty done[DIST_DECODE + 1][FACTS];   /* over all ranks, by the task's phase */
    u32 n_tasks, unshared;
};

static const char *const fact_words[FACTS] = { "operations", "read", "write" };

static u32 conditions(const struct block *b)
{
    bool fused = b->strategy && b->strategy->fused_activation;
    return (b->training ? TRAINING : STEP) | (b->split ? IS_SPLIT : 0) | (b->ranks > 1 ? PARALLEL : 0) | (b->rms_norm ? RMS_NORM : LAYER_NORM) |
           (b->swiglu ? SWIGLU : GELU) | (b->rotary ? ROTARY : 0) | (b->bias ? BIAS : 0) | (b->dropout ? DROPOUT : 0) |
           (b->dealt > 1 ? REPLICATED : 0) | (fused ? FUSED : KEPT);
}

static bool term_holds(const struct terms *t, const struct term *term)
{
    return (term->when & ~t->holds) == 0;
}

/* ---- What must be there ---- */

static bool is_layer(const struct term *term, const char *layer)
{
    return !strcmp(term->layer, layer);
}

/* What the strategy does again in the backward pass [Korthikanti et al. 2022, section 5; Calculon]. */
static bool is_repeated(const struct block *b, const struct term *term)
{
    const struct session_strategy *s = b->strategy;
    bool full = s->recompute == SESSION_RECOMPUTE_FULL, attention = s->recompute == SESSION_RECOMPUTE_ATTENTION;
    if (full || term->phase != FORWARD)
        return term->phase == FORWARD;
    if (is_layer(term, "attention.input_collective"))
        return attention || s->input_regather;
    if (is_layer(term, "mlp.input_collective"))
        return s->input_regather;
    return attention && (is_layer(term, "attention.query_key") || is_layer(term, "attention.softmax") || is_layer(term, "attention.probability_dropout"));
}

/* Bytes of a value: e an element, but masks, one. */
static bool bytes(struct terms *t, const char *sum, struct amount *out)
{
    char plain[64], masks[64];
    size_t n = 0, k = 0;
    struct amount a, m;
    for (const char *at = sum; *at;) {
        size_t length = strcspn(at, "+");
        bool mask = at[length - 1] == 'd' || at[length - 1] == 'y';
        char *to = mask ? masks + k : plain + n;
        memcpy(to, at, length);
        to[length] = '+';
        *(mask ? &k : &n) += length + 1;
        at += length + (at[length] == '+');
    }
    plain[n ? n - 1 : 0] = masks[k ? k - 1 : 0] = '\0';
    return block_sum(t->b, plain, &a) && block_sum(t->b, masks, &m) && work_times(t->b->c, NULL, a.all, t->b->element_bytes, &a.all) &&
           work_times(t->b->c, NULL, a.once, t->b->element_bytes, &a.once) && work_add(t->b->c, NULL, a.all, m.all, &out->all) &&
           work_add(t->b->c, NULL, a.once, m.once, &out->once);
}

/*
 * Adam's step of a term's weights: 11 operations a weight, and 12 bytes of state (8, where weights are of 4 bytes), read
 * once. Where the state is sharded, each rank takes its share rounded up.
 */
static bool fill_step(struct terms *t, const struct term *term, struct tally *out)
{
    struct block *b = t->b;
    struct exprs *x = b->it->ctx->exprs;
    u64 replicas = b->ranks * b->data, state = b->element_bytes < 4 ? 12 : 8;
    struct amount w;
    qty share;
    if (!block_sum(b, term->facts[2], &w) || qty_ceildiv(x, w.all, replicas, &share) != EXPR_OK)
        return false;
    return work_times(b->c, NULL, share, replicas, &w.all) &&
           work_times(b->c, NULL, w.all, 11, &out->facts[0].all) && work_times(b->c, NULL, w.once, 11, &out->facts[0].once) &&
           work_times(b->c, NULL, w.all, state, &out->facts[1].all) && work_times(b->c, NULL, w.once, state, &out->facts[1].once);
}

static bool fill_term(struct terms *t, u32 i)
{
    const struct term *term = &terms[i];
    struct tally *first = &t->tally[i][FIRST], *again = &t->tally[i][AGAIN], *step = &t->tally[i][STEP_OF];
    first->wanted = term_holds(t, term);
    if (!first->wanted)
        return true;
    for (u32 k = 0; k < FACTS; k++)
        if (!(k ? bytes(t, term->facts[k], &first->facts[k]) : block_sum(t->b, term->facts[0], &first->facts[0])))
            return false;
    memcpy(again->facts, first->facts, sizeof first->facts);
    again->open = !t->b->strategy;
    again->wanted = t->b->strategy && is_repeated(t->b, term);
    bool weights = term->phase == WEIGHT_GRADIENT && !term->sends;
    step->wanted = weights && t->b->strategy;
    step->open = weights && !t->b->strategy;
    return !weights || fill_step(t, term, step);
}

static bool fill(struct terms *t)
{
    struct interner *names = &t->b->it->ctx->names;
    t->holds = conditions(t->b);
    t->first = ARENA_ARRAY(&t->b->c->v.scratch, u16, names->n);
    for (u32 i = COUNT(terms); i--;) {
        atom layer = intern_find(names, terms[i].layer, strlen(terms[i].layer));
        if (!fill_term(t, i))
            return false;
        if (layer) {
            t->next[i] = t->first[layer];
            t->first[layer] = (u16)(i + 1);
        }
    }
    return true;
}

/* ---- Tasks ---- */

/* The phase of the term that a task belongs to, and as what; false: a block has no such phase. */
static bool phase_of(u8 phase, bool sends, enum phase *of, enum use *use)
{
    static const struct {
        u8 phase, of, use;
    } phases[] = {
        { DIST_FORWARD, FORWARD, FIRST }, { DIST_RECOMPUTE, FORWARD, AGAIN }, { DIST_RECOMMUNICATION, FORWARD, AGAIN },
        { DIST_ACTIVATION_GRADIENT, ACTIVATION_GRADIENT, FIRST }, { DIST_WEIGHT_GRADIENT, WEIGHT_GRADIENT, FIRST },
        { DIST_OPTIMIZER, WEIGHT_GRADIENT, STEP_OF }, { DIST_PREFILL, INFERENCE, FIRST }, { DIST_DECODE, INFERENCE, FIRST },
    };
    *of = OPTIMIZER;
    *use = FIRST;
    for (u32 i = 0; i < COUNT(phases) && !(sends && phase == DIST_OPTIMIZER); i++)
        if (phases[i].phase == phase) {
            *of = (enum phase)phases[i].of;
            *use = (enum use)phases[i].use;
            return true;
        }
    return sends && phase == DIST_OPTIMIZER;
}

static bool find_tally(struct terms *t, const struct dist_task *task, const struct term **term, enum use *use, struct tally **out)
{
    enum phase phase;
    bool sends = task->body == DIST_COLLECTIVE;
    if (!phase_of(task->phase, sends, &phase, use) || (task->phase == DIST_RECOMPUTE && sends) || (task->phase == DIST_RECOMMUNICATION && !sends))
        return false;
    for (u32 i = task->layer ? t->first[task->layer] : 0; i; i = t->next[i - 1]) {
        *term = &terms[i - 1];
        *out = &t->tally[i - 1][*use];
        if ((*term)->phase == phase && (*term)->sends == sends && term_holds(t, *term))
            return true;
    }
    return false;
}

static void note_letters(struct terms *t, const char *sum)
{
    const struct context *ctx = t->b->it->ctx;
    for (const char *at = sum; *at; at++) {
        const struct amount *l = &t->b->letters[(unsigned char)*at];
        if ((*at >= '0' && *at <= '9') || *at == '+')
            continue;
        const char *all = qty_text(ctx, l->all);
        verify_note_legal(&t->b->c->v, "%c = %s (%s)%s%s", *at, all, block_letter_text(*at), l->all == l->once ? "" : ", once ",
                          l->all == l->once ? "" : qty_text(ctx, l->once));
    }
}

static bool refuse_fact(struct terms *t, const struct dist_task *task, const struct term *term, enum use use, u32 fact, u64 n, qty have, qty want)
{
    const struct context *ctx = t->b->it->ctx;
    const char *text = qty_text(ctx, have), *sum = use == STEP_OF ? term->facts[2] : term->facts[fact];
    const char *by = !fact ? use == STEP_OF ? "11 times " : "" : use == STEP_OF ? "bytes of state times " : "e times ";
    verify_error(&t->b->c->v, &task->s, "work", fact_words[fact], use == AGAIN ? "check.work_conservation.recompute" : "check.work_conservation.term",
                 "%s: %s over %llu ranks is %s, and %s`%s` is %s", stmt_text(t->b->it, &task->s), fact_words[fact], (unsigned long long)n, text, by,
                 *sum ? sum : "0", qty_text(ctx, want));
    note_letters(t, sum);
    return false;
}

static bool refuse_extra(struct terms *t, const struct dist_task *task)
{
    const struct context *ctx = t->b->it->ctx;
    return verify_error(&t->b->c->v, &task->s, task->layer ? "layer" : NULL, NULL, "check.work_conservation.extra",
                        "%s, %s of layer %s in phase %s, is no term of a block's work", stmt_text(t->b->it, &task->s),
                        dist_body_enum.words[task->body].text, task->layer ? context_text(ctx, task->layer) : "none",
                        dist_phase_enum.words[task->phase].text);
}

/* Ranks that do the task's work, all replicas together where they share a step. */
static u64 ranks_of(const struct block *b, const struct dist_task *task, enum use use)
{
    return ranks_count(b->it, task->ranks, b->ranks) * (use == STEP_OF ? b->data : 1);
}

static bool is_product(const struct terms *t, const struct dist_task *task)
{
    const struct interner *names = &t->b->it->ctx->names;
    return task->phase != DIST_OPTIMIZER && (intern_is(names, task->operation, "transformer.linear") || intern_is(names, task->operation, "transformer.batch_matmul"));
}

static bool add_product(struct terms *t, const struct dist_task *task, const struct term *term, qty operations)
{
    if (!is_product(t, task))
        return true;
    if (!t->product_at[term->phase])
        t->product_at[term->phase] = task;
    return work_add(t->b->c, &task->s, t->products[term->phase], operations, &t->products[term->phase]);
}

/* A collective of training reads what it sends: its group's payload, whole on each rank. */
static bool check_message(struct terms *t, const struct dist_task *task, const struct term *term, const struct tally *tally, u64 n)
{
    qty have;
    if (!term->sends || !t->b->training || !task->work[DIST_MESSAGE])
        return true;
    if (!work_times(t->b->c, &task->s, task->work[DIST_MESSAGE], n, &have))
        return false;
    if (work_same(t->b->it, t->b->ranks, have, tally->facts[1].all))
        return true;
    const char *text = qty_text(t->b->it->ctx, have);
    verify_error(&t->b->c->v, &task->s, "work", "message", "check.work_conservation.term", "%s: message over %llu ranks is %s, and e times `%s` is %s",
                 stmt_text(t->b->it, &task->s), (unsigned long long)n, text, term->facts[1], qty_text(t->b->it->ctx, tally->facts[1].all));
    note_letters(t, term->facts[1]);
    return false;
}

static bool check_task(struct terms *t, const struct dist_task *task)
{
    const struct term *term;
    struct tally *tally;
    enum use use;
    bool good = true;
    t->n_tasks++;
    if (!find_tally(t, task, &term, &use, &tally))
        return refuse_extra(t, task);
    if (++tally->count > t->blocks && use == FIRST)
        t->blocks = tally->count;
    if (use == STEP_OF && tally->open) {
        t->unshared++;
        return true;
    }
    u64 n = ranks_of(t->b, task, use);
    for (u32 k = 0; k < FACTS; k++) {
        qty have;
        if (!work_times(t->b->c, &task->s, task->work[k], n, &have) ||
            !work_add(t->b->c, &task->s, t->done[task->phase][k], have, &t->done[task->phase][k]))
            return false;
        if (!work_same(t->b->it, t->b->ranks, have, tally->facts[k].all))
            good = refuse_fact(t, task, term, use, k, n, have, tally->facts[k].all);
        if (!k && use == FIRST && !add_product(t, task, term, have))
            return false;
    }
    return check_message(t, task, term, tally, n / (use == STEP_OF ? t->b->data : 1)) && good;
}

/* ---- Completeness ---- */

static const char *phase_word(enum phase phase, enum use use)
{
    static const char *const words[] = { "forward", "activation_gradient", "weight_gradient", "inference", "optimizer" };
    return use == AGAIN ? "recompute" : use == STEP_OF ? "optimizer" : words[phase];
}

static bool refuse_count(struct terms *t, const struct term *term, enum use use, u32 count)
{
    bool again = use == AGAIN;
    u32 due = t->tally[term - terms][use].wanted ? t->blocks : 0;
    verify_error(&t->b->c->v, NULL, NULL, NULL, again ? "check.work_conservation.recompute" : "check.work_conservation.missing",
                 "layer %s has %u %s in phase %s, and %u %s due", term->layer, count, term->sends ? "collectives" : "tasks", phase_word(term->phase, use), due,
                 due == 1 ? "is" : "are");
    if (again)
        verify_note_legal(&t->b->c->v, "the strategy says what is done again: recompute, input_regather");
    return false;
}

/* Whether the program has anything of a phase at all: what it leaves out as a whole is said, not refused. */
static bool has_phase(const struct terms *t, enum phase phase, enum use use)
{
    u32 n = 0;
    for (u32 i = 0; i < COUNT(terms); i++)
        n += terms[i].phase == phase ? t->tally[i][use].count : 0;
    return n != 0;
}

static bool check_counts(struct terms *t)
{
    bool good = true, there[PHASES][USES];
    for (int p = 0; p < PHASES; p++)
        for (int u = 0; u < USES; u++)
            there[p][u] = has_phase(t, (enum phase)p, (enum use)u);
    there[OPTIMIZER][FIRST] = there[WEIGHT_GRADIENT][STEP_OF];
    for (u32 i = 0; i < COUNT(terms); i++)
        for (int u = 0; u < USES; u++) {
            const struct tally *tally = &t->tally[i][u];
            bool skipped = u == AGAIN ? !there[FORWARD][FIRST] || !there[ACTIVATION_GRADIENT][FIRST] : !there[terms[i].phase][u];
            if (!tally->open && !skipped && tally->count != (tally->wanted ? t->blocks : 0))
                good = refuse_count(t, &terms[i], (enum use)u, tally->count);
        }
    return good;
}

/* ---- Sums ---- */

/* 24bsh^2 + 4bs^2h with attention width, width of keys and values, and feed-forward width apart from h. */
static bool check_products(struct terms *t)
{
    static const char *const forms[2][INFERENCE + 1] = {
        { "4p+4k+4m+4q", "4p+4k+4m+8q", "4p+4k+4m", "4p+4k+4m" },
        { "4p+4k+6m+4q", "4p+4k+6m+8q", "4p+4k+6m", "4p+4k+6m" },       /* with a gate, a third product of the MLP */
    };
    bool good = true;
    for (int p = 0; p <= INFERENCE; p++) {
        const struct context *ctx = t->b->it->ctx;
        const char *form = forms[t->b->swiglu][p];
        struct amount want;
        if (!has_phase(t, (enum phase)p, FIRST))
            continue;
        if (!block_sum(t->b, form, &want) || !work_times(t->b->c, NULL, want.all, t->blocks, &want.all))
            return false;
        const char *is = qty_text(ctx, t->products[p]);
        if (work_same(t->b->it, t->b->ranks, t->products[p], want.all)) {
            check_proved(t->b->c, "products in phase %s over %llu ranks: %s operations = `%s`", phase_word((enum phase)p, FIRST),
                         (unsigned long long)t->b->ranks, is, form);
            continue;
        }
        good = verify_error(&t->b->c->v, t->product_at[p] ? &t->product_at[p]->s : NULL, NULL, NULL, "check.work_conservation.products",
                            "products in phase %s have %s operations over all ranks, and `%s` is %s", phase_word((enum phase)p, FIRST), is, form,
                            qty_text(ctx, want.all));
        note_letters(t, form);
    }
    return good;
}

/* What the tasks of a phase have of a fact over all ranks: computed, and sent. */
static bool sum_phase(struct terms *t, enum phase phase, enum use use, u32 fact, struct amount sums[2])
{
    struct check *c = t->b->c;
    for (u32 i = 0; i < COUNT(terms); i++) {
        const struct tally *tally = &t->tally[i][use];
        struct amount *sum = &sums[terms[i].sends], each;
        if (terms[i].phase != phase || !tally->count)
            continue;
        if (!work_times(c, NULL, tally->facts[fact].all, tally->count, &each.all) || !work_times(c, NULL, tally->facts[fact].once, tally->count, &each.once) ||
            !work_add(c, NULL, sum->all, each.all, &sum->all) || !work_add(c, NULL, sum->once, each.once, &sum->once))
            return false;
    }
    return true;
}

/* "operations 9 = 5 of the model + 3 replicated + 1 of collectives" */
static const char *fact_text(struct terms *t, enum phase phase, enum use use, u32 fact)
{
    const struct context *ctx = t->b->it->ctx;
    struct amount sums[2] = { { 0, 0 } };
    qty all, more;
    if (!sum_phase(t, phase, use, fact, sums) || !work_add(t->b->c, NULL, sums[0].all, sums[1].all, &all) ||
        qty_sub(ctx->exprs, sums[0].all, sums[0].once, &more) != EXPR_OK)
        return NULL;
    const char *text = arena_format(&t->b->c->v.scratch, "%s %s", fact_words[fact], qty_text(ctx, all));
    text = arena_format(&t->b->c->v.scratch, "%s = %s of the %s", text, qty_text(ctx, sums[0].once), use == AGAIN ? "forward pass" : "model");
    text = arena_format(&t->b->c->v.scratch, "%s + %s replicated", text, qty_text(ctx, more));
    return arena_format(&t->b->c->v.scratch, "%s + %s of collectives", text, qty_text(ctx, sums[1].all));
}

/* The layers that are done again, by name. */
static const char *repeated_text(struct terms *t)
{
    const char *text = "";
    for (u32 i = 0; i < COUNT(terms); i++)
        if (t->tally[i][AGAIN].count)
            text = arena_format(&t->b->c->v.scratch, "%s%s%s", text, *text ? ", " : ": ", terms[i].layer);
    return text;
}

static bool tell_phase(struct terms *t, enum phase phase, enum use use)
{
    const char *texts[FACTS];
    u32 n = 0;
    for (u32 i = 0; i < COUNT(terms); i++)
        n += terms[i].phase == phase ? t->tally[i][use].count : 0;
    for (u32 k = 0; n && k < FACTS; k++)
        if (!(texts[k] = fact_text(t, phase, use, k)))
            return false;
    if (n)
        check_proved(t->b->c, "phase %s over %llu ranks, %u tasks: %s; %s; %s%s", phase_word(phase, use),
                     (unsigned long long)(t->b->ranks * (use == STEP_OF ? t->b->data : 1)), n, texts[0], texts[1], texts[2],
                     use == AGAIN ? repeated_text(t) : "");
    return true;
}

static bool tell(struct terms *t)
{
    for (int p = 0; p < PHASES; p++)
        for (int u = 0; u < USES; u++)
            if (!(u == STEP_OF && t->unshared) && !tell_phase(t, (enum phase)p, (enum use)u))
                return false;
    if (t->unshared)
        check_skipped(t->b->c, "%u steps of the optimizer: the strategy, which says how state is shared, is not in the file", t->unshared);
    if (!t->b->strategy && t->b->training)
        check_skipped(t->b->c, "which terms are done again: the strategy is not in the file");
    return true;
}

bool work_check_terms(struct block *b)
{
    struct terms *t = ARENA_NEW(&b->c->v.scratch, struct terms);
    bool good = true;
    t->b = b;
    if (!fill(t))
        return false;
    for (u32 i = 0; i < b->it->n_stmts; i++)
        if (b->it->stmts[i]->entity == DIST_TASK)
            good = check_task(t, (const struct dist_task *)b->it->stmts[i]) && good;
    good = good && check_counts(t) && check_products(t);
    return good && tell(t);
}
