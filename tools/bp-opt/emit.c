#include "emit.h"

#include "ir/json.h"
#include "ir/print.h"
#include "passes/training_report.h"

#include "lines.h"
#include "summary.h"

/* ---- One item of a file, with the comments around it ---- */

static u32 line_end(const struct source *src, u32 at)
{
    const char *end = memchr(src->text + at, '\n', src->size - at);
    return end ? (u32)(end - src->text) : src->size;
}

/* Comments and blank lines behind the item before, up to the end of the item's last line. */
static struct module view(const struct module *m, u32 i)
{
    struct item *it = m->items[i];
    struct module one = *m;
    one.items = &m->items[i];
    one.n = 1;
    one.n_trivia = 0;
    if (!it->src || it->src != m->src)
        return one;
    u32 from = 0, to = line_end(m->src, it->end), k = 0;
    for (u32 before = 0; before < i; before++)
        if (m->items[before]->src == m->src)
            from = line_end(m->src, m->items[before]->end);
    while (k < m->n_trivia && m->trivia[k].begin < from)
        k++;
    while (k < m->n_trivia && m->trivia[k].kind == TRIVIA_BLANK)
        k++;
    one.trivia = m->trivia + k;
    while (k < m->n_trivia && m->trivia[k].begin < to) {
        one.n_trivia++;
        k++;
    }
    return one;
}

/* ---- Locations ---- */

static void out_place(struct out *o, struct line_counter *c, const struct source *src, u32 offset)
{
    u32 column = 1;
    line_counter_seek(c, src, offset);
    for (u32 i = c->line_begin; i < offset; i++)
        column += ((unsigned char)src->text[i] & 0xc0) != 0x80;
    out_printf(o, "  // %s:%u:%u", src->name, c->line, column);
}

/* The names of files may hold anything but a line's end. */
static void end_located(struct out *o, struct line_counter *c, const struct item *it, u32 offset)
{
    if (it->src && offset != NO_PLACE && !strpbrk(it->src->name, "\n\r"))
        out_place(o, c, it->src, offset);
    out_char(o, '\n');
}

static void print_located(struct out *o, struct line_counter *c, const struct item *it)
{
    bool session = it->kind->layer == LAYER_SESSION;
    print_header(o, it);
    end_located(o, c, it, it->begin);
    for (u32 i = 0; i < it->n_stmts; i++) {
        out_string(o, session ? "" : "  ");
        print_stmt(o, it, it->stmts[i]);
        if (!session)
            end_located(o, c, it, it->stmts[i]->begin);
    }
    out_string(o, "}\n");
}

/* ---- Forms ---- */

static void print_json(struct out *o, const struct module *m, const struct follower *only)
{
    bool first = true;
    out_string(o, "{\"items\":[");
    for (u32 i = 0; i < m->n; i++)
        if (!only || follower_holds(only, m->items[i]->name)) {
            out_string(o, first ? "\n" : ",\n");
            json_item(o, m->items[i]);
            first = false;
        }
    out_string(o, "]}\n");
}

static void print_text(struct out *o, const struct module *m, const struct follower *only, const struct options *options)
{
    bool canonical = options->on[OPT_CANONICAL], first = true;
    struct line_counter c = { 0 };
    if (!only && !options->on[OPT_PRINT_LOCATIONS]) {
        print_module(o, m, !canonical);
        return;
    }
    for (u32 i = 0; i < m->n; i++) {
        if (only && !follower_holds(only, m->items[i]->name))
            continue;
        struct module one = view(m, i);
        out_string(o, first ? "" : "\n");
        first = false;
        if (options->on[OPT_PRINT_LOCATIONS])
            print_located(o, &c, m->items[i]);
        else
            print_module(o, &one, !canonical);
    }
}

void emit_items(struct out *o, const struct module *m, const struct follower *only, const struct options *options)
{
    enum { TEXT, JSON };
    if (options->number[OPT_EMIT] == TEXT)
        print_text(o, m, only, options);
    else if (options->number[OPT_EMIT] == JSON)
        print_json(o, m, only);
}

static void print_digest(struct out *o, struct item *it)
{
    out_digest_text(o, item_digest(it));
    out_char(o, ' ');
    out_name(o, &it->ctx->names, '@', it->name);
    out_char(o, '\n');
}

/* With what the file itself tells: the model and the session of a derived block. */
static bool print_summary(struct out *o, struct item *it, const struct module *m, const struct module *session, bool json)
{
    struct training_report training;
    struct inference_report inference;
    const struct item *source = module_find(m, it->header.parent.item);
    struct reports reports = {
        .training = source && training_report_of(&training, source, it, m) ? &training : NULL,
        .inference = source && inference_report_of(&inference, source, it, m) ? &inference : NULL,
        .deployments = { m, session },
    };
    return summary_print(o, it, &reports, json);
}

bool emit_report(struct out *o, const struct module *m, const struct follower *only, const struct checkpoints *done, const struct options *options)
{
    enum { TABLE, JSON };
    bool good = true, first = done->n == 0, json = options->number[OPT_SUMMARY] == JSON;
    if (options->on[OPT_SUMMARY])
        out_bytes(o, done->text.data, done->text.n);
    for (u32 i = 0; i < m->n; i++) {
        struct item *it = m->items[i];
        if (!follower_holds(only, it->name) || (options->on[OPT_SUMMARY] && checkpoints_cover(done, it->name)))
            continue;
        if (options->on[OPT_DIGEST]) {
            print_digest(o, it);
        } else if (summary_covers(it)) {
            out_string(o, first || json ? "" : "\n");
            first = false;
            good = print_summary(o, it, m, done->session, json) && good;
        }
    }
    return good;
}
