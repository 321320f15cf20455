/* Rules of model that the schema can't say, one function a rule. */
#include "dialects/model/model.h"

#include "ir/verify.h"

void model_verify(struct verifier *v)
{
    (void)v;
}
