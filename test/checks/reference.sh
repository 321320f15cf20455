#!/bin/bash
# docs/dialects/*.md are what the dialects' tables say; `make reference` writes them.
set -u
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for dialect in session model dist portable concrete; do
    if "$BP_BUILD/reference" $dialect >"$work/page" && [ -s "$work/page" ] && cmp "$work/page" "$BP_SOURCE/docs/dialects/$dialect.md"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "docs/dialects/$dialect.md is not up to date: make reference"
    fi
done
if "$BP_BUILD/reference" nothing >/dev/null 2>&1; then
    failed=$((failed + 1))
    echo 'a dialect that does not exist has a page'
else
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
