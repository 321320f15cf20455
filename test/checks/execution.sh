#!/bin/bash
# The executor against others: docs/execution.md has each kernel's formula and shows what bp-opt prints; and an executor in
# Python, with inputs and exact sums of its own, finds each value of the programs of test/lit/execute within its bound, and
# has one verdict with bp-opt on what becomes of the distributed ones when they are changed at random.
set -u
page=$BP_SOURCE/docs/execution.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$BP_OPT" "$work/bp-opt"
ln -s "$BP_SOURCE/examples" "$work/examples"
PATH=$work:$PATH
passed=0 failed=0

verdict() # STATUS TEXT
{
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$2"; fi
}

# ---- The page ----

while IFS= read -r row; do
    grep -qxF "$row" "$page"
    verdict $? "docs/execution.md lacks the row $row"
done < <(sed -nE 's/^KERNEL\("([^"]*)", [^"]*"([^"]*)"\)$/| `\1` | \2 |/p' "$BP_SOURCE/src/execute/kernels.def")
[ $passed -ge 20 ]
verdict $? "only $passed rows were looked for"

for number in EXECUTE_ELEMENTS EXECUTE_STORED EXECUTE_RANKS EXECUTE_WORK; do
    value=$(sed -nE "s/^.*$number [=(]*(\(u64\))?([0-9]+)( << ([0-9]+))?.*/\2 \4/p" "$BP_SOURCE/src/execute/execute.h")
    read -r base shift <<<"$value"
    grep -qw $((base << ${shift:-0})) "$page"
    verdict $? "docs/execution.md does not say that $number is $value"
done

cd "$work" || exit
awk '/^```$/ { file = "" }
     file { print > file }
     /^```bpir / { file = $2; printf "" > file }
     /^```console$/ { file = "console" ++n }' "$page"
for block in console*; do
    command=$(sed -n '1s/^\$ //p' "$block")
    difference=$(diff -u <(tail -n +2 "$block") <(eval "$command" 2>&1))
    verdict $? "docs/execution.md: \`$command\` prints otherwise: $difference"
done

# The fragments of the MLP, at their own size.
cat "$BP_SOURCE"/examples/fragments/mlp.{model,dist}.bpir >mlp.bpir
report=$(bp-opt --execute='$rows=64' mlp.bpir 2>&1) && grep -q '7 values agree with @mlp' <<<"$report"
verdict $? "the fragments of the MLP differ: $report"

# ---- Another executor ----

programs=0
for file in "$BP_SOURCE"/test/lit/execute/*.bpir "$BP_SOURCE"/examples/fragments/*.execute.bpir; do
    grep -q 'expected-error' "$file" && continue
    words=()
    grep -q '^ *symbol \$b' "$file" && words=('$b=4')
    for seed in 0 12345; do
        report=$("${PYTHON:-python3}" "$BP_SOURCE/test/execute/reference.py" "$BP_OPT" "$file" "${words[@]}" seed=$seed 2>&1)
        verdict $? "$report"
    done
    programs=$((programs + 1))
done
[ $programs -ge 8 ]
verdict $? "only $programs files of programs were compared"

# Changed at random, as authors err: both executors have one verdict on what still verifies.
cd "$BP_SOURCE/test/lit/execute" || exit
report=$("${PYTHON:-python3}" "$BP_SOURCE/test/execute/distributed.py" "$BP_OPT" 300 \
    {linear,mlp,attention,embedding,gqa,pipeline,decode,exchange,operations}.bpir 2>&1)
verdict $? "$report"
[[ $report =~ ([0-9]+)\ wrong ]] && [ "${BASH_REMATCH[1]}" -ge 10 ]
verdict $? "too few changes were wrong: $report"
echo "$report"

for operation in $(sed -nE 's/^KERNEL\("([^"]*)".*/\1/p' "$BP_SOURCE/src/execute/kernels.def"); do
    grep -q " $operation(" "$BP_SOURCE"/test/lit/execute/{operations,attention,mlp,gqa}.bpir
    verdict $? "no program of test/lit/execute that is compared has $operation"
done

echo "$passed passed, $failed failed"
[ $failed = 0 ]
