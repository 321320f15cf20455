/*
 * What a statement says without writing it, so that a million tasks don't spell it out.
 *
 *   phase   what the task's name says: `LAYER.PHASE` or `LAYER.PHASE.WORD`. A settled statement holds it as if written;
 *           passes set it.
 *   layer   the same name's layer. A settled statement holds 0 where its name says the layer: ask layer_said.
 *   from    of a task or fact, the program's `origin`; of a portable task or a command of a derived item, its namesake in
 *           the parent. A settled statement holds it as if written, and shares the origin's handle.
 */
#ifndef IR_IMPLIED_H
#define IR_IMPLIED_H

#include "ir/item.h"

/*
 * The last step of a finished statement, of a parser or a pass: what it says by default gets the one form that it has in
 * an item. Settling twice changes nothing.
 */
void item_settle(struct item *it, struct stmt *s);

/* The phase that a task's name says, as an index in PHASES, and in *LAYER the length of the layer in front; 0: none. */
u32 phase_said(const struct interned *name, const struct enumeration *phases, u32 *layer);

/* Whether it says the one of index PHASE, which may be 0. */
bool phase_is_said(const struct interned *name, const struct enumeration *phases, u32 phase);

/* The layer of a task that holds LAYER: that, or what its name says; 0: none. May intern a string. */
atom layer_said(const struct item *it, const struct stmt *s, atom layer, const struct enumeration *phases);

/* Whether a settled statement's text leaves its `from` out. */
bool lineage_is_implied(const struct item *it, const struct stmt *s);

/*
 * Whether all settled statements that say what S says, and in whose names the same stands from the first dot on, are like
 * S, which is settled, in all but their names and namesakes, while the item's origin is the same.
 */
bool is_settled_by_rest(const struct item *it, const struct stmt *s);

/* field_get, of a layer that the name says that one. */
u64 field_said(const struct item *it, const struct stmt *s, const struct field *f);

/* Whether S says nothing of a field, by its name neither: field_is_default, but for a phase or layer. */
bool field_is_unsaid(const struct item *it, const struct stmt *s, const struct field *f);

#endif
