#include "conformance/work.h"

#include "conformance/mesh.h"

#include "ir/attr.h"
#include "ir/sharding.h"

/* ---- Quantities ---- */

static bool overflows(struct check *c, const struct stmt *s, enum expr_status status)
{
    return status == EXPR_OK || verify_error(&c->v, s, s && s->entity == DIST_TASK ? "work" : NULL, NULL, "check.quantity", "a sum or product %s",
                                             expr_status_text(status));
}

bool work_times(struct check *c, const struct stmt *s, qty a, u64 n, qty *out)
{
    return overflows(c, s, qty_mul(c->v.ctx->exprs, a, n, out));
}

bool work_add(struct check *c, const struct stmt *s, qty a, qty b, qty *out)
{
    return overflows(c, s, qty_add(c->v.ctx->exprs, a, b, out));
}

const char *block_letter_text(char letter)
{
    switch (letter) {
#define LETTER(letter_, meaning_) case letter_: return meaning_;
#define TERM(...)
#include "conformance/block_terms.def"
    default: return "";
    }
}

bool block_sum(struct block *b, const char *sum, struct amount *out)
{
    *out = (struct amount){ 0, 0 };
    while (*sum) {
        u64 factor = 0;
        struct amount term;
        while (*sum >= '0' && *sum <= '9')
            factor = factor * 10 + (u64)(*sum++ - '0');
        const struct amount *letter = &b->letters[(unsigned char)*sum++];
        factor = factor ? factor : 1;
        if (!work_times(b->c, NULL, letter->all, factor, &term.all) || !work_times(b->c, NULL, letter->once, factor, &term.once) ||
            !work_add(b->c, NULL, out->all, term.all, &out->all) || !work_add(b->c, NULL, out->once, term.once, &out->once))
            return false;
        sum += *sum == '+';
    }
    return true;
}

struct point {
    const struct item *it;
    u64 ranks;
    struct qty_binding *at;
    u32 n;
};

/* A legal number for a symbol: what it is a multiple of, times what meshes and strategies may divide it by. */
static void bind_symbol(void *state, atom symbol)
{
    struct point *p = state;
    const struct dist_symbol *s = (const struct dist_symbol *)item_dollar(p->it, symbol);
    u64 multiple = s && s->multiple_of && s->multiple_of < UINT32_MAX ? s->multiple_of : 1;
    for (u32 i = 0; i < p->n; i++)
        if (p->at[i].symbol == symbol)
            return;
    if (p->n < 64)
        p->at[p->n++] = (struct qty_binding){ symbol, qty_number(p->it->ctx->exprs, (u128)multiple * p->ranks * 12) };
}

bool work_same(const struct item *it, u64 ranks, qty x, qty y)
{
    struct exprs *e = it->ctx->exprs;
    struct qty_binding at[64];
    struct point p = { it, ranks, at, 0 };
    u128 m, n;
    if (x == y || (qty_is_small(x) && qty_is_small(y)))
        return x == y;
    qty_symbols(e, x, bind_symbol, &p);
    qty_symbols(e, y, bind_symbol, &p);
    return qty_evaluate(e, x, at, p.n, &m) == EXPR_OK && qty_evaluate(e, y, at, p.n, &n) == EXPR_OK && m == n;
}

/* ---- Letters ---- */

/* X*Y with X a product so far; false: reported. */
static bool product(struct block *b, const qty *factors, u32 n, qty *out)
{
    *out = 1;
    for (u32 i = 0; i < n; i++)
        if (!overflows(b->c, NULL, qty_mul(b->it->ctx->exprs, *out, factors[i], out)))
            return false;
    return true;
}

#define PRODUCT(out, ...) product(b, (const qty[]){ __VA_ARGS__ }, COUNT(((const qty[]){ __VA_ARGS__ })), out)

/* ONCE, as often as COPIES of it are on the ranks; the letter is 0 unless it HOLDS. */
static bool letter(struct block *b, char name, bool holds, qty once, u64 copies)
{
    struct amount *l = &b->letters[(unsigned char)name];
    *l = (struct amount){ 0, holds ? once : 0 };
    return work_times(b->c, NULL, l->once, copies, &l->all);
}

/* What all ranks have, and the model has not: of communication. */
static bool exchanged(struct block *b, char name, qty each, u64 times)
{
    struct amount *l = &b->letters[(unsigned char)name];
    l->once = 0;
    return work_times(b->c, NULL, each, times, &l->all);
}

/* Pairs of a query and a key: s*c, or those that a causal mask leaves, s*(c - s) + s*(s + 1)/2. */
static bool pairs(struct block *b, qty *out)
{
    struct exprs *x = b->it->ctx->exprs;
    qty past, next, triangle;
    if (!b->causal)
        return PRODUCT(out, b->s, b->context);
    return overflows(b->c, NULL, qty_sub(x, b->context, b->s, &past)) && overflows(b->c, NULL, qty_add(x, b->s, 1, &next)) &&
           PRODUCT(&past, b->s, past) && PRODUCT(&triangle, b->s, next) && overflows(b->c, NULL, qty_floordiv(x, triangle, 2, &triangle)) &&
           work_add(b->c, NULL, past, triangle, out);
}

