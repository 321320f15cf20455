#!/bin/bash
# A gate proves without what it judges: no symbol that it needs, itself or through what it calls, stands in an object
# that derives. What `make layers` checks by includes is checked here by linking.
set -u
cd "$BP_BUILD/obj" || exit
passed=0 failed=0

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

# Lines `OBJECT kind SYMBOL`: T is defined there and seen by others, U is needed.
symbols=$(find src gen -name '*.o' -exec nm -A -g --defined-only {} + | sed -E 's/:[0-9a-f]* ?[A-Z] / T /'
          find src gen -name '*.o' -exec nm -A -g --undefined-only {} + | sed -E 's/: *U / U /')

# The objects that derive: each pass with a gate, what passes write with, and the algebra that they take their facts from.
gates=$(ls src/passes/*_gate.o)
derives="src/passes/emit.o $(ls src/transformer/*.o) $(for g in $gates; do echo "${g%_gate.o}.o"; done)"

# reach OBJECT: every object that it links, as `A -> B -> C` chains.
reach()
{
    awk -v start="$1" '
        $2 == "T" { home[$3] = $1 }
        $2 == "U" { needs[$1] = needs[$1] " " $3 }
        END {
            chain[start] = start
            queue[n = 1] = start
            for (i = 1; i <= n; i++) {
                m = split(needs[queue[i]], list, " ")
                for (k = 1; k <= m; k++) {
                    to = home[list[k]]
                    if (to != "" && !(to in chain)) {
                        chain[to] = chain[queue[i]] " -> " to " (" list[k] ")"
                        queue[++n] = to
                    }
                }
            }
            for (o in chain) print o "\t" chain[o]
        }' <<<"$symbols"
}

# derivation OBJECT: the chains that lead from it to what derives.
derivation()
{
    reach "$1" | while IFS=$'\t' read -r object chain; do
        for d in $derives; do
            [ "$object" = "$d" ] && echo "$chain"
        done
    done
}

for gate in $gates; do
    chains=$(derivation "$gate")
    [ -z "$chains" ]
    verdict "$gate links what it judges:"$'\n'"$chains" $?
done

# A pass itself is such a cheat: it reaches what derives.
for pass in distribute_transformer_training plan_transformer_training; do
    [ -n "$(derivation src/passes/$pass.o | grep -v "^src/passes/$pass.o$")" ]
    verdict "$pass: nothing that derives was found, though it derives" $?
done

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 5 ]
