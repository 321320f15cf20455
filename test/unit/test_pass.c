/*
 * The transaction: passes that are faulty on purpose, each of which does what the real one does and then one thing
 * wrong. Every fault must be caught, and must leave the module as it was.
 */
#include "passes/passes.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"
#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <check.h>
#include <stdio.h>

static const char text[] =
    "model.program @m schema 1.0 {\n"
    "  symbol $b : integer\n"
    "  symbol $s : integer\n"
    "  input %x : tensor<($b)x($s)x1024xf16>\n"
    "  op @decoder transformer.decoder_training(%x) -> %y : tensor<($b)x($s)x1024xf16>\n"
    "    hidden 1024 feedforward 4096 heads 16 head_size 64 sequence 512 blocks 8\n"
    "  output %y\n"
    "}\n"
    "session.workload @w {\n  mode = training\n  batch = 32\n  microbatch = 2\n  dtype = f16\n}\n"
    "session.strategy @s {\n  tensor = 4\n  communication = reduce_scatter_all_gather\n  pipeline = 2\n  data = 2\n"
    "  recompute = attention\n  input_regather = true\n}\n"
    "session.target @t {\n  abi = reference_v1\n  engines = [compute, collective]\n  memory_spaces = [local]\n}\n"
    "session.deployment @d {\n  devices = 4\n  memory_per_device = 85899345920\n}\n";

static struct diags diags;
static struct context ctx;
static struct source source;
static struct module m, session;

static void setup(void)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    source_borrow(&source, "test", text, sizeof text - 1);
    module_init(&m, &ctx, &source);
    module_init(&session, &ctx, NULL);
    ck_assert(parse_module(&m, &ctx, &source) && verify_module(&m));
}

static void teardown(void)
{
    if (!ctx.diags)
        return;
    module_free(&m);
    module_free(&session);
    context_free(&ctx);
    diags_free(&diags);
    ctx.diags = NULL;
}

static bool has_code(const char *code)
{
    for (const struct diag *d = diags.first; d; d = d->next)
        if (!strcmp(d->code, code))
            return true;
    return false;
}

/* ---- A pass that does one thing wrong ---- */

static const struct pass *real;
static struct pass faulty;
static void (*fault)(struct pass_run *r);

static bool run_faulty(struct pass_run *r)
{
    struct pass_run honest = *r;
    honest.pass = real;
    if (!real->run(&honest))
        return false;
    fault(r);
    return true;
}

static void make_faulty(const struct pass *pass, void (*f)(struct pass_run *r))
{
    real = pass;
    faulty = *pass;
    faulty.run = run_faulty;
    fault = f;
}

/* Options of the pass under test, and of distribution ahead of it. */
static struct step_option own[2], symbolic[1];
static u32 n_own, n_symbolic;

static bool run_pass(const struct pass *pass, struct run_options options)
{
    bool first = pass == &distribute_transformer_training;
    struct step step = { .pass = pass, .options = first ? symbolic : own, .n_options = first ? n_symbolic : n_own };
    if (pass->from == LAYER_MODEL && !first)
        step.options = symbolic, step.n_options = n_symbolic;
    struct pipeline p = { &step, 1 };
    diags_clear(&diags);
    return pipeline_run(&m, &session, &p, &options);
}

static const struct run_options checked = { .verify_each = true }, gate_only = { .verify_each = false };

struct snapshot {
    struct item *items[16];
    struct digest digests[16];
    u32 n;
};

static struct snapshot snapshot(void)
{
    struct snapshot s = { .n = m.n };
    ck_assert(m.n <= COUNT(s.items));
    for (u32 i = 0; i < m.n; i++) {
        m.items[i]->digest = (struct digest){ 0, 0 };
        s.items[i] = m.items[i];
        s.digests[i] = item_digest(m.items[i]);
    }
    return s;
}

