#include "observers.h"

#include "ir/print.h"

#include "ir_tree.h"

#include <stdio.h>
#include <unistd.h>

static bool names_pass(const struct options *o, enum option id, const char *pass)
{
    const char *word;
    size_t length;
    for (u32 i = 0; i < o->n_repeated; i++)
        for (u32 k = 0; o->repeated[i].id == id && (word = list_word(o->repeated[i].text, k, &length)); k++)
            if (strlen(pass) == length && !memcmp(word, pass, length))
                return true;
    return false;
}

/* MODULE with INPUT replaced by SHOWN, or SHOWN alone. */
static void print_scope(struct out *o, const struct printer *p, const struct item *input, const struct item *shown,
                        const struct module *m)
{
    if (!m || !p->options->on[OPT_PRINT_IR_MODULE_SCOPE]) {
        print_item(o, shown);
        return;
    }
    for (u32 i = 0; i < m->n; i++) {
        out_string(o, i ? "\n" : "");
        print_item(o, m->items[i] == input ? shown : m->items[i]);
    }
}

static void dump_to_stderr(const struct printer *p, const char *when, bool failed, const struct checkpoint *c, const struct item *shown,
                           const struct module *m)
{
    struct out o;
    out_fd(&o, STDERR_FILENO);
    out_printf(&o, "// -----// IR Dump %s %s%s (", when, c->step->pass->name, failed ? " Failed" : "");
    out_name(&o, &shown->ctx->names, '@', shown->name);
    out_string(&o, ") //----- //\n");
    print_scope(&o, p, c->input, shown, m);
    out_char(&o, '\n');
    out_flush(&o);
    out_free(&o);
}

/* The folder is that of the item which the pass ran on, whatever it shows. */
static bool dump_to_tree(struct printer *p, const char *kind, const struct checkpoint *c, const struct item *shown, const struct module *m)
{
    struct output file;
    const char *dir = p->options->text[OPT_PRINT_IR_TREE_DIR], *fault;
    const char *path = ir_tree_path(dir, c->input, p->n++, c->step->pass->name, kind, p->arena, &fault);
    if (path)
        fault = output_check(&file, path, p->arena);
    if (!fault)
        fault = output_open(&file, p->arena);
    if (!fault) {
        print_scope(&file.out, p, c->input, shown, m);
        fault = output_close(&file);
    }
    return !fault || diag_error(c->input->ctx->diags, (struct loc){ 0 }, "driver.output", "can't write '%s': %s", path ? path : dir, fault);
}

/* False: reported. */
static bool dump(struct printer *p, const char *when, bool failed, const struct checkpoint *c, const struct item *shown, const struct module *m)
{
    if (p->options->on[OPT_PRINT_IR_TREE_DIR])
        return dump_to_tree(p, failed ? ".failed" : *when == 'B' ? ".before" : "", c, shown, m);
    dump_to_stderr(p, when, failed, c, shown, m);
    return true;
}

static bool before(void *state, const struct checkpoint *c)
{
    struct printer *p = state;
    bool named = p->options->on[OPT_PRINT_IR_BEFORE_ALL] || names_pass(p->options, OPT_PRINT_IR_BEFORE, c->step->pass->name);
    return !named || dump(p, "Before", false, c, c->input, c->module);
}

/* Canonical text says whether a pass changed anything. */
static bool changed(const struct item *input, const struct item *output)
{
    return !digest_equal(item_digest((struct item *)input), item_digest((struct item *)output));
}

/* A folder alone asks for what every pass made. */
static bool prints_after(const struct options *o, const char *pass)
{
    static const enum option others[] = { OPT_PRINT_IR_BEFORE, OPT_PRINT_IR_AFTER, OPT_PRINT_IR_BEFORE_ALL, OPT_PRINT_IR_AFTER_CHANGE,
                                          OPT_PRINT_IR_AFTER_FAILURE };
    bool alone = o->on[OPT_PRINT_IR_TREE_DIR];
    for (u32 i = 0; i < COUNT(others); i++)
        alone = alone && !o->on[others[i]];
    return alone || o->on[OPT_PRINT_IR_AFTER_ALL] || names_pass(o, OPT_PRINT_IR_AFTER, pass);
}

