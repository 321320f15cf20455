/*
 * Keeps docs/algebra.md and docs/inference.md true: every table in them is written from the tables of the algebra, with
 * the numbers of a file.
 *
 *     algebra DOCUMENT EXAMPLE
 *
 * writes DOCUMENT to standard output; what stands between `<!-- NAME -->` and `<!-- end -->` is the table NAME for the
 * model, workload and strategy of EXAMPLE: those of training, or those of inference, as its model is.
 */
#include "algebra.h"

#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <stdio.h>

/* ---- The example ---- */

static const struct item *find_kind(const struct module *m, const char *kind)
{
    for (u32 i = 0; i < m->n; i++)
        if (!strcmp(m->items[i]->kind->name, kind))
            return m->items[i];
    return NULL;
}

static bool derive_training(struct writer *w, const struct item *workload, const struct item *strategy)
{
    spec_workload(workload, &w->workload);
    spec_strategy(strategy, &w->strategy);
    struct block_sizes sizes = block_sizes_of(w->ctx.exprs, &w->model, &w->workload, &w->strategy);
    struct block_switches switches = block_switches_of(&w->model, &w->strategy, ATTENTION_DENSE);
    struct block_fault fault;
    return block_names(w->ctx.exprs, &sizes, &switches, w->names, &fault) &&
           block_derive(w->ctx.exprs, &w->ctx.arena, &sizes, &switches, &w->block, &fault) &&
           stage_derive_memory(w->ctx.exprs, &w->model, &w->workload, &w->strategy, &w->block.memory, &w->stage, &fault);
}

static bool derive_step(struct writer *w, u64 i, struct inference_step *step, struct inference_block *out)
{
    struct block_fault fault;
    if (!request_step(&w->request, i, step))
        return false;
    struct inference_sizes sizes = inference_sizes_of(w->ctx.exprs, &w->model, step, &w->strategy);
    struct inference_switches switches = inference_switches_of(&w->model, step, &w->strategy);
    return inference_derive(w->ctx.exprs, &w->ctx.arena, &sizes, &switches, step->decode ? "decode" : "prefill", out, &fault);
}

static bool derive_inference(struct writer *w, const struct item *workload, const struct item *strategy)
{
    spec_request(workload, NULL, &w->request);
    spec_inference_strategy(strategy, &w->strategy);
    return derive_step(w, 0, &w->steps[0], &w->step_blocks[0]) &&
           derive_step(w, (u64)request_steps(&w->request) - 1, &w->steps[1], &w->step_blocks[1]);
}

/* The tables that the example is for, or NULL. */
static const struct table *read_example(struct writer *w, const struct module *m)
{
    const struct item *model = find_kind(m, "model.program"), *workload = find_kind(m, "session.workload");
    const struct item *strategy = find_kind(m, "session.strategy");
    const struct model_op *training = model ? spec_decoder(model, "transformer.decoder_training") : NULL;
    const struct model_op *inference = model ? spec_decoder(model, "transformer.decoder_inference") : NULL;
    if ((!training && !inference) || !workload || !strategy)
        return NULL;
    spec_model(model, training ? training : inference, &w->model);
    if (training)
        return derive_training(w, workload, strategy) ? training_tables : NULL;
    return derive_inference(w, workload, strategy) ? inference_tables : NULL;
}

/* ---- The document ---- */

/* The table that a line `<!-- NAME -->` asks for, or -1. */
static int table_of(const struct table *tables, const char *line, size_t length)
{
    for (size_t i = 0; tables[i].name; i++) {
        char mark[64];
        int n = snprintf(mark, sizeof mark, "<!-- %s -->", tables[i].name);
        if ((size_t)n == length && !memcmp(mark, line, length))
            return (int)i;
    }
    return -1;
}

static bool write_document(struct writer *w, const struct table *tables, const struct source *document)
{
    static const char end_mark[] = "<!-- end -->";
    bool inside = false;
    u32 written = 0, due = 0;
    for (const char *line = document->text; *line;) {
        size_t length = strcspn(line, "\n"), step = length + (line[length] == '\n');
        int table = table_of(tables, line, length);
        inside = inside && strncmp(line, end_mark, sizeof end_mark - 1);
        if (!inside)
            out_bytes(&w->out, line, step);
        if (table >= 0) {
            tables[table].write(w);
            out_char(&w->out, '\n');
            inside = true;
            written++;
        }
        line += step;
    }
    while (tables[due].name)
        due++;
    return !inside && written == due;
}

static bool run(struct writer *w, const char *document_path, const char *example_path)
{
    struct source document, example;
    struct module m;
    if (source_read(&document, document_path) || source_read(&example, example_path))
        return false;
    bool good = parse_module(&m, &w->ctx, &example) && verify_module(&m);
    const struct table *tables = good ? read_example(w, &m) : NULL;
    good = tables && write_document(w, tables, &document);
    module_free(&m);
    source_free(&example);
    source_free(&document);
    return good;
}

int main(int argc, char **argv)
{
    struct writer w = { .block = { .n = 0 } };
    struct diags diags;
    if (argc != 3) {
        fprintf(stderr, "usage: %s DOCUMENT EXAMPLE\n", argv[0]);
        return 2;
    }
    diags_init(&diags);
    context_init(&w.ctx, all_dialects, &diags);
    out_fd(&w.out, 1);
    bool good = run(&w, argv[1], argv[2]);
    if (!good)
        fprintf(stderr, "%s: can't be written from %s\n", argv[1], argv[2]);
    out_flush(&w.out);
    out_free(&w.out);
    context_free(&w.ctx);
    diags_free(&diags);
    return !good;
}
