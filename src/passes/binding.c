#include "passes/binding.h"

#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parse.h"

static const char *const names[BINDINGS] = { "workload", "strategy", "target", "deployment" };
static const char *const kinds[BINDINGS] = { "session.workload", "session.strategy", "session.target", "session.deployment" };

const char *binding_name(enum binding b) { return names[b]; }
const char *binding_kind(enum binding b) { return kinds[b]; }

const struct field *binding_field(const struct context *ctx, const char *option, enum binding *b)
{
    const char *dot = strchr(option, '.');
    for (int i = 0; dot && i < BINDINGS; i++)
        if (strlen(names[i]) == (size_t)(dot - option) && !strncmp(names[i], option, (size_t)(dot - option))) {
            const struct item_kind *k = context_item_kind(ctx, kinds[i], strlen(kinds[i]));
            *b = (enum binding)i;
            return field_find(k->entities[0].fields, dot + 1, strlen(dot + 1));
        }
    return NULL;
}

/* ---- Which item ---- */

static bool is_kind(const struct item *it, enum binding b)
{
    return !strcmp(it->kind->name, kinds[b]);
}

static struct item *find_named(enum binding b, atom name, const struct module *file, const struct module *session)
{
    struct item *it = module_find(file, name);
    if (!it && session)
        it = module_find(session, name);
    return it && is_kind(it, b) ? it : NULL;
}

/* A session file may repeat an item of the file. */
static bool repeats(const struct module *file, struct item *it)
{
    struct item *twin = module_find(file, it->name);
    return twin && twin != it && digest_equal(item_digest(twin), item_digest(it));
}

static bool is_made(const struct module *fresh, const struct item *it)
{
    for (u32 i = 0; fresh && i < fresh->n; i++)
        if (fresh->items[i] == it)
            return true;
    return false;
}

/* MADE: items that are not counted, or NULL. */
static struct item *find_only(enum binding b, const struct module *file, const struct module *session, const struct module *made, u32 *n)
{
    const struct module *modules[] = { file, session };
    struct item *found = NULL;
    *n = 0;
    for (u32 m = 0; m < COUNT(modules); m++)
        for (u32 i = 0; modules[m] && i < modules[m]->n; i++)
            if (is_kind(modules[m]->items[i], b) && modules[m]->items[i] != found && !repeats(file, modules[m]->items[i]) &&
                !is_made(made, modules[m]->items[i])) {
                found = modules[m]->items[i];
                ++*n;
            }
    return found;
}

/* The one that the input was derived with. */
static struct item *find_pinned(const struct pass_run *r, enum binding b, const struct module *file, const struct module *session)
{
    const struct header *h = &r->input->header;
    for (u32 i = 0; i < h->n_using; i++) {
        struct item *it = find_named(b, h->using[i].item, file, session);
        if (it)
            return it;
    }
    return NULL;
}

static void list_candidates(struct pass_run *r, enum binding b, const struct module *file, const struct module *session)
{
    const struct module *modules[] = { file, session };
    for (u32 m = 0; m < COUNT(modules); m++)
        for (u32 i = 0; modules[m] && i < modules[m]->n; i++)
            if (is_kind(modules[m]->items[i], b))
                diag_note(r->ctx->diags, r->ctx->locate ? r->ctx->locate(modules[m]->items[i], NULL, NULL, NULL) : (struct loc){ 0 },
                          "choose it with {%s=%s}", names[b], symbol_text(modules[m]->items[i], modules[m]->items[i]->name));
}

static const struct step_option *override_of(const struct step *step, enum binding b, const char *field)
{
    for (u32 i = 0; i < step->n_options; i++) {
        const char *name = step->options[i].name;
        size_t n = strlen(names[b]);
        if (!strncmp(name, names[b], n) && name[n] == '.' && (!field || !strcmp(name + n + 1, field)))
            return &step->options[i];
    }
    return NULL;
}

/* What an option changes is not what it made for the pass's item before. */
static struct item *choose(struct pass_run *r, enum binding b, const struct step *step, const struct module *file,
                           const struct module *session, const struct module *fresh)
{
    for (u32 i = 0; i < step->n_options; i++) {
        const struct step_option *o = &step->options[i];
        if (strcmp(o->name, names[b]))
            continue;
        const char *name = o->value + (o->value[0] == '@');
        struct item *it = find_named(b, intern_string(&r->ctx->names, name), file, session);
        if (!it) {
            diag_error(r->ctx->diags, o->value_at, "pass.binding.unknown", "there is no %s @%s", kinds[b], name);
            list_candidates(r, b, file, session);
        }
        return it;
    }
    u32 n;
    struct item *it = find_only(b, file, session, override_of(step, b, NULL) ? fresh : NULL, &n);
    if (n > 1 && (it = find_pinned(r, b, file, session)))
        n = 1;
    if (n == 1)
        return it;
    if (n == 0) {
        diag_error(r->ctx->diags, step->at, "pass.binding.missing", "%s needs a %s, and there is none", r->pass->name, kinds[b]);
        diag_note(r->ctx->diags, (struct loc){ 0 }, "add `%s @name { … }` to the file, or give one with --session=FILE", kinds[b]);
    } else {
        diag_error(r->ctx->diags, step->at, "pass.binding.ambiguous", "%s needs one %s, and there are %u", r->pass->name, kinds[b], n);
        list_candidates(r, b, file, session);
    }
    return NULL;
}

