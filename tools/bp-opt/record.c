#include "record.h"

#include "ir/print.h"
#include "passes/binding.h"
#include "passes/contract.h"

static void out_named(struct out *o, const char *word, const struct item *it)
{
    out_printf(o, "%s ", word);
    out_name(o, &it->ctx->names, '@', it->name);
    out_char(o, ' ');
    out_digest_text(o, item_digest((struct item *)it));
    out_char(o, '\n');
}

static void print_entities(struct out *o, const struct item *it)
{
    for (u32 e = 0; e < it->kind->n_entities; e++) {
        u32 n = item_count(it, e);
        if (n)
            out_printf(o, "entities %s %u\n", entity_word(&it->kind->entities[e]), n);
    }
}

static void print_relations(struct out *o, const struct checkpoint *c)
{
    const struct relation *row = c->step->pass->relations;
    for (u32 i = 0; row && row[i].target; i++)
        if (c->proven[i])
            out_printf(o, "relation %s %s from %s %u\n", row[i].target, row[i].kind == LINEAGE_LOWERED ? "lowered" : lineage_enum.words[row[i].kind].text,
                       row[i].source, c->proven[i]);
}

static void print_findings(struct out *o, const struct checkpoint *c)
{
    for (u32 i = 0; i < c->n_findings; i++) {
        out_printf(o, "analysis %s ", c->findings[i].key->name);
        out_digest_text(o, c->findings[i].digest);
        out_string(o, " session ");
        out_digest_text(o, c->findings[i].session);
        out_char(o, '\n');
    }
}

void record_print(struct out *o, const struct checkpoint *c)
{
    out_printf(o, "pass %s\nrevision %u\ncontract ", c->step->pass->name, c->step->pass->revision);
    out_digest_text(o, contract_digest(c->step->pass));
    out_char(o, '\n');
    out_named(o, "input", c->input);
    out_named(o, "output", c->output);
    out_string(o, "session ");
    out_digest_text(o, c->fingerprint);
    out_char(o, '\n');
    for (int b = 0; b < BINDINGS; b++)
        if (c->step->pass->bindings & NEEDS(b) && c->session->items[b])
            out_named(o, binding_kind((enum binding)b), c->session->items[b]);
    print_entities(o, c->output);
    print_relations(o, c);
    print_findings(o, c);
}

const char *record_name(struct arena *arena, u32 n, const struct pass *pass, const char *kind)
{
    return arena_format(arena, "%04u.%s.%s", n, pass->name, kind);
}

void record_results(struct out *o, const struct module *m)
{
    for (u32 i = 0; i < m->n; i++)
        out_named(o, "result", m->items[i]);
}
