#!/bin/bash
# Every code of a rule table is expected by a test of test/lit, and every code that the sources use is in a table.
set -u
cd "$BP_SOURCE" || exit
passed=0 failed=0

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

. test/checks/unreachable

code='[a-z_]+(\.[a-z_]+)+'
tables=$(find src tools -name '*.def' -o -name rules.c -o -path src/transformer/contract.c)
known=$(sed -nE "s/^ *(RULE\(|\{ )\"($code)\".*/\2/p; s/^ *RULE\([A-Z_]+, \"($code)\".*/\1/p" $tables | sort -u)
lines='expected-(error|warning|remark)|^ *(// *)?[A-Z][A-Z0-9-]*: |grep '      # expectations, and lines of FileCheck and grep
expected=$(grep -rhE "$lines" test/lit --include='*.bpir' --include='*.test' | grep -oE "$code" | sort -u)

for each in $known; do
    grep -qxF "$each" <<<"$expected" || unreachable "$each"
    verdict "$each: no test under test/lit expects it" $?
done

# Literals that look like a code of a table's family: the calls that report take them as they are.
families=$(sed 's/\..*//' <<<"$known" | sort -u | paste -sd'|')
used=$(grep -rhE '(error|warning|remark|refuse|report|bad|fail)[a-z_]*\(' src tools --include='*.c' --include='*.re' --include='*.y' |
    grep -oE "\"($families)(\.[a-z_]+)+\"" | tr -d '"' | sort -u)
for each in $used; do
    grep -qxF "$each" <<<"$known" || [[ $each =~ ^(model|dist|portable|concrete|session|system)\.(program|plan|workload|strategy|target|deployment|profile)$ ]]
    verdict "$each: reported, but in no table" $?
done

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 300 ]
