/*
 * The message of a collective is the payload of one group: the bytes of the value once consistent, which is its type
 * divided by the axes that split it outside the collective's own. That of a transfer is what the source holds.
 */
#include "dialects/dist/verify.h"

#include "support/quantity.h"

#include <inttypes.h>

/* The payload of all VALUES; false when a value is unknown or its share can't be proved whole. */
static bool payload(struct dist_checker *c, u32 values, u64 splits, qty *out)
{
    *out = 0;
    for (u32 i = 0; i < list_n(c->it, values); i++) {
        struct dist_state state;
        qty bytes;
        if (!dist_state_read(c, list_at(c->it, values)[i], &state) || !dist_state_bytes(c, &state, splits, &bytes) ||
            qty_add(c->ctx->exprs, *out, bytes, out) != EXPR_OK)
            return false;
    }
    return true;
}

enum { SHOWN_SYMBOLS = 8 };

static const char *binding_text(struct dist_checker *c, u64 times)
{
    const char *text = "";
    for (u32 i = 0; i < c->n_facts && i < SHOWN_SYMBOLS; i++) {
        u128 n = 0;
        qty_evaluate(c->ctx->exprs, c->facts[i].value, &(struct qty_binding){ c->facts[i].symbol, times }, 1, &n);
        char digits[U128_DIGITS];
        text = arena_format(&c->v->scratch, "%s%s$%s = %s", text, i ? ", " : "",
                            context_text(c->ctx, c->facts[i].symbol), u128_text(n, digits));
    }
    return text;
}

void dist_message_check(struct dist_checker *c, const struct dist_task *t, enum dist_form form, u64 over)
{
    bool silent = !t->work[DIST_MESSAGE] && !t->work[DIST_OPERATIONS] && !t->work[DIST_READ] && !t->work[DIST_WRITE];
    u64 splits = form < DIST_FORM_LOCAL ? ~over : UINT64_MAX, times;
    char found[U128_DIGITS], expected[U128_DIGITS];
    u128 written, right;
    qty message, bytes;
    if (form == DIST_FORM_RESHARD || silent || (form == DIST_FORM_TRANSFER && !t->work[DIST_MESSAGE]))
        return;
    if (!payload(c, t->operands ? t->operands : t->results, splits, &bytes) ||
        !dist_apply_facts(c, t->work[DIST_MESSAGE], &message) ||
        dist_equal(c, message, bytes, &times, &written, &right) != DIST_WRONG)
        return;
    bool symbolic = !qty_is_small(message) || !qty_is_small(bytes);
    verify_error(c->v, &t->s, "work", t->work[DIST_MESSAGE] ? "message" : NULL, "dist.work.message",
                 "the message is %s bytes, and should be %s%s%s", u128_text(written, found), u128_text(right, expected),
                 symbolic ? " when " : "", symbolic ? binding_text(c, times) : "");
    verify_note_legal(c->v,
                      form == DIST_FORM_TRANSFER
                          ? "a transfer sends what its source holds"
                          : "a message is the whole payload of one group: the type's bytes, divided by the "
                            "axes that split the value outside %s",
                      dist_axes_text(c, over));
}
