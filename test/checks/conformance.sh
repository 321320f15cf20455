#!/bin/bash
# The corpus of broken plans, test/lit/conformance/CHECKER/*.bpir: the verifiers accept each, its own checker refuses it, and
# no other does, unless a line `// Also refused by NAME` says so; `passes*.bpir` stand beside them, which all checkers accept. Each checker has at least eight.
set -u
cd "$BP_SOURCE/test/lit/conformance" || exit
passed=0 failed=0

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

# Errors of FILE under the checkers NAMES, by checker, in a word each.
refusers() # FILE NAMES
{
    "$BP_OPT" --emit=none --split-input-file --check="$2" "$1" 2>&1 | sed -nE 's/.* error: \[check\.([a-z_]+)\..*/\1/p' | sort -u | tr '_\n' '- '
}

names=$("$BP_OPT" --list-checks | grep '^[a-z]')
for name in $names; do
    n=0
    for file in "$name"/*.bpir; do
        [ -f "$file" ] || continue
        "$BP_OPT" --verify-only --split-input-file "$file" >/dev/null 2>&1
        verdict "$file: the verifiers refuse it" $?
        who=$(refusers "$file" all)
        case $file in
        */passes*) verdict "$file: refused by $who" "$([ -z "$who" ]; echo $?)" ;;
        *)
            n=$((n + 1))
            also=$(sed -n 's,^// Also refused by ,,p' "$file")
            both=$(printf '%s\n' "$name" $also | sort | tr '\n' ' ')
            verdict "$file: refused by '$who', not by '$both'" "$([ "$who" = "$both" ]; echo $?)" ;;
        esac
    done
    verdict "$name: $n broken plans, and at least 8 are wanted" "$([ $n -ge 8 ]; echo $?)"
    verdict "$name: no plan that passes" "$(ls "$name"/passes*.bpir >/dev/null 2>&1; echo $?)"
done

# The checkers of values say of changed programs what the executor finds.
cd "$BP_SOURCE/test/lit/execute" || exit
report=$("${PYTHON:-python3}" "$BP_SOURCE/test/conformance/judged.py" "$BP_OPT" 300 \
    {linear,mlp,attention,embedding,gqa,pipeline,decode,operations}.bpir 2>&1)
verdict "$report" $?
[[ $report =~ ([0-9]+)\ wrong ]] && [ "${BASH_REMATCH[1]}" -ge 10 ]
verdict "too few changes were wrong: $report" $?
echo "$report"
report=$("${PYTHON:-python3}" "$BP_SOURCE/test/conformance/reshapes.py" "$BP_OPT" 100 2>&1)
verdict "$report" $?
echo "$report"
# Sends and receives, run rank by rank by another hand.
report=$("${PYTHON:-python3}" "$BP_SOURCE/test/conformance/hangs.py" "$BP_OPT" 200 2>&1)
verdict "$report" $?
echo "$report"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
