/* Where things stand, for reports: `plan.bpir:12:3`, or which pass made them. */
#ifndef BP_OPT_WHY_PLACE_H
#define BP_OPT_WHY_PLACE_H

#include "ir/item.h"

/* ` (file:12:3)` of FIELD's value in S, or of S; of what a pass made, the pass. */
static inline void out_where(struct out *o, const struct item *it, const struct stmt *s, const char *field)
{
    struct loc at = it->src && it->ctx->locate ? it->ctx->locate(it, s, field, NULL) : (struct loc){ 0 };
    if (at.src) {
        struct position p = source_position(at.src, at.begin);
        out_printf(o, "  (%s:%u:%u)", at.src->name, p.line, p.column);
    } else if (it->header.pass) {
        out_printf(o, "  (made by %s)", context_text(it->ctx, it->header.pass));
    }
}

#endif
