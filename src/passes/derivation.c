#include "passes/derivation.h"

#include "ir/verify.h"
#include "passes/binding.h"
#include "passes/contract.h"

static const struct loc nowhere;

static struct loc place(const struct item *it, const struct stmt *s, const char *field, const char *text)
{
    return it->ctx->locate ? it->ctx->locate(it, s, field, text) : nowhere;
}

static const struct pass *pass_of(const struct item *it)
{
    const struct interned *name = &it->ctx->names.atoms[it->header.pass];
    return it->header.pass ? pass_find(name->text, name->length) : NULL;
}

/* ---- Headers ---- */

static bool refuse(const struct item *it, const char *at, const char *code, const char *format, ...) PRINTF_LIKE(4, 5);
static bool refuse(const struct item *it, const char *at, const char *code, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    diag_format(message, sizeof message, format, args);
    va_end(args);
    struct loc loc = place(it, NULL, NULL, at);
    diag_error(it->ctx->diags, loc, code, "%s", message);
    if (!loc.src)
        diag_context(it->ctx->diags, "%s", symbol_text(it, it->name));
    return false;
}

static bool unknown_pass(const struct item *it, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (const struct pass *const *p = all_passes; *p && n < COUNT(names); p++)
        names[n++] = (*p)->name;
    const char *near = nearest_name(name, names, n);
    refuse(it, name, "pass.header.pass", "no pass is called `%s`", name);
    if (near)
        diag_note(it->ctx->diags, nowhere, "did you mean `%s`?", near);
    else
        diag_note(it->ctx->diags, nowhere, "what no pass of bp-opt made says `from` and no `by`");
    return false;
}

static bool check_layers(const struct module *m, const struct item *it, const struct pass *p)
{
    const struct item *parent = module_find(m, it->header.parent.item);
    if (p->to != it->kind->layer)
        return refuse(it, p->name, "pass.header.layer", "%s makes a %s, and this is a %s", p->name, layer_kind(p->to), it->kind->name);
    if (parent && !parent->damaged && parent->kind->layer != p->from)
        return refuse(it, p->name, "pass.header.layer", "%s takes a %s, and %s is a %s", p->name, layer_kind(p->from), symbol_text(parent, parent->name),
                      parent->kind->name);
    return true;
}

/* "a session.target and a session.deployment" */
static const char *needs_text(struct arena *a, const struct pass *p)
{
    const char *text = "";
    for (int b = 0; b < BINDINGS; b++)
        if (p->bindings & NEEDS(b))
            text = arena_format(a, "%s%sa %s", text, *text ? " and " : "", binding_kind((enum binding)b));
    return *text ? text : "nothing";
}

/* A pass without bindings hands on what its input was derived with. */
static bool check_using(const struct module *m, const struct item *it, const struct pass *p)
{
    const struct header *h = &it->header;
    u32 i = 0, wanted = 0;
    bool good = true;
    for (int b = 0; b < BINDINGS; b++)
        wanted += (p->bindings & NEEDS(b)) != 0;
    if (!p->bindings)
        return true;
    if (h->n_using != wanted)
        good = refuse(it, p->name, "pass.header.using", "%s uses %s, and the header names %u item%s", p->name, needs_text(&it->ctx->arena, p),
                      h->n_using, h->n_using == 1 ? "" : "s");
    for (int b = 0; b < BINDINGS && good; b++) {
        const struct item *to = p->bindings & NEEDS(b) ? module_find(m, h->using[i++].item) : NULL;
        if (to && strcmp(to->kind->name, binding_kind((enum binding)b)))
            good = refuse(it, symbol_text(it, to->name), "pass.header.using", "%s uses %s in this order, and %s is a %s", p->name,
                          needs_text(&it->ctx->arena, p), symbol_text(it, to->name), to->kind->name);
    }
    return good;
}

static bool check_header(const struct module *m, const struct item *it)
{
    const struct pass *p = pass_of(it);
    bool good = true;
    if (!p)
        return unknown_pass(it, context_text(it->ctx, it->header.pass));
    if (it->header.revision > p->revision) {
        good = refuse(it, p->name, "pass.header.revision", "%s has revision %u, and none that is %u", p->name, p->revision, it->header.revision);
        diag_note(it->ctx->diags, nowhere, p->revision == 1 ? "its only revision is 1" : "its revisions are 1 to %u", p->revision);
    }
    good = check_layers(m, it, p) && good;
    return check_using(m, it, p) && good;
}

bool derivation_check_headers(const struct module *m)
{
    bool good = true;
    for (u32 i = 0; i < m->n; i++)
        if (!m->items[i]->damaged && m->items[i]->header.pass)
            good = check_header(m, m->items[i]) && good;
    return good;
}

