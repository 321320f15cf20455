/* What the gates share: the oracle's configurations, and comparisons that count. */
#ifndef TEST_ORACLE_GATE_H
#define TEST_ORACLE_GATE_H

#include "transformer/block.h"
#include "tsv.h"

struct oracle {
    struct arena *arena;
    struct exprs *exprs;
    const char *directory;
    struct tsv totals, layers;      /* calculon-totals.tsv, calculon-blocks.tsv */
};

struct verdict {
    unsigned passed, failed;        /* rows */
};

struct verdict block_gate(const struct oracle *o);
struct verdict seqsel_gate(const struct oracle *o);

/* A row of totals as a specification. */
struct configuration {
    const struct oracle *oracle;
    size_t at;
    const char *id;
    bool training;
    struct transformer_model model;
    struct training_workload workload;
    struct training_strategy strategy;
};

struct configuration configuration_read(const struct oracle *o, size_t at);
const char *configuration_cell(const struct configuration *c, const char *column);
u64 configuration_number(const struct configuration *c, const char *column);
bool configuration_is(const struct configuration *c, const char *column, const char *word);

/* Ends the process with a message when it can't be derived. */
void configuration_derive(const struct configuration *c, struct block *out);

/* Q as a fraction; it may be negative. */
struct fraction fraction_of_qty(struct exprs *x, qty q);

static inline struct fraction whole(i128 value)
{
    return (struct fraction){ value, 1 };
}

static inline struct fraction scaled(struct fraction f, i128 factor)
{
    return fraction_mul(f, whole(factor));
}

static inline struct fraction difference(struct fraction a, struct fraction b)
{
    return fraction_add(a, scaled(b, -1));
}

#endif
