#!/bin/bash
# The pass of docs/passes.md compiles against libbpir.a as it stands there, and does what is said of it.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
source=$(realpath "$BP_SOURCE") build=$(realpath "$BP_BUILD")

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

# block LANGUAGE N: the N-th such block of the page
block()
{
    awk -v fence="^\`\`\`$1\$" -v n="$2" '$0 ~ fence { k++; take = k == n; next } /^```$/ { take = 0 } take' "$source/docs/passes.md"
}

compile() # SOURCE: as the page says, with warnings as errors
{
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror ${SANITIZE:-} -I"$source/src" -o "${1%.c}" "$1" "$build/libbpir.a"
}

cd "$work" || exit
block c 1 >group.c
block bpir 1 >plan.bpir
compile group.c
verdict 'it does not compile' $?
digest=$("$BP_OPT" --digest --item=@p plan.bpir | cut -c1-39)
diff -u <(block bpir 2 | sed "s/xxh128:DIGEST/$digest/") <(./group plan.bpir)
verdict 'it makes something else' $?
./group plan.bpir >made 2>messages
[ ! -s messages ]
verdict 'it complains' $?

# Of a plan that bp-opt derived, too.
"$BP_OPT" "$source/examples/megatron-126m.bpir" --distribute-transformer-training --plan-transformer-training --item=@megatron_126m -o big.bpir
./group big.bpir 2>messages | grep -c ' group attention ' >count
[ "$(cat count)" -gt 20 ]
verdict 'it does not group a whole plan' $?

# The page's fault, and others: each is caught.
faulty() # SED MESSAGE
{
    sed "$1" group.c >faulty.c
    cmp -s group.c faulty.c && { verdict "$1 changes nothing" 1; return; }
    compile faulty.c && ! ./faulty plan.bpir >made 2>messages && [ ! -s made ] && grep -qF "$2" messages
    verdict "$1 is not caught: $(cat messages)" $?
}
faulty 's/^        t->group = .*/&\n        t->work[PORTABLE_READ] += 2;/' "$(block text 1 | head -1)"
diff -u <(block text 1) messages
verdict 'the page shows another message' $?
faulty 's/^        t->group = .*/&\n        t->s.lineage_kind = LINEAGE_CLONED;/' 'no relation of the contract makes a task cloned from a task'
faulty 's/strcspn(layer, "\.")/3/' 'its group is not the head of its layer'
faulty 's/, \.gate = gate//; s/^static bool gate(/bool gate(const struct pass_run *r);\nbool gate(/' 'has no commit gate'

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 8 ]
