#define _GNU_SOURCE
/* The schema's own rules; the dialects' follow in dialects/<d>/verify.c. */
#include "ir/verify_fields.h"

#include "ir/attr.h"
#include "ir/implied.h"
#include "ir/print.h"
#include "support/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- Reporting ---- */

/* Finding a token or a near name takes time: past this many errors a message has its statement's place and no guess. */
enum { MANY_ERRORS = 1000 };

static bool is_hopeless(const struct context *ctx)
{
    return ctx->diags->errors > MANY_ERRORS;
}

static struct loc place(const struct verifier *v, const struct stmt *s, const char *field, const char *text)
{
    if (is_hopeless(v->ctx) && s && s->begin != NO_PLACE && v->item->src)
        return (struct loc){ v->item->src, s->begin, s->begin };
    return v->ctx->locate ? v->ctx->locate(v->item, s, field, text) : (struct loc){ 0 };
}

#define FORMAT(buffer) \
    char buffer[2048]; \
    do { \
        va_list args; \
        va_start(args, format); \
        diag_format(buffer, sizeof buffer, format, args); \
        va_end(args); \
    } while (0)

static void add_context(struct verifier *v, const struct stmt *s, struct loc at)
{
    if (at.src)
        return;
    const char *item = symbol_text(v->item, v->item->name);
    if (s && s->name)
        diag_context(v->ctx->diags, "%s, %s", item, stmt_text(v->item, s));
    else
        diag_context(v->ctx->diags, "%s", item);
}

bool verify_error(struct verifier *v, const struct stmt *s, const char *field, const char *text, const char *code,
                  const char *format, ...)
{
    FORMAT(buffer);
    struct loc at = place(v, s, field, text);
    v->errors++;
    diag_error(v->ctx->diags, at, code, "%s", buffer);
    add_context(v, s, at);
    return false;
}

bool verify_warning(struct verifier *v, const struct stmt *s, const char *field, const char *text, const char *code,
                    const char *format, ...)
{
    FORMAT(buffer);
    struct loc at = place(v, s, field, text);
    diag_warning(v->ctx->diags, at, code, "%s", buffer);
    add_context(v, s, at);
    return false;
}

void verify_remark(struct verifier *v, const char *text, const char *code, const char *format, ...)
{
    FORMAT(buffer);
    diag_remark(v->ctx->diags, place(v, NULL, NULL, text), code, "%s", buffer);
}

void verify_note(struct verifier *v, const struct stmt *at, const char *field, const char *text, const char *format, ...)
{
    FORMAT(buffer);
    diag_note(v->ctx->diags, place(v, at, field, text), "%s", buffer);
}

void verify_note_legal(struct verifier *v, const char *format, ...)
{
    FORMAT(buffer);
    diag_note(v->ctx->diags, (struct loc){ 0 }, "%s", buffer);
}

static const char *name_text(const struct item *it, char sigil, atom name)
{
    struct out o;
    out_memory(&o);
    out_name(&o, &it->ctx->names, sigil, name);
    const char *text = arena_copy(&it->ctx->arena, o.data, o.n);
    out_free(&o);
    return text;
}

const char *value_text(const struct item *it, atom name) { return name_text(it, '%', name); }
const char *symbol_text(const struct item *it, atom name) { return name_text(it, '@', name); }

const char *ref_text(const struct item *it, u32 ref) { return name_text(it, ref_is_value(ref) ? '%' : '@', ref_atom(ref)); }