/* ---- Once more ---- */

static bool skip(const struct item *it, const char *format, ...) PRINTF_LIKE(2, 3);
static bool skip(const struct item *it, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    diag_format(reason, sizeof reason, format, args);
    va_end(args);
    diag_remark(it->ctx->diags, place(it, NULL, NULL, NULL), "pass.derivation.skipped", "%s is not derived again: %s", symbol_text(it, it->name), reason);
    return false;
}

/* True: everything that the header names is there. */
static bool can_derive(const struct module *m, const struct module *session, const struct item *it, const struct pass *p)
{
    const struct header *h = &it->header;
    if (!module_find(m, h->parent.item))
        return skip(it, "its parent %s is not in the file", symbol_text(it, h->parent.item));
    if (h->revision != p->revision)
        return skip(it, "revision %u of %s made it, and this is revision %u", h->revision, p->name, p->revision);
    if (p->random)
        return skip(it, "two runs of %s may differ", p->name);
    for (u32 i = 0; p->bindings && i < h->n_using; i++)
        if (!module_find(m, h->using[i].item) && !module_find(session, h->using[i].item))
            return skip(it, "%s, which %s used, is not in the file", symbol_text(it, h->using[i].item), p->name);
    for (const struct pass_option *o = p->options; o && o->name; o++)
        if (!strcmp(o->name, "*"))
            return skip(it, "the header doesn't say with which options %s made it", p->name);
    return true;
}

/* The items of M that the run may see: those of the session, the parent, and what that is from. No names clash then. */
static void gather(struct module *work, const struct module *m, const struct item *it)
{
    module_init(work, m->ctx, m->src);
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i]->kind->layer == LAYER_SESSION)
            module_add(work, m->items[i]);
    for (u32 i = 0; i < m->n && it->header.parent.item; i++) {      /* no further than through all items: a circle ends */
        if (!(it = module_find(m, it->header.parent.item)))
            return;
        module_add(work, (struct item *)it);
    }
}

static u32 own_options(const struct pass *p)
{
    u32 n = 0;
    while (p->choices && p->options && p->options[n].name)
        n++;
    return n;
}

/* In how many ways option I can be given, not at all among them. */
static u32 ways(const struct pass *p, u32 i)
{
    u32 n = 0;
    while (p->choices[i][n])
        n++;
    return n + 1;
}

static u32 all_ways(const struct pass *p)
{
    u32 n = 1;
    for (u32 i = 0; i < own_options(p); i++)
        n *= ways(p, i);
    return n;
}

/* CHOICE, below all_ways, has a digit for each option; 0 leaves it out. */
static struct step step_of(const struct item *it, const struct pass *p, u32 choice)
{
    struct arena *a = &it->ctx->arena;
    struct step step = { .pass = p, .options = ARENA_ARRAY(a, struct step_option, BINDINGS + own_options(p)) };
    u32 k = 0;
    for (int b = 0; b < BINDINGS; b++)
        if (p->bindings & NEEDS(b))
            step.options[step.n_options++] = (struct step_option){ .name = binding_name((enum binding)b),
                                                                   .value = arena_format(a, "@%s", context_text(it->ctx, it->header.using[k++].item)) };
    for (u32 i = 0; i < own_options(p); choice /= ways(p, i++))
        if (choice % ways(p, i))
            step.options[step.n_options++] = (struct step_option){ .name = p->options[i].name, .value = p->choices[i][choice % ways(p, i) - 1] };
    return step;
}

static bool holds(const struct module *m, const struct item *it)
{
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i] == it)
            return true;
    return false;
}

/* Among what the run made, the item that IT should be: of its name, or the only one. */
static struct item *find_twin(const struct module *work, const struct module *m, const struct module *session, const struct item *it)
{
    struct item *twin = NULL;
    u32 made = 0;
    for (u32 i = 0; i < work->n; i++) {
        struct item *made_now = work->items[i];
        if (holds(m, made_now) || holds(session, made_now))
            continue;
        if (made_now->name == it->name)
            return made_now;
        twin = made_now;
        made++;
    }
    return made == 1 ? twin : NULL;
}

static void free_made(struct module *work, const struct module *m, const struct module *session)
{
    u32 kept = 0;
    for (u32 i = 0; i < work->n; i++)
        if (!holds(m, work->items[i]) && !holds(session, work->items[i]))
            work->items[kept++] = work->items[i];
    work->n = kept;
    module_free(work);
    for (u32 i = 0; i < m->n; i++)
        m->items[i]->index = i;
}

