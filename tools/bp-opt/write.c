#include "write.h"

#include "emit.h"
#include "explain_digest.h"
#include "messages.h"
#include "split.h"
#include "why.h"

static void print_parts(struct driver *d, struct out *o)
{
    const char *marker = d->options->text[OPT_SPLIT_INPUT_FILE];
    bool first = true;
    for (u32 i = 0; i < d->n_parts; i++) {
        const struct part *part = &d->parts[i];
        bool whole = !d->item || (d->pipeline.n && !d->options->on[OPT_CANONICAL] && !d->options->number[OPT_EMIT]);
        if (!part->good || (!whole && !part->item))
            continue;
        if (!first)
            out_printf(o, "%s\n", marker ? marker : SPLIT_MARKER);
        first = false;
        emit_items(o, &part->module, whole ? NULL : &part->items, d->options);
    }
}

/* A report is small: it is made in memory, so that a sum that fails leaves nothing behind. */
static bool make_report(struct driver *d, struct out *report)
{
    bool good = true;
    out_memory(report);
    if (d->options->on[OPT_EXPLAIN_DIGEST])
        return explain_digest_report(report, d);
    for (u32 i = 0; d->options->on[OPT_EXECUTE] && i < d->n_parts; i++)
        if (d->parts[i].good)
            out_bytes(report, d->parts[i].executed.data, d->parts[i].executed.n);
    for (u32 i = 0; d->options->on[OPT_WHY] && good && i < d->n_parts; i++)
        good = !d->parts[i].good || why_report(report, d, &d->parts[i]);
    bool asked = d->options->on[OPT_EXECUTE] || d->options->on[OPT_WHY];
    for (u32 i = 0; !asked && i < d->n_parts; i++)
        if (d->parts[i].good && (!d->item || d->parts[i].item))
            good = emit_report(report, &d->parts[i].module, &d->parts[i].items, &d->parts[i].summaries, d->options) && good;
    if (good && d->options->on[OPT_SUMMARY] && !report->n)
        diag_remark(&d->diags, nowhere, "driver.summary.none", "nothing to sum up: %s has no program that is distributed, planned or bound",
                    d->source.name);
    return good;
}

static bool write_text(struct driver *d)
{
    const char *fault = output_open(&d->output, &d->arena);
    if (fault)
        return cannot_write(d, &d->output, fault);
    print_parts(d, &d->output.out);
    fault = output_close(&d->output);
    return !fault || cannot_write(d, &d->output, fault);
}

static bool write_report(struct driver *d)
{
    struct output standard = { 0 };
    struct out report;
    bool good = make_report(d, &report);
    if (good && d->options->on[OPT_OUTPUT])
        good = write_text(d);
    if (good) {
        output_open(&standard, &d->arena);
        out_bytes(&standard.out, report.data, report.n);
        const char *fault = output_close(&standard);
        good = !fault || cannot_write(d, &standard, fault);
    }
    out_free(&report);
    return good;
}

static bool write_what_is_asked(struct driver *d)
{
    enum { BPIR, JSON, NONE };
    const struct options *o = d->options;
    if (o->on[OPT_VERIFY_ONLY])
        return true;
    if (o->on[OPT_DIGEST] || o->on[OPT_SUMMARY] || o->on[OPT_EXECUTE] || o->on[OPT_WHY] || o->on[OPT_EXPLAIN_DIGEST])
        return write_report(d);
    return o->number[OPT_EMIT] == NONE || write_text(d);
}

bool write_all(struct driver *d)
{
    timeline_begin(&d->timeline, "print", NULL);
    bool good = write_what_is_asked(d);
    timeline_end(&d->timeline);
    return good;
}
