#!/bin/bash
# Portable plans at random: what verifies is bound by both reference binders, or refused with a reason of the plan's own.
exec "${PYTHON:-python3}" "$BP_SOURCE/test/checks/bindings.py" "$BP_OPT" 400 1
