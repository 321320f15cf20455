/*
 * Figures 1 and 7 of Korthikanti et al. 2022 (seqsel.tsv, column closed_form) under the convention korthikanti-2022:
 * figure 1 equal as fractions of a GiB; figure 7 the exact fraction, rounded to the double that is printed.
 */
#include "gate.h"

#include "transformer/convention.h"

#include <stdio.h>
#include <stdlib.h>

static bool find_configuration(const struct oracle *o, const char *id, struct configuration *out)
{
    for (size_t at = 0; at < o->totals.n_rows; at++)
        if (!strcmp(tsv_cell(&o->totals, at, "id"), id)) {
            *out = configuration_read(o, at);
            return true;
        }
    return false;
}

/* Bytes that a block keeps of a microbatch: its activations, or under full recompute its input. */
static u128 kept(const struct configuration *c)
{
    struct block block;
    u128 bytes = 0;
    configuration_derive(c, &block);
    bool full = c->strategy.recompute == RECOMPUTE_FULL;
    qty_value(c->oracle->exprs, full ? block.memory.checkpoint : block.memory.stored, &bytes);
    return bytes;
}

/* What figure 7 relates to: tensor parallelism alone, nothing recomputed. */
static struct configuration baseline(struct configuration c)
{
    c.strategy.communication = COMMUNICATION_ALL_REDUCE;
    c.strategy.recompute = RECOMPUTE_NONE;
    c.strategy.input_regather = false;
    return c;
}

/* A decimal fraction, exactly. */
static struct fraction decimal(const char *text)
{
    char *end;
    i128 whole_part = strtoll(text, &end, 10), under = 1;
    if (*end == '.')
        for (end++; *end >= '0' && *end <= '9'; end++, under *= 10)
            whole_part = whole_part * 10 + (*end - '0');
    return fraction_of(whole_part, under);
}

static bool is_figure_1(const struct configuration *c, const char *quantity, const char *expected)
{
    struct ratio bytes;
    enum convention_status status = !strcmp(quantity, "activations")
        ? korthikanti_activation_bytes(&c->model, &c->strategy, kept(c), &bytes)
        : korthikanti_parameter_bytes(&c->model, &c->strategy, &bytes);
    return status == CONVENTION_OK &&
           fraction_equal(fraction_of((i128)bytes.over, (i128)bytes.under << 30), decimal(expected));
}

/* Both integers are below 2^53, so that the quotient of doubles is the rounded fraction. */
static bool is_figure_7(const struct configuration *c, const char *expected)
{
    struct configuration base = baseline(*c);
    struct ratio share = ratio_of(100 * kept(c), kept(&base));
    return share.over < (u128)1 << 53 && (double)share.over / (double)share.under == strtod(expected, NULL);
}

struct verdict seqsel_gate(const struct oracle *o)
{
    struct tsv rows = tsv_read(o->arena, arena_format(o->arena, "%s/seqsel.tsv", o->directory));
    struct verdict v = { 0 };
    for (size_t i = 0; i < rows.n_rows; i++) {
        const char *figure = tsv_cell(&rows, i, "figure"), *expected = tsv_cell(&rows, i, "closed_form");
        if (!strcmp(figure, "tab5"))        /* seconds, measured */
            continue;
        const char *id = tsv_cell(&rows, i, "config"), *quantity = tsv_cell(&rows, i, "quantity");
        struct configuration c;
        bool same = find_configuration(o, id, &c) &&
                    (!strcmp(figure, "fig1") ? is_figure_1(&c, quantity, expected) : is_figure_7(&c, expected));
        if (!same)
            printf("%s %s %s: not %s\n", figure, id, quantity, expected);
        v.passed += same;
        v.failed += !same;
    }
    printf("figures 1 and 7 of Korthikanti: %u of %u equal\n", v.passed, v.passed + v.failed);
    return v;
}