/* ---- Overridden facts ---- */

static atom effective_name(const struct item *it, enum binding b, const struct step *step)
{
    struct out o;
    out_memory(&o);
    out_string(&o, context_text(it->ctx, it->name));
    for (const struct field *f = it->kind->entities[0].fields; f->kind != FIELD_END; f++) {
        const struct step_option *option = override_of(step, b, f->name);
        if (!option)
            continue;
        out_printf(&o, ".%s_", f->name);
        for (const char *c = option->value; *c; c++)
            out_char(&o, (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ? *c : '_');
    }
    atom name = intern(&it->ctx->names, o.data, o.n);
    out_free(&o);
    return name;
}

/* The item's text with the overridden fields exchanged: the parser then checks the values. */
static char *effective_text(const struct item *it, enum binding b, const struct step *step)
{
    struct out o;
    out_memory(&o);
    out_printf(&o, "%s ", it->kind->name);
    out_name(&o, &it->ctx->names, '@', effective_name(it, b, step));
    out_string(&o, " {\n");
    for (const struct field *f = it->kind->entities[0].fields; f->kind != FIELD_END; f++) {
        const struct step_option *option = override_of(step, b, f->name);
        if (option)
            out_printf(&o, "  %s = %s\n", f->name, option->value);
        else if (!field_is_default(it, it->stmts[0], f) || f->presence == REQUIRED) {
            print_session_field(&o, it, it->stmts[0], f);
            out_char(&o, '\n');
        }
    }
    out_string(&o, "}\n");
    char *text = arena_copy(&it->ctx->arena, o.data, o.n);
    out_free(&o);
    return text;
}

static char *field_text(const struct item *it, const struct field *f)
{
    struct out o;
    out_memory(&o);
    print_session_field(&o, it, it->stmts[0], f);
    char *text = arena_copy(&it->ctx->arena, o.data, o.n);
    out_free(&o);
    return text;
}

/* A value is text: `tensor="2 data = 2"` would change facts that no option names. */
static bool keeps_others(const struct item *base, const struct item *effective, enum binding b, const struct step *step)
{
    for (const struct field *f = base->kind->entities[0].fields; f->kind != FIELD_END; f++)
        if (!override_of(step, b, f->name) && strcmp(field_text(base, f), field_text(effective, f)))
            return false;
    return true;
}

static bool name_clash(struct pass_run *r, const struct step *step, const struct item *twin)
{
    diag_error(r->ctx->diags, step->at, "pass.name.clash", "the options of %s would make another %s", step->pass->name,
               symbol_text(twin, twin->name));
    diag_note(r->ctx->diags, r->ctx->locate ? r->ctx->locate(twin, NULL, NULL, NULL) : (struct loc){ 0 }, "the first is here; rename it");
    return false;
}

/* Every fact but the name. */
static bool same_facts(const struct item *base, struct item *effective)
{
    const char *what;
    atom name = effective->name;
    effective->name = base->name;
    bool same = item_equal(base, effective, &what);
    effective->name = name;
    return same;
}

static struct item *override_facts(struct pass_run *r, struct item *it, enum binding b, const struct step *step, const struct module *file,
                                   struct module *fresh)
{
    struct module made;
    struct source *src = ARENA_NEW(&r->ctx->arena, struct source);
    char *text = effective_text(it, b, step);
    u32 errors = r->ctx->diags->errors;
    source_borrow(src, arena_format(&r->ctx->arena, "<%s with options>", symbol_text(it, it->name)), text, strlen(text));
    bool good = parse_module(&made, r->ctx, src) && made.n == 1 && verify_item(made.items[0], NULL) &&
                keeps_others(it, made.items[0], b, step);
    struct item *effective = good ? made.items[0] : NULL, *known = good && same_facts(it, effective) ? it : NULL;
    struct item *twin = good && !known ? module_find(file, effective->name) : NULL;
    if (twin && digest_equal(item_digest(twin), item_digest(effective)))
        known = twin;
    else if (twin)
        good = name_clash(r, step, twin);
    if (!good && r->ctx->diags->errors == errors)
        diag_error(r->ctx->diags, step->at, "pass.option.value", "the options of %s do not make one %s", step->pass->name, kinds[b]);
    if (good && !known) {
        module_add(fresh, effective);
        made.n = 0;
    }
    module_free(&made);
    return !good ? NULL : known ? known : effective;
}

bool bind_session(struct pass_run *r, const struct step *step, const struct module *file, const struct module *session,
                  struct module *fresh)
{
    bool good = true;
    for (int b = 0; b < BINDINGS; b++) {
        if (!(r->pass->bindings & NEEDS(b)))
            continue;
        struct item *it = choose(r, (enum binding)b, step, file, session, fresh);
        if (it && override_of(step, (enum binding)b, NULL))
            it = override_facts(r, it, (enum binding)b, step, file, fresh);
        r->session.items[b] = it;
        good = good && it;
    }
    return good;
}