/* Ranks that hold keys' and values' weights alike add up their gradients: each of them a part, rounded up. */
static bool shared_gradients(struct block *b)
{
    struct amount all;
    qty additions;
    u64 each = b->ranks * b->dealt;
    b->letters['K'] = b->letters['R'] = (struct amount){ 0, 0 };
    return b->dealt == 1 ||
           (block_sum(b, "2v+2J", &all) && overflows(b->c, NULL, qty_ceildiv(b->it->ctx->exprs, all.all, each, &additions)) &&
            exchanged(b, 'K', all.all, 1) && exchanged(b, 'R', additions, b->ranks * (b->dealt - 1)));
}

static bool fill_letters(struct block *b)
{
    u64 h = b->hidden, f = b->feedforward, t = b->ranks, dealt = b->dealt, halves = b->split ? 1 : t;
    qty bs, attention, kv, act, ap, au, df, scores, kept, cached, n, p, k, m, q, w, v, u;
    if (!PRODUCT(&bs, b->b, b->s) || !PRODUCT(&attention, b->heads, b->head_size) || !PRODUCT(&kv, b->kv_heads, b->head_size) ||
        !PRODUCT(&act, bs, h) || !PRODUCT(&ap, bs, attention) || !PRODUCT(&au, bs, kv) || !PRODUCT(&df, bs, f) || !pairs(b, &n) ||
        !PRODUCT(&scores, b->b, b->heads, n) || !PRODUCT(&kept, bs, b->heads, b->context) || !PRODUCT(&cached, b->b, b->context, kv) ||
        !PRODUCT(&q, scores, b->head_size) || !PRODUCT(&w, h, attention) || !PRODUCT(&v, h, kv) || !PRODUCT(&u, h, f))
        return false;
    return PRODUCT(&p, ap, h) && PRODUCT(&k, au, h) && PRODUCT(&m, df, h) &&
           letter(b, 'A', true, act, t) && letter(b, 'Q', true, act, halves) && exchanged(b, 'X', act, t > 1 ? t : 0) &&
           letter(b, 'Z', true, ap, 1) && letter(b, 'U', true, au, dealt) && letter(b, 'D', true, scores, 1) && letter(b, 'E', true, kept, 1) &&
           letter(b, 'V', true, df, 1) && letter(b, 'C', true, cached, dealt) &&
           letter(b, 'p', true, p, 1) && letter(b, 'k', true, k, dealt) && letter(b, 'm', true, m, 1) && letter(b, 'q', true, q, 1) &&
           letter(b, 'w', true, w, 1) && letter(b, 'v', true, v, dealt) && letter(b, 'u', true, u, 1) && letter(b, 'n', true, h, t) &&
           exchanged(b, 'r', act, t - 1) &&
           letter(b, 'i', b->bias, ap, 1) && letter(b, 'j', b->bias, au, dealt) && letter(b, 'g', b->bias, df, 1) && letter(b, 'o', b->bias, act, t) &&
           letter(b, 'I', b->bias, attention, 1) && letter(b, 'J', b->bias, kv, dealt) && letter(b, 'G', b->bias, f, 1) &&
           letter(b, 'O', b->bias, h, t) && shared_gradients(b) && letter(b, 'd', true, kept, 1) && letter(b, 'y', true, act, halves);
}

/* ---- The program and its model ---- */

static u64 number_clause(const struct block *b, const char *name)
{
    atom key = intern_find(&b->model->ctx->names, name, strlen(name));
    struct attr a = attr_get(b->model, item_attribute(b->model, b->op->attributes, key));
    u128 n = 0;
    if (a.kind == ATTR_QUANTITY)
        qty_value(b->model->ctx->exprs, a.quantity, &n);
    return n < UINT32_MAX ? (u64)n : 0;
}

static bool word_clause(const struct block *b, const char *name, const char *word)
{
    atom key = intern_find(&b->model->ctx->names, name, strlen(name));
    struct attr a = attr_get(b->model, item_attribute(b->model, b->op->attributes, key));
    return a.kind == ATTR_WORD && intern_is(&b->model->ctx->names, a.text, word);
}

static bool find_decoder(struct block *b)
{
    const struct interner *names = &b->it->ctx->names;
    for (u32 i = 0; i < b->model->n_stmts; i++) {
        const struct model_op *op = (const struct model_op *)b->model->stmts[i];
        if (op->s.entity != MODEL_OP)
            continue;
        b->training = intern_is(names, op->operation, "transformer.decoder_training");
        if (b->training || intern_is(names, op->operation, "transformer.decoder_inference"))
            b->op = op;
    }
    return b->op != NULL;
}

