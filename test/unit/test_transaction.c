/*
 * The transaction, clause by clause: each is broken by a pass or an observer that is faulty on purpose, is caught for
 * that reason, and leaves the module and what is known of it as they were.
 */
#include "faulty.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/model/model.h"
#include "dialects/portable/portable.h"
#include "dialects/session/session.h"
#include "passes/contract.h"
#include "passes/totals.h"
#include "passes/training_report.h"

#include <check.h>
#include <stdio.h>

static struct analyses known;

static void forget(void)
{
    if (known.ctx)
        analyses_free(&known);
    known = (struct analyses){ 0 };
    teardown();
}

/* The module as PASS takes it, and PASS with a fault. */
static void begin(const struct pass *pass, void (*fault)(struct pass_run *r))
{
    if (known.ctx)
        analyses_free(&known);
    known = (struct analyses){ 0 };
    prepare(pass);
    analyses_init(&known, &ctx);
    make_faulty(pass, fault);
}

static struct run_options all(void)
{
    return (struct run_options){ .verify_each = true, .analyses = &known };
}

/* Refused for a reason whose message has this part; nothing was published. */
static void refused_by(const char *part, struct run_options options)
{
    struct snapshot before = snapshot();
    u32 n = known.n;
    ck_assert(!run_pass(&faulty, options));
    ck_assert_msg(has_message(part), "%s", diags.first ? diags.first->message : "no message");
    ck_assert_uint_eq(known.n, n);
    assert_untouched(&before);
}

static void refused(const struct pass *pass, void (*fault)(struct pass_run *r), const char *part)
{
    begin(pass, fault);
    refused_by(part, all());
}

static struct stmt *nth(struct item *it, u32 entity, u32 n)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == entity && n-- == 0)
            return it->stmts[i];
    ck_abort_msg("no such statement");
    return NULL;
}

static struct item *layer_item(enum layer layer)
{
    for (u32 i = 0; i < m.n; i++)
        if (m.items[i]->kind->layer == layer)
            return m.items[i];
    ck_abort_msg("no such item");
    return NULL;
}

