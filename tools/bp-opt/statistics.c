#include "statistics.h"

#include "passes/cover.h"

/* How many statements of a keyword the input and the output have. */
struct keyword_count {
    const char *keyword;
    u32 taken, made;
};

struct pass_count {
    const char *pass, *input, *output;
    u32 revision, taken, made, relations, analyses;
    u64 bytes;                          /* of the output's canonical text */
    struct keyword_count *keywords;
    u32 n_keywords;
};

void statistics_init(struct statistics *s, struct arena *arena)
{
    *s = (struct statistics){ .arena = arena };
}

void statistics_free(struct statistics *s)
{
    if (s->list)
        block_free(s->list, s->cap * sizeof *s->list);
}

/* ---- Counting ---- */

static u32 count(const struct item *it, const char *keyword)
{
    u32 n = 0;
    for (u32 i = 0; i < it->n_stmts; i++)
        n += !strcmp(entity_word(stmt_entity(it, it->stmts[i])), keyword);
    return n;
}

static bool has(const struct pass_count *p, const char *keyword)
{
    for (u32 i = 0; i < p->n_keywords; i++)
        if (!strcmp(p->keywords[i].keyword, keyword))
            return true;
    return false;
}

/* In the order of the tables: what the input's layer has, then what is new in the output's. */
static void count_keywords(struct pass_count *p, const struct item *its, const struct item *in, const struct item *out)
{
    for (u32 i = 0; i < its->kind->n_entities; i++) {
        const char *keyword = entity_word(&its->kind->entities[i]);
        u32 taken = count(in, keyword), made = count(out, keyword);
        if ((taken || made) && !has(p, keyword))
            p->keywords[p->n_keywords++] = (struct keyword_count){ keyword, taken, made };
    }
}

static bool after(void *state, const struct checkpoint *c)
{
    struct statistics *s = state;
    struct pass_count p = {
        .pass = c->step->pass->name, .revision = c->step->pass->revision, .input = context_text(c->input->ctx, c->input->name),
        .output = context_text(c->output->ctx, c->output->name), .taken = c->input->n_stmts, .made = c->output->n_stmts,
        .analyses = c->n_findings, .bytes = item_text_size(c->output),
    };
    p.keywords = ARENA_ARRAY(s->arena, struct keyword_count, c->input->kind->n_entities + c->output->kind->n_entities);
    count_keywords(&p, c->input, c->input, c->output);
    count_keywords(&p, c->output, c->input, c->output);
    for (u32 i = 0; i < relation_count(c->step->pass); i++)
        p.relations += c->proven[i];
    *VEC_PUSH(s->list, s->n, s->cap) = p;
    return true;
}

struct observer statistics_observer(struct statistics *s)
{
    return (struct observer){ .name = "--pass-statistics", .state = s, .after = after };
}

/* ---- Printing ---- */

static void out_count(struct out *o, const char *what, u64 n)
{
    out_printf(o, "  %12llu  %s\n", (unsigned long long)n, what);
}

static void print_text(struct out *o, const struct pass_count *p)
{
    out_printf(o, "%s, revision %u: @%s to @%s\n", p->pass, p->revision, p->input, p->output);
    out_count(o, "statements taken", p->taken);
    out_count(o, "statements made", p->made);
    for (u32 i = 0; i < p->n_keywords; i++)
        out_printf(o, "  %12u  %s (%u taken)\n", p->keywords[i].made, p->keywords[i].keyword, p->keywords[i].taken);
    out_count(o, "relations proved", p->relations);
    out_count(o, "analyses published", p->analyses);
    out_count(o, "bytes of canonical text", p->bytes);
}

static void print_json(struct out *o, const struct pass_count *p)
{
    out_printf(o, "{\"pass\":\"%s\",\"revision\":%u,\"input\":", p->pass, p->revision);
    out_json_string(o, p->input, strlen(p->input));
    out_string(o, ",\"output\":");
    out_json_string(o, p->output, strlen(p->output));
    out_printf(o, ",\"statements_taken\":%u,\"statements_made\":%u,\"statements\":{", p->taken, p->made);
    for (u32 i = 0; i < p->n_keywords; i++)
        out_printf(o, "%s\"%s\":{\"taken\":%u,\"made\":%u}", i ? "," : "", p->keywords[i].keyword, p->keywords[i].taken, p->keywords[i].made);
    out_printf(o, "},\"relations_proved\":%u,\"analyses_published\":%u,\"canonical_bytes\":%llu}", p->relations, p->analyses,
               (unsigned long long)p->bytes);
}

/* A counter event, whose series are the keywords. */
static void print_event(struct out *o, const struct pass_count *p, u32 at)
{
    out_string(o, "\n{\"name\":\"statements\",\"cat\":\"bp-opt\",\"ph\":\"C\",\"pid\":1,\"id\":");
    out_json_string(o, p->output, strlen(p->output));
    out_printf(o, ",\"ts\":%u,\"args\":{", at);
    for (u32 i = 0; i < p->n_keywords; i++)
        out_printf(o, "%s\"%s\":%u", i ? "," : "", p->keywords[i].keyword, p->keywords[i].made);
    out_string(o, "}}");
}

void statistics_print(struct out *o, const struct statistics *s, enum report_form form)
{
    static const char *const begin[] = { "// -----// What the passes took and made //----- //\n", "{\"passes\":[", "{\"traceEvents\":[" };
    out_string(o, begin[form]);
    for (u32 i = 0; i < s->n; i++) {
        out_string(o, form == FORM_TEXT || !i ? "" : ",");
        if (form == FORM_TRACE)
            print_event(o, &s->list[i], i);
        else
            (form == FORM_TEXT ? print_text : print_json)(o, &s->list[i]);
    }
    out_string(o, form == FORM_TEXT ? "" : "]}\n");
}
