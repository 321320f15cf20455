/* Contracts before anything runs, and analyses: what is required, preserved and published, each clause broken once. */
#include "faulty.h"

#include "dialects/dist/dist.h"
#include "passes/contract.h"
#include "passes/totals.h"
#include "passes/training_report.h"

#include <check.h>

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

/* The address is all of item, key and session: what was found out with another strategy is not about this one. */
START_TEST(an_analysis_of_another_session_or_item_is_not_found)
{
    for (u32 i = 0; i < 3; i++) {
        begin(&distribute_transformer_training, change_nothing);
        ck_assert(run_pass(&faulty, all()));
        ck_assert_uint_eq(known.n, 1);
        known.list[0].session.low ^= i == 1;
        known.list[0].item.low ^= i == 2;
        make_faulty(&plan_transformer_training, change_nothing);
        faulty.requires = wants_training;
        faulty.bindings |= NEEDS(BIND_WORKLOAD);
        faulty.preserves = NULL;
        bool good = run_pass(&faulty, all());
        ck_assert_msg(i ? !good && has_code("pass.analysis.missing") : good || has_code("pass.gate"), "%u: %s", i, diags.first ? diags.first->message : "");
    }
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

START_TEST(a_product_that_contradicts_what_is_known_is_caught)
{
    begin(&distribute_transformer_training, change_nothing);
    ck_assert(run_pass(&faulty, all()));
    struct finding f = known.list[0];
    begin(&distribute_transformer_training, change_nothing);
    struct training_report none = { .block = NULL };
    f.value = &none;
    f.digest = finding_digest(&ctx, f.key, f.value);
    ck_assert(analyses_add(&known, &f));
    refused_by("published an analysis training.totals that contradicts what is known of @m.block", all());
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

Suite *analysis_suite(void)
{
    Suite *s = suite_create("analysis");
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
    tcase_add_test(analyses, an_analysis_of_another_session_or_item_is_not_found);
    tcase_add_test(analyses, two_values_at_one_address_are_refused);
    tcase_add_test(analyses, a_product_that_contradicts_what_is_known_is_caught);
    tcase_add_test(analyses, what_a_pass_publishes_stands_under_its_outputs_digest);
    tcase_add_test(analyses, a_product_that_is_not_what_the_contract_says_is_caught);
    suite_add_tcase(s, analyses);
    return s;
}