const char *stmt_text(const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    if (!s->name)
        return e->keyword;
    return name_text(it, e->flags & ENTITY_VALUE ? '%' : e->fields[0].kind == FIELD_DOLLAR_NAME ? '$' : '@', s->name);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Of names that are equally near the first in the alphabet, wherever they lie in the table. */
static const char *nearest_in(const struct item *it, const struct symtab *t, atom name)
{
    const char *names[512];
    size_t n = 0;
    if (is_hopeless(it->ctx))
        return NULL;
    for (u32 i = 0; t->slots && i <= t->mask && n < COUNT(names); i++)
        if (t->slots[i])
            names[n++] = context_text(it->ctx, t->slots[i]->name);
    qsort(names, n, sizeof *names, by_text);
    return nearest_name(context_text(it->ctx, name), names, n);
}

const char *nearest_symbol(const struct item *it, atom name) { return nearest_in(it, &it->symbols, name); }
const char *nearest_value(const struct item *it, atom name) { return nearest_in(it, &it->values, name); }

/* ---- Fields ---- */

struct symbol_check {
    struct verifier *v;
    const struct stmt *s;
    const struct field *f;
};

static void check_symbol(void *state, atom symbol)
{
    struct symbol_check *c = state;
    if (item_dollar(c->v->item, symbol))
        return;
    const char *name = name_text(c->v->item, '$', symbol);
    verify_error(c->v, c->s, c->f->name, name, "ir.symbol.undeclared", "%s is not declared", name);
    verify_note_legal(c->v, "declare it in the item: `symbol %s : integer`", name);
}

static void check_quantity(struct verifier *v, const struct stmt *s, const struct field *f, qty q)
{
    if (qty_is_small(q))
        return;
    if (qty_is_below(v->ctx->exprs, q, 0))
        verify_error(v, s, f->name, NULL, "quantity.negative", "`%s` can't be negative, found %s", f->name, qty_text(v->ctx, q));
    qty_symbols(v->ctx->exprs, q, check_symbol, &(struct symbol_check){ v, s, f });
}

static void check_type(struct verifier *v, const struct stmt *s, const struct field *f, u32 id)
{
    const struct type *t = type_get(v->ctx->types, id);
    qty bytes;
    for (u32 i = 0; i < t->rank; i++) {
        if (qty_is_below(v->ctx->exprs, t->dims[i], 1))
            verify_error(v, s, "tensor", NULL, "type.dimension", "a dimension is at least 1, found %s", qty_text(v->ctx, t->dims[i]));
        else
            check_quantity(v, s, f, t->dims[i]);
    }
    enum expr_status status = type_bytes(v->ctx->exprs, t, &bytes);
    if (status == EXPR_OVERFLOW || status == EXPR_LARGE)
        verify_error(v, s, "tensor", NULL, "type.overflow", "the number of bytes of %s %s", type_text(v->ctx, id), expr_status_text(status));
}

static const char *near_text(struct verifier *v, u32 ref)
{
    return ref_is_value(ref) ? nearest_value(v->item, ref_atom(ref)) : nearest_symbol(v->item, ref_atom(ref));
}

static const struct stmt *check_ref(struct verifier *v, const struct stmt *s, const struct field *f, u32 ref)
{
    const struct stmt *to = item_ref(v->item, ref);
    if (to)
        return to;
    const char *name = ref_text(v->item, ref), *field = f->place == PLACE_HEAD ? NULL : f->name, *near = near_text(v, ref);
    verify_error(v, s, field, name, "ir.reference.unknown", "%s is not declared in this %s", name, v->item->kind->name);
    if (near)
        verify_near(v, ref_is_value(ref) ? '%' : '@', name, near);
    return NULL;
}

static int by_word(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

/* Words that stand twice. Short lists are searched; long ones (`issue` of a large plan) are sorted. */
void verify_duplicates(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle, char sigil)
{
    u32 n = list_n(v->item, handle);
    const u32 *at = list_at(v->item, handle);
    bool sorted = n > 16;
    if (sorted) {
        at = memcpy(ARENA_ARRAY(&v->scratch, u32, n), at, n * sizeof *at);
        qsort((u32 *)at, n, sizeof *at, by_word);
    }
    for (u32 i = 1; i < n; i++)
        for (u32 k = i; k-- > (sorted ? i - 1 : 0);)
            if (at[i] == at[k]) {
                atom a = sigil == '@' ? ref_atom(at[i]) : at[i];
                bool value = sigil == '%' || ref_is_value(at[i]);
                const char *word = sigil ? name_text(v->item, value ? '%' : '@', a) : context_text(v->ctx, a);
                verify_error(v, s, f->place == PLACE_HEAD ? NULL : f->name, NULL, "ir.list.duplicate", "%s stands twice in `%s`", word, f->name);
                verify_fix_duplicate(v, word);
                break;
            }
}

static void check_refs(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle)
{
    for (u32 i = 0; i < list_n(v->item, handle); i++)
        check_ref(v, s, f, list_at(v->item, handle)[i]);
    verify_duplicates(v, s, f, handle, '@');
}

/* `after`: tasks that stand earlier, so that the text is in topological order and has no cycle. */
static void check_after(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle)
{
    for (u32 i = 0; i < list_n(v->item, handle); i++) {
        u32 ref = list_at(v->item, handle)[i];
        const struct stmt *to = check_ref(v, s, f, ref);
        if (!to || (to != s && stmt_entity(v->item, to)->flags & ENTITY_TASK))
            continue;
        const char *name = stmt_text(v->item, to), *keyword = stmt_entity(v->item, to)->keyword;
        if (to == s)
            verify_error(v, s, f->name, name, "ir.after.self", "%s can't come after itself", name);
        else
            verify_error(v, s, f->name, name, "ir.after.kind", "%s is a %s, and only tasks can be waited for", name,
                         *keyword ? keyword : "value");
    }
    verify_duplicates(v, s, f, handle, '@');
}


/* A result that is declared where it arises is no statement of its own: its fields are checked with its maker's. */
static void check_values(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle)
{
    u32 n = list_n(v->item, handle);
    const u32 *at = list_at(v->item, handle);
    for (u32 i = 0; i < n; i++) {
        const struct stmt *value = item_value(v->item, at[i]);
        if (!value)
            check_ref(v, s, f, REF_VALUE(at[i]));
        else if (f->kind == FIELD_RESULTS && value->is_result)
            verify_fields(v, value);
    }
    if (f->kind == FIELD_RESULTS)
        verify_duplicates(v, s, f, handle, '%');
}

static void check_note(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle)
{
    struct attr a = attr_get(v->item, handle);
    u32 step = a.kind == ATTR_DICT ? 2 : 1;
    for (u32 i = 0; i < a.n; i++) {
        const struct interned *key = &v->ctx->names.atoms[a.elements[step * i]];
        for (const char *const *r = v->item->kind->reserved; step == 2 && r && *r; r++)
            if (strlen(*r) == key->length && !strncasecmp(*r, key->text, key->length)) {
                verify_error(v, s, f->name, context_text(v->ctx, a.elements[2 * i]), "ir.note.reserved",
                             "`%s` is a typed fact of some layer and can't hide in a note", *r);
                verify_note_legal(v, "write it as a clause where its layer has one, or under another name");
            }
        check_note(v, s, f, a.elements[step * i + step - 1]);
    }
}

/* The dictionaries of an `implement` clause are notes, too. */
static void check_constraints(struct verifier *v, const struct stmt *s, const struct field *f, u32 handle)
{
    const u32 *r = list_at(v->item, handle), *end = r + list_n(v->item, handle);
    for (; r < end; r += IMPLEMENT_SIZE(r))
        check_note(v, s, f, r[2 + r[1]]);
}

static void check_operation(struct verifier *v, const struct stmt *s, const struct field *f, atom name)
{
    static const char *const targets[] = { "cuda", "nccl", "rocm", "rccl", "lpu" };
    const struct operation *op = context_operation(v->ctx, name);
    const struct interned *text = &v->ctx->names.atoms[name];
    const char *dot = memchr(text->text, '.', text->length);
    bool collective = !dot && v->item->kind->layer != LAYER_MODEL;      /* words that the dialect's verifier knows */
    if (collective || (op && op->layers & IN(v->item->kind->layer)))
        return;
    for (u32 i = 0; dot && i < COUNT(targets); i++)
        if (strlen(targets[i]) == (size_t)(dot - text->text) && !strncasecmp(targets[i], text->text, strlen(targets[i])) &&
            v->item->kind->layer < LAYER_CONCRETE) {
            verify_error(v, s, NULL, context_text(v->ctx, name), "ir.operation.target",
                         "`%s` belongs to a target, and %s says nothing about targets", context_text(v->ctx, name), v->item->kind->name);
            verify_note_legal(v, "only concrete.plan may use the dialects cuda, nccl, rocm, rccl and lpu");
            return;
        }
    if (v->item->kind->layer == LAYER_CONCRETE && !op)
        return;
    const char *names[256];
    size_t n = 0;
    for (const struct dialect *const *d = v->ctx->dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_operations && n < COUNT(names); i++)
            if ((*d)->operations[i].layers & IN(v->item->kind->layer))
                names[n++] = (*d)->operations[i].name;
    const char *word = context_text(v->ctx, name), *near = nearest_name(word, names, n);
    if (!near && !dot)
        near = nearest_name(arena_format(&v->scratch, "model.%s", word), names, n);
    if (op)
        verify_error(v, s, NULL, word, "ir.operation.layer", "`%s` can't stand in a %s", word, v->item->kind->name);
    else
        verify_error(v, s, NULL, word, "ir.operation.unknown", "no operation is called `%s`", word);
    if (near)
        verify_near(v, 0, word, near);
    else
        verify_note_legal(v, "`bp-opt --show-ops` lists the operations");
    (void)f;
}

static bool count_fits(u32 n, u8 low, u8 high)
{
    return n >= low && (high == MANY || n <= high);
}

static void check_count(struct verifier *v, const struct stmt *s, const char *name, const char *what, u32 n, u8 low, u8 high)
{
    if (count_fits(n, low, high))
        return;
    if (low == high)
        verify_error(v, s, NULL, name, "ir.operation.arity", "%s takes %u %s%s, found %u", name, low, what, low == 1 ? "" : "s", n);
    else if (high == MANY)
        verify_error(v, s, NULL, name, "ir.operation.arity", "%s takes at least %u %s%s, found %u", name, low, what, low == 1 ? "" : "s", n);
    else
        verify_error(v, s, NULL, name, "ir.operation.arity", "%s takes %u to %u %ss, found %u", name, low, high, what, n);
}

/* Operand and result counts of a known operation; a coarse chain writes neither, which is legal below the model. */
static void check_signature(struct verifier *v, const struct stmt *s, const struct operation *op, u32 operands, u32 results)
{
    u32 in = list_n(v->item, operands), out = list_n(v->item, results);
    if (!op || !(op->layers & IN(v->item->kind->layer)) || (v->item->kind->layer != LAYER_MODEL && !(in && out)))
        return;
    check_count(v, s, op->name, "operand", in, op->min_operands, op->max_operands);
    check_count(v, s, op->name, "result", out, op->min_results, op->max_results);
}

/* A fact of a symbol; 0 is also what a clause that is not there leaves. */
static void check_multiple(struct verifier *v, const struct stmt *s, const struct field *f)
{
    const struct field *fields = stmt_entity(v->item, s)->fields;
    if (fields[0].kind != FIELD_DOLLAR_NAME || field_get(s, f) || !field_is_written(v->item, s, f) || strcmp(f->name, "multiple_of"))
        return;
    verify_error(v, s, f->name, NULL, "ir.symbol.multiple_of", "%s can't be a multiple of 0", stmt_text(v->item, s));
    verify_note_legal(v, "leave the clause out where nothing is known");
}

void verify_fields(struct verifier *v, const struct stmt *s)
{
    u32 operands = 0, results = 0;
    const struct operation *op = NULL;
    for (const struct field *f = stmt_entity(v->item, s)->fields; f->kind != FIELD_END; f++) {
        u64 value = f->kind == FIELD_FACTS || f->kind == FIELD_LINEAGE ? 0 : field_get(s, f);
        if (!value && f->kind != FIELD_FACTS && f->kind != FIELD_INTEGER && f->kind != FIELD_TYPE)
            continue;       /* nothing is said: most fields of most statements */
        switch ((enum field_kind)f->kind) {
        case FIELD_QUANTITY: check_quantity(v, s, f, value); break;
        case FIELD_INTEGER: check_multiple(v, s, f); break;
        case FIELD_TYPE: check_type(v, s, f, (u32)value); break;
        case FIELD_REFS:
            if (f->length == 5 && !memcmp(f->name, "after", 5))
                check_after(v, s, f, (u32)value);
            else if (f->place == PLACE_HEAD)
                check_refs(v, s, f, (u32)value);
            else
                verify_duplicates(v, s, f, (u32)value, '@');
            break;
        case FIELD_REF:
            if (value && !(stmt_entity(v->item, s)->flags & ENTITY_ORIGIN))
                check_ref(v, s, f, REF_SYMBOL(value));
            break;
        case FIELD_VALUE_REF:
            if (value)
                check_ref(v, s, f, REF_VALUE(value));
            break;
        case FIELD_OPERANDS:
            operands = (u32)value;
            check_values(v, s, f, operands);
            break;
        case FIELD_RESULTS:
            results = (u32)value;
            check_values(v, s, f, results);
            break;
        case FIELD_OPERATION:
            op = context_operation(v->ctx, (atom)value);
            if (value)
                check_operation(v, s, f, (atom)value);
            break;
        case FIELD_FACTS:
            for (const struct field *g = f->aux; g->kind != FIELD_END; g++)
                if (g->kind == FIELD_QUANTITY)
                    check_quantity(v, s, g, field_get(s, g));
            break;
        case FIELD_EFFECTS:
            for (u32 i = 1; i < list_n(v->item, (u32)value); i += 2)
                check_ref(v, s, f, list_at(v->item, (u32)value)[i]);
            break;
        case FIELD_REQUIRE:
            for (u32 i = 2; i < list_n(v->item, (u32)value); i += 4)
                check_quantity(v, s, f, pair_get(list_at(v->item, (u32)value) + i));
            break;
        case FIELD_IMPLEMENT: check_constraints(v, s, f, (u32)value); break;
        case FIELD_WORDS:
        case FIELD_AXES: verify_duplicates(v, s, f, (u32)value, 0); break;
        case FIELD_DICT: check_note(v, s, f, (u32)value); break;
        default: break;
        }
    }
    check_signature(v, s, op, operands, results);
}
