/* XXH3's 128-bit hash, as `xxhsum -H2` prints it. */
#ifndef SUPPORT_DIGEST_H
#define SUPPORT_DIGEST_H

#include "support/out.h"

struct digest {
    u64 high, low;
};

enum { DIGEST_HEX = 32 };

struct digest_stream;

/* An `out` that hashes what is written to it; digest_finish gives the digest and frees it. */
void out_digest(struct out *o);
struct digest digest_finish(struct out *o);

static inline bool digest_equal(struct digest a, struct digest b)
{
    return a.high == b.high && a.low == b.low;
}

static inline bool digest_is_none(struct digest d)
{
    return !d.high && !d.low;
}

/* HEX holds DIGEST_HEX lower-case digits; false for anything else. */
bool digest_parse(const char *hex, size_t length, struct digest *out);

/* Writes `xxh128:` and the 32 digits. */
void out_digest_text(struct out *o, struct digest d);

#endif
