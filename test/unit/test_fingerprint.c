/*
 * What goes into a digest: each fact of the model and of the session is changed alone, and exactly what is derived with
 * it has another digest. A system profile is evidence, and goes into none.
 */
#include "passes/passes.h"

#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODEL = 1, DIST = 2, PORTABLE = 4, CONCRETE = 8, DERIVATIVES = DIST | PORTABLE | CONCRETE, REFUSED = 16 };

static const char base[] =
    "model.program @m schema 1.0 {\n"
    "  symbol $b : integer\n"
    "  symbol $s : integer\n"
    "  input %x : tensor<($b)x($s)x1024xf16>\n"
    "  op @decoder transformer.decoder_training(%x) -> %y : tensor<($b)x($s)x1024xf16>\n"
    "    hidden 1024 feedforward 4096 heads 16 head_size 64 sequence 512 blocks 8\n"
    "  output %y\n"
    "}\n"
    "session.workload @w {\n  mode = training\n  batch = 32\n  microbatch = 2\n  dtype = f16\n}\n"
    "session.strategy @s {\n  tensor = 4\n  communication = reduce_scatter_all_gather\n  pipeline = 2\n  schedule = one_f_one_b\n"
    "  data = 2\n  optimizer_sharding = true\n  recompute = attention\n  input_regather = true\n}\n"
    "session.target @t {\n  abi = reference_v1\n  engines = [compute, collective]\n  memory_spaces = [local]\n}\n"
    "session.deployment @d {\n  devices = 4\n  memory_per_device = 85899345920\n}\n"
    "system.profile @p {\n  matrix_flops = 1e12\n}\n";

/*
 * How each field is changed: to VALUE, or taken away where it is NULL; WITH is changed as well, to make the change legal.
 * What then has another digest; REFUSED: the fact can't be changed alone, and the run says so.
 */
static const struct change {
    const char *kind, *field, *value, *with, *with_value;
    u32 changes;
} changes[] = {
    { "model", "hidden", "2048", "x1024xf16", "x2048xf16", MODEL | DERIVATIVES },
    { "model", "feedforward", "8192", NULL, NULL, MODEL | DERIVATIVES },
    { "model", "heads", "8", NULL, NULL, MODEL | DERIVATIVES },
    { "model", "head_size", "128", NULL, NULL, MODEL | DERIVATIVES },
    { "model", "sequence", "1024", NULL, NULL, MODEL | DERIVATIVES },
    { "model", "blocks", "16", NULL, NULL, MODEL | DERIVATIVES },
    { "model", "vocabulary", "51200", NULL, NULL, MODEL | DERIVATIVES },
    { "session.workload", "mode", "prefill", NULL, NULL, REFUSED },
    { "session.workload", "batch", "64", NULL, NULL, DERIVATIVES },
    { "session.workload", "microbatch", "4", NULL, NULL, DERIVATIVES },
    { "session.workload", "context", "512", NULL, NULL, REFUSED },      /* of inference */
    { "session.workload", "dtype", "bf16", NULL, NULL, REFUSED },       /* is the model's */
    { "session.workload", "note", "{ why = 1 }", NULL, NULL, DERIVATIVES },
    { "session.strategy", "tensor", "2", "devices = 4", "devices = 2", DERIVATIVES },
    { "session.strategy", "communication", "all_reduce", "  input_regather = true\n", "", DERIVATIVES },
    { "session.strategy", "pipeline", "4", NULL, NULL, DERIVATIVES },
    { "session.strategy", "schedule", "gpipe", NULL, NULL, DERIVATIVES },
    { "session.strategy", "virtual_stages", "2", "one_f_one_b", "interleaved_one_f_one_b", DERIVATIVES },
    { "session.strategy", "data", "4", NULL, NULL, DERIVATIVES },
    { "session.strategy", "optimizer_sharding", NULL, NULL, NULL, DERIVATIVES },
    { "session.strategy", "recompute", NULL, NULL, NULL, DERIVATIVES },
    { "session.strategy", "fused_activation", "true", NULL, NULL, DERIVATIVES },
    { "session.strategy", "input_regather", NULL, NULL, NULL, DERIVATIVES },
    { "session.strategy", "world", "16", NULL, NULL, DERIVATIVES },
    { "session.strategy", "note", "{ why = 1 }", NULL, NULL, DERIVATIVES },
    { "session.target", "abi", "reference_v2", NULL, NULL, CONCRETE },
    { "session.target", "engines", "[collective, compute]", NULL, NULL, CONCRETE },
    { "session.target", "memory_spaces", "[local, host]", NULL, NULL, CONCRETE },
    { "session.target", "align", "256", NULL, NULL, CONCRETE },
    { "session.target", "architecture", "\"a\"", NULL, NULL, CONCRETE },
    { "session.target", "runtime", "\"r\"", NULL, NULL, CONCRETE },
    { "session.target", "dtypes", "[f16]", NULL, NULL, CONCRETE },
    { "session.target", "collectives", "[reduce_scatter, all_gather]", NULL, NULL, CONCRETE },
    { "session.target", "note", "{ why = 1 }", NULL, NULL, CONCRETE },
    { "session.deployment", "devices", "8", NULL, NULL, CONCRETE },
    { "session.deployment", "memory_per_device", "171798691840", NULL, NULL, CONCRETE },
    { "session.deployment", "environment", "\"e\"", NULL, NULL, CONCRETE },
    { "session.deployment", "topology", "{ link = 1 }", NULL, NULL, CONCRETE },
    { "session.deployment", "note", "{ why = 1 }", NULL, NULL, CONCRETE },
    { "system.profile", "evidence", "\"measured\"", NULL, NULL, 0 },
    { "system.profile", "matrix_flops", "2e12", NULL, NULL, 0 },
    { "system.profile", "vector_flops", "1e11", NULL, NULL, 0 },
    { "system.profile", "memory_bandwidth", "1e12", NULL, NULL, 0 },
    { "system.profile", "network_bandwidth", "1e11", NULL, NULL, 0 },
    { "system.profile", "network_latency", "1e-6", NULL, NULL, 0 },
    { "system.profile", "note", "{ why = 1 }", NULL, NULL, 0 },
};

