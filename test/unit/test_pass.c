/*
 * The gates: passes that are faulty on purpose, each of which does what the real one does and then changes one field.
 * Every fault must be caught, and must leave the module as it was.
 */
#include "faulty.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/portable/portable.h"

#include <check.h>
#include <stdio.h>

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
        field_set(r->output, s, f, after);
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

/* ---- Inference ---- */

START_TEST(the_gate_of_distributing_inference_refuses_every_changed_field)
{
    try_everything(&distribute_transformer_inference);
}
END_TEST

START_TEST(the_gate_of_planning_inference_refuses_every_changed_field)
{
    try_everything(&plan_transformer_inference);
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

/* ---- With every layer that today's models have, and ranks that hold the same keys and values ---- */

static void keep_triangle(void)
{
    block = "kv_heads 2 norm rms_norm mlp swiglu rotary true bias true dropout false";
    symbolic[0] = (struct step_option){ .name = "attention", .value = "causal" };
    n_symbolic = 1;
}

START_TEST(the_gate_of_distribution_refuses_every_changed_field_of_a_gated_block)
{
    keep_triangle();
    try_everything(&distribute_transformer_training);
}
END_TEST

START_TEST(the_gate_of_planning_refuses_every_changed_field_of_a_gated_block)
{
    keep_triangle();
    try_everything(&plan_transformer_training);
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

Suite *pass_suite(void)
{
    Suite *s = suite_create("pass");
    TCase *gates = tcase_create("gates");
    tcase_add_checked_fixture(gates, NULL, teardown);
    tcase_add_test(gates, the_gate_of_distribution_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_planning_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_binding_to_slots_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_binding_to_queues_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_distributing_inference_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_planning_inference_refuses_every_changed_field);
    tcase_add_test(gates, the_gate_of_distribution_refuses_every_changed_field_of_a_symbolic_program);
    tcase_add_test(gates, the_gate_of_distribution_refuses_every_changed_field_of_a_gated_block);
    tcase_add_test(gates, the_gate_of_planning_refuses_every_changed_field_of_a_gated_block);
    tcase_add_test(gates, the_gate_of_specialization_refuses_every_changed_field);
    suite_add_tcase(s, gates);
    return s;
}
