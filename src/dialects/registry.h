/* The dialects that bp-opt knows, in layer order, NULL at the end. A fifth is added here. */
#ifndef DIALECTS_REGISTRY_H
#define DIALECTS_REGISTRY_H

#include "ir/schema.h"

extern const struct dialect *const all_dialects[];

#endif
