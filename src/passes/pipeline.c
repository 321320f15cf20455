/* The text of pipelines: `pass{option=value option="a b"},pass`. */
#include "passes/binding.h"

#include "support/diag.h"

struct reader {
    struct context *ctx;
    const struct source *src;
    u32 at;
    bool good;
};

static struct loc place(const struct reader *r, u32 begin, u32 end)
{
    return (struct loc){ r->src, begin, end };
}

static bool refuse(struct reader *r, u32 begin, u32 end, const char *code, const char *message)
{
    r->good = false;
    return diag_error(r->ctx->diags, place(r, begin, end), code, "%s", message);
}

static char peek(const struct reader *r)
{
    return r->at < r->src->size ? r->src->text[r->at] : '\0';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->src->size && strchr(" \t\r\n", peek(r)))
        r->at++;
}

static bool name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

static const char *read_name(struct reader *r, struct loc *at)
{
    u32 begin = r->at;
    while (name_byte(peek(r)))
        r->at++;
    *at = place(r, begin, r->at);
    return arena_copy(&r->ctx->arena, r->src->text + begin, r->at - begin);
}

/* A quoted value: the text between the quotes, `\` before a quote or itself. */
static const char *read_quoted(struct reader *r, struct loc *at)
{
    char quote = peek(r), *text = arena_alloc(&r->ctx->arena, r->src->size - r->at + 1);
    u32 begin = r->at++, n = 0;
    while (r->at < r->src->size && peek(r) != quote) {
        bool escaped = peek(r) == '\\' && r->at + 1 < r->src->size && strchr("\\\"'", r->src->text[r->at + 1]);
        r->at += escaped;
        text[n++] = r->src->text[r->at++];
    }
    if (r->at >= r->src->size) {
        refuse(r, begin, begin + 1, "pass.pipeline.syntax", "this quote is not closed");
        return NULL;
    }
    r->at++;
    *at = place(r, begin, r->at);
    return text;
}

/* A braced value: what stands between, braces inside balanced; those in quotes don't count. */
static const char *read_braced(struct reader *r, struct loc *at)
{
    u32 begin = r->at, depth = 0;
    bool quoted = false;
    do {
        quoted ^= peek(r) == '"';
        depth += !quoted && peek(r) == '{';
        depth -= !quoted && peek(r) == '}';
        r->at += 1 + (quoted && peek(r) == '\\');
    } while (depth && r->at < r->src->size);
    if (depth) {
        refuse(r, begin, begin + 1, "pass.pipeline.syntax", "this brace is not closed");
        return NULL;
    }
    *at = place(r, begin, r->at);
    return arena_copy(&r->ctx->arena, r->src->text + begin + 1, r->at - begin - 2);
}

static const char *read_value(struct reader *r, struct loc *at)
{
    if (peek(r) == '"' || peek(r) == '\'')
        return read_quoted(r, at);
    if (peek(r) == '{')
        return read_braced(r, at);
    u32 begin = r->at, depth = 0;
    while (r->at < r->src->size && !(depth == 0 && strchr(" \t\r\n,}", peek(r)))) {
        depth += peek(r) == '[';
        depth -= peek(r) == ']' && depth;
        r->at++;
    }
    *at = place(r, begin, r->at);
    if (r->at == begin)
        refuse(r, begin, begin + 1, "pass.pipeline.syntax", "a value is missing behind `=`");
    return arena_copy(&r->ctx->arena, r->src->text + begin, r->at - begin);
}

/* ---- Names ---- */

static void check_pass(struct reader *r, const char *name, struct loc at, struct step *step)
{
    const char *names[32];
    size_t n = 0;
    step->pass = pass_find(name, strlen(name));
    if (step->pass)
        return;
    for (const struct pass *const *p = all_passes; *p && n < COUNT(names); p++)
        names[n++] = (*p)->name;
    const char *near = nearest_name(name, names, n);
    r->good = diag_error(r->ctx->diags, at, "pass.pipeline.pass", "no pass is called `%s`", name);
    diag_note(r->ctx->diags, (struct loc){ 0 }, near ? "did you mean `%s`?" : "`bp-opt --list-passes` lists them", near);
    if (near)
        diag_fix_found(r->ctx->diags, name, "%s", near);
}

/* `strategy` or `strategy.tensor`, of a binding that the pass needs. */
static void check_option(struct reader *r, const struct pass *pass, const struct step_option *o)
{
    const char *names[64];
    size_t n = 0;
    enum binding b;
    for (int i = 0; i < BINDINGS; i++) {
        if (!(pass->bindings & NEEDS(i)))
            continue;
        if (!strcmp(o->name, binding_name((enum binding)i)))
            return;
        names[n++] = binding_name((enum binding)i);
        const struct item_kind *k = context_item_kind(r->ctx, binding_kind((enum binding)i), strlen(binding_kind((enum binding)i)));
        for (const struct field *f = k->entities[0].fields; f->kind != FIELD_END && n < COUNT(names); f++)
            names[n++] = arena_format(&r->ctx->arena, "%s.%s", binding_name((enum binding)i), f->name);
    }
    if (binding_field(r->ctx, o->name, &b) && pass->bindings & NEEDS(b))
        return;
    for (const struct pass_option *own = pass->options; own && own->name; own++) {
        if (!strcmp(own->name, "*") || !strcmp(own->name, o->name))
            return;
        if (n < COUNT(names))
            names[n++] = own->name;
    }
    const char *near = nearest_name(o->name, names, n);
    r->good = diag_error(r->ctx->diags, o->name_at, "pass.pipeline.option", "%s has no option `%s`", pass->name, o->name);
    if (near)
        diag_note(r->ctx->diags, (struct loc){ 0 }, "did you mean `%s`?", near);
    else
        diag_note(r->ctx->diags, (struct loc){ 0 }, "its options choose or change what it uses: `%s=@name`, `%s=value`", n ? names[0] : "strategy",
                  n > 1 ? names[1] : "strategy.tensor");
}

