/* The tables of a block in training: docs/algebra.md. */
#include "algebra.h"

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

const struct table training_tables[] = {
    { "sizes", write_sizes },         { "quantities", write_quantities }, { "primitives", write_primitives },
    { "elements", write_elements },   { "operations", write_operations }, { "bytes", write_bytes },
    { "storage", write_storage },     { "phases", write_phases },         { "memory", write_memory },
    { "stage", write_stage },         { NULL, NULL },
};
