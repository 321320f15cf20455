/* Exact fractions in lowest terms, for what is not whole: shares of a schedule, microbatches in flight. */
#ifndef TRANSFORMER_RATIO_H
#define TRANSFORMER_RATIO_H

#include "support/quantity.h"

struct ratio {
    u128 over, under;       /* over / under; under is never 0 */
};

static inline struct ratio ratio_of(u128 over, u128 under)
{
    u128 g = u128_gcd(over, under);
    return (struct ratio){ over / g, under / g };
}

static inline bool ratio_equal(struct ratio a, struct ratio b)
{
    return a.over == b.over && a.under == b.under;
}

#endif
