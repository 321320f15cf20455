#include "conflicts.h"

#include <string.h>

enum { MOST = 24 };

/* Each option, and those that make no sense beside it: every pair stands once. PASS is any pass flag. */
static const struct {
    enum option option;
    enum option excludes[MOST];         /* 0, which is a section's, closes it */
} conflicts[] = {
    { OPT_PASS_PIPELINE, { OPT_PASS } },
    { OPT_CANONICAL, { OPT_PRINT_LOCATIONS, OPT_EMIT } },
    { OPT_PRINT_LOCATIONS, { OPT_EMIT } },
    /* reports: one at a time */
    { OPT_DIGEST, { OPT_EXPLAIN_DIGEST, OPT_SUMMARY, OPT_EXECUTE, OPT_WHY } },
    { OPT_EXPLAIN_DIGEST, { OPT_SUMMARY, OPT_EXECUTE, OPT_WHY } },
    { OPT_SUMMARY, { OPT_EXECUTE, OPT_WHY } },
    { OPT_EXECUTE, { OPT_WHY } },
    { OPT_VERIFY_ONLY, { OPT_OUTPUT, OPT_CANONICAL, OPT_EMIT, OPT_PRINT_LOCATIONS, OPT_DIGEST, OPT_EXPLAIN_DIGEST, OPT_SUMMARY, OPT_WHY } },
    /* what is written down of a run */
    { OPT_CHECKPOINT_DIR, { OPT_VERIFY_DIAGNOSTICS } },
    { OPT_CRASH_REPRODUCER, { OPT_VERIFY_DIAGNOSTICS } },
    /* what is done instead of a plain run */
    { OPT_DIFF, { OPT_DIGEST, OPT_EXPLAIN_DIGEST, OPT_SUMMARY, OPT_EXECUTE, OPT_WHY, OPT_FIX, OPT_CHECKPOINT_DIR,
                  OPT_REPLAY, OPT_RUN_REPRODUCER } },
    { OPT_FIX, { OPT_DIGEST, OPT_EXPLAIN_DIGEST, OPT_SUMMARY, OPT_EXECUTE, OPT_WHY, OPT_CANONICAL, OPT_EMIT,
                 OPT_VERIFY_DIAGNOSTICS, OPT_VERIFY_ONLY, OPT_SPLIT_INPUT_FILE, OPT_CHECKPOINT_DIR, OPT_REPLAY, OPT_RUN_REPRODUCER } },
    { OPT_RUN_REPRODUCER, { OPT_PASS, OPT_PASS_PIPELINE, OPT_ITEM, OPT_REPLAY } },
    { OPT_REPLAY, { OPT_PASS, OPT_PASS_PIPELINE, OPT_SESSION, OPT_ITEM, OPT_SPLIT_INPUT_FILE, OPT_KEEP_SOURCES, OPT_CHECKPOINT_DIR,
                    OPT_CRASH_REPRODUCER, OPT_OUTPUT, OPT_EMIT, OPT_CANONICAL, OPT_PRINT_LOCATIONS, OPT_DIGEST, OPT_EXPLAIN_DIGEST,
                    OPT_SUMMARY, OPT_EXECUTE, OPT_WHY, OPT_VERIFY_DIAGNOSTICS, OPT_VERIFY_ONLY } },
};

/* `--emit=bpir` is what would be printed anyway; only where nothing is printed does it contradict. */
static bool is_given(const struct options *o, enum option id, enum option beside)
{
    return o->on[id] && (id != OPT_EMIT || o->number[id] || beside == OPT_VERIFY_ONLY);
}

static const char *dashes(enum option id)
{
    return strlen(option_rows[id].name) > 1 ? "--" : "-";
}

static bool exclude(enum option a, enum option b)
{
    if (b == OPT_PASS)
        return usage_error("--%s and pass flags exclude each other", option_rows[a].name);
    return usage_error("--%s and %s%s exclude each other", option_rows[a].name, dashes(b), option_rows[b].name);
}

static bool check_inputs(const struct options *o)
{
    if (o->on[OPT_FIX] && options_have_passes(o))
        return usage_error("--fix mends the input: run the passes on what it prints");
    if (o->on[OPT_DIFF] && options_have_passes(o))
        return usage_error("--diff compares files as they are: run the passes first");
    if (o->second && !o->on[OPT_DIFF])
        return usage_error("one input at a time: '%s' and '%s'", o->input, o->second);
    if (o->on[OPT_DIFF] && !o->second && !o->on[OPT_ITEM])
        return usage_error("--diff takes two files, or two items of one: --item=@a,@b");
    if (o->on[OPT_REPLAY] && strcmp(o->input, "-"))
        return usage_error("--replay takes its input from its folder, not from '%s'", o->input);
    return true;
}

/* A report goes to standard output; the text goes to -o. */
static bool check_streams(const struct options *o)
{
    static const enum option reports[] = { OPT_DIGEST, OPT_EXPLAIN_DIGEST, OPT_SUMMARY, OPT_EXECUTE, OPT_WHY };
    for (u32 i = 0; i < COUNT(reports); i++)
        if (o->on[reports[i]] && o->on[OPT_OUTPUT] && !strcmp(o->text[OPT_OUTPUT], "-"))
            return usage_error("--%s and the text can't both go to standard output", option_rows[reports[i]].name);
    return true;
}

bool options_agree(const struct options *o)
{
    for (u32 i = 0; i < COUNT(conflicts); i++)
        for (u32 k = 0; o->on[conflicts[i].option] && k < MOST && conflicts[i].excludes[k]; k++)
            if (is_given(o, conflicts[i].excludes[k], conflicts[i].option))
                return exclude(conflicts[i].option, conflicts[i].excludes[k]);
    return check_inputs(o) && check_streams(o);
}