static void read_decoder(struct block *b)
{
    b->training = intern_is(&b->it->ctx->names, b->op->operation, "transformer.decoder_training");
    b->hidden = number_clause(b, "hidden");
    b->feedforward = number_clause(b, "feedforward");
    b->heads = number_clause(b, "heads");
    b->kv_heads = number_clause(b, "kv_heads");
    b->kv_heads = b->kv_heads ? b->kv_heads : b->heads;
    b->head_size = number_clause(b, "head_size");
    b->sequence = number_clause(b, "sequence");
    b->blocks = number_clause(b, "blocks");
    b->rms_norm = word_clause(b, "norm", "rms_norm");
    b->swiglu = word_clause(b, "mlp", "swiglu");
    b->rotary = word_clause(b, "rotary", "true");
    b->bias = word_clause(b, "bias", "true");
    b->dropout = !word_clause(b, "dropout", "false");
}

static void read_program(struct block *b)
{
    for (u32 i = 0; i < b->it->n_stmts; i++) {
        const struct stmt *s = b->it->stmts[i];
        const struct dist_value *v = (const struct dist_value *)s;
        if (s->entity == DIST_MESH)
            b->axes = ((const struct dist_mesh *)s)->axes;
        else if (s->entity == DIST_SCALE)
            b->scale = (const struct dist_scale *)s;
        else if (s->entity == DIST_MEMORY)
            b->memory = (const struct dist_memory *)s;
        else if (s->entity == DIST_ATTENTION)
            b->causal = ((const struct dist_attention *)s)->pairs == DIST_CAUSAL;
        else if (s->entity == DIST_VALUE && v->role == DIST_INPUT && type_get(b->it->ctx->types, v->type)->rank == 3 && !b->boundary)
            b->boundary = v;
    }
    b->ranks = mesh_ranks(b->it, b->axes);
}

static void read_session(struct block *b)
{
    const struct item *strategy = check_using(b->c, b->it, "session.strategy"), *workload = check_using(b->c, b->it, "session.workload");
    b->strategy = strategy ? (const struct session_strategy *)strategy->stmts[0] : NULL;
    b->workload = workload ? (const struct session_workload *)workload->stmts[0] : NULL;
    b->data = b->strategy && b->strategy->optimizer_sharding ? b->strategy->data : 1;
}

static bool read_boundary(struct block *b)
{
    const struct type *t = type_get(b->it->ctx->types, b->boundary->type);
    struct sharding s;
    u64 parts = 1;
    sharding_read(b->it, b->boundary->sharding, &s);
    for (u32 i = 0; i < s.rank; i++)
        for (u32 k = 0; k < s.dims[i].n; k++)
            parts *= mesh_axis(b->it, b->axes, s.dims[i].axes[k]);
    b->b = t->dims[0];
    b->s = b->context = t->dims[1];
    if (!b->training && b->scale)
        b->context = b->scale->context;
    b->element_bytes = element_bits((enum element)t->element) / 8;
    b->split = parts == b->ranks && parts > 1;
    return parts == 1 || parts == b->ranks;
}

/* A task of a layer that a block has: the closed forms are of those. */
static bool has_terms(const struct block *b)
{
    static const char *const some[] = { "attention.layer_norm", "attention.query", "mlp.expand", "mlp.contract", "attention.input_norm",
                                        "attention.qkv", "attention.core", "mlp.up", "mlp.down" };
    for (u32 i = 0; i < b->it->n_stmts; i++)
        for (u32 k = 0; b->it->stmts[i]->entity == DIST_TASK && k < COUNT(some); k++)
            if (intern_is(&b->it->ctx->names, dist_layer(b->it, (const struct dist_task *)b->it->stmts[i]), some[k]))
                return true;
    return false;
}

static const char *cannot(const struct block *b)
{
    if (b->training && b->swiglu && !b->strategy)
        return "the strategy, which says whether SwiGLU keeps its SiLU, is not in the file";
    if (!b->boundary)
        return "no input is b x s x h: the sizes of the block are not known";
    if (element_bits((enum element)type_get(b->it->ctx->types, b->boundary->type)->element) % 8)
        return "elements of the boundary are no whole bytes";
    if (b->strategy && b->strategy->data > UINT32_MAX)
        return "the strategy's replicas are out of range";
    if (!b->heads || !b->head_size || !b->hidden || !b->feedforward || b->heads % b->kv_heads)
        return "the sizes of the decoder are out of range";
    if (b->kv_heads < b->ranks && b->ranks % b->kv_heads)
        return "heads of keys and values are not dealt out evenly over the ranks";
    return NULL;
}

bool block_read(struct block *b, struct check *c, const char **why)
{
    *b = (struct block){ .c = c, .it = c->v.item, .model = check_source(c, c->v.item, LAYER_MODEL) };
    *why = NULL;
    if (!has_terms(b))
        return false;
    if (!b->model || !find_decoder(b)) {
        *why = b->model ? "its model has no decoder" : "the model that it is from is not in the file";
        return false;
    }
    read_decoder(b);
    read_program(b);
    read_session(b);
    if ((*why = cannot(b)))
        return false;
    if (!read_boundary(b)) {
        *why = "its boundary is split by some axes of the mesh and not by others";
        return false;
    }
    b->dealt = b->kv_heads < b->ranks ? b->ranks / b->kv_heads : 1;
    return fill_letters(b);
}
