/* What was run: outputs in short, comparisons as a table; or the same as JSON; elements where they are asked for. */
#include "execute/run.h"

#include "ir/attr.h"
#include "ir/json.h"
#include "ir/print.h"

#include <inttypes.h>
#include <math.h>

struct report {
    struct out *o;
    const struct execution *e;
    const struct run *r;
    bool values;
    struct arena *room;
};

static void out_double(struct out *o, double value)
{
    if (isfinite(value))
        out_float(o, value);
    else
        out_string(o, value < 0 ? "-inf" : "inf");
}

static void out_value(const struct report *p, atom name)
{
    out_name(p->o, &p->r->v.ctx->names, '%', name);
}

/* A model program that is from nothing has nothing to be compared with. */
static bool is_compared(const struct run *r)
{
    return run_is_distributed(r) || r->source;
}

struct extent {
    double least, greatest, sum;
};

static struct extent extent_of(const struct tensor *t)
{
    struct extent e = { INFINITY, -INFINITY, 0 };
    for (u64 i = 0; i < t->n; i++) {
        e.least = fmin(e.least, t->at[i]);
        e.greatest = fmax(e.greatest, t->at[i]);
        e.sum += t->at[i];
    }
    return e;
}

/* All of a value, in ROOM. */
static struct tensor whole_of(const struct report *p, const struct run_value *value, struct arena *room)
{
    struct tensor t = value->whole;
    tensor_allot(&t, room);
    run_gather((struct run *)p->r, value, &t, 0, 0);
    return t;
}

/* ---- Text ---- */

static void text_elements(struct out *o, const struct tensor *t, u32 dim, u64 at, u64 n)
{
    if (dim == t->rank) {
        out_double(o, t->at[at]);
        return;
    }
    u64 inner = n / t->size[dim];
    out_char(o, '[');
    for (u64 i = 0; i < t->size[dim]; i++) {
        out_string(o, i ? ", " : "");
        text_elements(o, t, dim + 1, at + i * inner, inner);
    }
    out_char(o, ']');
}

static void text_place(struct out *o, const struct tensor *t)
{
    out_string(o, " from [");
    for (u32 i = 0; i < t->rank; i++)
        out_printf(o, "%s%" PRIu64, i ? ", " : "", t->from[i]);
    out_string(o, "]");
}

/* Copies on other ranks are left out; of what is partial, terms are no copies. */
static void text_values(const struct report *p)
{
    for (u32 i = 0; i < p->r->n_values; i++) {
        const struct run_value *value = &p->r->values[i];
        const u32 *copies = run_copies(p->r, value, p->room);
        for (u64 rank = 0; rank < p->r->mesh.size; rank++) {
            if (copies[rank] != rank)
                continue;
            out_string(p->o, "  ");
            out_value(p, value->name);
            if (run_is_distributed(p->r)) {
                out_printf(p->o, " on rank %" PRIu64, rank);
                text_place(p->o, &value->parts[rank]);
            }
            out_string(p->o, " = ");
            text_elements(p->o, &value->parts[rank], 0, 0, value->parts[rank].n);
            out_char(p->o, '\n');
        }
    }
}

static void text_output(const struct report *p, const struct run_value *value)
{
    struct arena room;
    arena_init(&room);
    struct tensor t = whole_of(p, value, &room);
    struct extent e = extent_of(&t);
    out_string(p->o, "  output ");
    out_value(p, value->name);
    out_string(p->o, " : ");
    out_type(p->o, p->r->v.ctx->exprs, type_get(p->r->v.ctx->types, value->type));
    out_string(p->o, "  least ");
    out_double(p->o, e.least);
    out_string(p->o, " greatest ");
    out_double(p->o, e.greatest);
    out_string(p->o, " sum ");
    out_double(p->o, e.sum);
    out_char(p->o, '\n');
    arena_free(&room);
}

static void text_symbols(const struct report *p)
{
    for (u32 i = 0; i < p->e->n_symbols; i++) {
        if (!item_dollar(p->r->it, p->e->symbols[i].symbol))
            continue;
        out_string(p->o, ", ");
        out_name(p->o, &p->r->v.ctx->names, '$', p->e->symbols[i].symbol);
        out_string(p->o, " = ");
        out_qty(p->o, p->r->v.ctx->exprs, p->e->symbols[i].value);
    }
}

