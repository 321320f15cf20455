#include "execute.h"

#include "support/quantity.h"

enum { MOST_WORDS = 256 };

static bool read_seed(struct executor *x, const char *text, size_t length)
{
    u128 n;
    if (!u128_parse(text, length, &n) || n > UINT64_MAX)
        return usage_error("option '--execute' takes a seed up to %llu, not '%.*s'", (unsigned long long)UINT64_MAX,
                           (int)length, text);
    x->options.seed = (u64)n;
    return true;
}

/* `$s=8`. */
static bool read_symbol(struct executor *x, const char *word, size_t length, struct context *ctx)
{
    struct qty_binding *symbols = (struct qty_binding *)x->options.symbols;
    const char *equal = memchr(word, '=', length);
    u128 n;
    size_t name = equal ? (size_t)(equal - word) : length;
    if (!equal || name < 2 || !u128_parse(equal + 1, length - name - 1, &n) || n == 0)
        return usage_error("option '--execute' gives symbols numbers from 1, `$s=8`, not '%.*s'", (int)length, word);
    atom symbol = intern(&ctx->names, word + 1, name - 1);
    for (u32 i = 0; i < x->options.n_symbols; i++)
        if (symbols[i].symbol == symbol)
            return usage_error("option '--execute' gives %.*s two numbers", (int)name, word);
    symbols[x->options.n_symbols++] = (struct qty_binding){ symbol, qty_number(ctx->exprs, n) };
    return true;
}

static bool read_word(struct executor *x, const char *word, size_t length, struct context *ctx)
{
    if (*word == '$')
        return read_symbol(x, word, length, ctx);
    if (length > 5 && !memcmp(word, "seed=", 5))
        return read_seed(x, word + 5, length - 5);
    if (length == 6 && !memcmp(word, "values", 6))
        return x->values = true;
    if (length == 4 && !memcmp(word, "json", 4))
        return x->json = true;
    return usage_error("option '--execute' takes seed=N, $SYMBOL=N, values and json, not '%.*s'", (int)length, word);
}

bool executor_choose(struct executor *x, const struct options *o, struct context *ctx)
{
    const char *at = o->text[OPT_EXECUTE];
    if (!at)
        return true;
    x->options.symbols = ARENA_ARRAY(&ctx->arena, struct qty_binding, MOST_WORDS);
    x->declared = ARENA_ARRAY(&ctx->arena, bool, MOST_WORDS);
    for (u32 n = 0; *(at += strspn(at, " ,")); n++) {
        size_t length = strcspn(at, " ,");
        if (n == MOST_WORDS)
            return usage_error("option '--execute' takes at most %d words", MOST_WORDS);
        if (!read_word(x, at, length, ctx))
            return false;
        at += length;
    }
    return true;
}

static void note_symbols(struct executor *x, const struct module *m)
{
    for (u32 i = 0; i < x->options.n_symbols; i++)
        for (u32 k = 0; k < m->n; k++)
            x->declared[i] = x->declared[i] || item_dollar(m->items[k], x->options.symbols[i].symbol);
}

bool executor_run(struct executor *x, const struct module *m, atom only, struct out *out)
{
    struct execution e;
    note_symbols(x, m);
    bool good = execute_module(&e, m, only, &x->options);
    if (good)
        (x->json ? execution_json : execution_text)(out, &e, x->values);
    execution_free(&e);
    return good;
}

bool executor_end(const struct executor *x, struct context *ctx)
{
    bool good = true;
    for (u32 i = 0; i < x->options.n_symbols; i++)
        if (!x->declared[i])
            good = diag_error(ctx->diags, (struct loc){ 0 }, "execute.symbol.unknown", "no program of the file declares $%s",
                              context_text(ctx, x->options.symbols[i].symbol));
    return good;
}
