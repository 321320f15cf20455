/*
 * Keeps docs/algebra.md true: every table in it is written from the tables of the algebra, with the numbers of a file.
 *
 *     algebra DOCUMENT EXAMPLE
 *
 * writes DOCUMENT to standard output; what stands between `<!-- NAME -->` and `<!-- end -->` is the table NAME for the
 * model, workload and strategy of EXAMPLE.
 */
#include "dialects/registry.h"
#include "ir/verify.h"
#include "parser/parse.h"
#include "passes/spec.h"
#include "transformer/formula.h"
#include "transformer/stage.h"

#include <stdio.h>

struct writer {
    struct out out;
    struct context ctx;
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
    struct block block;
    struct formula_name names[BLOCK_NAMES];
    struct stage_memory stage;
};

static const char *const size_meanings[BLOCK_SIZES] = {
    "sequences of a microbatch", "positions of a sequence", "hidden width", "feed-forward width", "attention heads",
    "size of a head", "heads of keys and values on a rank: its share of them, or 1",
    "ranks that share the block: tensor", "of them, those that hold the same keys and values", "bytes of an element",
    "bytes of optimizer state a weight: two moments of 4, and 4 more for a copy where e < 4",
    "ranks that share gradients and optimizer state: data where they are sharded, else 1",
};

static const char *const when_words[WHENS] = {
    [WHEN_NEVER] = "never",
    [WHEN_ALWAYS] = "always",
    [WHEN_PARALLEL] = "t > 1",
    [WHEN_SPLIT] = "t > 1 and reduce_scatter_all_gather",
    [WHEN_FUSED] = "fused_activation",
    [WHEN_FULL] = "full",
    [WHEN_ATTENTION] = "attention, full",
    [WHEN_ATTENTION_INPUT] = "attention, full, regather",
    [WHEN_MLP_INPUT] = "full, regather",
    [WHEN_ATTENTION_INPUT_REBUILT] = "full; attention or regather where it is gathered",
    [WHEN_MLP_INPUT_REBUILT] = "full; regather where it is gathered",
    [WHEN_ATTENTION_DROPOUT] = "attention, full, with dropout",
    [WHEN_CAUSAL] = "attention=causal",
    [WHEN_LAYER_NORM] = "norm layer_norm",
    [WHEN_RMS_NORM] = "norm rms_norm",
    [WHEN_GELU] = "mlp gelu",
    [WHEN_SWIGLU] = "mlp swiglu",
    [WHEN_ROTARY] = "rotary",
    [WHEN_BIAS] = "bias",
    [WHEN_DROPOUT] = "dropout",
    [WHEN_REPLICATED] = "t > kv_heads",
};

/* ---- Cells ---- */

static void number(struct writer *w, qty q)
{
    u128 value;
    qty magnitude = q;
    if (!qty_value(w->ctx.exprs, q, &value) && !qty_sub(w->ctx.exprs, 0, q, &magnitude))
        out_char(&w->out, '-');
    out_qty(&w->out, w->ctx.exprs, magnitude);
}


static void cell(struct writer *w, qty q)
{
    out_string(&w->out, " | ");
    number(w, q);
}

/* `9*Q` = 28311552; `9*Q` of a layer that the example lacks; nothing for a formula that is 0. */
static void formula(struct writer *w, const char *text, const qty *value)
{
    if (!strcmp(text, "0")) {
        out_string(&w->out, " | ");
        return;
    }
    out_printf(&w->out, value ? " | `%s` = " : " | `%s`", text);
    if (value)
        number(w, *value);
}

/* What the example has of row I, or NULL. */
static const struct block_layer *layer_of(const struct writer *w, u32 i)
{
    for (u32 k = 0; k < w->block.n_layers; k++)
        if (w->block.layers[k].row == i)
            return &w->block.layers[k];
    return NULL;
}

static const char *present_words(const struct layer_row *row)
{
    return row->present == WHEN_ALWAYS ? "" : when_words[row->present];
}

static void traffic(struct writer *w, const struct traffic_row *t)
{
    if (!strcmp(t->read, "0") && !strcmp(t->write, "0"))
        out_string(&w->out, " | ");
    else
        out_printf(&w->out, " | `%s`, `%s`", t->read, t->write);
}

static void end_row(struct writer *w)
{
    out_string(&w->out, " |\n");
}

static void head(struct writer *w, const char *columns)
{
    out_printf(&w->out, "\n| %s |\n|", columns);
    for (const char *c = columns; c; c = strstr(c + 1, " | "))
        out_string(&w->out, " --- |");
    out_char(&w->out, '\n');
}

/* ---- Tables ---- */

static void write_sizes(struct writer *w)
{
    head(w, "size | meaning | here");
    for (u32 i = 0; i < BLOCK_SIZES; i++) {
        out_printf(&w->out, "| %s | %s", w->names[i].name, size_meanings[i]);
        cell(w, w->names[i].value);
        end_row(w);
    }
}

