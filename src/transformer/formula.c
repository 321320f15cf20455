#include "transformer/formula.h"

struct reader {
    struct exprs *x;
    const struct formula_scope *scope;
    const char *at;
    enum expr_status status;    /* the first fault; what follows it is read but not computed */
};

typedef enum expr_status verb(struct exprs *x, qty a, qty b, qty *out);

static void apply(struct reader *r, verb *compute, qty *left, qty right)
{
    if (!r->status)
        r->status = compute(r->x, *left, right, left);
}

static bool take(struct reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static size_t name_length(const char *text)
{
    size_t n = 0;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') || text[n] == '_')
        n++;
    return n;
}

static qty read_name(struct reader *r, size_t length)
{
    const char *name = r->at;
    r->at += length;
    for (const struct formula_scope *s = r->scope; s; s = s->outer)
        for (size_t i = 0; i < s->n; i++)
            if (strlen(s->names[i].name) == length && !memcmp(s->names[i].name, name, length))
                return s->names[i].value;
    assert(!"a formula's name is in scope");
    return 0;
}

static qty read_sum(struct reader *r);

static qty read_operand(struct reader *r)
{
    if (take(r, '(')) {
        qty q = read_sum(r);
        bool closed = take(r, ')');
        assert(closed);
        (void)closed;
        return q;
    }
    size_t length = name_length(r->at);
    if (length)
        return read_name(r, length);
    qty number = 0;
    assert(*r->at >= '0' && *r->at <= '9');
    while (*r->at >= '0' && *r->at <= '9')
        number = number * 10 + (qty)(*r->at++ - '0');
    return number;
}

static bool take_word(struct reader *r, const char *word)
{
    while (*r->at == ' ')
        r->at++;
    if (name_length(r->at) != strlen(word) || memcmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return true;
}

static qty read_product(struct reader *r)
{
    qty q = read_operand(r);
    for (;;)
        if (take_word(r, "floordiv"))
            apply(r, qty_floordiv, &q, read_operand(r));
        else if (take_word(r, "ceildiv"))
            apply(r, qty_ceildiv, &q, read_operand(r));
        else if (take(r, '*'))
            apply(r, qty_mul, &q, read_operand(r));
        else if (take(r, '/'))
            apply(r, qty_div_exact, &q, read_operand(r));
        else
            return q;
}

static qty read_sum(struct reader *r)
{
    qty q = read_product(r);
    for (;;)
        if (take(r, '+'))
            apply(r, qty_add, &q, read_product(r));
        else if (take(r, '-'))
            apply(r, qty_sub, &q, read_product(r));
        else
            return q;
}

enum expr_status formula_evaluate(struct exprs *x, const char *text, const struct formula_scope *scope, qty *out)
{
    struct reader r = { .x = x, .scope = scope, .at = text };
    qty q = read_sum(&r);
    assert(!*r.at);
    if (!r.status)
        *out = q;
    return r.status;
}
