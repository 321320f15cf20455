/* What rings move in all: forward and back, for a decoder's block, and for what a plan makes of a collective. */
#include "conformance/message_volume.h"
#include "conformance/mesh.h"

#include "dialects/model/model.h"

/* ---- Sums of a phase ---- */

/* In units of M·(n - 1) over all ranks of a group: 2 for an all_reduce. A direct all_to_all moves M/n·(n - 1). */
static u64 ring_weight(enum kind kind)
{
    return kind == ALL_REDUCE ? 2 : kind == ALL_TO_ALL ? 0 : 1;
}

static bool add_ring(struct volume *v, enum phase phase, qty *sum)
{
    struct exprs *x = v->it->ctx->exprs;
    *sum = 0;
    for (u32 i = 0; i < v->n; i++) {
        qty moved;
        if (v->at[i].phase != phase || v->at[i].typed)
            continue;
        if (qty_mul(x, v->at[i].message, ring_weight(v->at[i].kind), &moved) != EXPR_OK || qty_add(x, *sum, moved, sum) != EXPR_OK)
            return verify_error(&v->c->v, v->at[i].step->s, "work", NULL, "check.quantity", "the bytes on the wire overflow 128 bits");
    }
    return true;
}

/* It is a block of a decoder's, all of whose collectives are without values. */
static bool is_decoder_block(const struct volume *v)
{
    for (u32 i = 0; i < v->n; i++)
        if (v->at[i].typed)
            return false;
    const struct item *model = v->program ? check_source(v->c, v->program, LAYER_MODEL) : NULL;
    for (u32 i = 0; model && i < model->n_stmts; i++) {
        const struct model_op *op = (const struct model_op *)model->stmts[i];
        if (op->s.entity == MODEL_OP && intern_is(&v->it->ctx->names, op->operation, "transformer.decoder_training"))
            return true;
    }
    return false;
}

static bool refuse_sum(struct volume *v, enum phase phase, qty is, const char *why, qty should)
{
    const struct step *at = volume_first(v, phase);
    const struct context *ctx = v->it->ctx;
    const char *text = qty_text(ctx, is);
    return verify_error(&v->c->v, at ? at->s : NULL, NULL, NULL, "check.message_volume.ring", "rings move %s bytes times n - 1 in phase %s, and %s %s", text,
                        volume_phase_words[phase], why, qty_text(ctx, should));
}

/* A pass over a decoder's block: four messages, on more than one rank. */
static bool check_block(struct volume *v, enum phase phase, qty sum)
{
    const struct dist_value *value;
    qty bytes, four;
    u64 n = mesh_ranks(v->program, v->axes), times = n > 1 ? 4 * (u64)(v->blocks ? v->blocks : 1) : 0;
    if (!volume_boundary(v, &(struct group){ v->program, 0 }, &value, &bytes) || qty_mul(v->it->ctx->exprs, bytes, times, &four) != EXPR_OK || sum == four)
        return true;
    return refuse_sum(v, phase, sum, n > 1 ? arena_format(&v->c->v.scratch, "%llu messages of the boundary are", (unsigned long long)times)
                                           : "one rank has nobody to send to:", four);
}

bool volume_check_sums(struct volume *v)
{
    qty forward, backward;
    bool both = volume_first(v, FORWARD) && volume_first(v, BACKWARD), block = is_decoder_block(v), good = true;
    if (!add_ring(v, FORWARD, &forward) || !add_ring(v, BACKWARD, &backward))
        return false;
    if (block && volume_first(v, FORWARD))
        good = check_block(v, FORWARD, forward);
    if (block && volume_first(v, BACKWARD))
        good = check_block(v, BACKWARD, backward) && good;
    if (good && both && forward != backward)
        good = refuse_sum(v, BACKWARD, backward, "in phase forward", forward);
    if (good && (forward || backward))
        check_proved(v->c, "rings move forward %s bytes times n - 1, and %s back%s", qty_text(v->it->ctx, forward), qty_text(v->it->ctx, backward),
                     block ? ", as the block of a decoder does" : "");
    return good;
}

/* ---- Images: what a plan does for a collective of its program ---- */

/* By atom of the program's collective: what rings move for its images, in units of n - 1; and whether there is any. */
struct images {
    qty *moved;
    u8 *some;
};

static bool add_image(struct volume *v, struct images *i, const struct exchange *x)
{
    struct exprs *e = v->it->ctx->exprs;
    qty moved;
    if (list_n(v->it, x->step->s->lineage) != 1 || x->kind == ALL_TO_ALL || x->step->s->lineage_kind == LINEAGE_GENERATED)
        return true;
    atom source = ref_atom(list_at(v->it, x->step->s->lineage)[0]);
    i->some[source] = 1;
    return (qty_mul(e, x->message, ring_weight(x->kind), &moved) == EXPR_OK && qty_add(e, i->moved[source], moved, &i->moved[source]) == EXPR_OK) ||
           verify_error(&v->c->v, x->step->s, "work", NULL, "check.quantity", "the bytes on the wire overflow 128 bits");
}

static bool check_images_of(struct volume *v, const struct images *i, const struct dist_task *t, u32 *n)
{
    const struct context *ctx = v->it->ctx;
    enum kind kind = t->body == DIST_COLLECTIVE ? volume_kind(v->program, t->operation) : KINDS;
    qty moved;
    if (kind == KINDS || kind == ALL_TO_ALL || !i->some[t->s.name] || !t->work[DIST_MESSAGE] ||
        qty_mul(ctx->exprs, t->work[DIST_MESSAGE], ring_weight(kind), &moved) != EXPR_OK)
        return true;
    ++*n;
    if (moved == i->moved[t->s.name])
        return true;
    const char *text = qty_text(ctx, moved);
    verify_error(&v->c->v, NULL, NULL, symbol_text(v->it, v->program->name), "check.message_volume.images",
                 "rings move %s bytes times n - 1 for %s of %s, and %s for what is from it", text, stmt_text(v->program, &t->s),
                 symbol_text(v->it, v->program->name), qty_text(ctx, i->moved[t->s.name]));
    if (ctx->locate)
        diag_note(ctx->diags, ctx->locate(v->program, &t->s, NULL, NULL), "it is here");
    return false;
}

bool volume_check_images(struct volume *v)
{
    u32 names = v->it->ctx->names.n, n = 0;
    struct images i = { ARENA_ARRAY(&v->c->v.scratch, qty, names), ARENA_ARRAY(&v->c->v.scratch, u8, names) };
    bool good = true;
    if (!v->program || v->program == v->it || v->program->name != v->it->header.parent.item)
        return true;
    for (u32 k = 0; k < v->n; k++)
        good = add_image(v, &i, &v->at[k]) && good;
    for (u32 k = 0; good && k < v->program->n_stmts; k++)
        if (v->program->stmts[k]->entity == DIST_TASK)
            good = check_images_of(v, &i, (const struct dist_task *)v->program->stmts[k], &n) && good;
    if (good && n)
        check_proved(v->c, "rings move for what is from %u collectives of %s what they move for those", n, symbol_text(v->it, v->program->name));
    return good;
}