static bool after(void *state, const struct checkpoint *c)
{
    struct printer *p = state;
    const struct options *o = p->options;
    bool named = prints_after(o, c->step->pass->name);
    if (o->on[OPT_PRINT_IR_AFTER_CHANGE] ? changed(c->input, c->output) && (named || !o->on[OPT_PRINT_IR_AFTER]) : named)
        return dump(p, "After", false, c, c->output, c->module);
    return true;
}

static void failed(void *state, const struct checkpoint *c)
{
    struct printer *p = state;
    if (p->options->on[OPT_PRINT_IR_AFTER_FAILURE])
        dump(p, "After", true, c, c->output && c->output->n_stmts ? c->output : c->input, NULL);
}

bool printer_prints(const struct options *o)
{
    static const enum option asks[] = { OPT_PRINT_IR_BEFORE, OPT_PRINT_IR_AFTER, OPT_PRINT_IR_BEFORE_ALL, OPT_PRINT_IR_AFTER_ALL,
                                        OPT_PRINT_IR_AFTER_CHANGE, OPT_PRINT_IR_AFTER_FAILURE, OPT_PRINT_IR_TREE_DIR };
    for (u32 i = 0; i < COUNT(asks); i++)
        if (o->on[asks[i]])
            return true;
    return false;
}

struct observer print_observer(struct printer *p)
{
    return (struct observer){ "--print-ir", p, before, after, failed };
}

void follower_begin(struct follower *f, atom name)
{
    f->n = 0;
    if (name)
        *VEC_PUSH(f->list, f->n, f->cap) = (struct followed){ name, false };
}

void follower_free(struct follower *f)
{
    if (f->list)
        block_free(f->list, f->cap * sizeof *f->list);
}

bool follower_holds(const struct follower *f, atom name)
{
    for (u32 i = 0; i < f->n; i++)
        if (f->list[i].name == name)
            return !f->list[i].taken;
    return f->n == 0;
}

atom follower_first(const struct follower *f)
{
    for (u32 i = 0; i < f->n; i++)
        if (!f->list[i].taken)
            return f->list[i].name;
    return 0;
}

static bool follow(void *state, const struct checkpoint *c)
{
    struct follower *f = state;
    for (u32 i = 0; i < f->n; i++)
        if (f->list[i].name == c->input->name) {
            f->list[i].taken = true;
            *VEC_PUSH(f->list, f->n, f->cap) = (struct followed){ c->output->name, false };
            break;
        }
    return true;
}

struct observer follow_observer(struct follower *f)
{
    return (struct observer){ .name = "--item", .state = f, .after = follow };
}

static bool check_names(const char *list, struct arena *arena)
{
    const char *names[64], *word;
    size_t n = 0, length;
    for (const struct pass *const *p = all_passes; *p && n < COUNT(names); p++)
        names[n++] = (*p)->name;
    for (u32 i = 0; (word = list_word(list, i, &length)); i++) {
        if (pass_find(word, length))
            continue;
        const char *name = arena_copy(arena, word, length), *near = nearest_name(name, names, n);
        return near ? usage_error("no pass is called '%s'; did you mean '%s'?", name, near)
                    : usage_error("no pass is called '%s'; --list-passes lists them", name);
    }
    return true;
}

bool printer_check(const struct options *o, struct arena *arena)
{
    for (u32 i = 0; i < o->n_repeated; i++)
        if ((o->repeated[i].id == OPT_PRINT_IR_BEFORE || o->repeated[i].id == OPT_PRINT_IR_AFTER) &&
            !check_names(o->repeated[i].text, arena))
            return false;
    return true;
}