/* Columns: the names as long as they are, figures of two digits. */
static void text_comparison(const struct report *p, const struct run_value *value)
{
    out_string(p->o, "  ");
    out_value(p, value->name);
    if (value->compared) {
        out_string(p->o, " is ");
        out_value(&(struct report){ .o = p->o, .r = p->r->source }, value->source->name);
    } else {
        out_string(p->o, " names no source");
    }
    out_printf(p->o, ", on %u rank%s: ", value->n_parts, value->n_parts == 1 ? "" : "s");
    if (value->tolerance == 0)
        out_string(p->o, "equal");
    else if (value->error == 0)
        out_printf(p->o, "equal (rounding allows %.1e)", value->tolerance / (value->largest > 0 ? value->largest : 1));
    else
        out_printf(p->o, "relative error %.1e (rounding allows %.1e)", value->error / value->largest,
                   value->tolerance / value->largest);
    out_string(p->o, "; by ");
    out_name(p->o, &p->r->v.ctx->names, '@', value->maker->s->name);
    out_char(p->o, '\n');
}

static void text_sum(const struct report *p)
{
    const struct run *r = p->r;
    if (r->source) {
        out_printf(p->o, "  %u value%s agree%s with ", r->n_agree, r->n_agree == 1 ? "" : "s", r->n_agree == 1 ? "s" : "");
        out_name(p->o, &r->v.ctx->names, '@', r->source->it->name);
        out_printf(p->o, ", %u of them to the last bit", r->n_exact);
        if (r->n_alone)
            out_printf(p->o, "; %u name%s no source, and copies of %s agree", r->n_alone, r->n_alone == 1 ? "s" : "",
                       r->n_alone == 1 ? "it" : "them");
        out_char(p->o, '\n');
    } else {
        out_printf(p->o, "  compared with nothing, since it is from %s; copies of %s agree\n",
                   r->it->header.parent.item ? "what is not in the file" : "no program",
                   r->n_alone == 1 ? "its one value" : "its values");
    }
}

static void text_run(const struct report *p)
{
    const struct run *r = p->r;
    out_name(p->o, &r->v.ctx->names, '@', r->it->name);
    out_printf(p->o, ": %s of %u %s%s", r->it->kind->name, r->n_tasks, run_is_distributed(r) ? "task" : "operation",
               r->n_tasks == 1 ? "" : "s");
    if (run_is_distributed(r))
        out_printf(p->o, " on %" PRIu64 " rank%s", r->mesh.size, r->mesh.size == 1 ? "" : "s");
    out_printf(p->o, ", seed %" PRIu64, p->e->seed);
    text_symbols(p);
    out_char(p->o, '\n');
    for (u32 i = 0; is_compared(r) && i < r->n_values; i++)
        if (r->values[i].maker)
            text_comparison(p, &r->values[i]);
    for (u32 i = 0; i < r->n_values; i++)
        if (r->values[i].is_output)
            text_output(p, &r->values[i]);
    if (is_compared(r))
        text_sum(p);
    if (p->values)
        text_values(p);
}

void execution_text(struct out *o, const struct execution *e, bool values)
{
    struct arena room;
    arena_init(&room);
    for (u32 i = 0; i < e->n; i++) {
        if (i)
            out_char(o, '\n');
        text_run(&(struct report){ o, e, e->runs[i], values, &room });
    }
    arena_free(&room);
}

/* ---- JSON ---- */

/* What JSON has no number for is a string. */
static void json_double(struct out *o, double value)
{
    out_string(o, isfinite(value) ? "" : "\"");
    out_double(o, value);
    out_string(o, isfinite(value) ? "" : "\"");
}

static void json_list(struct out *o, const char *key, const u64 *at, u32 n)
{
    out_printf(o, ",\"%s\":[", key);
    for (u32 i = 0; i < n; i++)
        out_printf(o, "%s%" PRIu64, i ? "," : "", at[i]);
    out_char(o, ']');
}

