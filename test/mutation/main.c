/*
 * Mutation: how much of a plan is proved? Valid files are changed in one place, in every field of every entity, and
 * what the parser, the verifiers, the checkers and a second derivation refuse is counted. Digests that pin a changed item follow the
 * change, as those of a faulty tool would: a pin refuses nothing here.
 *
 *     mutate [--every=N] [--known=FILE] [--codes] [--show] FILE...
 *
 * --every takes one mutant of N (by number, so that runs are alike). --known names the survivors that are explained,
 * `kind entity field: change = how many at most: reason`, a line each; the end is then `N passed, N failed`, where an unexplained
 * survivor fails, and so does an explanation of what no longer survives. --show prints an example of each survivor.
 */
#include "edit.h"
#include "judge.h"

#include "dialects/registry.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* What is counted together. */
struct class {
    const char *kind, *entity, *group, *field, *change;
    u32 by[JUDGES + 1];
    char *example;              /* the first survivor's statement */
    u32 known;                  /* survivors that are explained */
};

struct run {
    u32 every, number;          /* mutants so far */
    bool show, codes;
    struct class *classes;
    u32 n_classes, cap_classes;
    struct context ctx;
    struct diags diags;
    struct module m;
    struct source source;
    const char *path;
    struct out base;            /* its text, all printed anew */
};

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "mutate: %s: %s\n", path, what);
    exit(2);
}

static struct class *class_of(struct run *r, const struct class *like)
{
    for (u32 i = 0; i < r->n_classes; i++) {
        struct class *c = &r->classes[i];
        if (c->field == like->field && c->entity == like->entity && c->kind == like->kind && c->group == like->group &&
            !strcmp(c->change, like->change))
            return c;
    }
    struct class *c = VEC_PUSH(r->classes, r->n_classes, r->cap_classes);
    *c = *like;
    return c;
}

/* ---- One mutant ---- */

/* Pins say the digests that their items have now. */
static void pin_again(struct module *m, u32 from)
{
    for (u32 i = from; i < m->n; i++)
        m->items[i]->digest = (struct digest){ 0, 0 };
    for (u32 i = from + 1; i < m->n; i++) {
        struct header *h = &m->items[i]->header;
        for (u32 k = 0; k <= h->n_using; k++) {
            struct pin *pin = k < h->n_using ? &h->using[k] : &h->parent;
            struct item *to = pin->item ? module_find(m, pin->item) : NULL;
            if (to && !digest_is_none(pin->digest))
                pin->digest = item_digest(to);
        }
    }
}

/* The line of TEXT that is not in BASE as well. */
static char *difference(const struct out *base, const struct out *text)
{
    size_t n = 0, begin, end;
    while (n < base->n && n < text->n && base->data[n] == text->data[n])
        n++;
    for (begin = n; begin && text->data[begin - 1] != '\n'; begin--)
        ;
    for (end = n; end < text->n && text->data[end] != '\n'; end++)
        ;
    char *line = calloc(1, end - begin + 1);
    if (line)
        memcpy(line, text->data + begin, end - begin);
    return line;
}

static void judge_mutant(struct run *r, u32 item, const struct class *like)
{
    struct out text;
    char code[128];
    out_memory(&text);
    pin_again(&r->m, item);
    print_module(&text, &r->m, false);
    out_char(&text, '\0');
    text.n--;
    if (text.n != r->base.n || memcmp(text.data, r->base.data, text.n) != 0) {
        struct class *c = class_of(r, like);
        enum judge by = judge_text(text.data, text.n, code, sizeof code);
        c->by[by]++;
        if (by == JUDGE_NONE && !c->example)
            c->example = difference(&r->base, &text);
        if (r->codes)
            printf("%s %s %s: %s: %s %s\n", c->kind, c->entity, c->field, c->change, judge_names[by], code);
    }
    out_free(&text);
}

/* ---- Every place ---- */

struct saved {
    struct header *headers;
    struct pin *pins;           /* of all headers */
    struct stmt **stmts, *copy;
    u32 n_stmts, n_pool, last_list;
};

