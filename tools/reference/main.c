/*
 * The reference pages docs/dialects/NAME.md, written from the dialects' tables: items, statements and their fields, words,
 * operations and messages.
 *
 *     reference DIALECT
 *
 * writes the dialect's page to standard output.
 */
#include "dialects/registry.h"
#include "support/out.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Pieces ---- */

/* Text in a cell of a table, where `|` would end it. */
static void cell(struct out *o, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            out_char(o, '\\');
        out_char(o, *text == '\n' ? ' ' : *text);
    }
}

static void head(struct out *o, const char *columns)
{
    out_printf(o, "\n| %s |\n|", columns);
    for (const char *c = columns; c; c = strstr(c + 1, " | "))
        out_string(o, " --- |");
    out_char(o, '\n');
}

/* How values of the kind are written, as in docs/language.md. */
static const char *kind_text(const struct field *f)
{
    static const char *const texts[] = {
        [FIELD_SYMBOL_NAME] = "`@name`", [FIELD_VALUE_NAME] = "`%name`", [FIELD_DOLLAR_NAME] = "`$name`", [FIELD_BOOL] = "`true` or `false`",
        [FIELD_WORD] = "a word", [FIELD_STRING] = "`\"text\"`", [FIELD_INTEGER] = "a number", [FIELD_QUANTITY] = "a number or expression",
        [FIELD_FLOAT] = "a decimal number", [FIELD_TYPE] = "`tensor<…>`", [FIELD_SHARDING] = "`[{axes}, {}]`, `partial sum {axes}`",
        [FIELD_AXES] = "`{tp, dp}`", [FIELD_AXIS_SIZES] = "`[tp = 8, dp = 2]`", [FIELD_RANKS] = "`[0..3, 7]`", [FIELD_REF] = "`@name`",
        [FIELD_VALUE_REF] = "`%name`", [FIELD_REFS] = "`@a` or `(@a, %b)`", [FIELD_LINEAGE] = "`from @a`, `generated from ()`, …",
        [FIELD_OPERATION] = "an operation", [FIELD_OPERANDS] = "`(%a, %b)`", [FIELD_RESULTS] = "`-> %a` or `-> (%a, %b)`",
        [FIELD_FACTS] = "`(fact 1, …)`", [FIELD_EFFECTS] = "`(read %a, …)`", [FIELD_REQUIRE] = "`(compute 5, …)`",
        [FIELD_IMPLEMENT] = "`capability [alternatives]`", [FIELD_WORDS] = "`[a, b]`", [FIELD_INTEGERS] = "`4` or `[4, 4]`",
        [FIELD_DICT] = "`{key = value, …}`", [FIELD_ATTRIBUTES] = "the operation's own clauses",
    };
    return f->kind < COUNT(texts) ? texts[f->kind] : NULL;
}

static void value(struct out *o, const struct field *f)
{
    const struct enumeration *e = f->aux;
    if (f->kind != FIELD_ENUM) {
        out_string(o, kind_text(f) ? kind_text(f) : "");
        return;
    }
    const char *between = "";
    for (u32 i = 0; i < e->n; i++) {
        if (!*e->words[i].text)
            continue;
        out_printf(o, "%s`%s`", between, e->words[i].text);
        between = ", ";
    }
}

static void field_row(struct out *o, const struct field *f, const char *within)
{
    const char *presence = f->presence == REQUIRED ? "required" : "";
    out_printf(o, "| %s%s`%s` | ", within, *within ? " " : "", f->name);
    value(o, f);
    out_printf(o, " | %s | ", presence);
    cell(o, f->doc);
    out_string(o, " |\n");
    if (f->kind == FIELD_FACTS)
        for (const struct field *fact = f->aux; fact->kind != FIELD_END; fact++)
            field_row(o, fact, f->name);
}

static void fields(struct out *o, const struct field *list)
{
    if (list->kind == FIELD_END)
        return;
    head(o, "field | value | | meaning");
    for (const struct field *f = list; f->kind != FIELD_END; f++)
        field_row(o, f, "");
}

/* ---- Sections ---- */

