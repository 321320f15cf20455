#!/bin/bash
# The tables of docs/algebra.md are what the algebra is; one that is not is told from one that is.
set -uo pipefail
document=$BP_SOURCE/docs/algebra.md
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

write() {
    "$BP_BUILD/algebra" "$1" "$BP_SOURCE/examples/gpt3-175b.bpir"
}

write "$document" >"$work/written" && diff -u "$document" "$work/written" | head -n 40
verdict "${PIPESTATUS[0]}" 'docs/algebra.md is up to date; make algebra'
cmp -s "$document" "$work/written"
verdict $? 'docs/algebra.md is what was written'

sed 's/953998639104/953998639105/' "$document" >"$work/wrong"
! cmp -s "$document" "$work/wrong" && write "$work/wrong" | cmp -s "$document" -
verdict $? 'a wrong number is written over'

sed '/<!-- stage -->/d' "$document" >"$work/short"
! write "$work/short" >/dev/null 2>&1
verdict $? 'a table that is missing fails'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
