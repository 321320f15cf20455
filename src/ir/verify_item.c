/* Verification of a whole item: its header, where each statement is from, and the fields of all (verify.c). */
#include "ir/implied.h"
#include "ir/shape.h"
#include "ir/verify_fields.h"

/* ---- Headers ---- */

static bool is_pinned_by(const struct item *it, const struct pin *pin)
{
    const struct header *h = &it->header;
    bool found = h->parent.item == pin->item && digest_equal(h->parent.digest, pin->digest);
    for (u32 i = 0; !found && i < h->n_using; i++)
        found = h->using[i].item == pin->item && digest_equal(h->using[i].digest, pin->digest);
    return found;
}

/* The steps of a request have one parent: what is missing is told once. */
static bool is_pinned_above(const struct verifier *v, const struct pin *pin)
{
    for (u32 i = 0; v->module && i < v->module->n && v->module->items[i] != v->item; i++)
        if (!v->module->items[i]->damaged && is_pinned_by(v->module->items[i], pin))
            return true;
    return false;
}

static void check_pin(struct verifier *v, const struct pin *pin, const char *what)
{
    struct item *to = v->module ? module_find(v->module, pin->item) : NULL;
    if (digest_is_none(pin->digest) || !pin->item)
        return;
    const char *name = symbol_text(v->item, pin->item);
    if (!to) {
        if (!is_pinned_above(v, pin))
            verify_remark(v, name, "ir.pin.unchecked", "%s is not in this file, so its digest is not checked", name);
        return;
    }
    if (to->damaged || digest_equal(item_digest(to), pin->digest))
        return;
    struct out o;
    out_memory(&o);
    out_digest_text(&o, item_digest(to));
    out_char(&o, '\0');
    verify_error(v, NULL, NULL, name, "ir.pin.mismatch", "the digest of the %s %s is not the one written here", what, name);
    verify_note_legal(v, "its canonical text has %s", o.data);
    out_free(&o);
}

static bool may_derive(const struct item *it, const struct item *parent)
{
    return parent->kind->layer != LAYER_SESSION && parent->kind->layer <= it->kind->layer;
}

/* What a pass consumed besides its parent: session items, each once. */
static void check_using(struct verifier *v, const struct header *h, u32 i)
{
    const struct item *to = v->module ? module_find(v->module, h->using[i].item) : NULL;
    const char *name = symbol_text(v->item, h->using[i].item);
    check_pin(v, &h->using[i], "item");
    if (to && to->kind->layer != LAYER_SESSION)
        verify_error(v, NULL, NULL, name, "ir.header.using", "a pass uses session items; %s is a %s", name, to->kind->name);
    for (u32 k = 0; k < i; k++)
        if (h->using[k].item == h->using[i].item) {
            verify_error(v, NULL, NULL, name, "ir.header.using", "%s is used twice", name);
            return;
        }
}

static void check_header(struct verifier *v)
{
    const struct header *h = &v->item->header;
    const struct item *parent = v->module && h->parent.item ? module_find(v->module, h->parent.item) : NULL;
    check_pin(v, &h->parent, "parent");
    for (u32 i = 0; i < h->n_using; i++)
        check_using(v, h, i);
    if (v->item->kind->layer == LAYER_SESSION)
        return;
    if (h->pass && (!h->parent.item || digest_is_none(h->parent.digest)))
        verify_error(v, NULL, NULL, NULL, "ir.header.parent", "a derived item names its parent with a digest: `from @parent xxh128:…`");
    if (h->parent.item == v->item->name)
        verify_error(v, NULL, NULL, NULL, "ir.header.self", "an item can't be its own parent");
    if (parent && !may_derive(v->item, parent))
        verify_error(v, NULL, NULL, symbol_text(v->item, h->parent.item), "ir.header.layer", "a %s can't be derived from a %s",
                     v->item->kind->name, parent->kind->name);
}

/* ---- Lineage ---- */

/* Sources must exist in the parent, when it is in the file. */
static void check_source(struct verifier *v, const struct stmt *s, u32 ref, const struct item *parent)
{
    if (item_ref(parent, ref))
        return;
    const char *name = ref_text(v->item, ref);
    const char *near = ref_is_value(ref) ? nearest_value(parent, ref_atom(ref)) : nearest_symbol(parent, ref_atom(ref));
    verify_error(v, s, "from", name, "ir.lineage.unknown", "%s is not declared in the parent %s", name, symbol_text(v->item, parent->name));
    if (near)
        verify_near(v, ref_is_value(ref) ? '%' : '@', name, near);
}

/* The origin is told once, where it stands, and not of each statement that is from it. */
static void check_origin(struct verifier *v, const struct stmt *s, const struct item *parent)
{
    if (v->item->origin && parent && !parent->damaged)
        check_source(v, s, list_at(v->item, v->item->origin)[0], parent);
}

static bool is_written(const struct item *it, const struct stmt *s, enum field_kind kind)
{
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++)
        if (f->kind == kind && field_is_written(it, s, f))
            return true;
    return false;
}

static bool says_nothing(struct verifier *v, const struct stmt *s)
{
    return verify_error(v, s, NULL, NULL, "ir.lineage.missing", "%s of a derived item says nothing about what it is from", stmt_text(v->item, s));
}

