/*
 * Reproducers: a pass that crashes, or fails, leaves a file that does it again. The crash happens in a child process, in a
 * pass that is faulty on purpose; bp-opt itself has no way to be made to crash.
 */
#define _GNU_SOURCE
#include "faulty.h"

#include "ir/verify.h"
#include "parser/parse.h"
#include "passes/reproducer.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/bp-unit-XXXXXX", path[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/bp-unit-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/repro.bpir", folder);
}

static void remove_folder(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);         /* nothing else was left behind */
    teardown();
}

/* ---- Crashes ---- */

static volatile u32 depth;
static volatile int *volatile wild = (volatile int *)8;
static u32 overflow(u32 n);
static u32 (*volatile again_and_again)(u32) = overflow;

static u32 overflow(u32 n)
{
    volatile char frame[4096];
    frame[n % sizeof frame] = (char)depth++;
    return again_and_again(n + 1) + (u32)frame[0];
}

static void crash_by_pointer(struct pass_run *r)
{
    (void)r;
    *wild = 1;
}

static void crash_by_abort(struct pass_run *r)
{
    (void)r;
    abort();
}

static void crash_by_stack(struct pass_run *r)
{
    r->output->n_stmts = overflow(1);
}

static bool crash_in_gate(const struct pass_run *r)
{
    (void)r;
    abort();
}

static const char *const flags[] = { "--verify-replay", NULL };

static bool run_guarded(struct arena *arena, const struct pass *pass)
{
    struct reproducer r = { .path = path, .version = "1.2", .session = &session, .flags = flags, .arena = arena };
    ck_assert_ptr_null(reproducer_begin(&r));
    struct observer o = reproducer_observer(&r);
    struct run_options options = checked;
    options.observers = &o;
    options.n_observers = 1;
    bool good = run_pass(pass, options);
    if (!good)
        ck_assert_ptr_null(reproducer_keep(&r));
    reproducer_end(&r);
    return good;
}

/* In a child: the pass, with its fault. Returns how it ended. */
static int end_of_child(const struct pass *pass, void (*fault)(struct pass_run *r), bool gate)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        struct arena arena;
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        arena_init(&arena);
        prepare(pass);
        make_faulty(pass, fault);
        if (gate)
            faulty.gate = crash_in_gate;
        run_guarded(&arena, &faulty);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* The file holds what the pass took: the real pass makes of it what it makes of the original. */
static void assert_reproduces(const struct pass *pass)
{
    struct source src;
    struct module again;
    struct arena arena;
    const char *found[MAX_REPRODUCER_FLAGS];
    u32 n;
    arena_init(&arena);
    prepare(pass);
    ck_assert(run_pass(pass, checked));
    struct digest expected = { 0, 0 }, made = { 0, 0 };
    for (u32 i = 0; i < m.n; i++)
        if (m.items[i]->kind->layer == pass->to)
            expected = item_digest(m.items[i]);
    ck_assert_ptr_null(source_read(&src, path));
    ck_assert(reproducer_flags(&src, &arena, found, &n));
    ck_assert_uint_eq(n, 3);
    ck_assert_msg(!strncmp(found[0], "--pass-pipeline=", 16) && !strcmp(found[0] + 16, pass->name), "%s", found[0]);
    ck_assert_str_eq(found[2], "--verify-replay");
    ck_assert(parse_module(&again, &ctx, &src) && verify_module(&again));
    struct step step = { .pass = pass };
    struct pipeline p = { &step, 1 };
    ck_assert(pipeline_run(&again, &session, &p, &checked));
    for (u32 i = 0; i < again.n; i++)
        if (again.items[i]->kind->layer == pass->to)
            made = item_digest(again.items[i]);
    ck_assert(digest_equal(made, expected) && !digest_is_none(made));
    module_free(&again);
    source_free(&src);
    arena_free(&arena);
}

static void assert_killed(int status, int signal)
{
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signal, "status %x", (unsigned)status);
}

START_TEST(a_pass_that_reads_a_wild_pointer_leaves_its_input)
{
    assert_killed(end_of_child(&plan_transformer_training, crash_by_pointer, false), SIGSEGV);
    assert_reproduces(&plan_transformer_training);
}
END_TEST

