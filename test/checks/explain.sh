#!/bin/bash
# Each code has an example of which just that code is reported, and mended the same is accepted; bp-opt itself shows both.
# Remarks may come with an error or warning; and where a remark is the example, with nothing more severe.
set -uo pipefail
cd "$BP_SOURCE" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

. test/checks/unreachable

# No short file shows it: it takes 16 MiB, a folder, or all tasks of a block.
has_none() # CODE
{
    unreachable "$1" || [[ $1 == syntax.token.long || $1 == driver.replay.* || $1 == check.work_conservation.* ]]
}

# What is reported with a code, whatever the input.
comes_with() # CODE
{
    case $1 in
    pass.derivation.refused) echo pass.bind.devices ;;      # why it was refused
    check.lowering.proved) echo check.lowering.skipped ;;       # what it is from is derived from nothing
    execute.shape) echo dist.sharding.unproved ;;
    pass.derivation.skipped) echo ir.pin.unchecked ;;       # of what is not in the file
    ir.header.using) echo pass.header.using ;;
    *) echo "$1" ;;
    esac
}

# Reads a part, as its first line or the OPTIONS before say: the severities and codes go to $work/codes.
read_part() # PART
{
    local first
    read -r first <"$1"
    [[ $first == '// bp-opt '* ]] && options=${first#// bp-opt } && sed -i 1d "$1"
    options=${options//FILE/$1}
    eval "set -- '$1' $options"
    "$BP_OPT" "${@:2}" --diagnostics=json "$1" >/dev/null 2>"$work/messages"
    local status=$?
    grep -aoE '^\{"severity":"[a-z]+","code":"[a-z0-9_.]+"' "$work/messages" | tr -d '{"' | sed 's/severity://; s/code://' |
        sort | uniq >"$work/codes"
    return $status
}

check_example() # FILE
{
    local code options='' own
    code=$(basename "$1" .bpir)
    sed '/^\/\/ ----- mended$/,$d' "$1" >"$work/has.bpir"
    sed '1,/^\/\/ ----- mended$/d' "$1" >"$work/mended.bpir"
    read_part "$work/has.bpir"
    own=$(sed -n "s/,$code\$//p" "$work/codes")
    [ -n "$own" ] || { echo "$code: not reported"; cat "$work/messages"; return 1; }
    grep -vE "^remark,|,($code|$(comes_with "$code"))\$" "$work/codes" && { echo "$code: these are reported, too"; return 1; }
    [ "$own" = remark ] && grep -vE ",($code|$(comes_with "$code"))\$" "$work/codes" && { echo "$code: these are reported, too"; return 1; }
    [ -s "$work/mended.bpir" ] || return 0
    read_part "$work/mended.bpir" || { echo "$code: refused, though mended"; cat "$work/messages"; return 1; }
    grep -v '^remark,' "$work/codes" && { echo "$code: still reported, though mended"; return 1; }
    return 0
}

# The lines of the file, from the program.
check_shown() # FILE
{
    "$BP_OPT" --explain="$(basename "$1" .bpir)" >"$work/shown" || return
    LC_ALL=C grep -avxE '//.*|' "$1" | LC_ALL=C sed '/[^ -~]/d' | sed 's/^/    /' | grep -avxFf "$work/shown" && return 1
    return 0
}

# Listed by bp-opt, so that no table is left out.
known=$(for family in $(sed -nE 's/^ *(RULE\(|RULE\([A-Z_]+, |\{ )"([a-z_]+)\..*/\2/p' \
    $(find src tools -name '*.def' -o -name rules.c -o -name contract.c) | sort -u); do
    "$BP_OPT" --explain="$family" 2>/dev/null | grep -E '^[a-z]'
done | sort -u)
for code in $known; do
    [ -f "docs/diagnostics/$code.bpir" ] || has_none "$code"
    verdict "$code: docs/diagnostics/$code.bpir should have an example" $?
done
for file in docs/diagnostics/*.bpir; do
    grep -qxF "$(basename "$file" .bpir)" <<<"$known"
    verdict "$file: no such code" $?
    check_example "$file"
    verdict "$file" $?
    check_shown "$file"
    verdict "$file: --explain does not show it" $?
done

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 1000 ]
