#!/bin/bash
# Every valid .bpir of the tree, and what the passes make of the examples: printing is a fixpoint, the canonical text
# reads back as itself, and an item's digest is what `xxhsum -H2` says of the text of `--canonical --item`.
# A file is valid when bp-opt accepts it; the examples and each program.bpir of test/lit must be, and the examples stand
# as they are printed.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$(dirname "$BP_OPT"):$PATH
cd "$BP_SOURCE" || exit
passed=0 failed=0 items=0

verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not as expected: $2"
    fi
}

# Lines of `digest @name`, of FILE and of its canonical text.
check_digests() {
    local digest name
    bp-opt --digest "$1" >"$work/digests" && [ -s "$work/digests" ] || return
    bp-opt --canonical "$1" -o "$work/canonical" && bp-opt --digest "$work/canonical" >"$work/again" || return
    cmp "$work/digests" "$work/again" || return
    while read -r digest name; do
        items=$((items + 1))
        bp-opt --canonical --item="$name" "$1" -o "$work/item" || return
        [ "xxh128:$(xxhsum -q -H2 <"$work/item" | cut -d' ' -f1)" = "$digest" ] || { echo "$name is not $digest"; return 1; }
        bp-opt --canonical "$work/item" -o "$work/item.again" && cmp "$work/item" "$work/item.again" || return
    done <"$work/digests"
}

# Remarks on parents that stand in another file are not shown.
check_file() {
    { bash test/roundtrip "$1" && check_digests "$1"; } >"$work/report" 2>&1
    local status=$?
    [ $status = 0 ] || grep -vE 'remark|^ ' "$work/report"
    verdict $status "$1"
}

for file in $(find . -name '*.bpir' -not -path './.git/*' -not -path './build*/*' | LC_ALL=C sort); do
    case $file in
    ./examples/*)
        bp-opt "$file" -o "$work/printed" && cmp "$file" "$work/printed"
        verdict $? "$file is printed as it stands" ;;
    */program.bpir) ;;
    *) bp-opt --verify-only "$file" 2>/dev/null || continue ;;
    esac
    check_file "$file"
done

for file in examples/*.bpir; do
    mode=$(grep -oE 'decoder_(training|inference)' "$file") || continue
    mode=transformer-${mode#decoder_}
    for binding in slot queue; do
        derived=$work/$(basename "$file" .bpir).$binding.bpir
        bp-opt --distribute-$mode --plan-$mode --bind-reference-$binding --keep-sources "$file" -o "$derived" 2>"$work/log"
        verdict $? "$file is bound by $binding"
        check_file "$derived"
    done
done

# A digest that is not its text's.
sed 's/ xxh128:[0-9a-f]*/ xxh128:00000000000000000000000000000001/' "$derived" >"$work/forged.bpir"
! bp-opt --verify-only "$work/forged.bpir" 2>"$work/log" && grep -q 00000001 "$work/log"
verdict $? 'a forged digest is refused'

echo "$items items"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
