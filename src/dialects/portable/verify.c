/* Rules of portable that the schema can't say, one function a rule. */
#include "dialects/portable/portable.h"

#include "ir/verify.h"

void portable_verify(struct verifier *v)
{
    (void)v;
}
