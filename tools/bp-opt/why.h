/* --why=@task: what a statement is from, through the layers to the model, and where each of its numbers comes from. */
#ifndef BP_OPT_WHY_H
#define BP_OPT_WHY_H

#include "driver.h"

/* Of the last item of the part that declares the name; false: reported. */
bool why_report(struct out *o, struct driver *d, const struct part *part);

#endif
