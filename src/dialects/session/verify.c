/* Rules of session that the schema can't say, one function a rule. */
#include "dialects/session/session.h"

#include "ir/verify.h"

void session_verify(struct verifier *v)
{
    (void)v;
}
