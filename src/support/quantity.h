/*
 * Exact unsigned 128-bit arithmetic. Every function returns false instead of wrapping or rounding, and then
 * leaves *out as it was.
 */
#ifndef SUPPORT_QUANTITY_H
#define SUPPORT_QUANTITY_H

#include "support/base.h"

#define U128_MAX (~(u128)0)
enum { U128_DIGITS = 40 };      /* decimal digits of the largest value, and a NUL */

bool u128_add(u128 a, u128 b, u128 *out);
bool u128_sub(u128 a, u128 b, u128 *out);
bool u128_mul(u128 a, u128 b, u128 *out);
bool u128_div_exact(u128 a, u128 b, u128 *out);     /* false when b is 0 or does not divide a */
u128 u128_gcd(u128 a, u128 b);

/* Decimal digits, `_` allowed between two digits. */
bool u128_parse(const char *text, size_t length, u128 *out);

/* Writes the decimal digits (no NUL) and returns how many: at most U128_DIGITS - 1. BUFFER holds U128_DIGITS. */
size_t u128_digits(u128 value, char *buffer);
size_t u64_digits(u64 value, char *buffer);

/* The same with a NUL, for messages. Returns BUFFER, which holds at least U128_DIGITS bytes. */
char *u128_text(u128 value, char *buffer);

#endif