static void json_parts(const struct report *p, const struct run_value *value)
{
    bool first = true;
    const u32 *copies = run_copies(p->r, value, p->room);
    out_string(p->o, ",\"parts\":[");
    for (u64 rank = 0; rank < p->r->mesh.size; rank++) {
        const struct tensor *t = &value->parts[rank];
        if (copies[rank] != rank)
            continue;
        out_printf(p->o, "%s{\"rank\":%" PRIu64, first ? "" : ",", rank);
        first = false;
        json_list(p->o, "from", t->from, t->rank);
        json_list(p->o, "size", t->size, t->rank);
        out_string(p->o, ",\"bound\":");
        json_double(p->o, t->bound);
        out_string(p->o, ",\"elements\":[");
        for (u64 i = 0; i < t->n; i++) {
            out_string(p->o, i ? "," : "");
            json_double(p->o, t->at[i]);
        }
        out_string(p->o, "]}");
    }
    out_char(p->o, ']');
}

static void json_comparison(const struct report *p, const struct run_value *value)
{
    const struct interner *names = &p->r->v.ctx->names;
    out_string(p->o, ",\"by\":");
    json_name(p->o, names, '@', value->maker->s->name);
    if (!is_compared(p->r))
        return;
    out_string(p->o, ",\"source\":");
    if (value->compared)
        json_name(p->o, names, '%', value->source->name);
    else
        out_string(p->o, "null");
    out_printf(p->o, ",\"ranks\":%u,\"error\":", value->n_parts);
    json_double(p->o, value->error);
    out_string(p->o, ",\"tolerance\":");
    json_double(p->o, value->tolerance);
    out_string(p->o, ",\"largest\":");
    json_double(p->o, value->largest);
}

static void json_extent(const struct report *p, const struct run_value *value)
{
    struct arena room;
    arena_init(&room);
    struct tensor t = whole_of(p, value, &room);
    struct extent e = extent_of(&t);
    out_string(p->o, ",\"output\":true,\"least\":");
    json_double(p->o, e.least);
    out_string(p->o, ",\"greatest\":");
    json_double(p->o, e.greatest);
    out_string(p->o, ",\"sum\":");
    json_double(p->o, e.sum);
    arena_free(&room);
}

static void json_value(const struct report *p, const struct run_value *value)
{
    struct out type;
    out_memory(&type);
    out_type(&type, p->r->v.ctx->exprs, type_get(p->r->v.ctx->types, value->type));
    out_string(p->o, "{\"value\":");
    json_name(p->o, &p->r->v.ctx->names, '%', value->name);
    out_string(p->o, ",\"type\":");
    out_json_string(p->o, type.data, type.n);
    out_free(&type);
    json_list(p->o, "size", value->whole.size, value->whole.rank);
    if (value->maker)
        json_comparison(p, value);
    if (value->is_output)
        json_extent(p, value);
    if (p->values)
        json_parts(p, value);
    out_char(p->o, '}');
}

static void json_symbols(const struct report *p)
{
    bool first = true;
    out_string(p->o, ",\"symbols\":{");
    for (u32 i = 0; i < p->e->n_symbols; i++) {
        if (!item_dollar(p->r->it, p->e->symbols[i].symbol))
            continue;
        out_string(p->o, first ? "" : ",");
        first = false;
        json_name(p->o, &p->r->v.ctx->names, '$', p->e->symbols[i].symbol);
        out_char(p->o, ':');
        json_quantity(p->o, p->r->v.ctx->exprs, p->e->symbols[i].value);
    }
    out_char(p->o, '}');
}

static void json_run(const struct report *p)
{
    const struct run *r = p->r;
    out_string(p->o, "{\"item\":");
    json_name(p->o, &r->v.ctx->names, '@', r->it->name);
    out_printf(p->o, ",\"kind\":\"%s\",\"ranks\":%" PRIu64 ",\"seed\":\"%" PRIu64 "\",\"source\":", r->it->kind->name,
               r->mesh.size, p->e->seed);
    if (r->source)
        json_name(p->o, &r->v.ctx->names, '@', r->source->it->name);
    else
        out_string(p->o, "null");
    json_symbols(p);
    out_string(p->o, ",\"values\":[");
    for (u32 i = 0; i < r->n_values; i++) {
        out_string(p->o, i ? ",\n" : "\n");
        json_value(p, &r->values[i]);
    }
    out_string(p->o, "]}");
}

void execution_json(struct out *o, const struct execution *e, bool values)
{
    struct arena room;
    arena_init(&room);
    out_string(o, "{\"executions\":[");
    for (u32 i = 0; i < e->n; i++) {
        out_string(o, i ? ",\n" : "\n");
        json_run(&(struct report){ o, e, e->runs[i], values, &room });
    }
    out_string(o, "]}\n");
    arena_free(&room);
}
