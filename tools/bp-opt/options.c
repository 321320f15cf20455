#include "options.h"

#include "passes/pass.h"
#include "support/diag.h"
#include "support/quantity.h"

#include "conflicts.h"

#include <stdarg.h>
#include <stdio.h>

const struct option_row option_rows[OPTIONS] = {
#define SECTION(id, title_, example_) { title_, OPTION_SECTION, example_, NULL },
#define OPTION(id, name_, kind_, value_, help_) { name_, kind_, value_, help_ },
#define ALIAS(id, name_, of_) { name_, OPTION_ALIAS, of_, NULL },
#include "options.def"
};

bool usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bp-opt: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

const char *list_word(const char *list, u32 i, size_t *length)
{
    while (i && *list) {
        list += strcspn(list, ",");
        list += *list == ',';
        i--;
    }
    *length = strcspn(list, ",");
    return *list ? list : NULL;
}

/* A command line that is being read. */
struct reader {
    struct options *o;
    int argc, at;
    char **argv;
};

/* Without its dashes, cut at the `=`. */
static const char *name_of(const char *word, struct arena *arena)
{
    word += word[0] == '-' ? word[1] == '-' ? 2 : 1 : 0;
    return arena_copy(arena, word, strcspn(word, "="));
}

static int find(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (option_rows[i].kind == OPTION_ALIAS && !strcmp(option_rows[i].name, name))
            return find(option_rows[i].value);
        else if (option_rows[i].kind != OPTION_SECTION && *name && !strcmp(option_rows[i].name, name))
            return i;
    return pass_find(name, strlen(name)) ? OPT_PASS : -1;
}

static const char *nearest_option(const char *name)
{
    const char *names[OPTIONS + 64];
    size_t n = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (option_rows[i].kind != OPTION_SECTION && i != OPT_PASS)
            names[n++] = option_rows[i].name;
    for (const struct pass *const *p = all_passes; *p && n < COUNT(names); p++)
        names[n++] = (*p)->name;
    return nearest_name(name, names, n);
}

static bool unknown_option(const char *name, const char *dashes)
{
    const char *near = nearest_option(name);
    bool letter = near && strlen(near) == 1;        /* near to every other letter */
    return near && !letter ? usage_error("unknown option '%s%s'; did you mean '--%s'?", dashes, name, near)
                           : usage_error("unknown option '%s%s'; bp-opt --help lists them", dashes, name);
}

static bool set_flag(struct options *o, int id, const char *name, const char *value)
{
    bool yes = !value || !strcmp(value, "1") || !strcmp(value, "true");
    if (!yes && strcmp(value, "0") && strcmp(value, "false"))
        return usage_error("option '%s' takes 0 or 1, not '%s'", name, value);
    o->on[id] = yes;
    o->number[id] = yes;
    return true;
}

static bool set_number(struct options *o, int id, const char *name, const char *value)
{
    u128 n;
    if (!u128_parse(value, strlen(value), &n) || n > UINT32_MAX)
        return usage_error("option '%s' takes a number up to %u, not '%s'", name, UINT32_MAX, value);
    o->number[id] = (u32)n;
    return true;
}

static bool set_choice(struct options *o, int id, const char *name, const char *value)
{
    const char *word;
    size_t length;
    for (u32 i = 0; (word = list_word(option_rows[id].value, i, &length)); i++)
        if (length == strlen(value) && !memcmp(word, value, length)) {
            o->number[id] = i;
            return true;
        }
    return usage_error("option '%s' takes one of %s, not '%s'", name, option_rows[id].value, value);
}

static bool set_value(struct options *o, int id, const char *name, const char *value)
{
    enum option_kind kind = option_rows[id].kind;
    if (kind == OPTION_REPEATED) {
        if (value && !*value && id != OPT_PASS)
            return usage_error("option '%s' has an empty value", name);
        o->repeated[o->n_repeated++] = (struct argument){ (enum option)id, name + strspn(name, "-"), value };
        o->on[id] = true;
        return true;
    }
    if (o->on[id] && kind != OPTION_FLAG)
        return usage_error("option '%s' is given twice", name);
    o->on[id] = true;
    o->text[id] = value;
    switch (kind) {
    case OPTION_FLAG:
        return set_flag(o, id, name, value);
    case OPTION_NUMBER:
        return set_number(o, id, name, value);
    case OPTION_CHOICE:
        return set_choice(o, id, name, value);
    case OPTION_OPTIONAL_CHOICE:
        return !value || set_choice(o, id, name, value);
    default:
        return (value && *value) || (!value && kind == OPTION_OPTIONAL) || usage_error("option '%s' has an empty value", name);
    }
}

static bool takes_value(int id)
{
    enum option_kind kind = option_rows[id].kind;
    return id != OPT_PASS && (kind == OPTION_TEXT || kind == OPTION_NUMBER || kind == OPTION_CHOICE || kind == OPTION_REPEATED);
}

static bool read_option(struct reader *r, struct arena *arena)
{
    const char *word = r->argv[r->at], *name = name_of(word, arena), *value = strchr(word, '=');
    const char *dashes = word[1] == '-' ? "--" : "-";
    int id = find(name);
    if (id < 0)
        return unknown_option(name, dashes);
    const char *shown = arena_format(arena, "%s%s", dashes, name);
    if (value)
        value++;
    else if (takes_value(id)) {
        if (r->at + 1 == r->argc)
            return usage_error("option '%s' needs a value", shown);
        value = r->argv[++r->at];
    }
    return set_value(r->o, id, shown, value);
}

static bool read_input(struct options *o, const char *word)
{
    if (!*word)
        return usage_error("the name of the input is empty");
    if (o->second)
        return usage_error("two inputs at most: '%s', '%s' and '%s'", o->input, o->second, word);
    *(o->input ? &o->second : &o->input) = word;
    return true;
}

bool options_have_passes(const struct options *o)
{
    return o->on[OPT_PASS] || o->on[OPT_PASS_PIPELINE];
}

bool options_parse(struct options *o, int argc, char **argv, struct arena *arena)
{
    struct reader r = { .o = o, .argc = argc, .at = 1, .argv = argv };
    bool words = true, good = true;
    *o = (struct options){ .repeated = ARENA_ARRAY(arena, struct argument, (size_t)argc), .on[OPT_VERIFY_EACH] = true, .argc = argc, .argv = argv };
    for (; good && r.at < argc; r.at++)
        if (words && !strcmp(argv[r.at], "--"))
            words = false;
        else if (words && argv[r.at][0] == '-' && argv[r.at][1])
            good = read_option(&r, arena);
        else
            good = read_input(o, argv[r.at]);
    o->input = o->input ? o->input : "-";
    return good && options_agree(o);
}
