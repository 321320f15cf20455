/* Printing a file: its items, and the comments and blank lines between statements. */
#include "ir/print.h"
#include "ir/print_shape.h"

struct printer {
    struct out *o;
    const struct module *m;
    u32 next;               /* trivia not yet printed */
    bool blank;             /* a blank line was just printed, or nothing yet in this block */
};

static void out_comment(struct printer *p, const struct trivia *t, const char *lead)
{
    out_string(p->o, lead);
    out_bytes(p->o, p->m->src->text + t->begin, t->end - t->begin);
    out_char(p->o, '\n');
    p->blank = false;
}

/* Comments and blank lines that stand before OFFSET, each on a line of its own. */
static void out_leading(struct printer *p, u32 offset, const char *indent)
{
    for (; p->next < p->m->n_trivia && p->m->trivia[p->next].begin < offset; p->next++) {
        const struct trivia *t = &p->m->trivia[p->next];
        if (t->kind == TRIVIA_COMMENT)
            out_comment(p, t, indent);
        else if (!p->blank) {
            out_char(p->o, '\n');
            p->blank = true;
        }
    }
}

/* The comment that follows on the same line as what was just printed; else the line's end. */
static void end_line(struct printer *p, u32 limit)
{
    const struct trivia *t = &p->m->trivia[p->next];
    if (p->next < p->m->n_trivia && t->kind == TRIVIA_COMMENT && !t->own_line && t->begin < limit) {
        out_comment(p, t, "  ");
        p->next++;
    } else {
        out_char(p->o, '\n');
    }
}

static void out_stmts(struct printer *p, const struct item *it)
{
    struct shape_printer *shapes = shape_printer_new(it);
    for (u32 i = 0; i < it->n_stmts; i++) {
        u32 limit = i + 1 < it->n_stmts ? it->stmts[i + 1]->begin : it->end - 1;
        out_leading(p, it->stmts[i]->begin, "  ");
        out_string(p->o, "  ");
        print_shaped(p->o, shapes, it, it->stmts[i]);
        p->blank = false;
        end_line(p, limit);
    }
    shape_printer_free(shapes);
}

/* Fields have no place of their own: it is looked up, and comments follow the fields into table order. */
static void out_session(struct printer *p, const struct item *it)
{
    const struct stmt *s = it->stmts[0];
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++) {
        if (f->presence == OPTIONAL && field_is_default(it, s, f))
            continue;
        struct loc at = it->ctx->locate(it, s, f->name, NULL);
        out_leading(p, at.begin, "  ");
        print_session_field(p->o, it, s, f);
        p->blank = false;
        end_line(p, source_line_end(p->m->src, at.end));       /* a comment on the field's line is the field's */
    }
}

static void out_source_item(struct printer *p, const struct item *it, u32 next_item)
{
    bool session = it->kind->layer == LAYER_SESSION;
    print_header(p->o, it);
    p->blank = true;
    end_line(p, source_line_end(p->m->src, it->body));
    if (session)
        out_session(p, it);
    else
        out_stmts(p, it);
    p->blank = p->blank || !it->n_stmts;
    out_leading(p, it->end - 1, "  ");
    out_char(p->o, '}');
    p->blank = false;
    end_line(p, next_item);
}

void print_module(struct out *o, const struct module *m, bool trivia)
{
    struct printer p = { .o = o, .m = m, .blank = true };
    for (u32 i = 0; i < m->n; i++) {
        const struct item *it = m->items[i];
        bool source = trivia && it->src && it->src == m->src;
        if (i) {
            out_char(o, '\n');
            p.blank = true;
        }
        if (source)
            out_leading(&p, it->begin, "");
        if (source)
            out_source_item(&p, it, i + 1 < m->n && m->items[i + 1]->src == m->src ? m->items[i + 1]->begin : UINT32_MAX);
        else
            print_item(o, it);
        p.blank = false;
    }
    u32 n = m->n_trivia;
    while (n && m->trivia[n - 1].kind == TRIVIA_BLANK)      /* the end of the file is no place for a blank line */
        n--;
    if (trivia && n)
        out_leading(&p, m->trivia[n - 1].end, "");
}

/* ---- Comments of what leaves ---- */

/* Where the text of what stands before IT ends: its line, too, if a comment follows there. */
static u32 behind_previous(const struct module *m, const struct item *it)
{
    u32 end = 0;
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i]->src == m->src && m->items[i]->end <= it->begin && m->items[i]->end > end)
            end = m->items[i]->end;
    return end ? source_line_end(m->src, end) : 0;
}

void module_drop_comments(struct module *m, const struct item *it)
{
    u32 from = behind_previous(m, it), to = source_line_end(m->src, it->end), n = 0;
    for (u32 i = 0; i < m->n_trivia; i++) {
        const struct trivia *t = &m->trivia[i];
        bool inside = t->begin >= from && (t->begin < it->end || (t->begin < to && !t->own_line));
        if (!inside)
            m->trivia[n++] = *t;
    }
    m->n_trivia = n;
}
