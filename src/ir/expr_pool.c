#include "ir/expr_pool.h"

enum { FIRST_SLOTS = 64 };

static u32 mix(u32 hash, u64 word)
{
    u64 h = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return (u32)(h ^ (h >> 32));
}

static u32 hash_of(const void *item)
{
    u32 hash;
    memcpy(&hash, item, sizeof hash);
    return hash;
}

static void cons_init(struct cons *c, struct arena *arena)
{
    *c = (struct cons){ .cap = FIRST_SLOTS / 2, .mask = FIRST_SLOTS - 1 };
    c->items = ARENA_ARRAY(arena, void *, c->cap);
    c->slots = ARENA_ARRAY(arena, u32, FIRST_SLOTS);
}

/* Doubles both arrays; the old ones stay behind in the arena. */
static void cons_grow(struct cons *c, struct arena *arena)
{
    void **items = ARENA_ARRAY(arena, void *, c->cap * (size_t)2);
    memcpy(items, c->items, c->n * sizeof *items);
    c->items = items;
    c->cap *= 2;
    c->mask = c->mask * 2 + 1;
    c->slots = ARENA_ARRAY(arena, u32, c->mask + (size_t)1);
    for (u32 n = 0; n < c->n; n++) {
        u32 i = hash_of(c->items[n]) & c->mask;
        while (c->slots[i])
            i = (i + 1) & c->mask;
        c->slots[i] = n + 1;
    }
}

/* Puts ITEM, which is not in the table, at the empty slot where the search ended. */
static u32 cons_add(struct cons *c, struct arena *arena, u32 slot, void *item)
{
    c->items[c->n++] = item;
    c->slots[slot] = c->n;
    if (c->n == c->cap)
        cons_grow(c, arena);
    return c->n - 1;
}

/* Runs over the candidates of HASH; the body leaves with the index when one is equal. Ends at an empty slot. */
#define FOR_CANDIDATES(c, h, slot) \
    for (slot = (h) & (c)->mask; (c)->slots[slot]; slot = (slot + 1) & (c)->mask) \
        if (hash_of((c)->items[(c)->slots[slot] - 1]) == (h))

struct exprs *exprs_new(struct arena *arena, struct interner *names)
{
    struct exprs *x = ARENA_NEW(arena, struct exprs);
    *x = (struct exprs){ .arena = arena, .names = names };
    cons_init(&x->factors, arena);
    cons_init(&x->monomials, arena);
    cons_init(&x->polynomials, arena);
    u32 one;
    monomial_make(x, NULL, 0, &one);
    assert(one == 0);
    return x;
}

struct terms qty_terms(const struct exprs *x, qty q, struct term *room)
{
    if (!qty_is_small(q)) {
        const struct polynomial *p = polynomial_at(x, q);
        return (struct terms){ p->terms, p->n };
    }
    *room = (struct term){ .magnitude = q };
    return (struct terms){ room, q != 0 };
}

static bool extent_add(struct extent *sum, struct extent part)
{
    sum->size += part.size;
    if (part.depth > sum->depth)
        sum->depth = part.depth;
    return sum->size <= MAX_SIZE && sum->depth <= MAX_DEPTH;
}

static struct extent qty_extent(const struct exprs *x, qty q)
{
    return qty_is_small(q) ? (struct extent){ 1, 0 } : polynomial_at(x, q)->extent;
}

/* The polynomial 1*(factor I). */
static enum expr_status factor_as_qty(struct exprs *x, u32 i, qty *out)
{
    struct term t = { .magnitude = 1 };
    enum expr_status status = monomial_make(x, &i, 1, &t.monomial);
    return status ? status : polynomial_make(x, &t, 1, out);
}

enum expr_status factor_make(struct exprs *x, enum factor_kind kind, const qty *operands, u32 n, qty *out)
{
    struct factor new = { .hash = mix(kind, n), .extent = { 1, 1 }, .kind = kind, .n = n };
    for (u32 i = 0; i < n; i++) {
        struct extent e = qty_extent(x, operands[i]);
        e.depth++;
        if (!extent_add(&new.extent, e))
            return EXPR_LARGE;
        new.hash = mix(new.hash, operands[i]);
    }
    u32 slot;
    FOR_CANDIDATES(&x->factors, new.hash, slot) {
        const struct factor *f = factor_at(x, x->factors.slots[slot] - 1);
        if (f->kind == kind && f->n == n && !memcmp(f->operands, operands, n * sizeof *operands))
            return factor_as_qty(x, x->factors.slots[slot] - 1, out);
    }
    struct factor *f = ARENA_NEW(x->arena, struct factor);
    qty *copy = ARENA_ARRAY(x->arena, qty, n);
    memcpy(copy, operands, n * sizeof *operands);
    new.operands = copy;
    *f = new;
    return factor_as_qty(x, cons_add(&x->factors, x->arena, slot, f), out);
}

qty qty_symbol(struct exprs *x, atom name)
{
    u32 hash = mix(FACTOR_SYMBOL, name), slot;
    qty q = 0;
    FOR_CANDIDATES(&x->factors, hash, slot) {
        u32 i = x->factors.slots[slot] - 1;
        const struct factor *f = factor_at(x, i);
        if (f->kind == FACTOR_SYMBOL && f->symbol == name) {
            factor_as_qty(x, i, &q);
            return q;
        }
    }
    struct factor *f = ARENA_NEW(x->arena, struct factor);
    *f = (struct factor){ .hash = hash, .extent = { 1, 0 }, .kind = FACTOR_SYMBOL, .symbol = name };
    factor_as_qty(x, cons_add(&x->factors, x->arena, slot, f), &q);
    return q;
}

