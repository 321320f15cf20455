/* The tables of a block in inference: docs/inference.md. */
#include "algebra.h"

enum { PREFILL, DECODE };

static const char *const when_words[INFERENCE_WHENS] = {
    [INFERENCE_ALWAYS] = "",
    [INFERENCE_PARALLEL] = "t > 1",
    [INFERENCE_LAYER_NORM] = "norm layer_norm",
    [INFERENCE_RMS_NORM] = "norm rms_norm",
    [INFERENCE_GELU] = "mlp gelu",
    [INFERENCE_SWIGLU] = "mlp swiglu",
    [INFERENCE_ROTARY] = "rotary",
    [INFERENCE_BIAS] = "bias",
    [INFERENCE_CAUSAL] = "attention=causal",
};

/* What the example has of row I in a step, or NULL. */
static const struct inference_call *call_of(const struct writer *w, int step, u32 i)
{
    const struct inference_block *b = &w->step_blocks[step];
    for (u32 k = 0; k < b->n; k++)
        if (b->calls[k].row == i)
            return &b->calls[k];
    return NULL;
}

static bool is_none(const char *text)
{
    return !strcmp(text, "0");
}

static void write_sizes(struct writer *w)
{
    static const char *const rows[][2] = {
        { "b", "sequences that are served together" }, { "q", "new tokens of a sequence" },
        { "c", "tokens that they attend to, themselves among them" }, { "H", "hidden width" }, { "F", "feed-forward width" },
        { "h", "attention heads" }, { "g", "heads of keys and values on a rank: its share of them, or 1" }, { "s", "size of a head" },
        { "t", "ranks that share the block: tensor" }, { "e", "bytes of an element" },
    };
    head(w, "size | meaning | prefill | decode");
    for (u32 i = 0; i < COUNT(rows); i++) {
        out_printf(&w->out, "| %s | %s", rows[i][0], rows[i][1]);
        for (int step = PREFILL; step <= DECODE; step++) {
            const struct inference_sizes z = inference_sizes_of(w->ctx.exprs, &w->model, &w->steps[step], &w->strategy);
            const qty values[COUNT(rows)] = { z.b, z.q, z.c, z.H, z.F, z.h, z.g, z.s, z.t, z.e };
            cell(w, values[i]);
        }
        end_row(w);
    }
}

static void write_quantities(struct writer *w)
{
    head(w, "quantity | formula | when | otherwise | prefill | decode | meaning");
    for (u32 i = 0; i < INFERENCE_QUANTITIES; i++) {
        const struct inference_quantity_row *q = &inference_quantity_table[i];
        bool always = q->when == INFERENCE_ALWAYS;
        out_printf(&w->out, "| %s | `%s` | %s | %s%s%s", q->name, q->formula, when_words[q->when], always ? "" : "`", always ? "" : q->otherwise,
                   always ? "" : "`");
        cell(w, w->step_blocks[PREFILL].values[i]);
        cell(w, w->step_blocks[DECODE].values[i]);
        out_printf(&w->out, " | %s", q->meaning);
        end_row(w);
    }
}

static const char *engine_word(enum block_engine engine)
{
    return engine == ENGINE_COLLECTIVE ? "collective" : block_engine_name(engine);
}

static void write_tasks(struct writer *w)
{
    head(w, "layer | operation | engine | when | operations | source");
    for (u32 i = 0; i < INFERENCE_TASKS; i++) {
        const struct inference_task_row *row = &inference_task_table[i];
        out_printf(&w->out, "| %s | %s | %s | %s | ", row->layer, row->operation, engine_word(row->engine), when_words[row->when]);
        if (!is_none(row->operations))
            out_printf(&w->out, "`%s`", row->operations);
        out_printf(&w->out, " | %s", row->source);
        end_row(w);
    }
}

static void write_elements(struct writer *w)
{
    head(w, "layer | operation | elements in | weights | elements out");
    for (u32 i = 0; i < INFERENCE_TASKS; i++) {
        const struct inference_task_row *row = &inference_task_table[i];
        out_printf(&w->out, "| %s | %s", row->layer, row->operation);
        formula(w, row->in, NULL);
        formula(w, row->weights, NULL);
        formula(w, row->out, NULL);
        end_row(w);
    }
}

static void write_work(struct writer *w, int step)
{
    head(w, "task | operations | read | write | message");
    for (u32 i = 0; i < INFERENCE_TASKS; i++) {
        const struct inference_call *call = call_of(w, step, i);
        if (!call)
            continue;
        out_printf(&w->out, "| %s", call->name);
        cell(w, call->work.operations);
        cell(w, call->work.read);
        cell(w, call->work.write);
        cell(w, call->work.message);
        end_row(w);
    }
    const struct block_work *sum = &w->step_blocks[step].total;
    out_string(&w->out, "| sum");
    cell(w, sum->operations);
    cell(w, sum->read);
    cell(w, sum->write);
    cell(w, sum->message);
    end_row(w);
}

static void write_prefill(struct writer *w)
{
    write_work(w, PREFILL);
}

static void write_decode(struct writer *w)
{
    write_work(w, DECODE);
}

static void write_workspace(struct writer *w)
{
    head(w, "what | when | elements");
    for (u32 i = 0; i < INFERENCE_WORKSPACES; i++) {
        const struct inference_workspace_row *row = &inference_workspace_table[i];
        out_printf(&w->out, "| %s | %s | `%s`", row->what, when_words[row->when], row->elements);
        end_row(w);
    }
}

static void write_memory(struct writer *w)
{
    const struct inference_memory *p = &w->step_blocks[PREFILL].memory, *d = &w->step_blocks[DECODE].memory;
    const struct {
        const char *name, *formula;
        qty prefill, decode;
    } rows[] = {
        { "weights", "e*weights, summed over the tasks", p->weights, d->weights },
        { "kv_cache", "2*b*c*V*e", p->kv_cache, d->kv_cache },
        { "workspace", "e*(T + the largest of the workspace's rows)", p->workspace, d->workspace },
        { "boundary", "e*T", p->boundary, d->boundary },
    };
    head(w, "fact | formula | prefill | decode");
    for (u32 i = 0; i < COUNT(rows); i++) {
        out_printf(&w->out, "| %s | %s", rows[i].name, rows[i].formula);
        cell(w, rows[i].prefill);
        cell(w, rows[i].decode);
        end_row(w);
    }
}

const struct table inference_tables[] = {
    { "sizes", write_sizes },         { "quantities", write_quantities }, { "tasks", write_tasks },
    { "elements", write_elements },   { "prefill", write_prefill },       { "decode", write_decode },
    { "workspace", write_workspace }, { "memory", write_memory },         { NULL, NULL },
};