/* A statement's keyword; the words of its role, where those are the keyword. */
static void heading(struct out *o, const struct entity *e)
{
    const struct enumeration *role = e->fields->aux;
    out_string(o, "\n### ");
    if (!(e->flags & ENTITY_ROLE_KEYWORD)) {
        out_string(o, e->keyword);
        return;
    }
    for (u32 i = 0; i < role->n; i++)
        out_printf(o, "%s%s", i ? ", " : "", role->words[i].text);
}

static void entity(struct out *o, const struct entity *e)
{
    heading(o, e);
    out_printf(o, "\n\n%s%s\n\n```\n%s\n```\n", e->doc, e->flags & ENTITY_ONCE ? " At most one in an item." : "", e->example);
    fields(o, e->fields);
}

/* A session item is one statement, whose fields stand in lines of their own. */
static void session_item(struct out *o, const struct item_kind *kind, const struct entity *e)
{
    out_printf(o, "\n## %s\n\n%s\n\n```\n%s @name {\n  %s\n}\n```\n", kind->name, e->doc, kind->name, e->example);
    fields(o, e->fields);
}

static void items(struct out *o, const struct dialect *d)
{
    for (u32 i = 0; i < d->n_kinds; i++) {
        const struct item_kind *kind = &d->kinds[i];
        if (kind->layer == LAYER_SESSION) {
            session_item(o, kind, &kind->entities[0]);
            continue;
        }
        out_printf(o, "\n## %s\n\n%s Schema %u.%u.\n", kind->name, kind->doc, kind->major, kind->minor);
        for (u32 k = 0; k < kind->n_entities; k++)
            entity(o, &kind->entities[k]);
    }
}

static void samples(struct out *o, const struct dialect *d)
{
    if (!d->n_samples)
        return;
    out_string(o, "\n## More statements\n");
    for (u32 i = 0; i < d->n_samples; i++)
        out_printf(o, "\n%s\n\n```\n%s\n```\n", d->samples[i].doc, d->samples[i].text);
}

static void words(struct out *o, const struct dialect *d)
{
    if (!d->n_enumerations)
        return;
    out_string(o, "\n## Words\n");
    head(o, "of | word | meaning");
    for (u32 i = 0; i < d->n_enumerations; i++)
        for (u32 k = 0; k < d->enumerations[i]->n; k++) {
            const struct word *w = &d->enumerations[i]->words[k];
            if (!*w->text)
                continue;
            out_printf(o, "| %s | `%s` | ", d->enumerations[i]->name, w->text);
            cell(o, w->doc);
            out_string(o, " |\n");
        }
}

static void operations(struct out *o, const struct dialect *d)
{
    if (!d->n_operations)
        return;
    out_string(o, "\n## Operations\n");
    head(o, "operation | for example | meaning");
    for (const struct operation *op = d->operations; op < d->operations + d->n_operations; op++) {
        out_printf(o, "| `%s` | `", op->name);
        cell(o, op->sample);
        out_string(o, "` | ");
        cell(o, op->doc);
        out_string(o, " |\n");
    }
    for (const struct operation *op = d->operations; op < d->operations + d->n_operations; op++)
        if (op->attributes) {
            out_printf(o, "\n### %s\n", op->name);
            fields(o, op->attributes);
        }
}

static void messages(struct out *o, const struct dialect *d)
{
    if (!d->n_rules)
        return;
    out_string(o, "\n## Messages\n");
    head(o, "code | meaning and mend");
    for (u32 i = 0; i < d->n_rules; i++) {
        out_printf(o, "| `%s` | ", d->rules[i].code);
        cell(o, d->rules[i].explanation);
        out_string(o, " |\n");
    }
}

int main(int argc, char **argv)
{
    for (const struct dialect *const *d = all_dialects; argc == 2 && *d; d++) {
        if (strcmp((*d)->name, argv[1]) != 0)
            continue;
        struct out o;
        out_fd(&o, STDOUT_FILENO);
        out_printf(&o, "# %s: %s\n\nWritten from `src/dialects/%s/%s.def` by `make reference`. How values are written: [language.md](../language.md).\n",
                   (*d)->name, (*d)->doc, (*d)->name, (*d)->name);
        items(&o, *d);
        samples(&o, *d);
        words(&o, *d);
        operations(&o, *d);
        messages(&o, *d);
        out_flush(&o);
        out_free(&o);
        return 0;
    }
    fputs("reference: name one dialect: session, model, dist, portable, concrete\n", stderr);
    return 2;
}
