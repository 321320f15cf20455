#!/bin/bash
# Each rule of build-aux/layers is broken once in a small tree: the offending line must be named, and only that one.
set -u
layers=$BP_SOURCE/build-aux/layers
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

# plant FILE INCLUDE
plant() {
    mkdir -p "$tree/$(dirname "$1")"
    printf '\n#include %s\n' "$2" >"$tree/$1"
}

sound_tree() {
    rm -rf "$tree/src"
    plant src/ir/type.c '"support/arena.h"'
    plant src/lexer/lexer.re '"grammar.h"'
    plant src/parser/head.y '"lexer/lexer.h"'
    plant src/dialects/dist/dist.c '"dialects/dist/dist.h"'
    plant src/dialects/registry.c '"dialects/dist/dist.h"'
    plant src/transformer/block.c '"transformer/block.h"'
    plant src/passes/distribute.c '"transformer/block.h"'
    plant src/passes/dist_gate.c '"transformer/strategy.h"'
}

verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not as expected: $2"
        echo "$output"
    fi
}

# refused FILE INCLUDE: the check fails and names FILE.
refused() {
    sound_tree
    plant "$1" "$2"
    output=$("$layers" "$tree") && { verdict 1 "$1 includes $2"; return; }
    [[ "$output" == "$1"[:\ ]* && "$output" == *' 1 failed' ]]
    verdict $? "$1 includes $2"
}

sound_tree
output=$("$layers" "$tree")
verdict $? 'a sound tree'
rm -rf "$tree/src"
mkdir "$tree/src"
output=$("$layers" "$tree") && verdict 1 'an empty tree' || verdict 0

refused src/support/out.c '"ir/type.h"'
refused src/support/out.c '<ir/type.h>'
refused src/support/out.c '"out.h"'
refused src/support/out.c '"../ir/type.h"'
refused src/ir/op.h '"dialects/dist/dist.h"'
refused src/ir/op.h '"grammar.h"'
refused src/lexer/lexer.re '"parser/parse.h"'
refused src/parser/tail.y '"dialects/registry.h"'
refused src/parser/build.c '"passes/pass.h"'
refused src/dialects/dist/verify.c '"dialects/model/model.h"'
refused src/dialects/dist/verify.c '"dialects/registry.h"'
refused src/dialects/dist/dist.def '"parser/parse.h"'
refused src/dialects/registry.c '"passes/pass.h"'
refused src/transformer/block.c '"dialects/dist/dist.h"'
refused src/passes/pass.c '"tools/bp-opt/options.h"'
refused src/passes/dist_gate.c '"transformer/block.h"'
refused src/passes/dist_gate.h '"transformer/layers.h"'
refused src/passes/dist_gate.c '"transformer/formula.h"'
refused src/passes/dist_gate.c '"passes/emit.h"'
refused src/passes/dist_gate.c '"passes/plan.h"'
refused src/attic/old.c '"support/out.h"'

# by a macro
sound_tree
mkdir -p "$tree/src/dialects/dist"
printf '#define DEF "dialects/model/model.def"\n#include DEF\n' >"$tree/src/dialects/dist/dist.h"
output=$("$layers" "$tree")
[ $? != 0 ] && [[ "$output" == 'src/dialects/dist/dist.h:1:'* && "$output" == *' 1 failed' ]]
verdict $? 'an include by a macro'

# through another header
sound_tree
plant src/passes/dist_gate.c '"passes/common.h"'
plant src/passes/common.h '"transformer/layers.h"'
output=$("$layers" "$tree")
[ $? != 0 ] && [[ "$output" == 'src/passes/dist_gate.c -> src/passes/common.h -> src/transformer/layers.h'* ]]
verdict $? 'a gate that sees the derivation through a header'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