/* What S says apart is copied before it is changed from here on. */
static struct saved save(const struct run *r, const struct item *it, struct stmt *s)
{
    struct saved saved = { .n_stmts = it->n_stmts, .n_pool = it->n_pool, .last_list = it->last_list };
    u32 pins = 0, size = s ? stmt_entity(it, s)->size : 1;
    for (u32 i = 0; i < r->m.n; i++)
        pins += r->m.items[i]->header.n_using;
    saved.headers = calloc(r->m.n, sizeof *saved.headers);
    saved.pins = calloc(pins + 1, sizeof *saved.pins);
    saved.stmts = calloc(it->n_stmts + 1, sizeof *saved.stmts);
    saved.copy = malloc(size);
    if (!saved.headers || !saved.pins || !saved.stmts || !saved.copy)
        abort();
    pins = 0;
    for (u32 i = 0; i < r->m.n; i++) {
        const struct header *h = &r->m.items[i]->header;
        saved.headers[i] = *h;
        for (u32 k = 0; k < h->n_using; k++)
            saved.pins[pins++] = h->using[k];
    }
    memcpy(saved.stmts, it->stmts, it->n_stmts * sizeof *it->stmts);
    if (s) {
        s->owns_more = false;
        memcpy(saved.copy, s, size);
    }
    return saved;
}

static void restore(struct run *r, struct item *it, struct stmt *s, struct saved *saved)
{
    u32 pins = 0;
    for (u32 i = 0; i < r->m.n; i++) {
        struct header *h = &r->m.items[i]->header;
        *h = saved->headers[i];
        for (u32 k = 0; k < h->n_using; k++)
            h->using[k] = saved->pins[pins++];
        r->m.items[i]->digest = (struct digest){ 0, 0 };
    }
    it->n_stmts = saved->n_stmts;
    memcpy(it->stmts, saved->stmts, it->n_stmts * sizeof *it->stmts);
    it->n_pool = saved->n_pool;
    it->last_list = saved->last_list;
    if (s)
        memcpy(s, saved->copy, stmt_entity(it, s)->size);
    free(saved->headers);
    free(saved->pins);
    free(saved->stmts);
    free(saved->copy);
}

/* Where a change is made: a field of a statement, its place (field NULL), or the header (statement NULL). */
struct target {
    u32 item, at;
    struct stmt *s;
    const struct field *group, *field;
};

static enum edit make_edit(struct item *it, const struct target *t, u32 variant, const char **name)
{
    return !t->s ? edit_header(it, variant, name) : !t->field ? edit_order(it, t->at, variant, name)
                 : edit_field(it, t->s, t->field, variant, name);
}

static void try_target(struct run *r, const struct target *t)
{
    struct item *it = r->m.items[t->item];
    enum edit edit = EDIT_NONE;
    for (u32 variant = 0; edit != EDIT_END; variant++) {
        struct class like = { .kind = it->kind->name, .entity = t->s ? stmt_entity(it, t->s)->keyword : "header",
                              .group = t->group ? t->group->name : NULL, .field = t->field ? t->field->name : "" };
        struct saved saved = save(r, it, t->s);
        edit = make_edit(it, t, variant, &like.change);
        if (edit == EDIT_MADE && r->number++ % r->every == 0)
            judge_mutant(r, t->item, &like);
        restore(r, it, t->s, &saved);
    }
}

static bool is_name(const struct field *f)
{
    return f->kind == FIELD_SYMBOL_NAME || f->kind == FIELD_VALUE_NAME || f->kind == FIELD_DOLLAR_NAME;
}

static void try_statement(struct run *r, struct target t)
{
    const struct item *it = r->m.items[t.item];
    for (const struct field *f = stmt_entity(it, t.s)->fields; f->kind != FIELD_END; f++) {
        t.field = f;
        if (f->kind == FIELD_FACTS) {
            t.group = f;
            for (t.field = f->aux; t.field->kind != FIELD_END; t.field++)
                try_target(r, &t);
            t.group = NULL;
        } else if (!(t.s->is_result && is_name(f)))
            try_target(r, &t);
        if (f->kind != FIELD_RESULTS || t.s->is_result)
            continue;
        for (u32 i = 0; i < list_n(it, (u32)field_get(t.s, f)); i++) {
            struct stmt *value = item_value(it, list_at(it, (u32)field_get(t.s, f))[i]);
            if (value && value->is_result)
                try_statement(r, (struct target){ .item = t.item, .at = t.at, .s = value });
        }
    }
}

static void try_item(struct run *r, u32 item)
{
    const struct item *it = r->m.items[item];
    if (it->kind->major || it->kind->minor)
        try_target(r, &(struct target){ .item = item });
    for (u32 i = 0; i < it->n_stmts; i++) {
        struct target t = { .item = item, .at = i, .s = it->stmts[i] };
        if (it->kind->layer != LAYER_SESSION)
            try_target(r, &t);
        try_statement(r, t);
    }
}

