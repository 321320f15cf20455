#include "help.h"

#include "options.h"
#include "show.h"
#include "passes/pass.h"

enum { COLUMN = 34 };       /* where descriptions begin */

static bool is_shown(int i)
{
    return option_rows[i].help != NULL;
}

static const char *dashes(const struct option_row *r)
{
    return r->name[1] ? "--" : "-";
}

static bool is_choice(const struct option_row *r)
{
    return r->kind == OPTION_CHOICE || r->kind == OPTION_OPTIONAL_CHOICE;
}

static bool is_optional(const struct option_row *r)
{
    return r->kind == OPTION_OPTIONAL || r->kind == OPTION_OPTIONAL_CHOICE;
}

/* `--name=VALUE`, `--name[=VALUE]`, `-o FILE`; words of a choice with `|` between. Returns how long. */
static int out_usage(struct out *o, const struct option_row *r)
{
    size_t before = o->n;
    out_printf(o, "%s%s", dashes(r), r->name);
    if (r->value) {
        out_string(o, is_optional(r) ? "[=" : r->name[1] ? "=" : " ");
        for (const char *c = r->value; *c; c++)
            out_char(o, is_choice(r) && *c == ',' ? '|' : *c);
        out_string(o, is_optional(r) ? "]" : "");
    }
    return (int)(o->n - before);
}

/* ---- --help ---- */

static void pad(struct out *o, int used)
{
    do
        out_char(o, ' ');
    while (++used < COLUMN);
}

static void out_passes(struct out *o)
{
    for (const struct pass *const *p = all_passes; *p; p++) {
        out_printf(o, "  --%s", (*p)->name);
        pad(o, (int)strlen((*p)->name) + 4);
        out_printf(o, "%s to %s; options behind `=`\n", layer_name((*p)->from), layer_name((*p)->to));
    }
}

void help_text(struct out *o)
{
    out_string(o, "bp-opt [OPTION...] [FILE|-]: reads items, runs passes, verifies, prints\n");
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_row *r = &option_rows[i];
        if (r->kind == OPTION_SECTION) {
            out_printf(o, "\n%s:  %s\n", r->name, r->value);
        } else if (is_shown(i)) {
            out_string(o, "  ");
            pad(o, out_usage(o, r) + 2);
            out_printf(o, "%s\n", r->help);
        }
        if (i == OPT_PASS)
            out_passes(o);
    }
    out_string(o, "\nExit status: 0 success, 1 the input or a pass was refused, 2 wrong command line or unreadable file.\n");
}

/* ---- The man page ---- */

static void out_roff(struct out *o, const char *text)
{
    if (*text == '.' || *text == '\'')
        out_string(o, "\\&");
    for (const char *c = text; *c; c++)
        if (*c == '\\')
            out_string(o, "\\e");
        else if (*c == '-')
            out_string(o, "\\-");
        else
            out_char(o, *c);
}

static void out_man_option(struct out *o, const struct option_row *r)
{
    struct out usage;
    out_memory(&usage);
    out_usage(&usage, r);
    out_char(&usage, '\0');
    out_string(o, ".TP\n.B ");
    out_roff(o, usage.data);
    out_char(o, '\n');
    out_free(&usage);
    out_roff(o, r->help);
    out_string(o, ".\n");
}

static void out_man_passes(struct out *o)
{
    for (const struct pass *const *p = all_passes; *p; p++) {
        out_string(o, ".TP\n.B \\-\\-");
        out_roff(o, (*p)->name);
        out_string(o, "[=OPTIONS]\n");
        out_roff(o, (*p)->doc);
        out_string(o, "\n");
    }
}

