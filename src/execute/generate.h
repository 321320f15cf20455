/*
 * Where elements come from: the name of a value, the seed, and the place of the element, so that two programs that name
 * a value alike have the same numbers in it.
 *
 *     state = FNV-1a(name) xor word(seed, 0)                     64 bits; the name without its %
 *     word(state, i) = the i-th number of SplitMix64 from state
 *     a float is (word >> 43) / 2^20 - 1, a multiple of 2^-20 in [-1, 1), so that sums of a few are exact;
 *     an integer is word mod its limit: the rows of the table, or the classes, that it chooses from, else 100 (as far as
 *     its type holds them)
 */
#ifndef EXECUTE_GENERATE_H
#define EXECUTE_GENERATE_H

#include "support/base.h"

u64 generate_state(const char *name, size_t length, u64 seed);
u64 generate_word(u64 state, u64 i);
double generate_float(u64 state, u64 i);
double generate_integer(u64 state, u64 i, u64 limit);

#endif
