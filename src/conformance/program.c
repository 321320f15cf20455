#include "conformance/program.h"

#include <stdarg.h>
#include <stdio.h>

static u32 holders_of(struct program *p, const struct dist_task *t, const struct dist_value *value)
{
    if (t && t->body == DIST_TRANSFER)
        return rank_set_one(&p->grid.sets, (u32)t->more->destination);
    return rank_set_of(&p->grid.sets, value->owners || !t ? value->owners : t->ranks);
}

static void add_value(struct program *p, const struct dist_task *maker, atom name)
{
    const struct dist_value *value = (const struct dist_value *)item_value(p->it, name);
    if (value)
        p->values[numbering_add(&p->names, name)] = (struct value_facts){ value, maker, holders_of(p, maker, value) };
}

static void add_results(struct program *p, const struct dist_task *t)
{
    for (u32 i = 0; i < list_n(p->it, t->results); i++)
        add_value(p, t, list_at(p->it, t->results)[i]);
}

static void add_fact(struct program *p, const struct dist_symbol *s)
{
    struct exprs *e = p->it->ctx->exprs;
    qty value;
    if (s->multiple_of && qty_mul(e, qty_number(e, s->multiple_of), qty_symbol(e, s->s.name), &value) == EXPR_OK)
        p->facts[p->n_facts++] = (struct qty_binding){ s->s.name, value };
}

void program_read(struct program *p, struct check *c, const struct item *it)
{
    struct arena *a = &c->v.scratch;
    *p = (struct program){ .check = c, .it = it };
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == DIST_MESH)
            grid_read(&p->grid, a, it, ((const struct dist_mesh *)it->stmts[i])->axes);
    meanings_init(&p->meanings, a, it);
    numbering_init(&p->names, a, it->values.n);
    p->values = ARENA_ARRAY(a, struct value_facts, it->values.n + (size_t)1);
    p->facts = ARENA_ARRAY(a, struct qty_binding, it->dollars.n + (size_t)1);
    p->tasks = ARENA_ARRAY(a, const struct dist_task *, it->n_stmts + (size_t)1);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *s = it->stmts[i];
        if (s->entity == DIST_VALUE)
            add_value(p, NULL, s->name);
        if (s->entity == DIST_SYMBOL)
            add_fact(p, (const struct dist_symbol *)s);
        if (s->entity != DIST_TASK)
            continue;
        p->tasks[p->n_tasks++] = (const struct dist_task *)s;
        add_results(p, (const struct dist_task *)s);
    }
}

const struct value_facts *program_value(const struct program *p, atom name)
{
    u32 number;
    return numbering_find(&p->names, name, &number) ? &p->values[number] : NULL;
}

const struct value_facts *program_operand(const struct program *p, const struct dist_task *t, u32 i)
{
    return program_value(p, list_at(p->it, t->operands)[i]);
}

const struct value_facts *program_result(const struct program *p, const struct dist_task *t, u32 i)
{
    return program_value(p, list_at(p->it, t->results)[i]);
}

/* ---- Sources ---- */

const struct item *source_item(const struct check *c, const struct item *it, enum layer layer)
{
    const struct item *parent = c->v.module && it->header.parent.item ? module_find(c->v.module, it->header.parent.item) : NULL;
    return parent && !parent->damaged && parent->kind->layer == layer ? parent : NULL;
}

static bool is_whole(const struct stmt *s)
{
    return s->lineage_kind == LINEAGE_LOWERED || s->lineage_kind == LINEAGE_CLONED || s->lineage_kind == LINEAGE_PRESERVED;
}

const struct stmt *source_value(const struct item *it, const struct stmt *s, const struct item *parent)
{
    if (s->lineage_kind == LINEAGE_NONE)
        return item_value(parent, s->name);
    bool one = is_whole(s) && list_n(it, s->lineage) == 1 && ref_is_value(list_at(it, s->lineage)[0]);
    return one ? item_ref(parent, list_at(it, s->lineage)[0]) : NULL;
}

const struct stmt *source_task(const struct item *it, const struct stmt *s, const struct item *parent)
{
    if (!is_whole(s) || list_n(it, s->lineage) != 1 || ref_is_value(list_at(it, s->lineage)[0]))
        return NULL;
    const struct stmt *source = item_ref(parent, list_at(it, s->lineage)[0]);
    return source && stmt_entity(parent, source)->flags & ENTITY_TASK ? source : NULL;
}

void check_note_at(struct check *c, const struct item *it, const struct stmt *s, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!c->v.ctx->locate || !it->src)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_note(c->v.ctx->diags, c->v.ctx->locate(it, s, NULL, NULL), "%s", text);
}
