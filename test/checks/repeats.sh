#!/bin/bash
# Programs at random whose statements nearly repeat each other: each means what it means when none repeats another.
exec "${PYTHON:-python3}" "$BP_SOURCE/test/checks/repeats.py" "$BP_OPT" 300 1