static void assert_untouched(const struct snapshot *before)
{
    struct snapshot now = snapshot();
    ck_assert_uint_eq(now.n, before->n);
    for (u32 i = 0; i < now.n; i++) {
        ck_assert_ptr_eq(now.items[i], before->items[i]);
        ck_assert(digest_equal(now.digests[i], before->digests[i]));
    }
}

/* ---- Every field of every statement, one at a time ---- */

struct place {
    u32 stmt;                   /* of the output; results of a task follow their task */
    const struct field *field;  /* NULL: the statement is left out */
    bool done;                  /* the value could be changed */
};

static struct place place;

static u32 changed_list(struct item *it, enum field_kind kind, u32 handle)
{
    u32 words[512], n = handle ? list_n(it, handle) : 0;
    ck_assert(n < COUNT(words));
    if (n)
        memcpy(words, list_at(it, handle), n * sizeof *words);
    switch (kind) {
    case FIELD_AXIS_SIZES: words[1]++; break;
    case FIELD_RANKS: n = 2; words[0] = words[1] = 1; break;
    case FIELD_REFS: words[n++] = REF_SYMBOL(it->stmts[it->n_stmts / 2]->name); break;
    case FIELD_OPERANDS: case FIELD_RESULTS: case FIELD_AXES: case FIELD_WORDS: words[n++] = intern_string(&ctx.names, "x"); break;
    case FIELD_EFFECTS: words[n++] = EFFECT_READ; words[n++] = REF_VALUE(intern_string(&ctx.names, "x")); break;
    default: return 0;      /* the clause is dropped */
    }
    return item_list(it, words, n);
}

static u32 changed_type(u32 type)
{
    struct type t = *type_get(ctx.types, type);
    qty dims[MAX_RANK];
    memcpy(dims, t.dims, t.rank * sizeof *dims);
    ck_assert_int_eq(qty_add(ctx.exprs, dims[t.rank - 1], 1, &dims[t.rank - 1]), EXPR_OK);
    t.dims = dims;
    return type_intern(ctx.types, &t);
}

static u64 changed(struct item *it, const struct field *f, u64 value)
{
    const struct enumeration *e = f->aux;
    qty more;
    switch ((enum field_kind)f->kind) {
    case FIELD_ENUM: return (value + 1) % e->n;
    case FIELD_BOOL: return !value;
    case FIELD_WORD: case FIELD_STRING: case FIELD_OPERATION: case FIELD_REF: case FIELD_VALUE_REF: return intern_string(&ctx.names, "y");
    case FIELD_INTEGER: return value + 1;
    case FIELD_QUANTITY: return qty_add(ctx.exprs, value, 2, &more) == EXPR_OK ? more : value;
    case FIELD_TYPE: return changed_type((u32)value);
    default: return changed_list(it, f->kind, (u32)value);
    }
}

static void change_field(struct pass_run *r)
{
    struct stmt *s = r->output->stmts[place.stmt];
    const struct field *f = place.field;
    if (f->kind == FIELD_SYMBOL_NAME || f->kind == FIELD_VALUE_NAME || f->kind == FIELD_DOLLAR_NAME) {
        place.done = s->name != 0;
        s->name = s->name ? intern_string(&ctx.names, "renamed") : 0;
    } else if (f->kind == FIELD_LINEAGE) {
        place.done = s->lineage_kind != LINEAGE_NONE;
        s->lineage_kind = LINEAGE_NONE;
    } else {
        u64 before = field_get(s, f), after = changed(r->output, f, before);
        place.done = before != after;
        field_set(s, f, after);
    }
}

static void drop_statement(struct pass_run *r)
{
    struct item *it = r->output;
    place.done = true;
    it->stmts[place.stmt]->name = intern_string(&ctx.names, "gone");
    for (u32 i = place.stmt; i + 1 < it->n_stmts; i++)
        it->stmts[i] = it->stmts[i + 1];
    it->n_stmts--;
}

/* What leads to PASS's input. */
static void prepare(const struct pass *pass)
{
    teardown();
    setup();
    if (pass->from == LAYER_MODEL)
        return;
    ck_assert(run_pass(&distribute_transformer_training, checked));
    if (pass->from == LAYER_PORTABLE)
        ck_assert(run_pass(&plan_transformer_training, checked));
}