static void write_quantities(struct writer *w)
{
    head(w, "quantity | formula | when | otherwise | here | meaning");
    for (u32 i = 0; i < QUANTITIES; i++) {
        const struct quantity_row *q = &quantity_table[i];
        bool always = q->when == WHEN_ALWAYS;
        out_printf(&w->out, "| %s | `%s` | %s | %s%s%s", q->name, q->formula, always ? "" : when_words[q->when],
                   always ? "" : "`", always ? "" : q->otherwise, always ? "" : "`");
        cell(w, w->names[BLOCK_SIZES + i].value);
        out_printf(&w->out, " | %s", q->meaning);
        end_row(w);
    }
}

static void write_primitives(struct writer *w)
{
    head(w, "primitive | engine | collective forward, backward | kept | its gradient | forward: read, write | "
            "activation gradient: read, write | weight gradient: read, write");
    for (u32 i = 0; i < PRIMITIVES; i++) {
        const struct primitive_row *p = &primitive_table[i];
        bool collective = p->engine == ENGINE_COLLECTIVE;
        out_printf(&w->out, "| %s | %s | ", p->name, block_engine_name(p->engine));
        if (collective)
            out_printf(&w->out, "%s, %s%s%s", block_collective_name(p->forward_kind), block_collective_name(p->gradient_kind),
                       p->optimizer_kind ? "; of weights' gradients " : "", p->optimizer_kind ? block_collective_name(p->optimizer_kind) : "");
        out_printf(&w->out, " | `%s` | `%s`", p->act_bytes, p->grad_bytes);
        traffic(w, &p->forward);
        traffic(w, &p->activation_gradient);
        traffic(w, &p->weight_gradient);
        end_row(w);
    }
}

static void write_elements(struct writer *w)
{
    head(w, "layer | when | primitive | in | out | kept | gradient of what is kept | weights");
    for (u32 i = 0; i < BLOCK_LAYERS; i++) {
        const struct layer_row *row = &layer_table[i];
        const struct block_layer *l = layer_of(w, i);
        out_printf(&w->out, "| %s | %s | %s", row->name, present_words(row), primitive_table[row->primitive].name);
        formula(w, row->in, l ? &l->in : NULL);
        formula(w, row->out, l ? &l->out : NULL);
        formula(w, row->act, l ? &l->act : NULL);
        formula(w, row->grad, l ? &l->grad : NULL);
        formula(w, row->weights, l ? &l->weights : NULL);
        end_row(w);
    }
}

static void write_operations(struct writer *w)
{
    head(w, "layer | when | forward | activation gradient | weight gradient | source");
    for (u32 i = 0; i < BLOCK_LAYERS; i++) {
        const struct layer_row *row = &layer_table[i];
        const struct block_layer *l = layer_of(w, i);
        out_printf(&w->out, "| %s | %s", row->name, present_words(row));
        formula(w, row->forward, l ? &l->forward.operations : NULL);
        formula(w, row->activation_gradient, l ? &l->activation_gradient.operations : NULL);
        formula(w, row->weight_gradient, l ? &l->weight_gradient.operations : NULL);
        out_printf(&w->out, " | %s", row->source);
        end_row(w);
    }
}

/* Read, write and message of one phase. */
static void moved(struct writer *w, const struct block_work *work)
{
    if (!work->read && !work->write && !work->message) {
        out_string(&w->out, " | ");
        return;
    }
    cell(w, work->read);
    out_string(&w->out, ", ");
    number(w, work->write);
    if (!work->message)
        return;
    out_string(&w->out, "; sends ");
    number(w, work->message);
}

static void write_bytes(struct writer *w)
{
    head(w, "layer | forward | activation gradient | weight gradient | optimizer");
    for (u32 i = 0; i < w->block.n_layers; i++) {
        const struct block_layer *l = &w->block.layers[i];
        out_printf(&w->out, "| %s", layer_table[l->row].name);
        moved(w, &l->forward);
        moved(w, &l->activation_gradient);
        moved(w, &l->weight_gradient);
        moved(w, &l->optimizer);
        end_row(w);
    }
}

static void write_storage(struct writer *w)
{
    head(w, "layer | when | computed again | sent again | stored, unless | output need not be kept | adds to working | adds to stored");
    for (u32 i = 0; i < BLOCK_LAYERS; i++) {
        const struct layer_row *row = &layer_table[i];
        const struct block_layer *l = layer_of(w, i);
        bool never = row->act_dropped == WHEN_ALWAYS;
        out_printf(&w->out, "| %s | %s | %s | %s | %s%s | %s", row->name, present_words(row), when_words[row->recomputed],
                   when_words[row->repeated],
                   never ? "not stored" : when_words[row->act_dropped], row->space == SPACE_SHARED ? ", with its neighbour" : "",
                   when_words[row->out_dropped]);
        if (l)
            cell(w, l->working), cell(w, l->stored);
        else
            out_string(&w->out, " |  | ");
        end_row(w);
    }
}

