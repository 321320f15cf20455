#include "execute/generate.h"

/* FNV-1a of 64 bits: Fowler, Noll, Vo. */
static u64 fnv1a(const char *text, size_t length)
{
    u64 hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (u8)text[i]) * 0x100000001b3;
    return hash;
}

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
u64 generate_word(u64 state, u64 i)
{
    u64 z = state + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

u64 generate_state(const char *name, size_t length, u64 seed)
{
    return fnv1a(name, length) ^ generate_word(seed, 0);
}

double generate_float(u64 state, u64 i)
{
    return (double)(generate_word(state, i) >> 43) * 0x1p-20 - 1;
}

double generate_integer(u64 state, u64 i, u64 limit)
{
    return (double)(generate_word(state, i) % limit);
}
