import re
def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
D='src/dialects/'
# model.def
p=D+'model/model.def'
sub(p,'''ENTITY(MODEL_SYMBOL,''','''ENUMERATION(model_norm,
    WORD(MODEL_LAYER_NORM, "layer_norm", "mean and variance, with gain and shift")
    WORD(MODEL_RMS_NORM, "rms_norm", "root mean square, with gain alone"))
ENUMERATION(model_mlp,
    WORD(MODEL_GELU, "gelu", "two products with a GeLU between")
    WORD(MODEL_SWIGLU, "swiglu", "three products: SiLU of a gate times the expansion, and the contraction"))

/* What a decoder's block is: the same clauses in training and in inference. */
#define DECODER_CLAUSES FIELDS( \\
        ATTRIBUTE("hidden", FIELD_INTEGER, NULL, REQUIRED, "hidden size") \\
        ATTRIBUTE("feedforward", FIELD_INTEGER, NULL, REQUIRED, "feed-forward size") \\
        ATTRIBUTE("heads", FIELD_INTEGER, NULL, REQUIRED, "attention heads") \\
        ATTRIBUTE("kv_heads", FIELD_INTEGER, NULL, OPTIONAL, "heads with keys and values of their own; absent: all") \\
        ATTRIBUTE("head_size", FIELD_INTEGER, NULL, REQUIRED, "size of one head; heads x head_size may differ from hidden") \\
        ATTRIBUTE("sequence", FIELD_INTEGER, NULL, REQUIRED, "longest sequence in tokens; in training, each sequence") \\
        ATTRIBUTE("blocks", FIELD_INTEGER, NULL, REQUIRED, "decoder blocks") \\
        ATTRIBUTE("vocabulary", FIELD_INTEGER, NULL, OPTIONAL, "vocabulary size, padded; some conventions need it") \\
        ATTRIBUTE("norm", FIELD_ENUM, &model_norm_enum, OPTIONAL, "normalization ahead of attention and of the MLP") \\
        ATTRIBUTE("mlp", FIELD_ENUM, &model_mlp_enum, OPTIONAL, "what the MLP computes") \\
        ATTRIBUTE("rotary", FIELD_BOOL, NULL, OPTIONAL, "whether queries and keys are turned by their position") \\
        ATTRIBUTE("bias", FIELD_BOOL, NULL, OPTIONAL, "whether the products with weights add a bias"))

ENTITY(MODEL_SYMBOL,''')
s=open(p).read()
i=s.index('OPERATION("transformer.decoder_training"'); j=s.index('RULE("model.program.empty"')
s=s[:i]+'''OPERATION("transformer.decoder_training", IN(LAYER_MODEL), 1, 1, 1, 1, SHAPE_DECODER, DECODER_CLAUSES,
    "(1x8x16xf16) -> 1x8x16xf16 hidden 16 feedforward 64 heads 4 head_size 4 sequence 8 blocks 2",
    "A decoder-only transformer under training: all its blocks as one coarse operation.")
OPERATION("transformer.decoder_inference", IN(LAYER_MODEL), 2, 2, 1, 2, SHAPE_DECODER, DECODER_CLAUSES,
    "(1x8x16xf16, 2x2x1x8x16xf16) -> 1x8x16xf16 hidden 16 feedforward 64 heads 4 head_size 4 sequence 8 blocks 2",
    "A decoder-only transformer that reads and extends a KV cache: hidden state of the new tokens, cache "
    "[blocks, 2, batch, sequence, kv heads x head_size]; its second result, if any, is the cache's next version.")

'''+s[j:]
s=s.replace('#include "ir/def_end.h"','#undef DECODER_CLAUSES\n#include "ir/def_end.h"')
open(p,'w').write(s)
# shape_decoder: kv heads in training too
p=D+'model/shape_decoder.c'
sub(p,'''    u64 blocks = 0, sequence = 0, heads = 0, size = 0;
    const struct type *cache''','''    u64 blocks = 0, sequence = 0, size = 0;
    const struct type *cache''')
sub(p,'static bool check_cache(struct model_shape *s)','static bool check_cache(struct model_shape *s, u64 heads)')
sub(p,'if (!kv_heads(s, &heads) || !model_shape_number(s, "blocks"','if (!model_shape_number(s, "blocks"')
sub(p,'''        model_shape_result(s, 0, s->types[0]);
    if (inference && check_cache(s) && s->n_out > 1)''','''        model_shape_result(s, 0, s->types[0]);
    u64 heads = 0;
    if (kv_heads(s, &heads) && inference && check_cache(s, heads) && s->n_out > 1)''')