static const struct item *output_of(const struct pass *pass)
{
    for (u32 i = 0; i < m.n; i++)
        if (m.items[i]->kind->layer == pass->to)
            return m.items[i];
    ck_abort_msg("%s made nothing", pass->name);
    return NULL;
}

static u32 tried, slipped;

/* One fault, which the pass's own gate must refuse; what is refused leaves no trace. */
static void try_fault(const struct pass *pass, void (*f)(struct pass_run *r), const char *what)
{
    struct snapshot before = snapshot();
    make_faulty(pass, f);
    bool good = run_pass(&faulty, gate_only);
    tried += place.done;
    if (good && place.done) {
        printf("%s: %s passes\n", pass->name, what);
        fflush(stdout);
        slipped++;
    }
    if (good) {
        prepare(pass);
        return;
    }
    ck_assert_msg(has_code("pass.gate"), "%s: %s: %s", pass->name, what, diags.first->message);
    assert_untouched(&before);
}

/* A note is the user's own; how distribution calls its mesh and memory is its own choice, and a copy keeps notes. */
static bool is_free(const struct pass *pass, const char *keyword, const struct field *f)
{
    return !strcmp(f->name, "note") || (pass->from == LAYER_MODEL && f->kind == FIELD_SYMBOL_NAME && strcmp(keyword, "task") != 0);
}

static void try_fields(const struct pass *pass, u32 stmt, const char *keyword, const struct field *fields)
{
    char what[128];
    for (const struct field *f = fields; f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_FACTS) {
            try_fields(pass, stmt, keyword, f->aux);
            continue;
        }
        if (is_free(pass, keyword, f))
            continue;
        place = (struct place){ stmt, f, false };
        snprintf(what, sizeof what, "another `%s` of statement %u, a `%s`,", f->name, stmt, keyword);
        try_fault(pass, change_field, what);
    }
}

static void try_everything(const struct pass *pass)
{
    const struct entity *entities[256];
    u32 n;
    char what[128];
    tried = slipped = 0;
    prepare(pass);
    ck_assert(run_pass(pass, checked));
    const struct item *out = output_of(pass);
    n = out->n_stmts;
    ck_assert(n <= COUNT(entities));
    for (u32 i = 0; i < n; i++)
        entities[i] = stmt_entity(out, out->stmts[i]);
    for (u32 i = 0; i < n; i++) {
        if (i % 8 == 0)
            prepare(pass);
        try_fields(pass, i, entities[i]->keyword, entities[i]->fields);
        place = (struct place){ i, NULL, false };
        snprintf(what, sizeof what, "a plan without its %u. statement, a `%s`,", i, entities[i]->keyword);
        try_fault(pass, drop_statement, what);
    }
    ck_assert_uint_gt(tried, n);
    ck_assert_uint_eq(slipped, 0);
}

START_TEST(the_gate_of_distribution_refuses_every_changed_field)
{
    try_everything(&distribute_transformer_training);
}
END_TEST

START_TEST(the_gate_of_planning_refuses_every_changed_field)
{
    try_everything(&plan_transformer_training);
}
END_TEST

START_TEST(the_gate_of_binding_to_slots_refuses_every_changed_field)
{
    try_everything(&bind_reference_slot);
}
END_TEST

START_TEST(the_gate_of_binding_to_queues_refuses_every_changed_field)
{
    try_everything(&bind_reference_queue);
}
END_TEST

/* ---- With symbols ---- */

static void keep_symbols(void)
{
    symbolic[0] = (struct step_option){ .name = "symbolic", .value = "[microbatch, sequence]" };
    n_symbolic = 1;
}

START_TEST(the_gate_of_distribution_refuses_every_changed_field_of_a_symbolic_program)
{
    keep_symbols();
    try_everything(&distribute_transformer_training);
}
END_TEST

