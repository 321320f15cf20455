#!/bin/bash
# The tables of docs/algebra.md and docs/inference.md are what the algebra is; one that is not is told from one that is.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not as expected: $2"
    fi
}

# check NAME EXAMPLE NUMBER TABLE: docs/NAME.md holds NUMBER, and has TABLE.
check() {
    local document=$BP_SOURCE/docs/$1.md example=$BP_SOURCE/examples/$2.bpir
    "$BP_BUILD/algebra" "$document" "$example" >"$work/written" && diff -u "$document" "$work/written" | head -n 40
    verdict "${PIPESTATUS[0]}" "docs/$1.md is up to date; make algebra"
    cmp -s "$document" "$work/written"
    verdict $? "docs/$1.md is what was written"

    sed "s/$3/${3}0/" "$document" >"$work/wrong"
    ! cmp -s "$document" "$work/wrong" && "$BP_BUILD/algebra" "$work/wrong" "$example" | cmp -s "$document" -
    verdict $? "a wrong number in docs/$1.md is written over"

    sed "/<!-- $4 -->/d" "$document" >"$work/short"
    ! "$BP_BUILD/algebra" "$work/short" "$example" >/dev/null 2>&1
    verdict $? "a table that is missing in docs/$1.md fails"
}

check algebra gpt3-175b 953998639104 stage
check inference serve-llama-3-70b 42949672960 memory

echo "$passed passed, $failed failed"
[ $failed = 0 ]
