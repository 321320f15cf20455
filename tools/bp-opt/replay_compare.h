/* What a replay makes, held against what was recorded: the first difference is told by entity and field. */
#ifndef BP_OPT_REPLAY_COMPARE_H
#define BP_OPT_REPLAY_COMPARE_H

#include "replay_files.h"

/* Compares the output and the record of each pass with the files; refuses nothing, so that the run goes on. */
struct observer replay_observer(struct replay *r);

/* When all parts are processed: as many checkpoints as were recorded, and the same results. False: something differs. */
bool replay_compare_end(struct replay *r);

#endif