START_TEST(the_gate_of_specialization_refuses_every_changed_field)
{
    keep_symbols();
    own[0] = (struct step_option){ .name = "s", .value = "512" };
    n_own = 1;
    try_everything(&specialize);
}
END_TEST

/* ---- What the transaction itself catches ---- */

static void change_nothing(struct pass_run *r)
{
    (void)r;
}

static void change_input(struct pass_run *r)
{
    struct dist_task *t = (struct dist_task *)r->input->stmts[r->input->n_stmts - 2];
    ck_assert_uint_eq(t->s.entity, DIST_TASK);
    t->work[DIST_READ]++;
}

static u32 calls;

static void name_at_random(struct pass_run *r)
{
    char name[32];
    snprintf(name, sizeof name, "name%u", calls++);
    for (u32 i = 0; i < r->output->n_stmts; i++)
        if (r->output->stmts[i]->entity == DIST_MEMORY)
            r->output->stmts[i]->name = intern_string(&ctx.names, name);
}

static void repeat_statement(struct pass_run *r)
{
    struct stmt *last = NULL;
    for (u32 i = 0; i < r->output->n_stmts; i++)
        if (r->output->stmts[i]->entity == DIST_TASK)
            last = r->output->stmts[i];
    struct dist_task *again = (struct dist_task *)item_add(r->output, DIST_TASK);
    *again = *(struct dist_task *)last;
    again->s.name = intern_string(&ctx.names, "again");
    ck_assert_ptr_null(item_declare(r->output, &again->s));
}

static void assert_refused(const char *code, struct run_options options)
{
    struct snapshot before = snapshot();
    ck_assert(!run_pass(&faulty, options));
    ck_assert_msg(has_code(code), "%s", diags.first ? diags.first->message : "no message");
    assert_untouched(&before);
}

START_TEST(what_does_nothing_wrong_is_published)
{
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, change_nothing);
    u32 n = m.n;
    ck_assert(run_pass(&faulty, checked));
    ck_assert_uint_eq(m.n, n);
    ck_assert_str_eq(m.items[0]->kind->name, "dist.program");
    ck_assert_uint_eq(diags.errors, 0);
}
END_TEST

START_TEST(a_pass_that_changes_its_input_is_caught)
{
    prepare(&plan_transformer_training);
    make_faulty(&plan_transformer_training, change_input);
    ck_assert(!run_pass(&faulty, checked));
    ck_assert(has_code("pass.internal"));
    ck_assert_str_eq(m.items[0]->kind->name, "dist.program");
}
END_TEST

START_TEST(a_pass_that_names_at_random_is_caught_by_a_replay)
{
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, name_at_random);
    assert_refused("pass.internal", (struct run_options){ .verify_each = true, .verify_replay = true });
}
END_TEST

START_TEST(a_task_that_stands_twice_is_caught)
{
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, repeat_statement);
    assert_refused("pass.gate", gate_only);
}
END_TEST

static void break_a_rule(struct pass_run *r)
{
    for (u32 i = 0; i < r->output->n_stmts; i++)
        if (r->output->stmts[i]->entity == DIST_MESH)
            ((struct dist_mesh *)r->output->stmts[i])->axes = item_list(r->output, NULL, 0);
}

START_TEST(an_output_that_its_verifier_refuses_is_the_passs_fault)
{
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, break_a_rule);
    assert_refused("pass.internal", checked);
}
END_TEST

static bool run_in_silence(struct pass_run *r)
{
    (void)r;
    return false;
}

START_TEST(a_pass_that_fails_without_a_reason_is_caught)
{
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, change_nothing);
    faulty.run = run_in_silence;
    assert_refused("pass.internal", checked);
}
END_TEST

/* ---- Observers ---- */

struct watch {
    u32 before, after, failed;
    bool refuse_before, refuse_after;
};

static bool watch_before(void *state, const struct step *step, const struct item *input, const struct module *in)
{
    struct watch *w = state;
    (void)step, (void)input, (void)in;
    w->before++;
    return !w->refuse_before;
}