static void check_doubled(struct reader *r, const struct step *step, const struct step_option *o)
{
    for (u32 i = 0; i < step->n_options; i++)
        if (!strcmp(step->options[i].name, o->name))
            r->good = diag_error(r->ctx->diags, o->name_at, "pass.pipeline.option", "`%s` is given twice", o->name);
}

/* ---- Steps ---- */

enum { MAX_STEPS = 1024 };

static bool read_options(struct reader *r, struct step *step)
{
    u32 open = r->at++;
    step->options = ARENA_ARRAY(&r->ctx->arena, struct step_option, MAX_OPTIONS);
    for (;;) {
        skip_blanks(r);
        if (peek(r) == '}' && ++r->at)
            return true;
        if (r->at >= r->src->size)
            return refuse(r, open, open + 1, "pass.pipeline.syntax", "this brace is not closed");
        struct step_option o;
        o.name = peek(r) == '"' ? read_quoted(r, &o.name_at) : read_name(r, &o.name_at);
        if (!o.name)
            return false;
        if (!*o.name)
            return refuse(r, r->at, r->at + 1, "pass.pipeline.syntax", "an option is `name=value`; options are separated by blanks");
        skip_blanks(r);
        if (peek(r) != '=')
            return refuse(r, o.name_at.begin, o.name_at.end, "pass.pipeline.syntax", "an option is `name=value`; the value is missing");
        r->at++;
        skip_blanks(r);
        o.value = read_value(r, &o.value_at);
        if (!o.value)
            return false;
        if (step->pass) {
            check_option(r, step->pass, &o);
            check_doubled(r, step, &o);
        }
        if (step->n_options == MAX_OPTIONS)
            return refuse(r, o.name_at.begin, o.name_at.end, "pass.pipeline.syntax", "a pass takes at most 32 options");
        step->options[step->n_options++] = o;
    }
}

static bool read_step(struct reader *r, struct step *step)
{
    skip_blanks(r);
    const char *name = read_name(r, &step->at);
    if (!*name)
        return refuse(r, r->at, r->at + (r->at < r->src->size), "pass.pipeline.syntax", r->at < r->src->size ? "a pass's name can't begin here" : "a pass's name is missing");
    check_pass(r, name, step->at, step);
    skip_blanks(r);
    return peek(r) != '{' || read_options(r, step);
}

static bool append(struct pipeline *p, struct context *ctx, const struct step *step)
{
    if (!p->steps)
        p->steps = ARENA_ARRAY(&ctx->arena, struct step, MAX_STEPS);
    if (p->n == MAX_STEPS)
        return false;
    p->steps[p->n++] = *step;
    return true;
}

bool pipeline_parse(struct pipeline *p, struct context *ctx, const struct source *text)
{
    struct reader r = { .ctx = ctx, .src = text, .good = true };
    for (;;) {
        struct step step = { 0 };
        if (!read_step(&r, &step))
            return false;
        if (step.pass && !append(p, ctx, &step))
            return refuse(&r, step.at.begin, step.at.end, "pass.pipeline.syntax", "a pipeline has at most 1024 passes");
        skip_blanks(&r);
        if (r.at >= text->size)
            break;
        if (peek(&r) != ',') {
            const char *c = peek(&r) == '}' ? "this brace closes nothing"
                            : peek(&r) == '(' ? "passes are not nested, each works on every item of its layer: write `pass,pass{option=value}`"
                                              : "expected `,` between passes, or `{` before options";
            return refuse(&r, r.at, r.at + 1, "pass.pipeline.syntax", c);
        }
        r.at++;
        skip_blanks(&r);
        if (r.at >= text->size) {
            diag_warning(ctx->diags, place(&r, text->size ? text->size - 1 : 0, text->size), "pass.pipeline.comma", "a comma at the end of the pipeline");
            break;
        }
    }
    return r.good && pipeline_check(p, ctx);
}

/* A name or value, in quotes unless it is of the bytes of names and of ALSO alone. */
static void out_text(struct out *o, const char *text, const char *also)
{
    const char *end = text;
    while (*end && (name_byte(*end) || strchr(also, *end)))
        end++;
    if (*text && !*end) {
        out_string(o, text);
        return;
    }
    out_char(o, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            out_char(o, '\\');
        out_char(o, *c);
    }
    out_char(o, '"');
}

void out_pipeline(struct out *o, const struct pipeline *p)
{
    for (u32 i = 0; i < p->n; i++) {
        const struct step *s = &p->steps[i];
        out_string(o, i ? "," : "");
        out_string(o, s->pass->name);
        for (u32 k = 0; k < s->n_options; k++) {
            out_string(o, k ? " " : "{");
            out_text(o, s->options[k].name, "");
            out_char(o, '=');
            out_text(o, s->options[k].value, "@");
        }
        if (s->n_options)
            out_char(o, '}');
    }
}
