#include "faulty.h"

#include "dialects/dist/dist.h"
#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <check.h>
#include <stdio.h>

static const char training_text[] =
    "model.program @m schema 1.0 {\n"
    "  symbol $b : integer\n"
    "  symbol $s : integer\n"
    "  input %%x : tensor<($b)x($s)x1024xf16>\n"
    "  op @decoder transformer.decoder_training(%%x) -> %%y : tensor<($b)x($s)x1024xf16>\n"
    "    hidden 1024 feedforward 4096 heads 16 head_size 64 sequence 512 blocks 8 %s\n"
    "  output %%y\n"
    "}\n"
    "session.workload @w {\n  mode = training\n  batch = 32\n  microbatch = 2\n  dtype = f16\n}\n"
    "session.strategy @s {\n  tensor = 4\n  communication = reduce_scatter_all_gather\n  pipeline = 2\n  data = 2\n"
    "  recompute = attention\n  input_regather = true\n}\n"
    "session.target @t {\n  abi = reference_v1\n  engines = [compute, collective]\n  memory_spaces = [local]\n}\n"
    "session.deployment @d {\n  devices = 4\n  memory_per_device = 85899345920\n}\n";

/* Heads of keys and values that two ranks hold alike, a gated MLP, rotary embedding, biases, two stages. */
static const char inference_text[] =
    "model.program @m schema 1.0 {\n"
    "  symbol $q : integer\n"
    "  input %x : tensor<3x($q)x64xf16>\n"
    "  kv_cache %kv : tensor<8x2x3x512x16xf16>\n"
    "  op @decoder transformer.decoder_inference(%x, %kv) -> %y : tensor<3x($q)x64xf16>\n"
    "    hidden 64 feedforward 256 heads 8 kv_heads 2 head_size 8 sequence 512 blocks 8 norm rms_norm mlp swiglu rotary true bias true\n"
    "  output %y\n"
    "}\n"
    "session.workload @w {\n  mode = prefill\n  batch = 3\n  context = 64\n  dtype = f16\n}\n"
    "session.strategy @s {\n  tensor = 4\n  pipeline = 2\n}\n";

struct diags diags;
struct context ctx;
static struct source source;
struct module m, session;

static bool is_inference(const struct pass *pass)
{
    return pass->run == distribute_transformer_inference.run || pass->run == plan_transformer_inference.run;
}

const char *block = "";

static const char *with_clauses(void)
{
    static char written[sizeof training_text + 256];
    int n = snprintf(written, sizeof written, training_text, block);
    ck_assert_int_lt(n, (int)sizeof written);
    return written;
}

static void setup(const char *text)
{
    diags_init(&diags);
    context_init(&ctx, all_dialects, &diags);
    source_borrow(&source, "test", text, strlen(text));
    module_init(&m, &ctx, &source);
    module_init(&session, &ctx, NULL);
    ck_assert(parse_module(&m, &ctx, &source) && verify_module(&m));
}

void teardown(void)
{
    if (!ctx.diags)
        return;
    module_free(&m);
    module_free(&session);
    context_free(&ctx);
    diags_free(&diags);
    ctx.diags = NULL;
}

bool has_code(const char *code)
{
    for (const struct diag *d = diags.first; d; d = d->next)
        if (!strcmp(d->code, code))
            return true;
    return false;
}

/* ---- A pass that does one thing wrong ---- */

static const struct pass *real;
struct pass faulty;
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

void make_faulty(const struct pass *pass, void (*f)(struct pass_run *r))
{
    real = pass;
    faulty = *pass;
    faulty.run = run_faulty;
    fault = f;
}

struct step_option own[2], symbolic[1];
u32 n_own, n_symbolic;

bool run_pass(const struct pass *pass, struct run_options options)
{
    bool first = pass == &distribute_transformer_training;
    struct step step = { .pass = pass, .options = first ? symbolic : own, .n_options = first ? n_symbolic : n_own };
    if (pass->from == LAYER_MODEL && !first)
        step.options = symbolic, step.n_options = n_symbolic;
    struct pipeline p = { &step, 1 };
    diags_clear(&diags);
    return pipeline_run(&m, &session, &p, &options);
}

const struct run_options checked = { .verify_each = true }, gate_only = { .verify_each = false };

struct snapshot snapshot(void)
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

void assert_untouched(const struct snapshot *before)
{
    struct snapshot now = snapshot();
    ck_assert_uint_eq(now.n, before->n);
    for (u32 i = 0; i < now.n; i++) {
        ck_assert_ptr_eq(now.items[i], before->items[i]);
        ck_assert(digest_equal(now.digests[i], before->digests[i]));
    }
}

void prepare(const struct pass *pass)
{
    bool inference = is_inference(pass);
    teardown();
    setup(inference ? inference_text : with_clauses());
    if (pass->from == LAYER_MODEL)
        return;
    ck_assert(run_pass(inference ? &distribute_transformer_inference : &distribute_transformer_training, checked));
    if (pass->from == LAYER_PORTABLE)
        ck_assert(run_pass(&plan_transformer_training, checked));
}

void change_nothing(struct pass_run *r)
{
    (void)r;
}

bool has_message(const char *part)
{
    for (const struct diag *d = diags.first; d; d = d->next)
        if (strstr(d->message, part))
            return true;
    return false;
}

/* ---- With analyses ---- */

struct analyses known;

void forget(void)
{
    if (known.ctx)
        analyses_free(&known);
    known = (struct analyses){ 0 };
    teardown();
}

void begin(const struct pass *pass, void (*fault)(struct pass_run *r))
{
    if (known.ctx)
        analyses_free(&known);
    known = (struct analyses){ 0 };
    prepare(pass);
    analyses_init(&known, &ctx);
    make_faulty(pass, fault);
}

struct run_options all(void)
{
    return (struct run_options){ .verify_each = true, .analyses = &known };
}

void refused_by(const char *part, struct run_options options)
{
    struct snapshot before = snapshot();
    u32 n = known.n;
    ck_assert(!run_pass(&faulty, options));
    ck_assert_msg(has_message(part), "%s", diags.first ? diags.first->message : "no message");
    ck_assert_uint_eq(known.n, n);
    assert_untouched(&before);
}

void refused(const struct pass *pass, void (*fault)(struct pass_run *r), const char *part)
{
    begin(pass, fault);
    refused_by(part, all());
}

struct stmt *nth(struct item *it, u32 entity, u32 n)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == entity && n-- == 0)
            return it->stmts[i];
    ck_abort_msg("no such statement");
    return NULL;
}

struct item *layer_item(enum layer layer)
{
    for (u32 i = 0; i < m.n; i++)
        if (m.items[i]->kind->layer == layer)
            return m.items[i];
    ck_abort_msg("no such item");
    return NULL;
}

void repeat_task(struct pass_run *r)
{
    struct dist_task *again = (struct dist_task *)item_add(r->output, DIST_TASK);
    *again = *(struct dist_task *)nth(r->output, DIST_TASK, 5);
    again->s.name = intern_string(&ctx.names, "again");
    ck_assert_ptr_null(item_declare(r->output, &again->s));
}

bool gate_unseen(const struct pass_run *r)
{
    (void)r;
    return true;
}