static bool watch_after(void *state, const struct step *step, const struct item *input, const struct item *output, const struct module *in)
{
    struct watch *w = state;
    (void)step, (void)input;
    ck_assert_ptr_ne(module_find(in, output->name), output);        /* not published yet */
    w->after++;
    return !w->refuse_after;
}

static void watch_failure(void *state, const struct step *step, const struct item *input, const struct item *output)
{
    (void)step, (void)input, (void)output;
    ((struct watch *)state)->failed++;
}

static struct watch run_watched(struct watch w, void (*f)(struct pass_run *r))
{
    struct observer o = { &w, watch_before, watch_after, watch_failure };
    prepare(&distribute_transformer_training);
    make_faulty(&distribute_transformer_training, f);
    struct snapshot before = snapshot();
    bool good = run_pass(&faulty, (struct run_options){ .verify_each = true, .observers = &o, .n_observers = 1 });
    ck_assert_int_eq(good, f == change_nothing && !w.refuse_before && !w.refuse_after);
    if (!good)
        assert_untouched(&before);
    return w;
}

START_TEST(an_observer_that_refuses_stops_the_pass_and_nothing_is_published)
{
    struct watch w = run_watched((struct watch){ .refuse_before = true }, change_nothing);
    ck_assert(w.before == 1 && w.after == 0);
    w = run_watched((struct watch){ .refuse_after = true }, change_nothing);
    ck_assert(w.before == 1 && w.after == 1 && w.failed == 1);
    w = run_watched((struct watch){ 0 }, change_nothing);
    ck_assert(w.before == 1 && w.after == 1 && w.failed == 0);
}
END_TEST

START_TEST(an_observer_sees_no_output_that_a_gate_refuses)
{
    struct watch w = run_watched((struct watch){ 0 }, repeat_statement);
    ck_assert(w.before == 1 && w.after == 0 && w.failed == 1);
}
END_TEST

START_TEST(a_later_pass_that_fails_takes_back_the_earlier_ones)
{
    prepare(&distribute_transformer_training);
    make_faulty(&plan_transformer_training, change_nothing);
    faulty.run = run_in_silence;
    struct step steps[] = { { .pass = &distribute_transformer_training }, { .pass = &faulty } };
    struct pipeline p = { steps, COUNT(steps) };
    struct snapshot before = snapshot();
    ck_assert(!pipeline_run(&m, &session, &p, &checked));
    assert_untouched(&before);
}
END_TEST

Suite *pass_suite(void)
{
    Suite *s = suite_create("pass");
    TCase *gates = tcase_create("gates");
    tcase_add_checked_fixture(gates, NULL, teardown);
    tcase_add_test(gates, the_gate_of_distribution_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_planning_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_binding_to_slots_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_binding_to_queues_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_distribution_refuses_every_changed_field_of_a_symbolic_program);
    tcase_add_test(gates, the_gate_of_specialization_refuses_every_changed_field);
    suite_add_tcase(s, gates);

    TCase *transaction = tcase_create("transaction");
    tcase_add_checked_fixture(transaction, NULL, teardown);
    tcase_add_test(transaction, what_does_nothing_wrong_is_published);
    tcase_add_test(transaction, a_pass_that_changes_its_input_is_caught);
    tcase_add_test(transaction, a_pass_that_names_at_random_is_caught_by_a_replay);
    tcase_add_test(transaction, a_task_that_stands_twice_is_caught);
    tcase_add_test(transaction, an_output_that_its_verifier_refuses_is_the_passs_fault);
    tcase_add_test(transaction, a_pass_that_fails_without_a_reason_is_caught);
    tcase_add_test(transaction, an_observer_that_refuses_stops_the_pass_and_nothing_is_published);
    tcase_add_test(transaction, an_observer_sees_no_output_that_a_gate_refuses);
    tcase_add_test(transaction, a_later_pass_that_fails_takes_back_the_earlier_ones);
    suite_add_tcase(s, transaction);
    return s;
}