/* ---- One run ---- */

struct digests {
    bool good;
    struct digest of[4];        /* model, dist, portable, concrete */
};

static struct digest digest_of(const struct module *m, enum layer layer)
{
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i]->kind->layer == layer)
            return item_digest(m->items[i]);
    return (struct digest){ 0, 0 };
}

static struct digests derive(const char *text)
{
    struct diags diags;
    struct context ctx;
    struct source src;
    struct module m, none;
    struct digests d;
    struct step steps[] = { { .pass = &distribute_transformer_training }, { .pass = &plan_transformer_training }, { .pass = &bind_reference_queue } };
    struct pipeline p = { steps, COUNT(steps) };
    struct run_options o = { .verify_each = true, .keep_sources = true };
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    source_borrow(&src, "test", text, strlen(text));
    module_init(&none, &ctx, NULL);
    d.good = parse_module(&m, &ctx, &src) && verify_module(&m) && pipeline_run(&m, &none, &p, &o);
    for (u32 i = 0; i < 4; i++)
        d.of[i] = digest_of(&m, (enum layer)(LAYER_MODEL + i));
    if (!d.good)
        ck_assert_uint_gt(diags.errors, 0);
    module_free(&m);
    context_free(&ctx);
    diags_free(&diags);
    return d;
}

/* ---- Changing the text ---- */

static void replace_all(char *text, size_t cap, const char *from, const char *to)
{
    for (char *at = text; (at = strstr(at, from)); at += strlen(to)) {
        ck_assert_uint_lt(strlen(text) + strlen(to), cap);
        memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
        memcpy(at, to, strlen(to));
    }
}

/* A line of the item that begins with `  field = `, or a word of the operation: what it says now. */
static bool find_value(const char *text, const struct change *c, char *old, size_t cap)
{
    char head[128];
    bool model = !strcmp(c->kind, "model");
    const char *item = strstr(text, model ? "    hidden " : c->kind);
    snprintf(head, sizeof head, model ? " %s " : "\n  %s = ", c->field);
    const char *at = strstr(item, head), *end = strchr(item, '}');
    if (!at || at > end)
        return false;
    size_t n = strlen(head) + strcspn(at + strlen(head), model ? " \n" : "\n");
    ck_assert_uint_lt(n, cap);
    memcpy(old, at, n);
    old[n] = '\0';
    return true;
}

static void change_text(char *text, size_t cap, const struct change *c)
{
    char old[256], new[256], whole[512];
    bool model = !strcmp(c->kind, "model");
    new[0] = '\0';
    if (c->value)
        snprintf(new, sizeof new, model ? " %s %s" : "\n  %s = %s", c->field, c->value);
    if (c->with)
        replace_all(text, cap, c->with, c->with_value);
    if (find_value(text, c, old, sizeof old)) {
        replace_all(text, cap, old, new);
    } else {
        snprintf(old, sizeof old, model ? " blocks 8" : "%s @%c {", c->kind, model ? ' ' : strchr(c->kind, '.')[1]);
        snprintf(whole, sizeof whole, "%s%s", old, new);
        replace_all(text, cap, old, whole);
    }
}

