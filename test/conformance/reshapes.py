#!/usr/bin/env python3
"""Random reshapes of sharded values: shard-reconstruction says of each what the executor finds.

    reshapes.py BP-OPT N[:SEED]     N reshapes that verify
"""
import os
import random
import re
import subprocess
import sys
import tempfile


def factors(rng, n):
    out = []
    while n > 1:
        out.append(rng.choice([k for k in range(2, n + 1) if n % k == 0]))
        n //= out[-1]
    return out


def sharding(rng, sizes, axes):
    sets, left = [[] for _ in sizes], list(sizes)
    for axis, size in axes:
        fitting = [i for i in range(len(sizes)) if left[i] % size == 0]
        if fitting and rng.random() < 0.75:
            i = rng.choice(fitting)
            sets[i].append(axis)
            left[i] //= size
    return sets


def type_of(sizes):
    return "tensor<" + "".join(f"{n}x" for n in sizes) + "f32>"


def sharded(sizes, sets):
    return f"{type_of(sizes)} sharding [{', '.join('{' + ', '.join(s) + '}' for s in sets)}]"


def program(rng):
    axes = [("a", 2), ("b", rng.choice([2, 3]))]
    mesh = ", ".join(f"{a} = {n}" for a, n in axes)
    rng.shuffle(axes)
    elements = rng.choice([12, 24, 48, 72])
    before, after = factors(rng, elements), factors(rng, elements)
    have, want = sharding(rng, before, axes), sharding(rng, after, axes)
    return f"""model.program @m schema 1.0 {{
  input %x : {type_of(before)}
  op @r model.reshape(%x) -> %y : {type_of(after)}
  output %y
}}

dist.program @d schema 1.0 from @m {{
  mesh @g [{mesh}]
  input %x : {sharded(before, have)}
  task @r local model.reshape(%x) -> %y : {sharded(after, want)}
  output %y
}}
"""


def codes(tool, path, *options):
    done = subprocess.run([tool, *options, path], capture_output=True, text=True)
    return set(re.findall(r"error: \[([\w.]+)", done.stderr))


def main(tool, n):
    n, seed = (int(i) for i in (n + ":1").split(":")[:2])
    rng, counts, faults = random.Random(seed), {"right": 0, "wrong": 0}, []
    path = os.path.join(tempfile.mkdtemp(), "reshape.bpir")
    while sum(counts.values()) < n:
        text = program(rng)
        with open(path, "w") as out:
            out.write(text)
        if codes(tool, path, "--verify-only"):
            continue
        found = codes(tool, path, "--execute", "--item=@d", "-o", os.devnull)
        said = codes(tool, path, "--emit=none", "--check=shard-reconstruction")
        counts["wrong" if found else "right"] += 1
        if bool(found) != ("check.shard_reconstruction.pieces" in said):
            faults.append(f"the executor says {sorted(found) or 'right'}, and the checker {sorted(said) or 'right'}:\n{text}")
    print("\n".join(faults[:3] + [f"{n} reshapes: {counts['right']} right, {counts['wrong']} wrong"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
