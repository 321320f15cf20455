#include "dialects/registry.h"

#include "dialects/concrete/concrete.h"
#include "dialects/dist/dist.h"
#include "dialects/model/model.h"
#include "dialects/portable/portable.h"
#include "dialects/session/session.h"

const struct dialect *const all_dialects[] = {
    &session_dialect, &model_dialect, &dist_dialect, &portable_dialect, &concrete_dialect, NULL,
};
