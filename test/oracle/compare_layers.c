/* Each layer of the block against calculon-blocks.tsv. */
#include "block_row.h"

struct layer_comparison {
    struct row *row;
    size_t at;
    const struct block_layer *l;
    const char *where;
};

static void layer_deviates(struct layer_comparison *c, const char *column, struct fraction ours, struct fraction excess,
                           enum deviation why)
{
    row_compare(c->row, c->where, column, row_layer_cell(c->row, c->at, column), ours, excess, why);
}

static void layer(struct layer_comparison *c, const char *column, struct fraction ours)
{
    layer_deviates(c, column, ours, whole(0), NO_DEVIATION);
}

static void layer_word(struct layer_comparison *c, const char *column, const char *ours)
{
    row_compare_word(c->row, c->where, column, row_layer_cell(c->row, c->at, column), ours);
}

/* Calculon's names of the layers, in our order. */
static const char *const calculon_layers[CALCULON_LAYERS] = {
    "AttnBlock_Fork", "AttnBlock_LayerNorm", "AttnBlock_F", "AttnBlock_Multihead_Fork", "AttnBlock_Query",
    "AttnBlock_Key", "AttnBlock_Value", "AttnBlock_Multihead_Key_Query", "AttnBlock_Multihead_SoftMax",
    "AttnBlock_Multihead_DropOut", "AttnBlock_Multihead_Attn", "AttnBlock_MLP", "AttnBlock_G", "AttnBlock_DropOut",
    "AttnBlock_Residual", "MlpBlock_Fork", "MlpBlock_LayerNorm", "MlpBlock_F", "MlpBlock_Mlp1", "MlpBlock_GeLU",
    "MlpBlock_Mlp2", "MlpBlock_G", "MlpBlock_DropOut", "MlpBlock_Residual",
};

enum { QKV_FORK = 3, MLP_EXPAND = 18 };     /* whose inputs Calculon drops */

static const char *calculon_type(const char *primitive)
{
    static const char *const types[][2] = {
        { "fork", "Fork" }, { "layer_norm", "LayerNorm" }, { "linear", "Linear" }, { "batch_matmul", "BatchMatMul" },
        { "softmax", "SoftMax" }, { "dropout", "DropOut" }, { "residual_add", "ElementWise" }, { "gelu", "GeLU" },
        { "tensor_parallel_collective", "TPComm" },
    };
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(types[i][0], primitive))
            return types[i][1];
    return "none";
}

static void compare_layer_forward(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    const struct primitive_row *p = &primitive_table[layer_table[c->l->row].primitive];
    layer_word(c, "name", calculon_layers[c->at]);
    layer_word(c, "type", calculon_type(p->name));
    layer_word(c, "engine", p->engine == ENGINE_MATRIX ? "matrix" : "vector");
    layer(c, "in_elems", row_exact(r, l->in));
    layer(c, "out_elems", row_exact(r, l->out));
    layer(c, "act_elems", row_exact(r, l->act));
    layer(c, "weight_elems", row_exact(r, l->weights));
    layer(c, "fw_flops", row_exact(r, l->forward.operations));
    layer(c, "fw_mem", row_moved(r, &l->forward));
    layer(c, "weight_bytes", row_exact(r, l->weight_bytes));
    layer(c, "act_bytes", row_exact(r, l->act_bytes));
    layer(c, "out_bytes", row_exact(r, l->out_bytes));
    layer(c, "act_reused", whole(l->act_shared));
    layer(c, "act_working_add", row_exact(r, l->working));
    layer_word(c, "base_fw_comm_kind", block_collective_name(l->forward_kind));
    layer_word(c, "edge_fw_comm_kind", block_collective_name(l->forward_kind));
    layer(c, "base_fw_comm_bytes", row_exact(r, l->forward.message));
    layer(c, "edge_fw_comm_bytes", row_exact(r, l->forward.message));
}

static void compare_layer_gradients(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    struct fraction weights = row_exact(r, l->weights), gap = row_share_gap(r, weights.over);
    layer(c, "act_grad_elems", row_exact(r, l->grad));
    layer(c, "weight_grad_elems", weights);
    layer(c, "optim_elems", scaled(weights, 2));
    layer(c, "agrad_flops", row_exact(r, l->activation_gradient.operations));
    layer(c, "agrad_mem", row_moved(r, &l->activation_gradient));
    layer(c, "wgrad_flops", row_exact(r, l->weight_gradient.operations));
    layer(c, "wgrad_mem", row_moved(r, &l->weight_gradient));
    layer_deviates(c, "optim_flops", row_exact(r, l->optimizer.operations), scaled(gap, 11), SHARES_ROUNDED_UP);
    layer_deviates(c, "optim_mem", row_moved(r, &l->optimizer), scaled(gap, row_optimizer_bytes(r)), SHARES_ROUNDED_UP);
    layer(c, "act_grad_bytes", row_exact(r, l->activation_gradient_bytes));
    layer_deviates(c, "weight_grad_bytes", row_exact(r, l->gradient_bytes), scaled(gap, r->c.workload.element_bytes),
                   SHARES_ROUNDED_UP);
    layer(c, "weight_grad_bytes_fp32", row_exact(r, l->gradient_bytes_unsharded));
    layer_deviates(c, "optim_bytes", row_exact(r, l->optimizer_bytes), scaled(gap, row_optimizer_bytes(r)),
                   SHARES_ROUNDED_UP);
    layer_word(c, "base_bw_comm_kind", block_collective_name(l->gradient_kind));
    layer_word(c, "edge_bw_comm_kind", block_collective_name(l->gradient_kind));
    layer(c, "base_bw_comm_bytes", row_exact(r, l->activation_gradient.message));
    layer(c, "edge_bw_comm_bytes", row_exact(r, l->activation_gradient.message));
}

static void compare_layer_storage(struct layer_comparison *c)
{
    const struct row *r = c->row;
    const struct block_layer *l = c->l;
    bool unstored = (c->at == QKV_FORK && row_drops_attention_input(r)) ||
                    (c->at == MLP_EXPAND && row_drops_mlp_input(r));
    struct fraction bytes = unstored ? fraction_read(row_layer_cell(r, c->at, "act_bytes")) : whole(0);
    struct fraction repeated = l->repeat_kind ? row_exact(r, l->forward.message) : whole(0);
    layer(c, "recompute", whole(l->recomputed));
    layer(c, "recomm", whole(l->repeated));
    layer_deviates(c, "act_stored", whole(l->act_stored), whole(unstored), STORED_INPUTS);
    layer(c, "out_stored", whole(l->out_stored));
    layer_deviates(c, "act_storage_add", row_exact(r, l->stored), bytes, STORED_INPUTS);
    layer(c, "re_flops", l->recomputed ? row_exact(r, l->forward.operations) : whole(0));
    layer(c, "re_mem", l->recomputed ? row_moved(r, &l->forward) : whole(0));
    layer_word(c, "base_re_comm_kind", block_collective_name(l->repeat_kind));
    layer_word(c, "edge_re_comm_kind", block_collective_name(l->repeat_kind));
    layer(c, "base_re_comm_bytes", repeated);
    layer(c, "edge_re_comm_bytes", repeated);
}

void row_compare_layers(struct row *r)
{
    for (size_t i = 0; i < r->block.n_layers; i++) {
        struct layer_comparison c = {
            r, i, &r->block.layers[i], arena_format(r->c.oracle->arena, "%s ", layer_table[r->block.layers[i].row].name),
        };
        compare_layer_forward(&c);
        if (r->c.training) {
            compare_layer_gradients(&c);
            compare_layer_storage(&c);
        }
    }
}
