#include "summary.h"

#include "dialects/concrete/concrete.h"
#include "ir/json.h"
#include "ir/print.h"
#include "passes/ledger.h"
#include "passes/sums.h"
#include "passes/training_report.h"
#include "support/quantity.h"

#include <stdlib.h>

/* What the numbers stand for; a reader must not have to guess. */
static const char scope[] = "one rank, each task once; message is the payload of one group";

struct summary {
    struct out *o;
    struct item *it;
    struct arena arena;
    struct sums tasks, buffers;
    const struct reports *reports;
};

bool summary_covers(const struct item *it)
{
    if (it->kind->layer == LAYER_CONCRETE)
        return true;
    for (u32 i = 0; i < it->kind->n_entities; i++) {
        const struct field *f = it->kind->entities[i].fields;
        if (field_find(f, "phase", 5) && field_find(f, "body", 4) && field_find(f, "work", 4))
            return true;
    }
    return false;
}

/* The group of facts of a statement that is not a task: `memory`, `scale`; NULL for others. */
static const struct field *facts_of(const struct item *it, const struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_FACTS && f->place == PLACE_HEAD && !(e->flags & ENTITY_TASK))
            return f;
    return NULL;
}

/* ---- Table: all cells as text, then columns as wide as their widest cell ---- */

enum { MAX_COLUMNS = MAX_FACTS + 3 };

struct table {
    const char *(*rows)[MAX_COLUMNS];
    u32 n, columns;
    size_t width[MAX_COLUMNS];
};

static void set_cell(struct table *t, u32 row, u32 column, const char *text)
{
    t->rows[row][column] = text;
    if (strlen(text) > t->width[column])
        t->width[column] = strlen(text);
}

static void set_row(struct summary *y, struct table *t, u32 row, const struct sums *s, const struct sum *sum)
{
    set_cell(t, row, 0, sum->first);
    set_cell(t, row, 1, sum->second);
    set_cell(t, row, 2, arena_format(&y->arena, "%u", sum->count));
    for (u32 i = 0; i < s->n_facts; i++)
        set_cell(t, row, 3 + i, qty_text(y->it->ctx, sum->facts[i]));
}

static void out_table(struct out *o, const struct table *t)
{
    for (u32 r = 0; r < t->n; r++) {
        out_string(o, " ");
        for (u32 c = 0; c < t->columns; c++) {
            bool left = c < 2, last = c + 1 == t->columns;
            out_printf(o, left ? " %-*s" : "  %*s", (int)(last && left ? 0 : t->width[c]), t->rows[r][c]);
        }
        out_char(o, '\n');
    }
}

static void table(struct summary *y, const struct sums *s, const char *first, const char *second, const char *count)
{
    struct table t = { .n = s->n + 2, .columns = 3 + s->n_facts };
    struct sum total = s->total;
    t.rows = arena_alloc(&y->arena, t.n * sizeof *t.rows);
    set_cell(&t, 0, 0, first);
    set_cell(&t, 0, 1, second);
    set_cell(&t, 0, 2, count);
    for (u32 i = 0; i < s->n_facts; i++)
        set_cell(&t, 0, 3 + i, s->facts[i]->name);
    for (u32 i = 0; i < s->n; i++)
        set_row(y, &t, 1 + i, s, &s->list[i]);
    total.first = "total";
    total.second = "";
    set_row(y, &t, 1 + s->n, s, &total);
    out_table(y->o, &t);
}

static void out_facts(struct summary *y, const struct stmt *s, const struct field *facts)
{
    out_printf(y->o, "  %s\n", stmt_entity(y->it, s)->keyword);
    for (const struct field *f = facts->aux; f->kind != FIELD_END; f++)
        if (field_get(s, f) != f->fallback)
            out_printf(y->o, "    %-22s %s\n", f->name, qty_text(y->it->ctx, field_get(s, f)));
}

static void print_table(struct summary *y)
{
    struct item *it = y->it;
    print_header(y->o, it);
    y->o->n -= 2;       /* " {" */
    out_printf(y->o, "\n  covers: %s\n", scope);
    table(y, &y->tasks, "phase", "engine", "tasks");
    if (y->buffers.total.count)
        table(y, &y->buffers, "role", "storage", "buffers");
    for (u32 i = 0; i < it->n_stmts; i++)
        if (facts_of(it, it->stmts[i]))
            out_facts(y, it->stmts[i], facts_of(it, it->stmts[i]));
    ledger_text(y->o, it);
    if (y->reports->training)
        training_report_text(y->o, y->reports->training);
    if (y->reports->inference)
        inference_report_text(y->o, y->reports->inference, &y->reports->deployments);
}

