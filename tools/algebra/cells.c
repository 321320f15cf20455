#include "algebra.h"

void number(struct writer *w, qty q)
{
    u128 value;
    qty magnitude = q;
    if (!qty_value(w->ctx.exprs, q, &value) && !qty_sub(w->ctx.exprs, 0, q, &magnitude))
        out_char(&w->out, '-');
    out_qty(&w->out, w->ctx.exprs, magnitude);
}

void cell(struct writer *w, qty q)
{
    out_string(&w->out, " | ");
    number(w, q);
}

void formula(struct writer *w, const char *text, const qty *value)
{
    if (!strcmp(text, "0")) {
        out_string(&w->out, " | ");
        return;
    }
    out_printf(&w->out, value ? " | `%s` = " : " | `%s`", text);
    if (value)
        number(w, *value);
}

void end_row(struct writer *w)
{
    out_string(&w->out, " |\n");
}

void head(struct writer *w, const char *columns)
{
    out_printf(&w->out, "\n| %s |\n|", columns);
    for (const char *c = columns; c; c = strstr(c + 1, " | "))
        out_string(&w->out, " --- |");
    out_char(&w->out, '\n');
}
