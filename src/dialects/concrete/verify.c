/* Rules of concrete that the schema can't say, one function a rule. */
#include "dialects/concrete/concrete.h"

#include "ir/verify.h"

void concrete_verify(struct verifier *v)
{
    (void)v;
}
