#!/bin/bash
# What the README shows is what bp-opt prints: every `$ build/bp-opt …` of a console block, run and compared.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build"
ln -s "$BP_OPT" "$work/build/bp-opt"
ln -s "$(cd "$BP_SOURCE" && pwd)/examples" "$work/examples"
passed=0 failed=0
cd "$BP_SOURCE" && cp README.md "$work/" && cd "$work" || exit

awk '/^```bpir$/ { take = 1; next } /^```$/ { take = 0 } take' README.md >mlp.bpir
awk -v n=0 '/^```console$/ { n++; take = 1; next } /^```$/ { take = 0 } take { print > ("block" n) }' README.md
for block in block*; do
    command=$(sed -n '1s/^\$ //p' "$block")
    if diff -u <(tail -n +2 "$block") <(eval "$command" 2>&1); then
        passed=$((passed + 1))
    else
        echo "README.md: the output of \`$command\` is another"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 2 ]
