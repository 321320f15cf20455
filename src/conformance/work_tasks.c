/* A decoder's block, task by task: each does its term over all ranks. */
#include "conformance/work_terms.h"

#include "conformance/mesh.h"

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
    atom layer = dist_layer(t->b->it, task);
    for (u32 i = layer < t->n_first ? t->first[layer] : 0; i; i = t->next[i - 1]) {
        *term = &work_terms[i - 1];
        *out = &t->tally[i - 1][*use];
        if ((*term)->phase == phase && (*term)->sends == sends && term_holds(t, *term))
            return true;
    }
    return false;
}

void terms_note_letters(struct terms *t, const char *sum)
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
    verify_error(&t->b->c->v, &task->s, "work", work_fact_words[fact], use == AGAIN ? "check.work_conservation.recompute" : "check.work_conservation.term",
                 "%s: %s over %llu ranks is %s, and %s`%s` is %s", stmt_text(t->b->it, &task->s), work_fact_words[fact], (unsigned long long)n, text, by,
                 *sum ? sum : "0", qty_text(ctx, want));
    terms_note_letters(t, sum);
    return false;
}

static bool refuse_extra(struct terms *t, const struct dist_task *task)
{
    const struct context *ctx = t->b->it->ctx;
    atom layer = dist_layer(t->b->it, task);
    return verify_error(&t->b->c->v, &task->s, task->layer ? "layer" : NULL, NULL, "check.work_conservation.extra",
                        "%s, %s of layer %s in phase %s, is no term of a block's work", stmt_text(t->b->it, &task->s),
                        dist_body_enum.words[task->body].text, layer ? context_text(ctx, layer) : "none",
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
    terms_note_letters(t, term->facts[1]);
    return false;
}

bool terms_check_task(struct terms *t, const struct dist_task *task)
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
