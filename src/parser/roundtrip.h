/* The promise of the text: what is printed parses to the same items and prints to the same bytes. */
#ifndef PARSER_ROUNDTRIP_H
#define PARSER_ROUNDTRIP_H

#include "ir/item.h"

/*
 * Prints M with its comments, parses that in the same context, and compares: items field by field, their digests, and
 * the bytes of a second print. Digests of M's items are computed. False: reported, under the code ir.roundtrip. The
 * printed text stays in the context's arena, since names may point into it.
 */
bool verify_roundtrip(const struct module *m);

#endif