static const char *kind_word(u32 set)
{
    static char text[64];
    snprintf(text, sizeof text, "%s%s%s%s%s", set & MODEL ? "model " : "", set & DIST ? "dist " : "", set & PORTABLE ? "portable " : "",
             set & CONCRETE ? "concrete " : "", set & REFUSED ? "refused " : "");
    return text;
}

static void try(const struct change *c, const struct digests *was, bool may_refuse)
{
    char text[4096];
    u32 changed = 0;
    memcpy(text, base, sizeof base);
    change_text(text, sizeof text, c);
    ck_assert_msg(strcmp(text, base) != 0, "%s %s: nothing changed", c->kind, c->field);
    struct digests now = derive(text);
    for (u32 i = 0; now.good && i < 4; i++)
        changed |= !digest_equal(now.of[i], was->of[i]) ? 1u << i : 0;
    changed |= now.good ? 0 : REFUSED;
    ck_assert_msg(changed == c->changes || (may_refuse && !now.good), "%s %s: changes %s", c->kind, c->field, kind_word(changed));
}

START_TEST(a_change_changes_exactly_what_is_derived_with_it)
{
    struct digests was = derive(base);
    ck_assert(was.good);
    for (u32 i = 0; i < COUNT(changes); i++)
        try(&changes[i], &was, false);
}
END_TEST

START_TEST(without_a_profile_nothing_changes)
{
    struct digests was = derive(base), now;
    char text[sizeof base];
    memcpy(text, base, sizeof base);
    *strstr(text, "system.profile") = '\0';
    now = derive(text);
    for (u32 i = 0; i < 4; i++)
        ck_assert(digest_equal(was.of[i], now.of[i]));
}
END_TEST

/* ---- Fields that have no row: a value that their kind allows; where it is illegal in this program, no digest is made ---- */

static bool has_row(const char *kind, const char *field)
{
    for (u32 i = 0; i < COUNT(changes); i++)
        if (!strcmp(changes[i].kind, kind) && !strcmp(changes[i].field, field))
            return true;
    return false;
}

static const char *any_value(const struct field *f)
{
    switch (f->kind) {
    case FIELD_ENUM: return ((const struct enumeration *)f->aux)->words[1].text;
    case FIELD_BOOL: return f->fallback ? "false" : "true";
    case FIELD_INTEGER: return "4";
    case FIELD_STRING: return "\"a\"";
    case FIELD_WORD: return "a";
    case FIELD_WORDS: return "[a]";
    case FIELD_FLOAT: return "1.5";
    case FIELD_DICT: return "{ a = 1 }";
    default: return NULL;
    }
}

static u32 expected(const char *kind)
{
    return !strcmp(kind, "system.profile") ? 0 : !strcmp(kind, "session.target") || !strcmp(kind, "session.deployment") ? CONCRETE
           : !strcmp(kind, "model") ? MODEL | DERIVATIVES : DERIVATIVES;
}

static void try_fields(const char *kind, const struct field *fields, const struct digests *was)
{
    for (const struct field *f = fields; f && f->kind != FIELD_END; f++)
        if (!has_row(kind, f->name) && any_value(f))
            try(&(struct change){ kind, f->name, any_value(f), NULL, NULL, expected(kind) }, was, true);
}

START_TEST(a_field_that_was_added_later_is_held_to_the_same)
{
    struct diags diags;
    struct context ctx;
    struct digests was = derive(base);
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_kinds; i++)
            if ((*d)->kinds[i].layer == LAYER_SESSION && strstr(base, (*d)->kinds[i].name))
                for (u32 e = 0; e < (*d)->kinds[i].n_entities; e++)
                    if (!strcmp((*d)->kinds[i].entities[e].keyword, (*d)->kinds[i].name))
                        try_fields((*d)->kinds[i].name, (*d)->kinds[i].entities[e].fields, &was);
    const struct operation *op = context_operation(&ctx, intern_string(&ctx.names, "transformer.decoder_training"));
    try_fields("model", op->attributes, &was);
    context_free(&ctx);
    diags_free(&diags);
}
END_TEST

Suite *fingerprint_suite(void)
{
    Suite *s = suite_create("fingerprint");
    TCase *t = tcase_create("fingerprint");
    tcase_add_test(t, a_change_changes_exactly_what_is_derived_with_it);
    tcase_add_test(t, without_a_profile_nothing_changes);
    tcase_add_test(t, a_field_that_was_added_later_is_held_to_the_same);
    suite_add_tcase(s, t);
    return s;
}
