#!/bin/bash
# The algebra against the oracles: all of their rows are compared, and a number that differs fails.
set -uo pipefail
run=$BP_SOURCE/test/oracle/run data=$BP_SOURCE/test/oracle/data
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

# at_least NUMBER WHAT: the report has a line with NUMBER or more WHAT.
at_least() {
    local n
    n=$(grep -oE "$2 [0-9]+" "$work/log" | tr -cd 0-9)
    [ "${n:-0}" -ge "$1" ]
    verdict $? "at least $1 $2, not ${n:-0}"
}

"$run" "$data" >"$work/log" 2>&1
verdict $? 'the given tables'
cat "$work/log"
totals=$(tail -n 1 "$work/log")
passed=$((passed + $(cut -d' ' -f1 <<<"$totals"))) failed=$((failed + $(cut -d' ' -f3 <<<"$totals")))
at_least 110 'rows compared'
at_least 97 training
at_least 13 'forward only'
at_least 2640 'layer rows'
grep -qE '^cells compared [0-9]+: .* other 0$' "$work/log"
verdict $? 'no cell differs that is not declared'

# refused WHAT: the tables in $work/data, of which WHAT is wrong, are not accepted.
refused() {
    ! "$run" "$work/data" >"$work/log" 2>&1
    verdict $? "refused: $1"
}

# changed FILE ID COLUMN VALUE: a copy of the tables with one cell changed, in the first row of ID.
changed() {
    rm -rf "$work/data"
    cp -r "$data" "$work/data"
    awk -F'\t' -v OFS='\t' -v id="$2" -v column="$3" -v value="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        NR > 1 && $1 == id && !done { $at = value; done = 1 }
        { print }
        END { exit !at || !done }' "$data/$1" >"$work/data/$1"
    verdict $? "$1 has $3 of $2"
    refused "$3 of $2 is $4"
}

mkdir "$work/data"
refused 'an empty folder'
head -n 1 "$data/calculon-totals.tsv" >"$work/data/calculon-totals.tsv"
head -n 1 "$data/calculon-blocks.tsv" >"$work/data/calculon-blocks.tsv"
head -n 1 "$data/seqsel.tsv" >"$work/data/seqsel.tsv"
refused 'tables without rows'
changed calculon-totals.tsv c001 block_fw_flops 953998639105
changed calculon-totals.tsv c001 memory_tier1 58060800001
changed calculon-totals.tsv c022 block_act_checkpoint_size 268435457     # declared, but not so
changed calculon-blocks.tsv c001 act_stored 0
changed calculon-blocks.tsv c001 id c002

echo "$passed passed, $failed failed"
[ $failed = 0 ]
