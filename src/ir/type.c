#include "ir/type.h"

struct types {
    struct arena *arena;
    struct type *all;
    u32 n, cap;
    u32 *slots;
    u32 mask;
};

enum { FIRST_SLOTS = 256 };

static const struct {
    const char *name;
    u8 bits;
} elements[ELEMENTS] = {
    { "", 0 },
    { "f64", 64 }, { "f32", 32 }, { "f16", 16 }, { "bf16", 16 }, { "f8E4M3FN", 8 }, { "f8E5M2", 8 },
    { "i64", 64 }, { "i32", 32 }, { "i8", 8 }, { "i4", 4 }, { "i1", 1 }, { "ui8", 8 },
};

const char *element_name(enum element e)
{
    return elements[e].name;
}

enum element element_find(const char *text, size_t length)
{
    for (int e = 1; e < ELEMENTS; e++)
        if (strlen(elements[e].name) == length && !memcmp(elements[e].name, text, length))
            return (enum element)e;
    return ELEMENT_NONE;
}

u32 element_bits(enum element e)
{
    return elements[e].bits;
}

bool element_is_float(enum element e)
{
    return e >= ELEMENT_F64 && e <= ELEMENT_F8E5M2;
}

struct types *types_new(struct arena *arena)
{
    struct types *t = ARENA_NEW(arena, struct types);
    t->arena = arena;
    t->mask = FIRST_SLOTS - 1;
    t->slots = block_grow(NULL, 0, FIRST_SLOTS * sizeof *t->slots);
    *VEC_PUSH(t->all, t->n, t->cap) = (struct type){ 0 };
    return t;
}

void types_free(struct types *t)
{
    block_free(t->slots, (t->mask + (size_t)1) * sizeof *t->slots);
    block_free(t->all, t->cap * sizeof *t->all);
}

static u32 hash_type(const struct type *t)
{
    u64 h = t->element * 0x9e3779b97f4a7c15u + t->rank;
    for (u32 i = 0; i < t->rank; i++) {
        h = (h ^ t->dims[i]) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
        h += t->layout ? t->layout[i] + 1u : 0;
    }
    return (u32)(h ^ h >> 32);
}

static bool same_type(const struct type *a, const struct type *b)
{
    return a->element == b->element && a->rank == b->rank && !a->layout == !b->layout &&
           (!a->rank || !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims)) &&
           (!a->layout || !memcmp(a->layout, b->layout, a->rank));
}

static u32 *find_slot(struct types *t, const struct type *type)
{
    for (u32 i = hash_type(type) & t->mask;; i = (i + 1) & t->mask)
        if (!t->slots[i] || same_type(&t->all[t->slots[i]], type))
            return &t->slots[i];
}

static void rehash(struct types *t)
{
    size_t old = t->mask + (size_t)1;
    block_free(t->slots, old * sizeof *t->slots);
    t->slots = block_grow(NULL, 0, old * 2 * sizeof *t->slots);
    t->mask = (u32)(old * 2 - 1);
    for (u32 i = 1; i < t->n; i++)
        *find_slot(t, &t->all[i]) = i;
}

u32 type_intern(struct types *t, const struct type *type)
{
    u32 *slot = find_slot(t, type);
    if (*slot)
        return *slot;
    struct type copy = *type;
    copy.dims = (const qty *)arena_copy(t->arena, (const char *)type->dims, type->rank * sizeof *type->dims);
    if (type->layout)
        copy.layout = (const u8 *)arena_copy(t->arena, (const char *)type->layout, type->rank);
    u32 id = *slot = t->n;
    *VEC_PUSH(t->all, t->n, t->cap) = copy;
    if (t->n > t->mask / 2)
        rehash(t);
    return id;
}

const struct type *type_get(const struct types *t, u32 id)
{
    return &t->all[id];
}

enum expr_status type_elements(struct exprs *x, const struct type *type, qty *out)
{
    qty product = 1;
    for (u32 i = 0; i < type->rank; i++) {
        enum expr_status status = qty_mul(x, product, type->dims[i], &product);
        if (status != EXPR_OK)
            return status;
    }
    *out = product;
    return EXPR_OK;
}

enum expr_status type_bytes(struct exprs *x, const struct type *type, qty *out)
{
    qty n;
    enum expr_status status = type_elements(x, type, &n);
    u32 bits = element_bits(type->element);
    if (status == EXPR_OK && bits >= 8)
        return qty_mul(x, n, bits / 8, out);
    return status == EXPR_OK ? qty_div_exact(x, n, 8 / (bits ? bits : 8), out) : status;
}

void out_type(struct out *o, const struct exprs *x, const struct type *type)
{
    out_string(o, "tensor<");
    for (u32 i = 0; i < type->rank; i++) {
        u128 n;
        bool number = qty_value(x, type->dims[i], &n);
        if (number)
            out_u128(o, n);
        else {
            out_char(o, '(');
            out_qty(o, x, type->dims[i]);
            out_char(o, ')');
        }
        out_char(o, 'x');
    }
    out_string(o, element_name(type->element));
    if (type->layout) {
        out_string(o, ", layout [");
        for (u32 i = 0; i < type->rank; i++)
            out_printf(o, i ? ", %u" : "%u", type->layout[i]);
        out_char(o, ']');
    }
    out_char(o, '>');
}