/* ---- JSON ---- */

static void json_sum(struct summary *y, const struct sums *s, const struct sum *sum)
{
    out_printf(y->o, "\"count\":%u", sum->count);
    for (u32 i = 0; i < s->n_facts; i++) {
        out_printf(y->o, ",\"%s\":", s->facts[i]->name);
        json_quantity(y->o, y->it->ctx->exprs, sum->facts[i]);
    }
}

static void json_sums(struct summary *y, const struct sums *s, const char *name, const char *first, const char *second)
{
    out_printf(y->o, ",\"%s\":[", name);
    for (u32 i = 0; i < s->n; i++) {
        out_printf(y->o, "%s{\"%s\":\"%s\",\"%s\":\"%s\",", i ? "," : "", first, s->list[i].first, second, s->list[i].second);
        json_sum(y, s, &s->list[i]);
        out_char(y->o, '}');
    }
    out_printf(y->o, "],\"%s_total\":{", name);
    json_sum(y, s, &s->total);
    out_char(y->o, '}');
}

static void json_facts(struct summary *y, const struct stmt *s, const struct field *facts)
{
    bool first = true;
    out_printf(y->o, ",\"%s\":{", stmt_entity(y->it, s)->keyword);
    for (const struct field *f = facts->aux; f->kind != FIELD_END; f++) {
        if (field_get(s, f) == f->fallback)
            continue;
        out_printf(y->o, "%s\"%s\":", first ? "" : ",", f->name);
        json_quantity(y->o, y->it->ctx->exprs, field_get(s, f));
        first = false;
    }
    out_char(y->o, '}');
}

static void print_json(struct summary *y)
{
    struct item *it = y->it;
    out_printf(y->o, "{\"kind\":\"%s\",\"name\":", it->kind->name);
    json_name(y->o, &it->ctx->names, 0, it->name);
    out_string(y->o, ",\"digest\":\"");
    out_digest_text(y->o, item_digest(it));
    out_printf(y->o, "\",\"covers\":\"%s\"", scope);
    json_sums(y, &y->tasks, "tasks", "phase", "engine");
    if (y->buffers.n_facts)
        json_sums(y, &y->buffers, "buffers", "role", "storage");
    for (u32 i = 0; i < it->n_stmts; i++)
        if (facts_of(it, it->stmts[i]))
            json_facts(y, it->stmts[i], facts_of(it, it->stmts[i]));
    if (it->kind->layer == LAYER_DIST)
        ledger_json(y->o, it);
    if (y->reports->training)
        training_report_json(y->o, y->reports->training);
    if (y->reports->inference)
        inference_report_json(y->o, y->reports->inference, &y->reports->deployments);
    out_string(y->o, "}\n");
}

/* ---- Bindings: no work is left to add up, but places are ---- */

struct region_sum {
    u32 buffers;
    qty used;               /* bytes that some buffer takes, each once; of expressions the sizes' sum */
};

struct bytes {
    u128 begin, end;
};