static void check_lineage(struct verifier *v, const struct stmt *s, const struct item *parent)
{
    u32 n = list_n(v->item, s->lineage);
    bool derived = v->item->header.pass != 0, needed = stmt_entity(v->item, s)->flags & ENTITY_LINEAGE && !s->is_result;
    if (s->lineage_kind == LINEAGE_NONE) {
        bool namesake = stmt_entity(v->item, s)->flags & ENTITY_VALUE && (!parent || item_value(parent, s->name));
        if (derived && needed && !namesake)
            says_nothing(v, s);
        return;
    }
    if (s->lineage_kind == LINEAGE_LOWERED && v->item->origin && s->lineage == v->item->origin)
        return;
    if (n == 0 && s->lineage_kind != LINEAGE_GENERATED)
        verify_error(v, s, "from", NULL, "ir.lineage.empty", "only what is generated may be from nothing");
    if ((s->lineage_kind == LINEAGE_CLONED || s->lineage_kind == LINEAGE_PRESERVED) && n > 1)
        verify_error(v, s, "from", NULL, "ir.lineage.one", "%s is %s from one thing, not from %u", stmt_text(v->item, s),
                     lineage_enum.words[s->lineage_kind].text, n);
    if (s->lineage_kind == LINEAGE_FUSED && n < 2)
        verify_error(v, s, "from", NULL, "ir.lineage.fused", "%s is fused from at least two things", stmt_text(v->item, s));
    bool is_namesake = lineage_is_implied(v->item, s) && !is_written(v->item, s, FIELD_LINEAGE);
    if (parent && !parent->damaged && is_namesake && !item_symbol(parent, s->name)) {
        says_nothing(v, s);
        verify_note_legal(v, "%s has no %s, which it is from by default: write `from`", symbol_text(v->item, parent->name), stmt_text(v->item, s));
        return;
    }
    for (u32 i = 0; parent && !parent->damaged && i < n; i++)
        check_source(v, s, list_at(v->item, s->lineage)[i], parent);
    verify_duplicates(v, s, &(struct field){ .name = "from", .place = PLACE_LINE }, s->lineage, '@');
}

/* ---- Statements ---- */

enum { CLEAN = 256 };

struct item_check {
    struct verifier v;
    const struct item *parent;          /* in the module, and what this item may be from; or NULL */
    bool derived;
    struct shape *shapes;               /* by entity; NULL in a short item */
    const struct stmt *once[64];        /* by entity: the one there is */
    const struct stmt **clean;          /* by hash of the shape: one in whose fields nothing was wrong */
};

static void check_once(struct item_check *c, const struct stmt *s)
{
    if (c->once[s->entity]) {
        verify_error(&c->v, s, NULL, NULL, "ir.statement.once", "a %s has one `%s`", c->v.item->kind->name, stmt_entity(c->v.item, s)->keyword);
        verify_note(&c->v, c->once[s->entity], NULL, NULL, "the first is here");
        return;
    }
    c->once[s->entity] = s;
}

/* Whether what is wrong with its fields is wrong with all that have its shape: not so of expressions among its facts, and
 * of what waits for itself. */
static bool is_alike(const struct shape *shape, const struct stmt *s)
{
    bool plain;
    shape_said(shape, s, &plain);
    return plain && !(shape->after && field_get(s, shape->after));
}

static void check_fields(struct item_check *c, const struct stmt *s)
{
    const struct shape *shape = c->shapes ? &c->shapes[s->entity] : NULL;
    const struct diag *last = c->v.ctx->diags->last;
    bool alike = shape && shape->end && is_alike(shape, s);
    const struct stmt **clean = alike ? &c->clean[shape_hash(shape, s) % CLEAN] : NULL;
    if (alike && *clean && (*clean)->entity == s->entity && shape_equal(shape, s, *clean))
        return;
    verify_fields(&c->v, s);
    if (alike && c->v.ctx->diags->last == last)
        *clean = s;
}

static void check_stmt(struct item_check *c, const struct stmt *s)
{
    u8 flags = stmt_entity(c->v.item, s)->flags;
    if (flags & ENTITY_ONCE)
        check_once(c, s);
    check_fields(c, s);
    if (c->derived && flags & ENTITY_ORIGIN)
        check_origin(&c->v, s, c->parent);
    else if (c->derived && flags & ENTITY_LINEAGE)
        check_lineage(&c->v, s, c->parent);
}

bool verify_item(struct item *it, const struct module *in)
{
    const struct item *parent = in && it->header.parent.item ? module_find(in, it->header.parent.item) : NULL;
    struct item_check c = { .v = { .item = it, .ctx = it->ctx, .module = in }, .derived = it->header.pass || it->header.parent.item };
    if (parent && may_derive(it, parent))
        c.parent = parent;
    arena_init(&c.v.scratch);
    c.shapes = shapes_of(it, &c.v.scratch);
    c.clean = c.shapes ? ARENA_ARRAY(&c.v.scratch, const struct stmt *, CLEAN) : NULL;
    check_header(&c.v);
    for (u32 i = 0; i < it->n_stmts; i++)
        check_stmt(&c, it->stmts[i]);
    if (it->kind->verify)
        it->kind->verify(&c.v);
    arena_free(&c.v.scratch);
    return c.v.errors == 0;
}

bool verify_module(const struct module *m)
{
    bool good = true;
    for (u32 i = 0; i < m->n; i++)
        if (!m->items[i]->damaged)
            good = verify_item(m->items[i], m) && good;
    return good;
}
