#include "replay_compare.h"

#include "ir/diff.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include "messages.h"
#include "record.h"

/* ---- Telling the first difference ---- */

static struct diags *differs(struct replay *r, const char *file, const char *what)
{
    r->differs = true;
    diag_error(&r->d->diags, nowhere, "driver.replay.differs", "'%s': %s", file, what);
    return &r->d->diags;
}

/* A line of each text: the first in which they are not the same. */
static void tell_line(struct replay *r, const char *file, const char *recorded, const char *replayed)
{
    size_t from = 0;
    u32 line = 1;
    for (size_t i = 0; recorded[i] && recorded[i] == replayed[i]; i++)
        if (recorded[i] == '\n') {
            from = i + 1;
            line++;
        }
    struct diags *to = differs(r, file, arena_format(&r->d->arena, "line %u is not the same", line));
    diag_note(to, nowhere, "recorded: %.*s", (int)strcspn(recorded + from, "\n"), recorded + from);
    diag_note(to, nowhere, "replayed: %.*s", (int)strcspn(replayed + from, "\n"), replayed + from);
}

struct first_field {
    const struct field *field, *fact;
};

static void see_field(void *state, const struct stmt *a, const struct stmt *b, const struct field *f, const struct field *fact)
{
    struct first_field *first = state;
    (void)a;
    (void)b;
    if (!first->field)
        *first = (struct first_field){ f, fact };
}

static void note_statement(struct diags *to, const char *what, const struct item *it, const struct stmt *s)
{
    struct out o;
    out_memory(&o);
    print_stmt(&o, it, s);
    diag_note(to, nowhere, "%s: %.*s", what, (int)o.n, o.data);
    out_free(&o);
}

static void tell_change(struct replay *r, const char *file, const struct item_diff *d, const struct stmt_change *c)
{
    struct first_field first = { NULL, NULL };
    const struct item *it = c->b ? d->b : d->a;
    const struct stmt *s = c->b ? c->b : c->a;
    if (c->a && c->b)
        stmt_diff(d, c->a, c->b, see_field, &first);
    const char *what = !c->a ? "is new" : !c->b ? "is gone" : c->renamed ? "has another name" : first.field ? "is another" : "stands elsewhere";
    const char *name = s->name ? stmt_text(it, s) : stmt_entity(it, s)->keyword;
    struct diags *to =
        differs(r, file, first.field && !c->renamed ? arena_format(&r->d->arena, "%s: `%s%s%s` %s", name, first.field->name, first.fact ? " " : "",
                                                       first.fact ? first.fact->name : "", what)
                                     : arena_format(&r->d->arena, "%s %s", name, what));
    if (c->a && !c->a->is_result)
        note_statement(to, "recorded", d->a, c->a);
    if (c->b && !c->b->is_result)
        note_statement(to, "replayed", d->b, c->b);
}

/* The recorded text as an item; NULL: it is none, which its own messages say. */
static struct item *parse_recorded(struct replay *r, struct module *m, const struct source *text, const struct module *in)
{
    return parse_module(m, &r->d->ctx, text) && m->n == 1 && verify_item(m->items[0], in) ? m->items[0] : NULL;
}

static void tell_item(struct replay *r, const char *file, const struct source *text, const struct checkpoint *c, const char *printed)
{
    struct module m;
    struct item_diff d;
    struct item *then = parse_recorded(r, &m, text, c->module), *now = (struct item *)c->output;
    if (!then)
        differs(r, file, "it is not the program that the pass makes");
    else if (then->kind == now->kind && item_diff(then, now, &r->d->arena, &d) && d.n && !d.header)
        tell_change(r, file, &d, &d.changes[0]);
    else
        tell_line(r, file, text->text, printed);
    module_free(&m);
}

/* ---- One checkpoint ---- */

static bool same(const struct source *recorded, const struct out *now)
{
    return recorded->size == now->n && !memcmp(recorded->text, now->data, now->n);
}

static const struct source *recorded_file(struct replay *r, const char *name)
{
    const struct source *src = replay_source(r, name);
    if (!src && !r->differs)
        differs(r, name, "it was not recorded, or can't be read");
    return src;
}

static void compare_snapshot(struct replay *r, const struct checkpoint *c, struct out *text)
{
    const char *name = record_name(&r->d->arena, r->n, c->step->pass, "bpir");
    const struct source *src = recorded_file(r, name);
    print_item(text, c->output);
    if (src && !same(src, text)) {
        out_char(text, '\0');
        tell_item(r, name, src, c, text->data);
    }
}

static void compare_record(struct replay *r, const struct checkpoint *c, struct out *text)
{
    const char *name = record_name(&r->d->arena, r->n, c->step->pass, "record");
    const struct source *src = recorded_file(r, name);
    record_print(text, c);
    if (src && !same(src, text)) {
        out_char(text, '\0');
        tell_line(r, name, src->text, text->data);
    }
}

/* What follows from the first difference is not compared. */
static bool after(void *state, const struct checkpoint *c)
{
    struct replay *r = state;
    struct out text;
    r->n++;
    out_memory(&text);
    if (!r->differs)
        compare_snapshot(r, c, &text);
    text.n = 0;
    if (!r->differs)
        compare_record(r, c, &text);
    out_free(&text);
    return true;
}

struct observer replay_observer(struct replay *r)
{
    return (struct observer){ .name = "--replay", .state = r, .after = after };
}

bool replay_compare_end(struct replay *r)
{
    struct out text;
    if (r->differs)
        return false;
    if (r->n != r->manifest.n_checkpoints)
        differs(r, MANIFEST_NAME, arena_format(&r->d->arena, "%u checkpoints were recorded, and %u were replayed", r->manifest.n_checkpoints, r->n));
    out_memory(&text);
    for (u32 i = 0; i < r->d->n_parts; i++)
        record_results(&text, &r->d->parts[i].module);
    out_char(&text, '\0');
    if (!r->differs && strcmp(text.data, r->manifest.results))
        tell_line(r, MANIFEST_NAME, r->manifest.results, text.data);
    out_free(&text);
    return !r->differs;
}