START_TEST(a_pass_that_aborts_leaves_its_input)
{
    assert_killed(end_of_child(&distribute_transformer_training, crash_by_abort, false), SIGABRT);
    assert_reproduces(&distribute_transformer_training);
}
END_TEST

START_TEST(a_pass_that_overflows_the_stack_leaves_its_input)
{
    assert_killed(end_of_child(&plan_transformer_training, crash_by_stack, false), SIGSEGV);
    assert_reproduces(&plan_transformer_training);
}
END_TEST

START_TEST(a_gate_that_aborts_leaves_the_passs_input)
{
    assert_killed(end_of_child(&plan_transformer_training, change_nothing, true), SIGABRT);
    assert_reproduces(&plan_transformer_training);
}
END_TEST

/* ---- Failures ---- */

static bool fail_with_reason(struct pass_run *r)
{
    return diag_error(r->ctx->diags, (struct loc){ 0 }, "test.fail", "no");
}

START_TEST(a_pass_that_fails_leaves_its_input)
{
    struct arena arena;
    arena_init(&arena);
    prepare(&plan_transformer_training);
    make_faulty(&plan_transformer_training, change_nothing);
    faulty.run = fail_with_reason;
    ck_assert(!run_guarded(&arena, &faulty));
    assert_reproduces(&plan_transformer_training);
    arena_free(&arena);
}
END_TEST

START_TEST(a_run_that_succeeds_leaves_nothing)
{
    struct arena arena;
    arena_init(&arena);
    prepare(&plan_transformer_training);
    ck_assert(run_guarded(&arena, &plan_transformer_training));
    ck_assert_int_ne(access(path, F_OK), 0);
    arena_free(&arena);
}
END_TEST

START_TEST(a_reproducer_that_can_not_be_written_refuses_the_run)
{
    struct arena arena;
    struct reproducer r = { .path = "/dev/null/repro", .version = "1.2", .arena = &arena };
    arena_init(&arena);
    prepare(&plan_transformer_training);
    ck_assert_ptr_null(reproducer_begin(&r));
    struct observer o = reproducer_observer(&r);
    ck_assert(!run_pass(&plan_transformer_training, (struct run_options){ .verify_each = true, .observers = &o, .n_observers = 1 }));
    ck_assert(has_code("pass.reproducer"));
    reproducer_end(&r);
    arena_free(&arena);
}
END_TEST

START_TEST(flags_are_read_as_they_were_written)
{
    static const char text[] = "// bp-opt reproducer of bp-opt 1: p on @x\n// flag: --a=\\\\x\\ny\n// flag: b\n// note\n// flag: c\n";
    struct source src;
    struct arena arena;
    const char *found[MAX_REPRODUCER_FLAGS];
    u32 n;
    arena_init(&arena);
    source_borrow(&src, "test", text, strlen(text));
    ck_assert(reproducer_flags(&src, &arena, found, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(found[0], "--a=\\x\ny");
    ck_assert_str_eq(found[1], "b");
    source_borrow(&src, "test", text, 41);
    ck_assert(!reproducer_flags(&src, &arena, found, &n));
    source_borrow(&src, "test", "", 0);
    ck_assert(!reproducer_flags(&src, &arena, found, &n));
    arena_free(&arena);
}
END_TEST

Suite *reproducer_suite(void)
{
    Suite *s = suite_create("reproducer");
    TCase *t = tcase_create("reproducer");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, a_pass_that_reads_a_wild_pointer_leaves_its_input);
    tcase_add_test(t, a_pass_that_aborts_leaves_its_input);
    tcase_add_test(t, a_pass_that_overflows_the_stack_leaves_its_input);
    tcase_add_test(t, a_gate_that_aborts_leaves_the_passs_input);
    tcase_add_test(t, a_pass_that_fails_leaves_its_input);
    tcase_add_test(t, a_run_that_succeeds_leaves_nothing);
    tcase_add_test(t, a_reproducer_that_can_not_be_written_refuses_the_run);
    tcase_add_test(t, flags_are_read_as_they_were_written);
    suite_add_tcase(s, t);
    return s;
}
