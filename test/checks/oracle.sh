#!/bin/bash
# Numbers that no one here made: the algebra and the passes against the oracles. All of their rows are compared, the
# models that must be there are there, and a number that differs fails.
set -uo pipefail
oracle=$BP_SOURCE/test/oracle data=$BP_SOURCE/test/oracle/data python=${PYTHON:-python3}
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

# counted COMMAND...: adds what it counts. Its report stays in $work/log.
counted() {
    "$@" >"$work/log" 2>&1
    verdict $? "$*"
    cat "$work/log"
    set -- $(tail -n 1 "$work/log" | tr -cd '0-9 ')
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
}

# at_least NUMBER WHAT: the report has a line with NUMBER or more WHAT.
at_least() {
    local n
    n=$(grep -oE "$2 [0-9]+" "$work/log" | tr -cd 0-9)
    [ "${n:-0}" -ge "$1" ]
    verdict $? "at least $1 $2, not ${n:-0}"
}

# derived MODEL NUMBER [ID]...: NUMBER or more strategies of MODEL were derived, those of ID among them.
derived() {
    local line id n
    line=$(grep "^$1: " "$work/log")
    n=$(cut -d' ' -f2 <<<"$line")
    [ "${n:-0}" -ge "$2" ]
    verdict $? "at least $2 strategies of $1, not ${n:-0}"
    for id in "${@:3}"; do
        grep -qw "$id" <<<"$line"
        verdict $? "$1 $id"
    done
}

# refused WHAT: the tables in $work/data, of which WHAT is wrong, are not accepted.
refused() {
    ! "$oracle/run" "$work/data" >"$work/log" 2>&1
    verdict $? "refused: $1"
}

# named PATTERN: the report of what was refused has such a line.
named() {
    grep -qE "$1" "$work/log"
    verdict $? "a line like $1"
}

# changed FILE ID COLUMN VALUE: a copy of the few rows with one cell changed, in the first row of ID.
changed() {
    rm -rf "$work/data"
    cp -r "$work/few" "$work/data"
    awk -F'\t' -v OFS='\t' -v id="$2" -v column="$3" -v value="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        NR > 1 && $1 == id && !done { $at = value; done = 1 }
        { print }
        END { exit !at || !done }' "$work/few/$1" >"$work/data/$1"
    verdict $? "$1 has $3 of $2"
    refused "$3 of $2 is $4"
}

counted "$oracle/run" "$data"
at_least 110 'rows compared'
at_least 97 training
at_least 13 'forward only'
at_least 2640 'layer rows'
named '^cells compared [0-9]+: .* other 0$'
named '^through bp-opt: cells [0-9]+, equal [0-9]+, declared [0-9]+, other 0$'
at_least 97 'training rows'
at_least 13 'inference rows'
at_least 2640 'rows of layers'
# docs/deviations.md lists the rows that deviate.
while IFS= read -r line; do
    grep -qxF "* ${line#* rows: }" "$BP_SOURCE/docs/deviations.md"
    verdict $? "docs/deviations.md has: ${line#* rows: }"
done < <(grep -E '^  [0-9]+ rows: ' "$work/log")
for model in gpt3-175B gpt3-13B megatron-126M megatron-5B megatron-22B megatron-40B megatron-1T turing-530B lamda; do
    derived $model 3
done
derived anthropic-52B 2 c020 c110
derived gopher-280B 2 c022 c114
derived chinchilla 0 c113
derived palm-540B 1 c132
counted "$python" -B "$oracle/rejects.py" "$BP_OPT" "$data"
counted "$python" -B "$oracle/symbols.py" "$BP_OPT" "$data"
named '^[3-9][0-9] strategies, each with 3 choices of symbols$'
counted "$python" -B "$oracle/published.py" "$BP_OPT" "$data" "$BP_SOURCE/examples"

mkdir "$work/data"
refused 'an empty folder'
for file in calculon-totals calculon-blocks seqsel papers; do
    head -n 1 "$data/$file.tsv" >"$work/data/$file.tsv"
done
refused 'tables without rows'

mkdir "$work/few"
cp "$data/seqsel.tsv" "$data/papers.tsv" "$work/few"
for file in calculon-totals calculon-blocks; do
    awk 'NR == 1 || $1 <= "c022"' "$data/$file.tsv" >"$work/few/$file.tsv"
done
"$oracle/run" "$work/few" >"$work/log" 2>&1
verdict $? 'a few rows'
changed calculon-totals.tsv c001 block_fw_flops 953998639105
named '^c001 block_fw_flops: '
named '^c001 gpt3-175B: block_fw_flops '
changed calculon-totals.tsv c001 memory_tier1 58060800001
named '^c001 gpt3-175B: memory_tier1 '
changed calculon-totals.tsv c022 block_act_checkpoint_size 268435457     # declared, but not so
named '^c022 gopher-280B: block_act_checkpoint_size '
changed calculon-blocks.tsv c001 act_stored 0
named '^c001 attention.fork act_stored: '
changed calculon-blocks.tsv c001 act_storage_add 1
named '^c001 gpt3-175B: act_storage_add '
changed calculon-blocks.tsv c001 base_bw_comm_kind all_reduce
named '^c001 gpt3-175B: base_bw_comm_kind '
changed calculon-blocks.tsv c001 out_bytes 1
named '^c001 gpt3-175B: out_bytes '
changed calculon-blocks.tsv c001 id c002
changed papers.tsv K4 expected 276824064
named '^K4: 327155712, not 276824064$'
changed papers.tsv E2 expected 'remainder 3'
named '^E2 '
changed seqsel.tsv fig1 config c999
named 'c999'

# A row that no one here knows is named, and neither passes nor fails.
rm -rf "$work/data"
cp -r "$work/few" "$work/data"
printf 'Q7\tbytes\tsomething new\t1\texact\tsomewhere\n' >>"$work/data/papers.tsv"
"$oracle/run" "$work/data" >"$work/log" 2>&1
verdict $? 'a paper no one knows'
named '^papers.tsv: .* unknown id 1: Q7$'
# Other names and another order of the rows are no matter.
for file in calculon-totals calculon-blocks; do
    (head -n 1 "$work/few/$file.tsv" && tail -n +2 "$work/few/$file.tsv" | sed 's/^c/x/' | sort -s -t "$(printf '\t')" -k 1,1r) \
        >"$work/data/$file.tsv"
done
sed 's/\tc\([0-9]\{3\}\)\t/\tx\1\t/' "$work/few/seqsel.tsv" >"$work/data/seqsel.tsv"
"$oracle/run" "$work/data" >"$work/log" 2>&1
verdict $? 'renamed rows in another order'
named '^through bp-opt: cells [0-9]+, .* other 0$'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