enum expr_status monomial_make(struct exprs *x, const u32 *factors, u32 degree, u32 *out)
{
    struct monomial new = { .hash = mix(1, degree), .extent = { 1, 0 }, .degree = degree };
    if (degree > MAX_DEGREE)
        return EXPR_LARGE;
    for (u32 i = 0; i < degree; i++) {
        if (!extent_add(&new.extent, factor_at(x, factors[i])->extent))
            return EXPR_LARGE;
        new.hash = mix(new.hash, factors[i]);
    }
    u32 slot;
    FOR_CANDIDATES(&x->monomials, new.hash, slot) {
        const struct monomial *m = monomial_at(x, x->monomials.slots[slot] - 1);
        if (m->degree == degree && (!degree || !memcmp(m->factors, factors, degree * sizeof *factors))) {
            *out = x->monomials.slots[slot] - 1;
            return EXPR_OK;
        }
    }
    struct monomial *m = ARENA_NEW(x->arena, struct monomial);
    u32 *copy = ARENA_ARRAY(x->arena, u32, degree);
    if (degree)
        memcpy(copy, factors, degree * sizeof *factors);
    new.factors = copy;
    *m = new;
    *out = cons_add(&x->monomials, x->arena, slot, m);
    return EXPR_OK;
}

static bool terms_equal(const struct term *a, const struct term *b, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (a[i].monomial != b[i].monomial || a[i].negative != b[i].negative || a[i].magnitude != b[i].magnitude)
            return false;
    return true;
}

enum expr_status polynomial_make(struct exprs *x, const struct term *terms, u32 n, qty *out)
{
    if (n == 0 || (n == 1 && !terms->monomial && !terms->negative && terms->magnitude < QTY_EXPR)) {
        *out = n ? (qty)terms->magnitude : 0;
        return EXPR_OK;
    }
    struct polynomial new = { .hash = mix(2, n), .n = n };
    if (n > MAX_TERMS)
        return EXPR_LARGE;
    for (u32 i = 0; i < n; i++) {
        if (!extent_add(&new.extent, monomial_at(x, terms[i].monomial)->extent))
            return EXPR_LARGE;
        new.hash = mix(mix(new.hash, terms[i].monomial + (u64)terms[i].negative), (u64)terms[i].magnitude);
    }
    u32 slot;
    FOR_CANDIDATES(&x->polynomials, new.hash, slot) {
        const struct polynomial *p = polynomial_at(x, x->polynomials.slots[slot] - 1);
        if (p->n == n && terms_equal(p->terms, terms, n)) {
            *out = QTY_EXPR | (x->polynomials.slots[slot] - 1);
            return EXPR_OK;
        }
    }
    struct polynomial *p = ARENA_NEW(x->arena, struct polynomial);
    struct term *copy = ARENA_ARRAY(x->arena, struct term, n + 1);
    copy = (struct term *)(((uintptr_t)copy + 15) & ~(uintptr_t)15);     /* a u128 wants 16, the arena gives 8 */
    memcpy(copy, terms, n * sizeof *terms);
    new.terms = copy;
    *p = new;
    *out = QTY_EXPR | cons_add(&x->polynomials, x->arena, slot, p);
    return EXPR_OK;
}

const struct factor *qty_as_factor(const struct exprs *x, qty q, enum factor_kind kind)
{
    struct term room;
    struct terms t = qty_terms(x, q, &room);
    if (t.n != 1 || t.at->negative || t.at->magnitude != 1 || monomial_at(x, t.at->monomial)->degree != 1)
        return NULL;
    const struct factor *f = factor_at(x, monomial_at(x, t.at->monomial)->factors[0]);
    return f->kind == kind ? f : NULL;
}

static int compare_numbers(u128 a, u128 b)
{
    return (a > b) - (a < b);
}

static int compare_names(const struct interner *names, atom a, atom b)
{
    const struct interned *l = &names->atoms[a], *r = &names->atoms[b];
    int order = memcmp(l->text, r->text, l->length < r->length ? l->length : r->length);
    return order ? order : compare_numbers(l->length, r->length);
}

int compare_factors(const struct exprs *x, u32 a, u32 b)
{
    if (a == b)
        return 0;
    const struct factor *l = factor_at(x, a), *r = factor_at(x, b);
    if (l->kind != r->kind)
        return l->kind < r->kind ? -1 : 1;
    if (l->kind == FACTOR_SYMBOL)
        return compare_names(x->names, l->symbol, r->symbol);
    for (u32 i = 0; i < l->n && i < r->n; i++) {
        int order = compare_qtys(x, l->operands[i], r->operands[i]);
        if (order)
            return order;
    }
    return compare_numbers(l->n, r->n);
}

int compare_monomials(const struct exprs *x, u32 a, u32 b)
{
    if (a == b)
        return 0;
    const struct monomial *l = monomial_at(x, a), *r = monomial_at(x, b);
    if (l->degree != r->degree)
        return compare_numbers(r->degree, l->degree);
    int order = 0;
    for (u32 i = 0; i < l->degree && !order; i++)
        order = compare_factors(x, l->factors[i], r->factors[i]);
    return order;
}

int compare_qtys(const struct exprs *x, qty a, qty b)
{
    if (a == b)
        return 0;
    struct term left, right;
    struct terms l = qty_terms(x, a, &left), r = qty_terms(x, b, &right);
    for (u32 i = 0; i < l.n && i < r.n; i++) {
        int order = compare_monomials(x, l.at[i].monomial, r.at[i].monomial);
        if (order)
            return order;
        if (l.at[i].negative != r.at[i].negative)
            return l.at[i].negative ? 1 : -1;
        if (l.at[i].magnitude != r.at[i].magnitude)
            return compare_numbers(l.at[i].magnitude, r.at[i].magnitude);
    }
    return compare_numbers(r.n, l.n);
}
