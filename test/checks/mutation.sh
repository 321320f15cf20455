#!/bin/bash
# One mutant of eleven of the chains of test/mutation: no survivor is unexplained. `make mutation` takes them all.
set -uo pipefail
EVERY=11 "$BP_SOURCE/test/mutation/run" --known="$BP_SOURCE/test/mutation/survivors.txt" --show
