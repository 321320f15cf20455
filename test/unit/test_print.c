/* Printing and parsing are inverse: over every statement of the tables, every clause, word and operation. */
#include "attempt.h"
#include "phrase.h"

#include "dialects/registry.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static char *printed_of(const char *text)
{
    struct attempt a;
    attempt_parse(&a, text, strlen(text));
    const char *fault = attempt_fault(&a);
    ck_assert_msg(!fault, "%s\n%s", fault, text);
    ck_assert_msg(a.parsed, "refused: %s\n%s", a.diags.first->message, text);
    char *printed = attempt_print(&a, true);
    attempt_end(&a);
    return printed;
}

/* The clauses of this choice survive in either order, and print alike. */
static void try_choice(const struct item_kind *kind, const struct entity *e, u32 optional)
{
    struct out text[2];
    char *printed[2];
    for (int reverse = 0; reverse < 2; reverse++) {
        struct phrase p = { .kind = kind, .entity = e, .optional = optional, .reverse = reverse };
        out_memory(&text[reverse]);
        out_phrase_item(&text[reverse], &p);
        printed[reverse] = printed_of(text[reverse].data);
    }
    ck_assert_str_eq(printed[0], printed[1]);
    for (int i = 0; i < 2; i++) {
        out_free(&text[i]);
        free(printed[i]);
    }
}

/* All choices of up to eight clauses; of more, none, all, each alone, each left out, each pair, and 200 at random. */
static void every_choice(const struct item_kind *kind, const struct entity *e)
{
    u32 n = phrase_optional(e), all = (1u << n) - 1, random = 12345;
    for (u32 choice = 0; n <= 8 && choice <= all; choice++)
        try_choice(kind, e, choice);
    if (n <= 8)
        return;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k <= i; k++) {
            try_choice(kind, e, 1u << i | 1u << k);
            try_choice(kind, e, all & ~(1u << i | 1u << k));
        }
    for (u32 i = 0; i < 200; i++) {
        random = random * 1664525 + 1013904223;
        try_choice(kind, e, random >> 8 & all);
    }
}

START_TEST(every_choice_of_clauses_survives)
{
    each_entity(every_choice);
}
END_TEST

static const char *clause_text(const struct phrase *p, const struct field *f)
{
    static char text[512];
    struct out o;
    out_memory(&o);
    out_phrase_value(&o, p, f);
    snprintf(text, sizeof text, "%.*s", (int)o.n, o.data);
    out_free(&o);
    return text;
}

/* Nothing that was written is lost: each clause's own text stands in what is printed. */
static void every_clause(const struct item_kind *kind, const struct entity *e)
{
    struct phrase p = { .kind = kind, .entity = e, .optional = ~0u };
    struct out o;
    out_memory(&o);
    out_phrase_item(&o, &p);
    char *printed = printed_of(o.data);
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        if (f->kind != FIELD_ATTRIBUTES && !(f == e->fields && e->flags & ENTITY_ROLE_KEYWORD))
            ck_assert_msg(strstr(printed, clause_text(&p, f)), "%s of %s is lost:\n%s\n%s", f->name, e->keyword, o.data, printed);
    free(printed);
    out_free(&o);
}

START_TEST(every_clause_is_printed)
{
    each_entity(every_clause);
}
END_TEST

/* Every word of every enumeration that a statement takes. The last role is that of results, and no keyword. */
static void every_word(const struct item_kind *kind, const struct entity *e)
{
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++) {
        const struct enumeration *words = f->kind == FIELD_ENUM ? f->aux : NULL;
        u32 n = !words ? 0 : f == e->fields && e->flags & ENTITY_ROLE_KEYWORD ? words->n - 1 : words->n;
        for (u32 w = 0; w < n; w++) {
            struct phrase p = { .kind = kind, .entity = e, .optional = ~0u, .varied = f, .word = w };
            struct out o;
            out_memory(&o);
            out_phrase_item(&o, &p);
            free(printed_of(o.data));
            out_free(&o);
        }
    }
}

START_TEST(every_word_of_the_enumerations_survives)
{
    each_entity(every_word);
}
END_TEST

/* The examples of the tables are printed text. */
static void example(const struct item_kind *kind, const struct entity *e)
{
    struct out o;
    char line[256];
    snprintf(line, sizeof line, "  %s\n", e->example);
    out_memory(&o);
    out_phrase_around(&o, kind, kind->layer == LAYER_SESSION ? line : e->example);
    out_char(&o, '\0');
    struct attempt a;
    attempt_parse(&a, o.data, o.n - 1);
    if (kind->layer != LAYER_SESSION || a.parsed) {         /* a session's example is one of its fields */
        char *printed = printed_of(o.data);
        ck_assert_str_eq(printed, o.data);
        free(printed);
    }
    attempt_end(&a);
    out_free(&o);
}

START_TEST(every_example_prints_as_it_stands)
{
    each_entity(example);
    u32 n = 0;
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_samples; i++, n++) {
            struct entity e = { .example = (*d)->samples[i].text };
            example(&(*d)->kinds[0], &e);
        }
    ck_assert_uint_gt(n, 15);
}
END_TEST

