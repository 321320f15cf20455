#include "support/quantity.h"

bool u128_add(u128 a, u128 b, u128 *out)
{
    u128 sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

bool u128_sub(u128 a, u128 b, u128 *out)
{
    if (b > a)
        return false;
    *out = a - b;
    return true;
}

bool u128_mul(u128 a, u128 b, u128 *out)
{
    u128 product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool u128_div_exact(u128 a, u128 b, u128 *out)
{
    if (b == 0 || a % b != 0)
        return false;
    *out = a / b;
    return true;
}

u128 u128_gcd(u128 a, u128 b)
{
    while (b) {
        u128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

enum { SMALL_DIGITS = 18 };     /* fit in 64 bits, whatever they are */

static bool parse_small(const char *text, size_t length, u128 *out)
{
    u64 value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (u64)(text[i] - '0');
    }
    *out = value;
    return true;
}

bool u128_parse(const char *text, size_t length, u128 *out)
{
    u128 value = 0;
    if (length && length <= SMALL_DIGITS && parse_small(text, length, out))
        return true;
    if (!length || text[0] == '_' || text[length - 1] == '_')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_' && text[i - 1] != '_')
            continue;
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (!u128_mul(value, 10, &value) || !u128_add(value, (u128)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

static size_t count_digits(u64 value)
{
    static const u64 powers[] = { 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
                                  100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
                                  10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000u };
    size_t n = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;      /* log2 to log10: this, or one more */
    return n + (n == 0 || value >= powers[n]);
}

/* Two digits at a time from the right. */
size_t u64_digits(u64 value, char *buffer)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                "9899";
    size_t n = count_digits(value);
    char *at = buffer + n;
    for (; value >= 100; value /= 100)
        memcpy(at -= 2, &pairs[2 * (value % 100)], 2);
    if (value >= 10)
        memcpy(buffer, &pairs[2 * value], 2);
    else
        *buffer = (char)('0' + value);
    return n;
}

size_t u128_digits(u128 value, char *buffer)
{
    const u64 limb = 10000000000000000000u;     /* 10^19 */
    if (value <= UINT64_MAX)
        return u64_digits((u64)value, buffer);
    size_t n = u128_digits(value / limb, buffer);
    u64 low = (u64)(value % limb);
    for (size_t i = 19; i-- > 0; low /= 10)
        buffer[n + i] = (char)('0' + low % 10);
    return n + 19;
}

char *u128_text(u128 value, char *buffer)
{
    buffer[u128_digits(value, buffer)] = '\0';
    return buffer;
}