void help_man(struct out *o)
{
    out_string(o, ".TH BP-OPT 1 \"\" \"bp-opt " BP_OPT_VERSION "\" \"User Commands\"\n.SH NAME\n"
                  "bp\\-opt \\- verify, derive and print plans of transformer training\n.SH SYNOPSIS\n"
                  ".B bp\\-opt\n[\\fIOPTION\\fR]... [\\fIFILE\\fR|\\-]\n.SH DESCRIPTION\n"
                  "Reads a file of items (standard input without FILE), verifies them, runs the passes that are named in the\n"
                  "order of the command line, and prints the result. Nothing is printed unless all of it succeeded.\n"
                  "Long options may begin with one dash.\n");
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_row *r = &option_rows[i];
        if (r->kind == OPTION_SECTION) {
            out_string(o, ".SH ");
            out_roff(o, r->name);
            out_string(o, "\n.EX\n");
            out_roff(o, r->value);
            out_string(o, "\n.EE\n");
        } else if (is_shown(i)) {
            out_man_option(o, r);
        }
        if (i == OPT_PASS)
            out_man_passes(o);
    }
    out_string(o, ".SH EXIT STATUS\n.TP\n0\nsuccess.\n.TP\n1\nthe input or a pass was refused: nothing was printed, the file of\n"
                  ".B \\-o\nis as it was.\n.TP\n2\nthe command line is wrong, or a file can't be read.\n.SH ENVIRONMENT\n.TP\n"
                  "NO_COLOR\nturns\n.B \\-\\-color=auto\noff.\n");
}

/* ---- Completion ---- */

static void out_bash_words(struct out *o)
{
    for (int i = 0; i < OPTIONS; i++)
        if (is_shown(i) && option_rows[i].kind != OPTION_SECTION) {
            const struct option_row *r = &option_rows[i];
            out_printf(o, " %s%s%s", dashes(r), r->name, r->value && !is_optional(r) && r->name[1] ? "=" : "");
        }
    for (const struct pass *const *p = all_passes; *p; p++)
        out_printf(o, " --%s", (*p)->name);
}

void help_bash(struct out *o)
{
    out_string(o, "# bash completion for bp-opt\n_bp_opt()\n{\n    local cur prev words cword split\n"
                  "    if declare -F _init_completion >/dev/null; then\n        _init_completion -s -n : || return\n"
                  "    else    # bash alone parts --emit=json into three words\n"
                  "        cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "        [[ $cur == = ]] && cur=\n"
                  "        [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n    case $prev in\n");
    for (int i = 0; i < OPTIONS; i++)
        if (is_choice(&option_rows[i])) {
            out_printf(o, "    --%s) COMPREPLY=($(compgen -W '", option_rows[i].name);
            for (const char *c = option_rows[i].value; *c; c++)
                out_char(o, *c == ',' ? ' ' : *c);
            out_string(o, "' -- \"$cur\")); return ;;\n");
        }
    out_string(o, "    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    out_bash_words(o);
    out_string(o, "' -- \"$cur\"))\n        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
                  "    elif declare -F _filedir >/dev/null; then\n        _filedir\n"
                  "    else\n        compopt -o filenames 2>/dev/null\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                  "    fi\n} && complete -F _bp_opt bp-opt\n");
}

/* What would end a description in brackets or the quoted word. */
static void out_zsh_text(struct out *o, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            out_string(o, "'\\''");
        else {
            if (strchr("[]:\\", *c))
                out_char(o, '\\');
            out_char(o, *c);
        }
}

static void out_zsh_option(struct out *o, const struct option_row *r)
{
    out_printf(o, " \\\n    '%s%s%s%s[", r->kind == OPTION_REPEATED ? "*" : "", dashes(r), r->name,
               !r->value ? "" : is_optional(r) ? "=-" : r->name[1] ? "=" : "");
    out_zsh_text(o, r->help);
    out_char(o, ']');
    if (is_choice(r)) {
        out_printf(o, "%s:word:(", is_optional(r) ? ":" : "");
        for (const char *c = r->value; *c; c++)
            out_char(o, *c == ',' ? ' ' : *c);
        out_char(o, ')');
    } else if (r->value) {
        out_printf(o, "%s:%s:%s", is_optional(r) ? ":" : "", r->value, strcmp(r->value, "FILE") ? "" : "_files");
    }
    out_char(o, '\'');
}

void help_zsh(struct out *o)
{
    out_string(o, "#compdef bp-opt\n_arguments -S");
    for (int i = 0; i < OPTIONS; i++)
        if (is_shown(i) && option_rows[i].kind != OPTION_SECTION)
            out_zsh_option(o, &option_rows[i]);
    for (const struct pass *const *p = all_passes; *p; p++) {
        out_printf(o, " \\\n    '*--%s=-[", (*p)->name);
        out_zsh_text(o, (*p)->doc);
        out_string(o, "]::options:'");
    }
    out_string(o, " \\\n    '*:file:_files'\n");
}