/* Every operation in every layer that may have it, with its own clauses. */
START_TEST(every_operation_survives_in_each_of_its_layers)
{
    static const char *const forms[] = {
        [LAYER_MODEL] = "model.program @m schema 1.0 {\n  op @o %s(%%x, %%y) -> %%z : tensor<4x8xf16>%s%s\n}\n",
        [LAYER_DIST] = "dist.program @m schema 1.0 {\n  task @o local %s(%%x, %%y) -> %%z : tensor<4x8xf16>%s%s\n}\n",
        [LAYER_PORTABLE] = "portable.plan @m schema 1.0 {\n  task @o compute %s(%%x, %%y) -> %%z%s%s\n}\n",
        [LAYER_CONCRETE] = "concrete.plan @m schema 1.0 {\n  command @o launch %s(%%x, %%y) -> %%z%s%s\n}\n",
    };
    u32 n = 0;
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (const struct operation *op = (*d)->operations; op->name; op++) {
            const char *arrow = strstr(op->sample, "-> "), *tail = arrow[3] == '(' ? strchr(arrow, ')') + 1 : strchr(arrow + 3, ' ');
            ck_assert_msg(!op->attributes == !(tail && *tail), "the sample of %s has no clauses of its own, or too many", op->name);
            for (int layer = LAYER_MODEL; layer < LAYERS; layer++)
                if (op->layers & IN(layer)) {
                    char text[512];
                    snprintf(text, sizeof text, forms[layer], op->name, tail ? layer == LAYER_CONCRETE ? "" : "\n   " : "", tail ? tail : "");
                    assert_prints(text, text);
                    n++;
                }
        }
    ck_assert_uint_gt(n, 50);
}
END_TEST

/* ---- Names ---- */

/* `~` is the name and `^` the same as a word: of items, symbols, meshes, values, axes, channels, layers, keys. */
static const char named[] =
    "dist.program @~ schema 1.0 from @~ {\n  symbol $~ : integer\n  mesh @~ [^ = 2]\n"
    "  input %~ : tensor<($~)x8xf16> sharding [{^}, {}] partial sum {^}\n"
    "  task @t transfer(%~) -> %y : tensor<8xf16> sharding [{^}] over {^} channel ^\n"
    "    layer ^ after @~ effects (read %~) work (operations 2*$~) fused from (@~, %~) note {^ = {^ = [^, 1]}}\n}\n\n"
    "portable.plan @p schema 1.0 {\n  task @t compute f\n    implement ^ [^] group ^\n}\n\n"
    "session.target @other {\n  abi = ^\n  engines = [^, a]\n  memory_spaces = [^]\n}\n";

static void try_name(const char *name, const char *word)
{
    struct out o;
    out_memory(&o);
    for (const char *at = named; *at; at++)
        if (*at == '~' || *at == '^')
            out_string(&o, *at == '~' ? name : word);
        else
            out_char(&o, *at);
    out_char(&o, '\0');
    assert_prints(o.data, o.data);
    out_free(&o);
}

static void name_of_entity(const struct item_kind *kind, const struct entity *e)
{
    (void)kind;
    if (*e->keyword && !strchr(e->keyword, '.'))
        try_name(e->keyword, e->keyword);
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++)
        try_name(f->name, f->name);
}

START_TEST(every_keyword_is_a_name_too)
{
    static const char *const words[] = { "schema", "from", "by", "using", "revision", "cloned", "decomposed", "fused", "generated", "preserved",
                                         "sharding", "partial", "floordiv", "ceildiv", "max", "min", "layout", "all", "tensor", "true", "false",
                                         "none", "x", "x8", "f16", "sum", "xxh128", "inf", "nan", "integer" };
    each_entity(name_of_entity);
    for (size_t i = 0; i < COUNT(words); i++)
        try_name(words[i], words[i]);
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_enumerations; i++)
            for (u32 w = 0; w < (*d)->enumerations[i]->n; w++)
                try_name((*d)->enumerations[i]->words[w].text, (*d)->enumerations[i]->words[w].text);
}
END_TEST

START_TEST(every_byte_may_stand_in_a_quoted_name)
{
    for (int c = 0; c < 256; c++) {
        char name[16];
        const char *word = name;
        bool plain = c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (c >= 0x80)
            snprintf(name, sizeof name, "\"a%c%cb\"", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
        else if (c < 0x20 || c == 0x7f)
            snprintf(name, sizeof name, c == '\n' ? "\"a\\nb\"" : c == '\t' ? "\"a\\tb\"" : c == '\r' ? "\"a\\rb\"" : "\"a\\x%02xb\"", c);
        else
            snprintf(name, sizeof name, plain || c == '.' ? "a%cb" : c == '"' || c == '\\' ? "\"a\\%cb\"" : "\"a%cb\"", c);
        if (c == '-')
            word = "a-b";
        if (c != '.')           /* `$` takes no dots */
            try_name(name, word);
    }
}
END_TEST

START_TEST(names_that_look_like_something_else_are_quoted)
{
    static const char *const rows[][2] = { { "1", "\"1\"" }, { "1_0", "\"1_0\"" }, { "0x10", "\"0x10\"" }, { "\"-a\"", "\"-a\"" }, { "\"a-\"", "\"a-\"" },
                                           { "\"a--b\"", "\"a--b\"" }, { "\" \"", "\" \"" }, { "\".\"", "\".\"" }, { "_", "_" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        try_name(rows[i][0], rows[i][1]);
}
END_TEST

Suite *print_suite(void);

Suite *print_suite(void)
{
    Suite *s = suite_create("print");
    TCase *c = tcase_create("print");
    tcase_add_test(c, every_choice_of_clauses_survives);
    tcase_add_test(c, every_clause_is_printed);
    tcase_add_test(c, every_word_of_the_enumerations_survives);
    tcase_add_test(c, every_example_prints_as_it_stands);
    tcase_add_test(c, every_operation_survives_in_each_of_its_layers);
    tcase_add_test(c, every_keyword_is_a_name_too);
    tcase_add_test(c, every_byte_may_stand_in_a_quoted_name);
    tcase_add_test(c, names_that_look_like_something_else_are_quoted);
    suite_add_tcase(s, c);
    return s;
}
