#include "support/digest.h"

#include "support/arena.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static bool flush_hash(struct out *o)
{
    XXH3_128bits_update(o->state, o->data, o->n);
    return true;
}

void out_digest(struct out *o)
{
    *o = (struct out){ .fd = -1, .flush = flush_hash };
    o->state = XXH3_createState();
    if (!o->state)
        abort();
    XXH3_128bits_reset(o->state);
}

struct digest digest_finish(struct out *o)
{
    out_flush(o);
    XXH128_hash_t h = XXH3_128bits_digest(o->state);
    XXH3_freeState(o->state);
    out_free(o);
    return (struct digest){ h.high64, h.low64 };
}

bool digest_parse(const char *hex, size_t length, struct digest *out)
{
    u64 half[2] = { 0, 0 };
    if (length != DIGEST_HEX)
        return false;
    for (size_t i = 0; i < DIGEST_HEX; i++) {
        char c = hex[i];
        int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0)
            return false;
        half[i / 16] = half[i / 16] << 4 | (u64)v;
    }
    *out = (struct digest){ half[0], half[1] };
    return true;
}

void out_digest_text(struct out *o, struct digest d)
{
    static const char digits[] = "0123456789abcdef";
    char hex[DIGEST_HEX];
    for (int i = 0; i < 16; i++) {
        hex[i] = digits[d.high >> (60 - 4 * i) & 15];
        hex[16 + i] = digits[d.low >> (60 - 4 * i) & 15];
    }
    out_string(o, "xxh128:");
    out_bytes(o, hex, sizeof hex);
}