static int by_begin(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Bytes in any of the ranges, which are sorted. */
static u128 covered(const struct bytes *ranges, u32 n)
{
    u128 sum = 0, end = 0;
    for (u32 i = 0; i < n; i++) {
        u128 begin = ranges[i].begin > end ? ranges[i].begin : end;
        if (ranges[i].end <= begin)
            continue;
        sum += ranges[i].end - begin;
        end = ranges[i].end;
    }
    return sum;
}

static bool sum_region(struct summary *y, const struct concrete_memory *m, struct region_sum *sum)
{
    struct exprs *x = y->it->ctx->exprs;
    size_t room = (y->it->n_stmts + (size_t)1) * sizeof(struct bytes);
    struct bytes *ranges = block_grow(NULL, 0, room);
    bool known = true, fits = true;
    *sum = (struct region_sum){ 0, 0 };
    for (u32 i = 0; i < y->it->n_stmts; i++) {
        const struct concrete_bind *b = (const struct concrete_bind *)y->it->stmts[i];
        if (b->s.entity != CONCRETE_BIND || b->memory != m->s.name)
            continue;
        struct bytes *at = &ranges[sum->buffers++];
        u128 size;
        known = known && qty_value(x, b->offset, &at->begin) && qty_value(x, b->size, &size) && u128_add(at->begin, size, &at->end);
        fits = fits && qty_add(x, sum->used, b->size, &sum->used) == EXPR_OK;
    }
    if (known) {
        qsort(ranges, sum->buffers, sizeof *ranges, by_begin);
        sum->used = qty_number(x, covered(ranges, sum->buffers));
    }
    block_free(ranges, room);
    return known || fits || diag_error(y->it->ctx->diags, (struct loc){ 0 }, "pass.sum", "the sum of sizes in @%s over the bindings of @%s leaves 128 bits",
                                       context_text(y->it->ctx, y->it->name), context_text(y->it->ctx, m->s.name));
}

static bool print_binding(struct summary *y, bool json)
{
    struct item *it = y->it;
    u32 commands = item_count(it, CONCRETE_COMMAND), devices = item_count(it, CONCRETE_DEVICE), n = 0;
    bool good = true;
    if (json) {
        out_printf(y->o, "{\"kind\":\"%s\",\"name\":", it->kind->name);
        json_name(y->o, &it->ctx->names, 0, it->name);
        out_printf(y->o, ",\"devices\":%u,\"commands\":%u,\"memory\":[", devices, commands);
    } else {
        print_header(y->o, it);
        y->o->n -= 2;       /* " {" */
        out_printf(y->o, "\n  %u devices, each runs the %u commands\n", devices, commands);
    }
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct concrete_memory *m = (const struct concrete_memory *)it->stmts[i];
        if (m->s.entity != CONCRETE_MEMORY)
            continue;
        struct region_sum sum;
        good = sum_region(y, m, &sum) && good;
        if (json) {
            out_printf(y->o, "%s{\"buffers\":%u,\"bytes\":", n++ ? "," : "", sum.buffers);
            json_quantity(y->o, it->ctx->exprs, sum.used);
            out_string(y->o, ",\"capacity\":");
            json_quantity(y->o, it->ctx->exprs, m->capacity);
            out_char(y->o, '}');
        } else {
            out_printf(y->o, "  memory %s: %u buffers take %s of %s bytes on each device\n", context_text(it->ctx, m->s.name), sum.buffers,
                       qty_text(it->ctx, sum.used), qty_text(it->ctx, m->capacity));
        }
    }
    out_string(y->o, json ? "]}\n" : "");
    return good;
}

bool summary_print(struct out *o, struct item *it, const struct reports *reports, bool json)
{
    struct summary y = { .o = o, .it = it, .reports = reports };
    arena_init(&y.arena);
    if (it->kind->layer == LAYER_CONCRETE) {
        bool fits = print_binding(&y, json);
        arena_free(&y.arena);
        return fits;
    }
    bool good = sums_of_tasks(&y.tasks, it, &y.arena) && sums_of_buffers(&y.buffers, it, &y.arena);
    if (good && json)
        print_json(&y);
    else if (good)
        print_table(&y);
    arena_free(&y.arena);
    return good;
}

/* ---- Checkpoints ---- */

void checkpoints_init(struct checkpoints *c, bool json, const struct module *session)
{
    *c = (struct checkpoints){ .json = json, .good = true, .session = session };
    out_memory(&c->text);
}

void checkpoints_free(struct checkpoints *c)
{
    out_free(&c->text);
    if (c->names)
        block_free(c->names, c->cap * sizeof *c->names);
}

bool checkpoints_cover(const struct checkpoints *c, atom name)
{
    for (u32 i = 0; i < c->n; i++)
        if (c->names[i] == name)
            return true;
    return false;
}

/* Published with the program that it is of; a plan keeps it, and repeats nothing. */
static struct reports reports_of(const struct checkpoint *done, const struct module *session)
{
    struct reports all = { .deployments = { done->module, session } };
    for (u32 i = 0; done->output->kind->layer == LAYER_DIST && i < done->n_findings; i++) {
        const struct finding *f = &done->findings[i];
        if (f->key == &training_totals && ((const struct training_report *)f->value)->block)
            all.training = f->value;
        if (f->key == &inference_totals && ((const struct inference_report *)f->value)->block)
            all.inference = f->value;
    }
    return all;
}

static bool after(void *state, const struct checkpoint *done)
{
    struct checkpoints *c = state;
    if (!summary_covers(done->output))
        return true;
    out_string(&c->text, c->n && !c->json ? "\n" : "");
    *VEC_PUSH(c->names, c->n, c->cap) = done->output->name;
    struct reports reports = reports_of(done, c->session);
    c->good = summary_print(&c->text, (struct item *)done->output, &reports, c->json) && c->good;
    return c->good;
}

struct observer summary_observer(struct checkpoints *c)
{
    return (struct observer){ .name = "--summary", .state = c, .after = after };
}
