/* Observers may refuse, and can change nothing; a stopwatch sees every part of a pass. */
#include "faulty.h"

#include "dialects/session/session.h"

#include <check.h>

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

Suite *observer_suite(void)
{
    Suite *s = suite_create("observer");
    TCase *observers = tcase_create("observers");
    tcase_add_checked_fixture(observers, NULL, forget);
    tcase_add_test(observers, an_observer_that_refuses_stops_the_pass_and_nothing_is_published);
    tcase_add_test(observers, an_observer_that_changes_anything_is_caught);
    tcase_add_test(observers, an_observer_sees_no_output_that_a_gate_refuses);
    tcase_add_test(observers, a_stopwatch_sees_every_part_of_a_pass);
    suite_add_tcase(s, observers);
    return s;
}
