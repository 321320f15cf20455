#!/bin/bash
# Concrete plans at random: the verifier accepts what can't go wrong in any order that the plan allows, and refuses all else.
exec "${PYTHON:-python3}" "$BP_SOURCE/test/checks/schedules.py" "$BP_OPT" 1000 1