static void try_file(struct run *r, const char *path)
{
    char code[128];
    r->path = path;
    const char *fault = source_read(&r->source, path);
    if (fault)
        fail(path, fault);
    diags_init(&r->diags);
    context_init(&r->ctx, all_dialects, &r->diags);
    if (!parse_module(&r->m, &r->ctx, &r->source) || !verify_module(&r->m))
        fail(path, "is not valid itself");
    out_memory(&r->base);
    print_module(&r->base, &r->m, false);
    out_char(&r->base, '\0');
    r->base.n--;
    if (judge_text(r->base.data, r->base.n, code, sizeof code) != JUDGE_NONE)
        fail(path, code);
    for (u32 i = 0; i < r->m.n; i++)
        try_item(r, i);
    out_free(&r->base);
    module_free(&r->m);
    context_free(&r->ctx);
    diags_free(&r->diags);
    source_free(&r->source);
}

/* ---- The report ---- */

static void class_name(const struct class *c, char *text, size_t n)
{
    snprintf(text, n, "%s %s%s%s%s%s: %s", c->kind, c->entity, c->group ? " " : "", c->group ? c->group : "", *c->field ? " " : "", c->field,
             c->change);
}

/* Line by line `class = at most: reason`. Returns how many explanations explain nothing. */
static u32 read_known(struct run *r, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024], name[512];
    u32 stale = 0;
    if (!file)
        fail(path, "can't be read");
    while (fgets(line, sizeof line, file)) {
        char *equal = strstr(line, " = "), *reason = equal ? strstr(equal, ": ") : NULL;
        if (*line == '#' || *line == '\n')
            continue;
        if (!reason || strlen(reason) < 8 || atoi(equal + 3) <= 0)
            fail(path, "a line that is not `class = number: reason`");
        *equal = '\0';
        bool found = false;
        for (u32 i = 0; i < r->n_classes; i++) {
            class_name(&r->classes[i], name, sizeof name);
            if (strcmp(name, line) != 0 || !r->classes[i].by[JUDGE_NONE])
                continue;
            found = true;
            r->classes[i].known = (u32)atoi(equal + 3);
        }
        stale += !found;
        if (!found && r->every == 1)
            printf("no longer survives: %s\n", line);
    }
    fclose(file);
    return stale;
}

static u32 total_of(const struct class *c)
{
    u32 n = 0;
    for (u32 k = 0; k <= JUDGES; k++)
        n += c->by[k];
    return n;
}

static void report(const struct run *r, bool checked, u32 stale)
{
    u32 by[JUDGES + 1] = { 0 }, unexplained = 0, total = 0;
    char name[512];
    for (u32 i = 0; i < r->n_classes; i++) {
        const struct class *c = &r->classes[i];
        for (u32 k = 0; k <= JUDGES; k++)
            by[k] += c->by[k], total += c->by[k];
        if (!c->by[JUDGE_NONE] || (checked && c->known >= c->by[JUDGE_NONE]))
            continue;
        unexplained += c->by[JUDGE_NONE];
        class_name(c, name, sizeof name);
        printf("%6u of %6u survive: %s\n", c->by[JUDGE_NONE],
               total_of(c), name);
        if (r->show)
            printf("        %s\n", c->example ? c->example : "");
    }
    printf("\n%u mutants of %u classes\n", total, r->n_classes);
    for (u32 k = 0; k <= JUDGES; k++)
        printf("%8u %5.1f %%  %s by %s\n", by[k], total ? 100.0 * by[k] / total : 0, k < JUDGES ? "refused" : "stopped", judge_names[k]);
    if (checked)
        printf("%u passed, %u failed\n", total - unexplained, unexplained + stale);
}

int main(int argc, char **argv)
{
    struct run r = { .every = 1 };
    const char *known = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--every=", 8))
            r.every = (u32)atoi(argv[i] + 8);
        else if (!strncmp(argv[i], "--known=", 8))
            known = argv[i] + 8;
        else if (!strcmp(argv[i], "--show"))
            r.show = true;
        else if (!strcmp(argv[i], "--codes"))
            r.codes = true;
        else
            try_file(&r, argv[i]);
    }
    u32 stale = known ? read_known(&r, known) : 0;
    report(&r, known, r.every > 1 ? 0 : stale);
    for (u32 i = 0; i < r.n_classes; i++)
        free(r.classes[i].example);
    free(r.classes);
    return 0;
}
