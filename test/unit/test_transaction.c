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

#include <check.h>
#include <stdio.h>

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
    portable_more(r->output, t)->after = item_list(r->output, &ref, 1);
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

    return s;
}