/* How many statements IT and its twin begin with alike; of the next the field that differs, or NULL. */
static u32 alike(const struct item *it, const struct item *twin, const char **field)
{
    *field = NULL;
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct stmt *s = it->stmts[i];
        if (i >= twin->n_stmts || twin->stmts[i]->entity != s->entity)
            return i;
        for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++)
            if (!stmt_field_equal(it, s, twin, twin->stmts[i], f)) {
                *field = f->place == PLACE_HEAD ? NULL : f->name;
                return i;
            }
    }
    return it->n_stmts;
}

static bool tell_difference(struct item *it, const struct item *twin, const struct pass *p)
{
    const char *field, *name = symbol_text(it, it->name), *parent = symbol_text(it, it->header.parent.item);
    u32 n = alike(it, twin, &field);
    if (n < it->n_stmts) {
        const struct stmt *s = it->stmts[n];
        diag_error(it->ctx->diags, place(it, s, field, NULL), "pass.derivation.differs", "%s is not what %s makes of %s: here is %s%s%s%s", name, p->name,
                   parent, field ? "another `" : "", field ? field : "another ", field ? "` at " : "", stmt_text(it, s));
    } else {
        diag_error(it->ctx->diags, place(it, NULL, NULL, NULL), "pass.derivation.differs", "%s is not what %s makes of %s: %s", name, p->name, parent,
                   it->n_stmts < twin->n_stmts ? "its end is missing" : "its header is another");
    }
    diag_note(it->ctx->diags, nowhere, "derive it again, or leave out `by`: then it is a plan of its own");
    return false;
}

enum outcome { SAME, OTHER, REFUSED };

/* Runs the pass with the own options that CHOICE says. TELL: what is wrong is reported. NEAR: the statements that are right. */
static enum outcome attempt(const struct module *m, const struct module *session, struct item *it, u32 choice, bool tell, u32 *near)
{
    struct context *ctx = it->ctx;
    const struct pass *p = pass_of(it);
    struct diags mute, *loud = ctx->diags;
    struct step step = step_of(it, p, choice);
    struct pipeline pipeline = { &step, 1 };
    struct run_options options = { .keep_sources = true, .only = it->header.parent.item };
    struct module work;
    enum outcome outcome = REFUSED;
    const char *field;
    diags_init(&mute);
    gather(&work, m, it);
    ctx->diags = tell ? loud : &mute;
    if (pipeline_run(&work, session, &pipeline, &options)) {
        struct item *twin = find_twin(&work, m, session, it);
        atom name = twin ? twin->name : 0;
        if (twin) {
            twin->name = it->name;
            twin->digest = (struct digest){ 0, 0 };
        }
        outcome = twin && digest_equal(item_digest(twin), item_digest(it)) ? SAME : OTHER;
        if (twin)
            *near = alike(it, twin, &field);
        if (outcome == OTHER && twin)
            tell_difference(it, twin, p);
        else if (outcome == OTHER)
            refuse(it, NULL, "pass.derivation.differs", "%s makes several items of %s, and none is called %s", p->name,
                   symbol_text(it, it->header.parent.item), symbol_text(it, it->name));
        if (twin)
            twin->name = name;
    }
    ctx->diags = loud;
    free_made(&work, m, session);
    diags_free(&mute);
    return outcome;
}

static bool derive_again(const struct module *m, const struct module *session, struct item *it)
{
    const struct pass *p = pass_of(it);
    if (!can_derive(m, session, it, p))
        return true;
    u32 nearest = 0, most = 0;
    bool same = false;
    for (u32 choice = 0; !same && choice < all_ways(p); choice++) {
        u32 near = 0;
        same = attempt(m, session, it, choice, false, &near) == SAME;
        nearest = near > most ? choice : nearest;
        most = near > most ? near : most;
    }
    if (same) {
        diag_remark(it->ctx->diags, place(it, NULL, NULL, NULL), "pass.derivation.same", "%s is what %s makes of %s", symbol_text(it, it->name), p->name,
                    symbol_text(it, it->header.parent.item));
        return true;
    }
    if (attempt(m, session, it, nearest, true, &most) == REFUSED)
        refuse(it, p->name, "pass.derivation.refused", "%s makes nothing of %s, from which %s is said to be", p->name,
               symbol_text(it, it->header.parent.item), symbol_text(it, it->name));
    return false;
}

bool derivation_check(const struct module *m, const struct module *session, atom only)
{
    bool good = true;
    for (u32 i = 0; i < m->n; i++)
        if (m->items[i]->header.pass && (!only || m->items[i]->name == only))
            good = derive_again(m, session, m->items[i]) && good;
    return good;
}