static void write_phases(struct writer *w)
{
    head(w, "phase | invocations | operations | read | write | message");
    for (u32 i = 0; i < PHASES; i++) {
        const struct block_work *p = &w->block.phases[i];
        out_printf(&w->out, "| %s | %u", training_phase_name((enum training_phase)i), w->block.phase_counts[i]);
        cell(w, p->operations);
        cell(w, p->read);
        cell(w, p->write);
        cell(w, p->message);
        end_row(w);
    }
}

static void write_memory(struct writer *w)
{
    const struct block_memory *m = &w->block.memory;
    const struct {
        const char *name, *formula;
        qty value;
    } rows[] = {
        { "weights", "e*weights", m->weights },
        { "working", "kept in space of its own", m->working },
        { "stored", "kept, less outputs that are made again; nothing under full recompute", m->stored },
        { "checkpoint", "e*Q under full recompute, else nothing", m->checkpoint },
        { "gradients", "e*(weights ceildiv d)", m->gradients },
        { "gradients_unsharded", "4*weights", m->gradients_unsharded },
        { "activation_gradients", "gradients of what is kept", m->activation_gradients },
        { "optimizer", "o*(weights ceildiv d)", m->optimizer },
    };
    head(w, "fact | sum over the layers of | bytes");
    for (size_t i = 0; i < COUNT(rows); i++) {
        out_printf(&w->out, "| %s | %s", rows[i].name, rows[i].formula);
        cell(w, rows[i].value);
        end_row(w);
    }
}

static void write_stage(struct writer *w)
{
    const struct stage_memory *m = &w->stage;
    const qty values[STAGE_BUFFERS] = { m->weights, m->gradients, m->activation_gradients, m->optimizer,
                                        m->working, m->stored, m->checkpoint, m->total };
    head(w, "buffer | formula | bytes");
    for (u32 i = 0; i < STAGE_BUFFERS; i++) {
        out_printf(&w->out, "| %s | `%s`", stage_buffers[i].name, stage_buffers[i].formula);
        cell(w, values[i]);
        end_row(w);
    }
}

static const struct {
    const char *name;
    void (*write)(struct writer *w);
} tables[] = {
    { "sizes", write_sizes },         { "quantities", write_quantities }, { "primitives", write_primitives },
    { "elements", write_elements },   { "operations", write_operations }, { "bytes", write_bytes },
    { "storage", write_storage },     { "phases", write_phases },         { "memory", write_memory },
    { "stage", write_stage },
};

/* ---- The example ---- */

static const struct item *find_kind(const struct module *m, const char *kind)
{
    for (u32 i = 0; i < m->n; i++)
        if (!strcmp(m->items[i]->kind->name, kind))
            return m->items[i];
    return NULL;
}

static bool read_specification(struct writer *w, const struct module *m)
{
    const struct item *model = find_kind(m, "model.program"), *workload = find_kind(m, "session.workload");
    const struct item *strategy = find_kind(m, "session.strategy");
    const struct model_op *op = model ? spec_decoder(model, "transformer.decoder_training") : NULL;
    if (!op || !workload || !strategy)
        return false;
    spec_model(model, op, &w->model);
    spec_workload(workload, &w->workload);
    spec_strategy(strategy, &w->strategy);
    return true;
}

static bool derive(struct writer *w)
{
    struct block_sizes sizes = block_sizes_of(w->ctx.exprs, &w->model, &w->workload, &w->strategy);
    struct block_switches switches = block_switches_of(&w->model, &w->strategy, ATTENTION_DENSE);
    struct block_fault fault;
    return block_names(w->ctx.exprs, &sizes, &switches, w->names, &fault) &&
           block_derive(w->ctx.exprs, &w->ctx.arena, &sizes, &switches, &w->block, &fault) &&
           stage_derive_memory(w->ctx.exprs, &w->model, &w->workload, &w->strategy, &w->block.memory, &w->stage, &fault);
}

/* ---- The document ---- */

/* The table that a line `<!-- NAME -->` asks for, or -1. */
static int table_of(const char *line, size_t length)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        char mark[64];
        int n = snprintf(mark, sizeof mark, "<!-- %s -->", tables[i].name);
        if ((size_t)n == length && !memcmp(mark, line, length))
            return (int)i;
    }
    return -1;
}

static bool write_document(struct writer *w, const struct source *document)
{
    static const char end_mark[] = "<!-- end -->";
    bool inside = false;
    u32 written = 0;
    for (const char *line = document->text; *line;) {
        size_t length = strcspn(line, "\n"), step = length + (line[length] == '\n');
        int table = table_of(line, length);
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
    return !inside && written == COUNT(tables);
}

static bool run(struct writer *w, const char *document_path, const char *example_path)
{
    struct source document, example;
    struct module m;
    if (source_read(&document, document_path) || source_read(&example, example_path))
        return false;
    bool good = parse_module(&m, &w->ctx, &example) && verify_module(&m) && read_specification(w, &m) && derive(w) &&
                write_document(w, &document);
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
