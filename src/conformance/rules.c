#include "conformance/checker.h"

const struct rule check_rules[] = { { NULL, NULL } };
const u32 n_check_rules = 0;