START_TEST(what_does_nothing_wrong_is_published)
{
    begin(&distribute_transformer_training, change_nothing);
    u32 n = m.n;
    ck_assert(run_pass(&faulty, all()));
    ck_assert_uint_eq(m.n, n);
    ck_assert_str_eq(m.items[0]->kind->name, "dist.program");
    ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

/* ---- What may not change ---- */

static void change_input(struct pass_run *r)
{
    ((struct dist_task *)nth((struct item *)r->input, DIST_TASK, 3))->work[DIST_READ]++;
}

START_TEST(a_pass_that_changes_its_input_is_caught)
{
    begin(&plan_transformer_training, change_input);
    ck_assert(!run_pass(&faulty, all()));
    ck_assert(has_message("changed its input @m.block") && has_code("pass.internal"));
    ck_assert_str_eq(m.items[0]->kind->name, "dist.program");
}
END_TEST

static void change_session(struct pass_run *r)
{
    ((struct session_strategy *)r->session.items[BIND_STRATEGY]->stmts[0])->data++;
}

START_TEST(a_pass_that_changes_the_session_is_caught)
{
    begin(&distribute_transformer_training, change_session);
    ck_assert(!run_pass(&faulty, all()));
    ck_assert(has_message("changed the session item @s"));
}
END_TEST

static void change_parent(struct pass_run *r)
{
    r->output->header.parent.digest.low ^= 1;
}

static void change_revision(struct pass_run *r)
{
    r->output->header.revision++;
}

static void drop_pin(struct pass_run *r)
{
    r->output->header.n_using--;
}

START_TEST(a_pass_that_writes_its_own_header_is_caught)
{
    refused(&distribute_transformer_training, change_parent, "changed the header of its output");
    refused(&distribute_transformer_training, change_revision, "changed the header of its output");
    refused(&distribute_transformer_training, drop_pin, "changed the header of its output");
}
END_TEST

/* ---- Lineage and coverage ---- */

static void claim_to_be_cloned(struct pass_run *r)
{
    nth(r->output, PORTABLE_TASK, 2)->lineage_kind = LINEAGE_CLONED;
}

static void claim_no_source(struct pass_run *r)
{
    nth(r->output, PORTABLE_TASK, 2)->lineage_kind = LINEAGE_NONE;
}

static void claim_a_stranger(struct pass_run *r)
{
    struct stmt *s = nth(r->output, PORTABLE_TASK, 2);
    u32 ref = REF_SYMBOL(intern_string(&ctx.names, "stranger"));
    s->lineage = item_list(r->output, &ref, 1);
}

static void claim_two_kinds(struct pass_run *r)
{
    struct stmt *s = nth(r->output, PORTABLE_TASK, 2);
    u32 refs[] = { REF_SYMBOL(s->name), REF_SYMBOL(nth((struct item *)r->input, DIST_MEMORY, 0)->name) };
    s->lineage_kind = LINEAGE_FUSED;
    s->lineage = item_list(r->output, refs, 2);
}

static void drop_task(struct pass_run *r)
{
    struct item *it = r->output;
    u32 at = it->n_stmts;
    while (it->stmts[at - 1] != nth(it, PORTABLE_TASK, 4))
        at--;
    memmove(&it->stmts[at - 1], &it->stmts[at], (it->n_stmts - at) * sizeof *it->stmts);
    it->n_stmts--;
}

static void repeat_task(struct pass_run *r)
{
    struct dist_task *again = (struct dist_task *)item_add(r->output, DIST_TASK);
    *again = *(struct dist_task *)nth(r->output, DIST_TASK, 5);
    again->s.name = intern_string(&ctx.names, "again");
    ck_assert_ptr_null(item_declare(r->output, &again->s));
}

static bool gate_unseen(const struct pass_run *r)
{
    (void)r;
    return true;
}

START_TEST(lineage_that_the_contract_does_not_declare_is_caught)
{
    refused(&plan_transformer_training, claim_to_be_cloned, "no relation of the contract makes a task cloned from a task");
    begin(&plan_transformer_training, claim_no_source);
    refused_by("no lineage is declared", (struct run_options){ .analyses = &known });
    begin(&plan_transformer_training, claim_a_stranger);
    refused_by("its source stranger is not in the input", (struct run_options){ .analyses = &known });
    refused(&plan_transformer_training, claim_two_kinds, "its sources are of two kinds: task and memory");
}
END_TEST

START_TEST(a_task_that_is_dropped_is_caught)
{
    refused(&plan_transformer_training, drop_task, "nothing in the output is from it");
}
END_TEST

START_TEST(a_task_that_stands_twice_is_caught)
{
    refused(&distribute_transformer_training, repeat_task, "@again: ");
}
END_TEST

/* ---- What the gates' relations hold ---- */

static void change_shape(struct pass_run *r)
{
    struct dist_value *v = (struct dist_value *)nth(r->output, DIST_VALUE, 0);
    struct type t = *type_get(ctx.types, v->type);
    qty dims[MAX_RANK];
    memcpy(dims, t.dims, t.rank * sizeof *dims);
    dims[t.rank - 1] = qty_number(ctx.exprs, 2048);
    t.dims = dims;
    v->type = type_intern(ctx.types, &t);
}

static void grow_buffer(struct pass_run *r)
{
    struct portable_buffer *b = (struct portable_buffer *)nth(r->output, PORTABLE_BUFFER, 0);
    ck_assert_int_eq(qty_add(ctx.exprs, b->size, 2, &b->size), EXPR_OK);
}

static void rewire(struct pass_run *r)
{
    struct portable_task *t = (struct portable_task *)nth(r->output, PORTABLE_TASK, 6);
    u32 ref = REF_SYMBOL(nth(r->output, PORTABLE_TASK, 1)->name);
    t->after = item_list(r->output, &ref, 1);
}

/* Two tasks exchange what they compute, and keep their names and work. */
static void swap_payload(struct pass_run *r)
{
    struct portable_task *a = (struct portable_task *)nth(r->output, PORTABLE_TASK, 0), *b = a;
    for (u32 i = 1; b->operation == a->operation || b->body != a->body; i++)
        b = (struct portable_task *)nth(r->output, PORTABLE_TASK, i);
    atom operation = a->operation;
    a->operation = b->operation;
    b->operation = operation;
}

static void move_work(struct pass_run *r)
{
    ((struct portable_task *)nth(r->output, PORTABLE_TASK, 3))->work[PORTABLE_OPERATIONS] += 2;
}

START_TEST(a_shape_that_changes_is_caught)
{
    refused(&distribute_transformer_training, change_shape, "%x");
    ck_assert(has_code("pass.gate"));
}
END_TEST

START_TEST(a_buffer_of_two_more_bytes_is_caught)
{
    refused(&plan_transformer_training, grow_buffer, "its size is not");
}
END_TEST

START_TEST(a_dependency_that_is_rewired_is_caught)
{
    refused(&plan_transformer_training, rewire, "its order, ranks or values are not its source's");
}
END_TEST

START_TEST(a_payload_that_is_swapped_is_caught)
{
    refused(&plan_transformer_training, swap_payload, "it does something else than its source");
}
END_TEST

/* ---- Conservation, without the gate's help ---- */

static void move_bytes(struct pass_run *r)
{
    struct concrete_bind *b = (struct concrete_bind *)nth(r->output, CONCRETE_BIND, 1);
    ck_assert_int_eq(qty_add(ctx.exprs, b->size, 2, &b->size), EXPR_OK);
}

static void count_twice(struct pass_run *r)
{
    struct concrete_command *first = (struct concrete_command *)nth(r->output, CONCRETE_COMMAND, 0);
    struct concrete_command *again = (struct concrete_command *)item_add(r->output, CONCRETE_COMMAND);
    *again = *first;
    again->s.name = intern_string(&ctx.names, "again");
    ck_assert_ptr_null(item_declare(r->output, &again->s));
}

START_TEST(totals_that_are_not_conserved_are_caught_without_a_gate)
{
    begin(&plan_transformer_training, move_work);
    faulty.gate = gate_unseen;
    refused_by("work.totals is not conserved: `forward on compute: ", all());
    begin(&bind_reference_slot, move_bytes);
    faulty.gate = gate_unseen;
    refused_by("buffer.totals is not conserved: `", (struct run_options){ .analyses = &known });
    begin(&bind_reference_slot, count_twice);
    faulty.gate = gate_unseen;
    refused_by("engine.counts is not conserved: `compute: ", (struct run_options){ .analyses = &known });
}
END_TEST

/* ---- Replay ---- */

static u32 calls;

static void name_memory(struct pass_run *r, const char *name)
{
    nth(r->output, DIST_MEMORY, 0)->name = intern_string(&ctx.names, name);
}

static void name_at_random(struct pass_run *r)
{
    char name[32];
    snprintf(name, sizeof name, "name%u", calls++);
    name_memory(r, name);
}

/* The text that a program stands in is no part of it. */
static void name_by_place(struct pass_run *r)
{
    char name[32];
    snprintf(name, sizeof name, "name%u", r->session.items[BIND_STRATEGY]->begin);
    name_memory(r, name);
}

START_TEST(a_pass_that_names_at_random_is_caught_by_a_replay)
{
    begin(&distribute_transformer_training, name_at_random);
    struct run_options o = all();
    o.verify_replay = true;
    refused_by("is not deterministic: a second run has another digest", o);
}
END_TEST

START_TEST(a_pass_that_reads_more_than_the_text_says_is_caught_by_a_replay)
{
    begin(&distribute_transformer_training, name_by_place);
    struct run_options o = all();
    ck_assert(run_pass(&faulty, o));
    begin(&distribute_transformer_training, name_by_place);
    o = all();
    o.verify_replay = true;
    refused_by("is not deterministic: a second run has another digest", o);
}
END_TEST

START_TEST(a_pass_that_says_that_two_runs_may_differ_is_not_replayed)
{
    begin(&distribute_transformer_training, change_nothing);
    faulty.random = true;
    struct run_options o = all();
    o.verify_replay = true;
    refused_by("it can't be replayed", o);
}
END_TEST

/* ---- Other faults of a pass ---- */

static void break_a_rule(struct pass_run *r)
{
    ((struct dist_mesh *)nth(r->output, DIST_MESH, 0))->axes = item_list(r->output, NULL, 0);
}

static bool run_in_silence(struct pass_run *r)
{
    (void)r;
    return false;
}

START_TEST(an_output_that_its_verifier_refuses_is_the_passs_fault)
{
    refused(&distribute_transformer_training, break_a_rule, "made a program that its verifier refuses");
}
END_TEST

static bool gate_that_mends(const struct pass_run *r)
{
    ck_assert(!r->module && !r->analyses && !r->products);     /* it sees no more than it needs */
    ((struct dist_task *)nth(r->output, DIST_TASK, 3))->work[DIST_READ]++;
    return true;
}

static bool gate_that_hides(const struct pass_run *r)
{
    ((struct model_op *)nth((struct item *)r->input, MODEL_OP, 0))->s.name = intern_string(&ctx.names, "hidden");
    return true;
}

START_TEST(a_gate_that_changes_what_it_judges_is_caught)
{
    begin(&distribute_transformer_training, change_nothing);
    faulty.gate = gate_that_mends;
    refused_by("has a commit gate that changes what it judges", all());
    begin(&distribute_transformer_training, change_nothing);
    faulty.gate = gate_that_hides;
    ck_assert(!run_pass(&faulty, all()));
    ck_assert(has_message("has a commit gate that changes what it judges"));
}
END_TEST

START_TEST(a_pass_that_fails_without_a_reason_is_caught)
{
    begin(&distribute_transformer_training, change_nothing);
    faulty.run = run_in_silence;
    refused_by("failed without a reason", all());
}
END_TEST

START_TEST(a_later_pass_that_fails_takes_back_the_earlier_ones)
{
    begin(&distribute_transformer_training, change_nothing);
    make_faulty(&plan_transformer_training, change_nothing);
    faulty.run = run_in_silence;
    struct step steps[] = { { .pass = &distribute_transformer_training }, { .pass = &faulty } };
    struct pipeline p = { steps, COUNT(steps) };
    struct snapshot before = snapshot();
    struct run_options o = all();
    ck_assert(!pipeline_run(&m, &session, &p, &o));
    assert_untouched(&before);
    ck_assert_uint_eq(known.n, 0);      /* not even what the first pass published */
}
END_TEST

/* ---- Contracts ---- */

START_TEST(the_contract_of_every_pass_is_whole)
{
    prepare(&distribute_transformer_training);
    for (const struct pass *const *p = all_passes; *p; p++)
        ck_assert_msg(contract_check(*p, &ctx), "%s", (*p)->name);
}
END_TEST

static const struct analysis *const keys[] = { &work_totals, NULL };
static const struct relation no_relations[] = { { NULL, NULL, LINEAGE_NONE, NULL } };

START_TEST(a_contract_that_is_not_whole_is_refused_before_anything_runs)
{
    begin(&plan_transformer_training, change_nothing);
    faulty.gate = NULL;
    refused_by("has no commit gate", all());
    ck_assert(has_code("pass.contract"));
    begin(&plan_transformer_training, change_nothing);
    faulty.relations = no_relations;
    refused_by("declares no relation", all());
    begin(&plan_transformer_training, change_nothing);
    faulty.produces = keys;
    refused_by("both preserves and produces an analysis", all());
    begin(&plan_transformer_training, change_nothing);
    faulty.accepts[0] = (struct version){ 2, 0 };
    faulty.accepts[1] = (struct version){ 1, 9 };
    refused_by("its newest is older than its oldest", all());
}
END_TEST

START_TEST(every_clause_of_a_contract_is_in_its_digest)
{
    struct pass p[13];
    for (u32 i = 0; i < COUNT(p); i++)
        p[i] = plan_transformer_training;
    p[1].name = "other";
    p[2].revision++;
    p[3].from = LAYER_PORTABLE;
    p[4].to = LAYER_CONCRETE;
    p[5].accepts[1] = (struct version){ 1, 1 };
    p[6].bindings = 0;
    p[7].operation = "other";
    p[8].relations = no_relations;
    p[9].requires = keys;
    p[10].preserves = NULL;
    p[11].produces = keys;
    p[12].random = true;
    for (u32 i = 0; i < COUNT(p); i++)
        for (u32 k = 0; k < i; k++)
            ck_assert_msg(!digest_equal(contract_digest(&p[i]), contract_digest(&p[k])), "%u and %u", k, i);
}
END_TEST

START_TEST(a_schema_that_the_contract_does_not_accept_is_refused)
{
    begin(&plan_transformer_training, change_nothing);
    faulty.accepts[0] = (struct version){ 1, 1 };
    faulty.accepts[1] = (struct version){ 2, 0 };
    refused_by("takes dist.program of schema 1.1 to 2.0, and @m.block has 1.0", all());
    begin(&plan_transformer_training, change_nothing);
    faulty.accepts[1] = (struct version){ 1, 0 };
    ck_assert(run_pass(&faulty, all()));
}
END_TEST

START_TEST(passes_that_do_not_fit_are_refused_before_anything_runs)
{
    begin(&distribute_transformer_training, change_nothing);
    struct step steps[] = { { .pass = &distribute_transformer_training }, { .pass = &bind_reference_slot } };
    struct pipeline p = { steps, COUNT(steps) };
    struct run_options o = all();
    ck_assert(!pipeline_run(&m, &session, &p, &o));
    ck_assert(has_code("pass.pipeline.order"));
}
END_TEST

/* ---- Analyses ---- */

static const struct analysis *const wants_training[] = { &training_totals, NULL };
static const struct analysis *const wants_work[] = { &work_totals, NULL };

START_TEST(a_pipeline_in_which_no_pass_makes_an_analysis_is_refused_before_anything_runs)
{
    begin(&distribute_transformer_training, change_nothing);
    struct pass blind = distribute_transformer_training, eager = plan_transformer_training, last = bind_reference_slot;
    blind.produces = NULL;
    eager.requires = last.requires = wants_training;
    last.gate = gate_unseen;            /* the real one knows its pass by address */
    struct step steps[] = { { .pass = &blind }, { .pass = &eager } };
    struct pipeline p = { steps, COUNT(steps) };
    struct run_options o = all();
    ck_assert(!pipeline_check(&p, &ctx));
    ck_assert(has_message("requires the analysis training.totals, which no pass before it makes and keeps"));
    diags_clear(&diags);
    steps[0].pass = &distribute_transformer_training;
    ck_assert(pipeline_check(&p, &ctx));
    struct pass forgetful = plan_transformer_training;
    forgetful.preserves = NULL;
    struct step three[] = { { .pass = &distribute_transformer_training }, { .pass = &forgetful }, { .pass = &last } };
    p = (struct pipeline){ three, COUNT(three) };
    ck_assert(!pipeline_check(&p, &ctx));
    diags_clear(&diags);
    three[1].pass = &plan_transformer_training;
    ck_assert_msg(pipeline_run(&m, &session, &p, &o), "%s", diags.first ? diags.first->message : "");  /* kept by the plan, and found by the binding */
}
END_TEST

START_TEST(an_analysis_that_is_missing_is_caught)
{
    begin(&plan_transformer_training, change_nothing);
    faulty.requires = wants_training;
    refused_by("requires the analysis training.totals of @m.block, and there is none", all());
    ck_assert(has_code("pass.analysis.missing"));
}
END_TEST

static const struct engine_counts *seen;

static void look(struct pass_run *r)
{
    seen = pass_analysis(r, &engine_counts);
}

static const struct analysis *const wants_engines[] = { &engine_counts, NULL };

START_TEST(an_analysis_that_is_required_is_computed_and_handed_over)
{
    begin(&plan_transformer_training, look);
    faulty.requires = wants_engines;
    u64 tasks = 0;
    const struct item *dist = layer_item(LAYER_DIST);
    for (u32 i = 0; i < dist->n_stmts; i++)
        tasks += dist->stmts[i]->entity == DIST_TASK;
    ck_assert(run_pass(&faulty, all()));
    ck_assert_uint_eq(seen->steps[STEPS_COMPUTE] + seen->steps[STEPS_COLLECTIVE], tasks);
}
END_TEST

START_TEST(an_analysis_whose_value_is_not_its_digests_is_not_trusted)
{
    begin(&plan_transformer_training, change_nothing);
    faulty.requires = wants_work;
    struct item *dist = layer_item(LAYER_DIST);
    struct session none = { { 0 } };
    struct finding f = { .key = &work_totals, .item = item_digest(dist), .session = session_fingerprint(&none, 0) };
    f.value = work_totals.compute(dist, &known.arena);
    f.digest = finding_digest(&ctx, f.key, f.value);
    ((struct sums *)f.value)->list[0].count++;
    ck_assert(analyses_add(&known, &f));
    refused_by("can't trust the analysis work.totals of @m.block", all());
}
END_TEST

START_TEST(two_values_at_one_address_are_refused)
{
    begin(&plan_transformer_training, change_nothing);
    static const struct engine_counts one = { { 1 } }, two = { { 2 } };
    struct finding f = { .key = &engine_counts, .item = { 1, 1 }, .value = &one };
    f.digest = finding_digest(&ctx, f.key, f.value);
    ck_assert(analyses_add(&known, &f) && analyses_add(&known, &f));
    ck_assert_uint_eq(known.n, 1);
    f.value = &two;
    f.digest = finding_digest(&ctx, f.key, f.value);
    ck_assert(!analyses_add(&known, &f));
    f.item.low = 2;
    ck_assert(analyses_add(&known, &f));
}
END_TEST

START_TEST(what_a_pass_publishes_stands_under_its_outputs_digest)
{
    begin(&distribute_transformer_training, change_nothing);
    struct digest model = item_digest(layer_item(LAYER_MODEL));
    ck_assert(run_pass(&faulty, all()));
    struct digest dist = item_digest(layer_item(LAYER_DIST));
    const struct finding *f = analyses_find(&known, &training_totals, dist, NULL);
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_null(analyses_find(&known, &training_totals, model, NULL));
    const struct training_report *r = f->value;
    ck_assert_uint_eq(r->blocks, 8 / 2);                /* blocks over pipeline */
    ck_assert_uint_eq(r->microbatches, 32 / 2 / 2);     /* batch over data over microbatch */
    ck_assert(run_pass(&plan_transformer_training, all()));
    ck_assert_ptr_eq(analyses_find(&known, &training_totals, item_digest(layer_item(LAYER_PORTABLE)), &f->session)->value, r);
    ck_assert_ptr_nonnull(analyses_find(&known, &work_totals, item_digest(layer_item(LAYER_PORTABLE)), NULL));
}
END_TEST

/* ---- Products that are not what the contract says ---- */

static const struct engine_counts wrong = { { 1, 2, 3, 4 } };

static void publish_nothing(struct pass_run *r)
{
    r->products->n = 0;
}

static void publish_twice(struct pass_run *r)
{
    pass_publish(r, r->products->list[0].key, r->products->list[0].value);
}

static void publish_another(struct pass_run *r)
{
    pass_publish(r, &work_totals, work_totals.compute(r->output, r->arena));
}

static void publish_a_lie(struct pass_run *r)
{
    pass_publish(r, &engine_counts, &wrong);
}

static void publish_a_wrong_digest(struct pass_run *r)
{
    r->products->list[0].digest.high ^= 1;
}

static void publish_elsewhere(struct pass_run *r)
{
    r->products->list[0].item = item_digest_now(r->input);
}

static void publish_then_change(struct pass_run *r)
{
    ((struct training_report *)r->products->list[0].value)->blocks++;
}

START_TEST(a_product_that_is_not_what_the_contract_says_is_caught)
{
    static const struct analysis *const counts[] = { &training_totals, &engine_counts, NULL };
    const struct pass *pass = &distribute_transformer_training;
    refused(pass, publish_nothing, "published the analysis training.totals 0 times");
    refused(pass, publish_twice, "published the analysis training.totals 2 times");
    refused(pass, publish_another, "published the analysis work.totals, which its contract does not name");
    refused(pass, publish_a_wrong_digest, "published the analysis training.totals with a digest that is not its value's");
    refused(pass, publish_then_change, "published the analysis training.totals with a digest that is not its value's");
    refused(pass, publish_elsewhere, "published the analysis training.totals of another item than its output");
    begin(pass, publish_a_lie);
    faulty.produces = counts;
    refused_by("published an analysis engine.counts that is not its output's", all());
}
END_TEST

/* ---- Observers ---- */

struct watch {
    u32 before, after, failed;
    bool refuse_before, refuse_after, silent;
    bool change_input, change_output, change_session, change_late;
};

static bool answer(const struct watch *w, bool refuse)
{
    if (refuse && !w->silent)
        diag_error(&diags, (struct loc){ 0 }, "test.watch", "the watch says no");
    return !refuse;
}

static void touch(const struct item *it)
{
    ((struct stmt *)it->stmts[0])->name = intern_string(&ctx.names, "touched");
}

static bool watch_before(void *state, const struct checkpoint *c)
{
    struct watch *w = state;
    ck_assert(c->input && !c->output);
    w->before++;
    if (w->change_input)
        touch(c->input);
    return answer(w, w->refuse_before);
}

static bool watch_after(void *state, const struct checkpoint *c)
{
    struct watch *w = state;
    ck_assert_ptr_ne(module_find(c->module, c->output->name), c->output);       /* not published yet */
    ck_assert_ptr_null(analyses_find(&known, &training_totals, item_digest((struct item *)c->output), NULL));
    ck_assert(c->n_findings == 1 && c->findings[0].key == &training_totals);
    ck_assert(c->proven[0] > 10 && c->proven[1] == 1);          /* tasks and memory, from the one operation */
    w->after++;
    if (w->change_output)
        touch(c->output);
    if (w->change_session)
        ((struct session_strategy *)c->session->items[BIND_STRATEGY]->stmts[0])->data++;
    return answer(w, w->refuse_after);
}

static void watch_failure(void *state, const struct checkpoint *c)
{
    struct watch *w = state;
    w->failed++;
    if (w->change_late)
        touch(c->input);
}

static struct watch run_watched(struct watch w, void (*f)(struct pass_run *r))
{
    struct observer o = { "the watch", &w, watch_before, watch_after, watch_failure };
    begin(&distribute_transformer_training, f);
    struct run_options options = all();
    options.observers = &o;
    options.n_observers = 1;
    bool changes = w.change_input || w.change_output || w.change_session || w.change_late;
    struct snapshot before = snapshot();
    bool good = run_pass(&faulty, options);
    ck_assert_int_eq(good, f == change_nothing && !w.refuse_before && !w.refuse_after && !changes);
    if (!good && !changes)
        assert_untouched(&before);
    ck_assert_int_eq(known.n, good ? 1 : 0);
    return w;
}

START_TEST(an_observer_that_refuses_stops_the_pass_and_nothing_is_published)
{
    struct watch w = run_watched((struct watch){ .refuse_before = true }, change_nothing);
    ck_assert(w.before == 1 && w.after == 0 && diags.errors == 1 && has_message("the watch says no"));
    w = run_watched((struct watch){ .refuse_after = true }, change_nothing);
    ck_assert(w.before == 1 && w.after == 1 && w.failed == 1 && diags.errors == 1);
    w = run_watched((struct watch){ .refuse_after = true, .silent = true }, change_nothing);
    ck_assert(has_message("was refused by the watch, which gave no reason"));
    w = run_watched((struct watch){ 0 }, change_nothing);
    ck_assert(w.before == 1 && w.after == 1 && w.failed == 0);
}
END_TEST

START_TEST(an_observer_that_changes_anything_is_caught)
{
    run_watched((struct watch){ .change_input = true }, change_nothing);
    ck_assert(has_message("was watched by the watch, which changed @m"));
    run_watched((struct watch){ .change_output = true }, change_nothing);
    ck_assert(has_message("was watched by the watch, which changed @m.block"));
    run_watched((struct watch){ .change_session = true }, change_nothing);
    ck_assert(has_message("was watched by the watch, which changed @s"));
    run_watched((struct watch){ .change_late = true }, repeat_task);
    ck_assert(has_message("was watched by the watch, which changed @m"));
}
END_TEST

START_TEST(an_observer_sees_no_output_that_a_gate_refuses)
{
    struct watch w = run_watched((struct watch){ 0 }, repeat_task);
    ck_assert(w.before == 1 && w.after == 0 && w.failed == 1);
}
END_TEST

/* ---- Time ---- */

struct spans {
    u32 depth, begun[SPANS];
};

static void span_begin(void *state, enum span span, const struct step *step, const struct item *input)
{
    struct spans *s = state;
    ck_assert(step && input);
    s->begun[span]++;
    s->depth++;
}

static void span_end(void *state, enum span span)
{
    (void)span;
    ((struct spans *)state)->depth--;
}

START_TEST(a_stopwatch_sees_every_part_of_a_pass)
{
    struct spans s = { 0 };
    struct stopwatch w = { &s, span_begin, span_end };
    begin(&distribute_transformer_training, change_nothing);
    struct run_options o = all();
    o.stopwatch = &w;
    o.verify_replay = true;
    ck_assert(run_pass(&faulty, o));
    ck_assert_uint_eq(s.depth, 0);
    ck_assert(s.begun[SPAN_PASS] == 1 && s.begun[SPAN_RUN] == 1 && s.begun[SPAN_VERIFY] == 1 && s.begun[SPAN_GATE] == 1 &&
              s.begun[SPAN_REPLAY] == 1 && s.begun[SPAN_ANALYSES] == 1 && s.begun[SPAN_RELATIONS] == 1);
}
END_TEST

Suite *transaction_suite(void)
{
    Suite *s = suite_create("transaction");
    TCase *t = tcase_create("clauses");
    tcase_add_checked_fixture(t, NULL, forget);
    tcase_add_test(t, what_does_nothing_wrong_is_published);
    tcase_add_test(t, a_pass_that_changes_its_input_is_caught);
    tcase_add_test(t, a_pass_that_changes_the_session_is_caught);
    tcase_add_test(t, a_pass_that_writes_its_own_header_is_caught);
    tcase_add_test(t, lineage_that_the_contract_does_not_declare_is_caught);
    tcase_add_test(t, a_task_that_is_dropped_is_caught);
    tcase_add_test(t, a_task_that_stands_twice_is_caught);
    tcase_add_test(t, a_shape_that_changes_is_caught);
    tcase_add_test(t, a_buffer_of_two_more_bytes_is_caught);
    tcase_add_test(t, a_dependency_that_is_rewired_is_caught);
    tcase_add_test(t, a_payload_that_is_swapped_is_caught);
    tcase_add_test(t, totals_that_are_not_conserved_are_caught_without_a_gate);
    tcase_add_test(t, a_pass_that_names_at_random_is_caught_by_a_replay);
    tcase_add_test(t, a_pass_that_reads_more_than_the_text_says_is_caught_by_a_replay);
    tcase_add_test(t, a_pass_that_says_that_two_runs_may_differ_is_not_replayed);
    tcase_add_test(t, an_output_that_its_verifier_refuses_is_the_passs_fault);
    tcase_add_test(t, a_gate_that_changes_what_it_judges_is_caught);
    tcase_add_test(t, a_pass_that_fails_without_a_reason_is_caught);
    tcase_add_test(t, a_later_pass_that_fails_takes_back_the_earlier_ones);
    suite_add_tcase(s, t);

    TCase *contracts = tcase_create("contracts");
    tcase_add_checked_fixture(contracts, NULL, forget);
    tcase_add_test(contracts, the_contract_of_every_pass_is_whole);
    tcase_add_test(contracts, a_contract_that_is_not_whole_is_refused_before_anything_runs);
    tcase_add_test(contracts, every_clause_of_a_contract_is_in_its_digest);
    tcase_add_test(contracts, a_schema_that_the_contract_does_not_accept_is_refused);
    tcase_add_test(contracts, passes_that_do_not_fit_are_refused_before_anything_runs);
    suite_add_tcase(s, contracts);

    TCase *analyses = tcase_create("analyses");
    tcase_add_checked_fixture(analyses, NULL, forget);
    tcase_add_test(analyses, a_pipeline_in_which_no_pass_makes_an_analysis_is_refused_before_anything_runs);
    tcase_add_test(analyses, an_analysis_that_is_missing_is_caught);
    tcase_add_test(analyses, an_analysis_that_is_required_is_computed_and_handed_over);
    tcase_add_test(analyses, an_analysis_whose_value_is_not_its_digests_is_not_trusted);
    tcase_add_test(analyses, two_values_at_one_address_are_refused);
    tcase_add_test(analyses, what_a_pass_publishes_stands_under_its_outputs_digest);
    tcase_add_test(analyses, a_product_that_is_not_what_the_contract_says_is_caught);
    suite_add_tcase(s, analyses);

    TCase *observers = tcase_create("observers");
    tcase_add_checked_fixture(observers, NULL, forget);
    tcase_add_test(observers, an_observer_that_refuses_stops_the_pass_and_nothing_is_published);
    tcase_add_test(observers, an_observer_that_changes_anything_is_caught);
    tcase_add_test(observers, an_observer_sees_no_output_that_a_gate_refuses);
    tcase_add_test(observers, a_stopwatch_sees_every_part_of_a_pass);
    suite_add_tcase(s, observers);
    return s;
}
