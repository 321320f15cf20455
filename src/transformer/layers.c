#include "transformer/layers.h"

const struct quantity_row quantity_table[QUANTITIES] = {
#define QUANTITY(name, formula, when, otherwise, meaning) { name, formula, WHEN_##when, otherwise, meaning },
#include "transformer/layers.def"
#undef QUANTITY
};

const struct primitive_row primitive_table[PRIMITIVES] = {
#define PRIMITIVE(id, name, engine, forward_kind, gradient_kind, optimizer_kind, act, grad, fr, fw, ar, aw, wr, ww) \
    { name, ENGINE_##engine, COLLECTIVE_##forward_kind, COLLECTIVE_##gradient_kind, \
      COLLECTIVE_##optimizer_kind, act, grad, { fr, fw }, { ar, aw }, { wr, ww } },
#include "transformer/layers.def"
#undef PRIMITIVE
};

const struct layer_row layer_table[BLOCK_LAYERS] = {
#define LAYER(name, present, primitive, forward, agrad, wgrad, in, out, act, grad, weights, recomputed, repeated, space, \
              act_dropped, out_dropped, source) \
    { name, WHEN_##present, PRIMITIVE_##primitive, forward, agrad, wgrad, in, out, act, grad, weights, WHEN_##recomputed, \
      WHEN_##repeated, SPACE_##space, WHEN_##act_dropped, WHEN_##out_dropped, source },
#include "transformer/layers.def"
#undef LAYER
};

const char *block_collective_name(enum block_collective kind)
{
    static const char *const names[] = { "none", "all_reduce", "reduce_scatter", "all_gather" };
    return names[kind];
}

const char *block_engine_name(enum block_engine engine)
{
    static const char *const names[] = { "matrix", "vector", "collective" };
    return names[engine];
}