# dist/portable
p=D+'dist/dist.def'
sub(p,'''GROUP(dist_work_facts,''','''ENUMERATION(dist_attention_kind,
    WORD(DIST_DENSE, "dense", "every pair of a query and a key: the whole rectangle")
    WORD(DIST_CAUSAL, "causal", "a query with itself and the keys before it: the lower triangle"))

GROUP(dist_work_facts,''')
sub(p,'''ENTITY(DIST_SCALE,''','''ENTITY(DIST_ATTENTION, "attention", dist_attention, ENTITY_ONCE, "attention dense",
    "Which pairs of a query and a key the facts count.",
    FIELD_ROW(PLACE_HEAD, "pairs", FIELD_ENUM, dist_attention, pairs, &dist_attention_kind_enum, REQUIRED, 0, "which pairs"))
ENTITY(DIST_SCALE,''')
sub(D+'dist/dist.h','''struct dist_scale {''','''struct dist_attention {
    struct stmt s;
    u8 pairs;
};

struct dist_scale {''')
p=D+'portable/portable.def'
sub(p,'''
GROUP(portable_work_facts,''','''ENUMERATION(portable_attention_kind,
    WORD(PORTABLE_DENSE, "dense", "every pair of a query and a key: the whole rectangle")
    WORD(PORTABLE_CAUSAL, "causal", "a query with itself and the keys before it: the lower triangle"))

GROUP(portable_work_facts,''')
sub(p,'''ENTITY(PORTABLE_BUFFER,''','''ENTITY(PORTABLE_ATTENTION, "attention", portable_attention, ENTITY_ONCE, "attention dense",
    "Which pairs of a query and a key the facts count.",
    HEAD("pairs", FIELD_ENUM, portable_attention, pairs, &portable_attention_kind_enum, "which pairs"))
ENTITY(PORTABLE_BUFFER,''')
sub(D+'portable/portable.h','''struct portable_buffer {''','''struct portable_attention {
    struct stmt s;
    u8 pairs;
};

struct portable_buffer {''')
p=D+'dist/syntax.y'
sub(p,'''KW_ORDER "'order'"''','''KW_ORDER "'order'" KW_ATTENTION "'attention'"''')
sub(p,'''    | "'scale'" {''','''    | "'attention'" { build_stmt(p, $1, @1); } head_word
    | "'scale'" {''')
sub('src/parser/tail.y','''"'order'" | "'scale'"
       | ''','''"'order'" | "'attention'"
       | "'scale'" | ''')
sub('src/lexer/lexer.re','''    { "scale", KW_SCALE, IN(LAYER_DIST) },''','''    { "attention", KW_ATTENTION, IN(LAYER_DIST) | IN(LAYER_PORTABLE) },
    { "scale", KW_SCALE, IN(LAYER_DIST) },''')
# spec.h
p='src/transformer/spec.h'
sub(p,'''/* A decoder of equal blocks. heads * head_size, the attention width, may differ from hidden. */
struct''','''enum transformer_norm { NORM_LAYER, NORM_RMS };
enum transformer_mlp { MLP_GELU, MLP_SWIGLU };

/* Which pairs of a query and a key are counted: all, or those of a query with itself and the keys before it. */
enum attention_pairs { ATTENTION_DENSE, ATTENTION_CAUSAL };

/* A decoder of equal blocks. heads * head_size, the attention width, may differ from hidden. */
struct''')
sub(p,'''    u64 heads;
''','''    u64 heads;
    u64 kv_heads;           /* heads with keys and values of their own; `heads` where all have */
''')
sub(p,'''the conventions of convention.h need it */
''','''the conventions of convention.h need it */
    enum transformer_norm norm;
    enum transformer_mlp mlp;
    bool rotary;            /* queries and keys are turned by their position */
    bool bias;              /* the products with weights add one */
''')
sub(p,'''struct training_workload {''','''/* Heads of keys and values on one of TENSOR ranks: a share, or one that several ranks hold alike. */
static inline u64 kv_heads_of_rank(const struct transformer_model *m, u64 tensor)
{
    return m->kv_heads > tensor ? m->kv_heads / tensor : 1;
}

struct training_workload {''')
# spec.c
p='src/passes/spec.c'
sub(p,'''void spec_model(''','''u8 spec_word(const struct item *model, const struct model_op *op, const char *name, const struct enumeration *words)
{
    atom key = intern_find(&model->ctx->names, name, strlen(name));
    struct attr a = attr_get(model, item_attribute(model, op->attributes, key));
    const struct interned *text = &model->ctx->names.atoms[a.text];
    int found = a.kind == ATTR_WORD ? enumeration_find(words, text->text, text->length) : 0;
    return found > 0 ? (u8)found : 0;
}

void spec_model(''')
sub(p,'''    *out = (struct transformer_model){
''','''    static const struct word truth[] = { { "false", NULL }, { "true", NULL } };
    static const struct enumeration flag = { "flag", truth, COUNT(truth) };
    *out = (struct transformer_model){
''')
sub(p,'''        .vocabulary = spec_attribute(model, op, "vocabulary"),
    };
''','''        .vocabulary = spec_attribute(model, op, "vocabulary"),
        .norm = (enum transformer_norm)spec_word(model, op, "norm", &model_norm_enum),
        .mlp = (enum transformer_mlp)spec_word(model, op, "mlp", &model_mlp_enum),
        .rotary = spec_word(model, op, "rotary", &flag),
        .bias = spec_word(model, op, "bias", &flag),
    };
    u64 kv_heads = spec_attribute(model, op, "kv_heads");
    out->kv_heads = kv_heads ? kv_heads : out->heads;
''')
sub('src/passes/spec.h','''void spec_model(''','''/* Position among WORDS of the word that an operation's own clause has; 0 where it is absent. */
u8 spec_word(const struct item *model, const struct model_op *op, const char *name, const struct enumeration *words);

void spec_model(''')
