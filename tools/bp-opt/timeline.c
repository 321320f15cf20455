#include "timeline.h"

void timeline_init(struct timeline *t, struct arena *arena, bool on)
{
    *t = (struct timeline){ .on = on, .arena = arena };
    if (on)
        t->start = host_now();
}

void timeline_free(struct timeline *t)
{
    if (t->list)
        block_free(t->list, t->cap * sizeof *t->list);
    *t = (struct timeline){ 0 };
}

void timeline_begin(struct timeline *t, const char *name, const char *detail)
{
    if (!t->on)
        return;
    if (t->depth < COUNT(t->open))
        t->open[t->depth] = t->n;
    *VEC_PUSH(t->list, t->n, t->cap) = (struct timed){ .name = name, .detail = detail, .start = host_now(), .depth = t->depth };
    t->depth++;
}

void timeline_end(struct timeline *t)
{
    if (!t->on || !t->depth || --t->depth >= COUNT(t->open))
        return;
    struct timed *s = &t->list[t->open[t->depth]];
    s->spent = host_since(s->start);
    s->peak = host_peak_memory();
}

/* ---- Passes ---- */

static const char *const span_names[SPANS] = {
    [SPAN_PASS] = "pass", [SPAN_RUN] = "derive", [SPAN_VERIFY] = "verify output", [SPAN_RELATIONS] = "lineage", [SPAN_ANALYSES] = "analyses",
    [SPAN_GATE] = "gate", [SPAN_REPLAY] = "replay", [SPAN_OBSERVERS] = "observers",
};

static void begin_span(void *state, enum span span, const struct step *step, const struct item *input)
{
    struct timeline *t = state;
    const char *detail = NULL;
    if (span == SPAN_PASS)
        detail = arena_format(t->arena, "%s @%s", step->pass->name, context_text(input->ctx, input->name));
    timeline_begin(t, span_names[span], detail);
}

static void end_span(void *state, enum span span)
{
    (void)span;
    timeline_end(state);
}

const struct stopwatch *timeline_stopwatch(struct timeline *t, struct stopwatch *w)
{
    *w = (struct stopwatch){ t, begin_span, end_span };
    return t->on ? w : NULL;
}

/* ---- Printing ---- */

/* Nanoseconds as microseconds with all their digits. */
static void out_micro(struct out *o, u64 nanoseconds, int width)
{
    out_printf(o, "%*llu.%03u", width, (unsigned long long)(nanoseconds / 1000), (unsigned)(nanoseconds % 1000));
}

static void out_row(struct out *o, const struct timed *s, u64 whole)
{
    u64 tenths = whole ? (s->spent.wall * 1000 + whole / 2) / whole : 0;
    out_micro(o, s->spent.wall, 12);
    out_printf(o, " %4llu.%u%%", (unsigned long long)(tenths / 10), (unsigned)(tenths % 10));
    out_micro(o, s->spent.cpu, 12);
    out_printf(o, " %10llu  %*s%s%s%s\n", (unsigned long long)(s->peak / 1024), (int)s->depth * 2, "", s->name, s->detail ? " " : "",
               s->detail ? s->detail : "");
}

static struct timed total(const struct timeline *t)
{
    return (struct timed){ .name = "total", .start = t->start, .spent = host_since(t->start), .peak = host_peak_memory() };
}

static void print_table(struct out *o, const struct timeline *t)
{
    struct timed all = total(t);
    out_string(o, "// -----// Time of the host, in microseconds, and its memory, in KiB //----- //\n");
    out_string(o, "            wall   share             cpu       peak  what\n");
    for (u32 i = 0; i < t->n; i++)
        out_row(o, &t->list[i], all.spent.wall);
    out_row(o, &all, all.spent.wall);
}

static void json_span(struct out *o, const struct timed *s)
{
    out_string(o, "{\"name\":");
    out_json_string(o, s->name, strlen(s->name));
    if (s->detail) {
        out_string(o, ",\"detail\":");
        out_json_string(o, s->detail, strlen(s->detail));
    }
    out_printf(o, ",\"depth\":%u,\"wall_nanoseconds\":%llu,\"cpu_nanoseconds\":%llu,\"peak_bytes\":%llu}", s->depth, (unsigned long long)s->spent.wall,
               (unsigned long long)s->spent.cpu, (unsigned long long)s->peak);
}

static void print_json(struct out *o, const struct timeline *t)
{
    struct timed all = total(t);
    out_string(o, "{\"timing\":[");
    for (u32 i = 0; i < t->n; i++) {
        json_span(o, &t->list[i]);
        out_char(o, ',');
    }
    json_span(o, &all);
    out_string(o, "]}\n");
}

static void trace_span(struct out *o, const struct timeline *t, const struct timed *s)
{
    const char *name = s->detail && !strcmp(s->name, span_names[SPAN_PASS]) ? s->detail : s->name;
    out_string(o, "{\"name\":");
    out_json_string(o, name, strlen(name));
    out_printf(o, ",\"cat\":\"bp-opt\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":");
    out_micro(o, s->start.wall - t->start.wall, 0);
    out_string(o, ",\"dur\":");
    out_micro(o, s->spent.wall, 0);
    out_string(o, ",\"args\":{\"cpu_us\":");
    out_micro(o, s->spent.cpu, 0);
    out_printf(o, ",\"peak_bytes\":%llu}}", (unsigned long long)s->peak);
}

static void print_trace(struct out *o, const struct timeline *t)
{
    out_string(o, "{\"traceEvents\":[\n");
    for (u32 i = 0; i < t->n; i++) {
        trace_span(o, t, &t->list[i]);
        out_string(o, i + 1 < t->n ? ",\n" : "\n");
    }
    out_string(o, "],\"displayTimeUnit\":\"ns\"}\n");
}

void timeline_print(struct out *o, const struct timeline *t, enum report_form form)
{
    static void (*const forms[])(struct out *, const struct timeline *) = { print_table, print_json, print_trace };
    forms[form](o, t);
}
